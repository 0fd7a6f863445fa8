/**
 * The overview of a long text in a person's hands: its frame is dragged, moved by keys and buttons, made larger or
 * smaller.
 */

import stretchStyle from "./stretch.css" with { type: "text" };
import { node, optionsOf } from "../dom.js";
import { LONG, frameOf, lengthOf, saysStretch } from "../paint/long_text.js";
import { isOpen, range } from "../record.js";
import { draggable, iconButton, isForeign } from "./controls.js";
import { setPlace } from "./grip.js";

const STRETCHES = [20, 40, 64, 128]; // tokens of a stretch that one may choose
/** @type {{ [key: string]: number }} */
const ARROWS = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 };
/** @type {{ [key: string]: number }} */
const LEAPS = { PageUp: -1, PageDown: 1, k: -1, j: 1 };

const countOpen = (/** @type {Matrix} */ matrix) => range(matrix.cells.length).filter((at) => isOpen(
  matrix, at
)).length;

export class StretchBar {
  shown = -1; // the frame that the words are about

  constructor(/** @type {Kit} */ kit) {
    this.kit = kit;
    this.map = node("div", {
      class: "stage-map", role: "slider", tabindex: "0", "aria-label": "Stretch of the text that is drawn",
      title: "Drag the frame; arrows, Page Up and Page Down move it (J, K)", "aria-valuemin": "1",
    });
    const resize = () => this.resize(Number(this.size.value));
    const title = "Tokens that are drawn at once";
    this.size = node("select", { "aria-label": "Tokens that are drawn", title, onchange: resize });
    this.before = iconButton("back", "Previous window (K)", () => this.leap(-1));
    this.after = iconButton("step", "Next window (J)", () => this.leap(1));
    const group = { class: "stage-moves", role: "group", "aria-label": "Stretch" };
    this.moves = node("div", group, this.before, this.after, this.size);
    kit.parts.style.prepend(stretchStyle);
    kit.parts.picture.append(this.map, this.moves);
    draggable(this.map, { start: (event) => this.start(event), move: (drag, event) => this.drag(drag, event) });
  }

  /** The window; null where all of the text is drawn. */
  get here() {
    return this.kit.record.stretch || null;
  }

  leap(/** @type {number} */ by) {
    if (this.here) this.kit.stretch(this.here.from + by * this.here.size);
  }

  /** Puts the slider over the pictures and the buttons below the words. */
  place() {
    const { kit, map, moves, here } = this;
    const { map: planned, choice } = kit.plan;
    map.hidden = !planned;
    moves.hidden = lengthOf(kit.whole) <= LONG;
    if (moves.hidden) return;
    this.offer();
    const at = planned ? { x: planned.words.x, y: planned.words.y + 32 } : choice;
    if (at) setPlace(moves, { left: at.x, top: at.y });
    this.before.hidden = this.after.hidden = !planned;
    if (!planned || !here) return;
    const [left, top] = [planned.boxes[0].x - 3, planned.y - 3];
    const bottom = Math.max(...planned.boxes.map((box) => box.y + box.h)) + 3;
    setPlace(map, { left, top, width: planned.right - left + 3, height: bottom - top });
    const last = here.length - here.size;
    this.before.disabled = here.from <= 0;
    this.after.disabled = here.from >= last;
    const values = { max: last + 1, now: here.from + 1, text: this.spoken() };
    for (const [name, value] of Object.entries(values)) map.setAttribute(`aria-value${name}`, String(value));
  }

  /** The lengths to choose from; the whole text is one of them. */
  offer() {
    const { size } = this;
    const length = lengthOf(this.kit.whole);
    const lengths = [...STRETCHES.filter((each) => each < length), length];
    const known = [...size.options].map((option) => option.value).join();
    const text = (/** @type {number} */ each) => `${each === length ? "all " : ""}${each} tokens`;
    if (lengths.join() !== known) size.replaceChildren(...optionsOf(lengths.map((each) => [each, text(each)])));
    size.value = String(this.here?.size ?? length);
  }

  /** Where the frame is, and how many cells are open in it and in all. */
  spoken() {
    const [matrix] = this.kit.frame().matrices;
    const tokens = `tokens ${saysStretch(this.kit.record)}`;
    if (!matrix?.whole) return tokens;
    const { whole } = matrix;
    const inside = `${countOpen(matrix)} of ${matrix.cells.length} entries allowed here`;
    return `${tokens}; ${inside}, ${countOpen(whole)} of ${whole.cells.length} in all`;
  }

  /**
   * The share of the way along the text at which a pointer is: in a square, the nearest point of its diagonal.
   * @param {MouseEvent} event @param {MapBox | null} held
   */
  shareAt(event, held = null) {
    const rect = this.map.getBoundingClientRect();
    const scale = (this.map.offsetWidth || rect.width) / rect.width; // a stage that is drawn larger
    const { boxes } = /** @type {MapPlan} */ (this.kit.plan.map);
    const left = (event.clientX - rect.left) * scale - 3 + boxes[0].x;
    const far = (/** @type {MapBox} */ each) => Math.abs(left - each.x - each.w / 2);
    const box = held || boxes.reduce((near, each) => (far(each) < far(near) ? each : near));
    return { box, x: (left - box.x) / box.w, y: ((event.clientY - rect.top) * scale - 3) / box.h };
  }

  start(/** @type {MouseEvent} */ event) {
    const { box, x, y } = this.shareAt(event);
    const { from, size, length } = /** @type {Stretch} */ (this.here);
    const frame = frameOf(box, this.kit.record);
    const [across, down] = [box.x + x * box.w, box.y + y * box.h];
    const held = across >= frame.x && across <= frame.x + frame.w && down >= frame.y && down <= frame.y + frame.h;
    if (!held) this.kit.stretch(Math.round(((x + y) / 2) * length - size / 2));
    return { box, x, y, from: held ? from : this.here?.from ?? from };
  }

  /** The frame follows the larger of the two ways of the pointer. */
  drag(/** @type {{ box: MapBox, x: number, y: number, from: number }} */ drag, /** @type {MouseEvent} */ event) {
    const { x, y } = this.shareAt(event, drag.box);
    const [across, down] = [x - drag.x, y - drag.y];
    const way = Math.abs(across) > Math.abs(down) ? across : down;
    if (this.here) this.kit.stretch(Math.round(drag.from + way * this.here.length));
  }

  key(/** @type {On<KeyboardEvent>} */ event) {
    const { here } = this;
    if (!here || isForeign(event) || event.target.tagName === "SELECT") return false;
    const mine = event.target === this.map;
    if (mine && ARROWS[event.key]) this.kit.stretch(here.from + ARROWS[event.key] * (event.shiftKey ? 8 : 1));
    else if (mine && event.key === "Home") this.kit.stretch(0);
    else if (mine && event.key === "End") this.kit.stretch(here.length - here.size);
    else if (LEAPS[event.key] && (mine || event.key.length === 1)) this.leap(LEAPS[event.key]);
    else return false;
    return true;
  }

  resize(/** @type {number} */ size) {
    this.kit.now.size = size;
    this.kit.stretch(this.here?.from ?? 0);
  }

  follow() {
    if (this.here && this.shown !== this.kit.nearest()) this.map.setAttribute("aria-valuetext", this.spoken());
    this.shown = this.kit.nearest();
  }
}
