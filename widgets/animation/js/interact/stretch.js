/** The overview of a long text in a person's hands: its frame is dragged, moved by keys and buttons, made larger or smaller. */

import stretchStyle from "./stretch.css" with { type: "text" };
import { node, optionsOf } from "../dom.js";
import { LONG, frameOf, lengthOf, saysStretch } from "../paint/long_text.js";
import { isOpen } from "../record.js";
import { draggable, iconButton, isForeign } from "./controls.js";

const STRETCHES = [20, 40, 64, 128]; // tokens of a stretch that one may choose

export function stretchOf(kit) {
  const { parts, now } = kit;
  parts.style.prepend(stretchStyle);
  const map = node("div", { class: "stage-map", role: "slider", tabindex: "0", "aria-label": "Stretch of the text that is drawn", title: "Drag the frame; arrows, Page Up and Page Down move it (J, K)", "aria-valuemin": "1" });
  const size = node("select", { "aria-label": "Tokens that are drawn", title: "Tokens that are drawn at once", onchange: resize });
  const [before, after] = [iconButton("back", "Previous window (K)", () => leap(-1)), iconButton("step", "Next window (J)", () => leap(1))];
  const moves = node("div", { class: "stage-moves", role: "group", "aria-label": "Stretch" }, before, after, size);
  let shown = -1;

  const here = () => kit.record().stretch;
  const last = () => here().length - here().size;
  const leap = (by) => kit.stretch(here().from + by * here().size);

  /** Puts the slider over the pictures and the buttons below the words. */
  function place() {
    const [planned, part] = [kit.plan().map, here()];
    map.hidden = !planned;
    moves.hidden = lengthOf(kit.whole()) <= LONG;
    if (moves.hidden) return;
    offer();
    const at = planned ? { x: planned.words.x, y: planned.words.y + 32 } : kit.plan().choice;
    Object.assign(moves.style, { left: `${at.x}px`, top: `${at.y}px` });
    before.hidden = after.hidden = !planned;
    if (!planned) return;
    const [left, top, bottom] = [planned.boxes[0].x - 3, planned.y - 3, Math.max(...planned.boxes.map((box) => box.y + box.h)) + 3];
    Object.assign(map.style, { left: `${left}px`, top: `${top}px`, width: `${planned.right - left + 3}px`, height: `${bottom - top}px` });
    before.disabled = part.from <= 0;
    after.disabled = part.from >= last();
    for (const [name, value] of [["max", last() + 1], ["now", part.from + 1], ["text", spoken()]]) map.setAttribute(`aria-value${name}`, String(value));
  }

  /** The lengths to choose from; the whole text is one of them. */
  function offer() {
    const length = lengthOf(kit.whole());
    const lengths = [...STRETCHES.filter((each) => each < length), length];
    const known = [...size.options].map((option) => option.value).join();
    if (lengths.join() !== known) size.replaceChildren(...optionsOf(lengths.map((each) => [each, `${each === length ? "all " : ""}${each} tokens`])));
    size.value = String(here() ? here().size : length);
  }

  /** Where the frame stands, and how many cells are open in it and in all. */
  function spoken() {
    const matrix = kit.frame().matrices[0];
    const open = (each) => each.cells.reduce((sum, _, at) => sum + Number(isOpen(each, at)), 0);
    const counts = matrix && matrix.whole ? `; ${open(matrix)} of ${matrix.cells.length} entries allowed here, ${open(matrix.whole)} of ${matrix.whole.cells.length} in all` : "";
    return `tokens ${saysStretch(kit.record())}${counts}`;
  }

  /** The share of the way along the text at which a pointer stands: in a square, the nearest place of its diagonal. */
  function shareAt(event, held = null) {
    const rect = map.getBoundingClientRect();
    const scale = (map.offsetWidth || rect.width) / rect.width; // a stage that is drawn larger
    const { boxes } = kit.plan().map;
    const left = (event.clientX - rect.left) * scale - 3 + boxes[0].x;
    const far = (each) => Math.abs(left - each.x - each.w / 2);
    const box = held || boxes.reduce((near, each) => (far(each) < far(near) ? each : near));
    return { box, x: (left - box.x) / box.w, y: ((event.clientY - rect.top) * scale - 3) / box.h };
  }

  draggable(map, {
    start(event) {
      const { box, x, y } = shareAt(event);
      const { from, size: many, length } = here();
      const [frame, across, down] = [frameOf(box, kit.record()), box.x + x * box.w, box.y + y * box.h];
      const held = across >= frame.x && across <= frame.x + frame.w && down >= frame.y && down <= frame.y + frame.h;
      if (!held) kit.stretch(Math.round(((x + y) / 2) * length - many / 2));
      return { box, x, y, from: held ? from : here().from };
    },
    /** The frame follows the larger of the two ways of the pointer. */
    move(drag, event) {
      const { x, y } = shareAt(event, drag.box);
      const [across, down] = [x - drag.x, y - drag.y];
      kit.stretch(Math.round(drag.from + (Math.abs(across) > Math.abs(down) ? across : down) * here().length));
    },
  });

  function key(event) {
    if (!here() || isForeign(event) || event.target.tagName === "SELECT") return false;
    const [steps, pages] = [{ ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 }, { PageUp: -1, PageDown: 1, k: -1, j: 1 }];
    const mine = event.target === map;
    if (mine && steps[event.key]) kit.stretch(here().from + steps[event.key] * (event.shiftKey ? 8 : 1));
    else if (mine && event.key === "Home") kit.stretch(0);
    else if (mine && event.key === "End") kit.stretch(last());
    else if (pages[event.key] && (mine || event.key.length === 1)) leap(pages[event.key]);
    else return false;
    return true;
  }

  function resize() {
    now.size = Number(size.value);
    kit.stretch(here() ? here().from : 0);
  }

  parts.picture.append(map, moves);
  return {
    place, key,
    follow() {
      if (here() && shown !== kit.nearest()) map.setAttribute("aria-valuetext", spoken());
      shown = kit.nearest();
    },
  };
}
