/**
 * The words of the original lane as buttons over the picture: choose one, drag over several, move the end of a span.
 */

import { focusOn, focused, node } from "../dom.js";
import { streamSpots } from "../paint/chips.js";
import { chipBox, clamp, laneOf, matrixOf } from "../record.js";
import { button, draggable } from "./controls.js";
import { grip, setPlace } from "./grip.js";

/** @type {Record<string, string>} */
export const ACTION_NAMES = { mask: "hidden", random: "random word", keep: "unchanged" };

const dataWord = (/** @type {Element | null} */ element) => Number(element?.dataset.word || 0);

export class WordLane {
  held = 0; // the word, from 1, that the card speaks of

  /**
   * @param {Kit} kit @param {import("./plan.js").EditablePlan} plan
   * @param {() => void} onHold is called once another word is held
   */
  constructor(kit, plan, onHold) {
    this.kit = kit;
    this.plan = plan;
    this.onHold = onHold;
    this.root = node("div", {
      class: "stage-lane",
      onpointerover: (/** @type {On<PointerEvent>} */ event) => this.light(dataWord(event.target)),
      onpointerleave: () => this.light(0),
    });
    draggable(this.root, {
      start: (event) => this.start(event),
      move: (drag, event) => this.drag(drag, event),
      end: (drag, _, cancelled) => this.drop(drag, cancelled),
    });
  }

  get words() {
    return this.plan.record.words || [];
  }

  /** The word, from 1, of each token of the lane. */
  get wordOf() {
    return this.plan.record.word || [];
  }

  place() {
    const { kit, plan, root, wordOf } = this;
    const editable = plan.can("chosen") || plan.can("spans") || plan.can("split");
    const shown = Boolean(kit.live && kit.plan.lanes.original && editable);
    root.hidden = !shown && !kit.painting;
    const { word, answer } = focused(kit.root);
    root.replaceChildren(...(kit.painting ? this.answers() : []));
    if (answer) focusOn(root, `[data-answer="${answer}"]`);
    if (!shown) return;
    root.append(...wordOf.map((each, token) => this.wordButton(each, token)), ...this.ends(), ...this.split());
    if (word) focusOn(root, `[data-word="${word}"]`);
  }

  wordButton(/** @type {number} */ word, /** @type {number} */ token) {
    const { held, plan, wordOf } = this;
    const { x, y, w, h } = chipBox(this.kit.plan, "original", token);
    const on = plan.chosen.includes(word);
    const state = on ? ACTION_NAMES[plan.actionOf(word)] || "chosen" : "not chosen";
    const label = `${this.words[word - 1]}: ${state}`;
    const made = node("button", {
      type: "button", "data-word": String(word), "aria-label": label, "aria-pressed": String(on),
    });
    setPlace(made, { left: x, top: y - 5, width: w, height: h + 5 });
    const entry = wordOf.includes(held) ? held : wordOf[0]; // the one word in the tab order
    made.tabIndex = wordOf.indexOf(word) === token && word === entry ? 0 : -1;
    if (word === held) made.classList.add("held");
    return made;
  }

  /** While the mask is painted: what must be predicted, as buttons that say whether an answer counts. */
  answers() {
    const { cells = [], begins: from = 0 } = laneOf(this.kit.record.frames[this.kit.last()], "targets") || {};
    return cells.map(({ text, scored }, i) => {
      const { x, y, w, h } = chipBox(this.kit.plan, "targets", i);
      const label = `Answer ${from + i + 1}${text ? `, ${text}` : ""}: ${scored ? "scored" : "not scored"}`;
      const act = () => this.plan.send({ do: "paint", matrix: "scored", cells: [[0, from + i, !scored]] }, "scored");
      const marks = { "data-answer": String(from + i), "aria-label": label, "aria-pressed": String(Boolean(scored)) };
      const made = button("", label, act, marks);
      setPlace(made, { left: x, top: y, width: w, height: h });
      return made;
    });
  }

  /** A grip at the last token of every span. */
  ends() {
    const { plan, words } = this;
    return (plan.can("spans") ? plan.spans : []).filter((span) => span.length).flatMap(({ start, length, text }) => {
      const end = start + length - 1;
      const act = (/** @type {number} */ to) => plan.send({ do: "span", from: start, to, old: text }, "spans");
      const made = grip("stage-end", `End of the span ${text}`, start, words.length, end, act);
      made.dataset.span = text;
      return this.gripAt(made, end, ({ x, y, w, h }) => ({ left: x + w - 4, top: y - 5, height: h + 5 }));
    });
  }

  /** The grip of the split. */
  split() {
    const { plan, words } = this;
    if (!plan.can("split")) return [];
    const act = (/** @type {number} */ to) => plan.send({ do: "split", to }, "split");
    const at = plan.values.split ?? 1;
    const made = grip("stage-end", "Split: words in the first part", 1, words.length - 1, at, act);
    made.dataset.split = "1";
    const gap = this.kit.plan.chips.gap / 2;
    return this.gripAt(made, at, ({ x, y, w, h }) => ({ left: x + w - 6 + gap, top: y - 8, height: h + 16 }));
  }

  /**
   * A grip at the last token of a word; nothing where that token is not in sight.
   * @param {Grip} made @param {number} word @param {(box: Box) => { [side: string]: number }} place
   */
  gripAt(made, word, place) {
    const token = this.wordOf.lastIndexOf(word);
    if (token < 0) return [];
    setPlace(made, place(chipBox(this.kit.plan, "original", token)));
    return [made];
  }

  /** The word under the pointer, or the nearest one of the lane. */
  wordAt(/** @type {MouseEvent} */ event) {
    const frame = this.kit.canvas.getBoundingClientRect();
    const [x, y] = [event.clientX - frame.left, event.clientY - frame.top];
    const near = this.wordOf.map((word, token) => {
      const box = chipBox(this.kit.plan, "original", token);
      return { word, far: Math.hypot(x - box.x - box.w / 2, 3 * (y - box.y - box.h / 2)) };
    });
    return near.length ? near.reduce((a, b) => (b.far < a.far ? b : a)).word : 0;
  }

  sweep(/** @type {number} */ low, /** @type {number} */ high) {
    for (const each of this.root.querySelectorAll("[data-word]")) {
      each.classList.toggle("swept", dataWord(each) >= low && dataWord(each) <= high);
    }
  }

  /** @returns {WordDrag | null} */
  start(/** @type {On<PointerEvent>} */ { target, clientX: from }) {
    const handle = /** @type {Grip | null} */ (target.closest("[role=slider]"));
    const word = dataWord(target.closest("[data-word]"));
    return handle || word ? { handle, word, to: word, from } : null;
  }

  drag(/** @type {WordDrag} */ drag, /** @type {MouseEvent} */ event) {
    drag.moved = drag.moved || Math.abs(event.clientX - drag.from) > 6;
    drag.to = this.wordAt(event);
    if (!drag.moved || (!drag.handle && !this.plan.can("spans"))) return;
    const start = drag.handle ? Number((drag.handle.dataset.span || "1").split(":")[0]) : drag.word;
    this.sweep(Math.min(start, drag.to), Math.max(start, drag.to));
  }

  drop(/** @type {WordDrag} */ { handle, word, to, moved }, /** @type {boolean} */ cancelled) {
    this.sweep(1, 0);
    if (cancelled) return;
    if (handle) moved ? handle.to(to) : handle.focus();
    else if (moved && this.plan.can("spans")) this.plan.send({ do: "span", from: word, to }, "spans");
    else if (!moved || to === word) this.touch(word);
  }

  /** A click: choose; on a chosen word the next action; without actions let it go. Spans open and close whole. */
  touch(/** @type {number} */ word) {
    const { plan } = this;
    this.held = word;
    this.onHold();
    const span = plan.spanOf(word);
    const inside = plan.can("chosen") ? plan.chosen.includes(word) : span;
    if (plan.can("actions") && inside) plan.send({ do: "act", word }, "actions");
    else if (plan.can("chosen")) plan.send({ do: "choose", word }, "chosen");
    else if (plan.can("spans")) {
      plan.send(span ? { do: "unspan", old: span.text } : { do: "span", from: word, to: word }, "spans");
    } else if (plan.can("split")) plan.send({ do: "split", to: clamp(word, 1, this.words.length - 1) }, "split");
  }

  /** A key on a word; `side` is -1 or 1 for an arrow. Says whether it was heard. */
  key(/** @type {KeyboardEvent} */ event, /** @type {number} */ word, /** @type {number} */ side) {
    if (side && event.shiftKey && this.plan.can("spans")) this.resize(word, side);
    else if (side) this.walk(word + side, side);
    else if (event.key === "Enter" || event.key === " ") this.touch(word);
    else if (event.key !== "Delete" && event.key !== "Backspace") return false;
    else if (this.plan.chosen.includes(word)) this.plan.letGo(word);
    return true;
  }

  /** Makes a span of a word and its neighbour, or moves the end of its span. */
  resize(/** @type {number} */ word, /** @type {number} */ side) {
    const { length } = this.words;
    const span = this.plan.spanOf(word);
    const [from, to] = span
      ? [span.start, span.start + span.length - 1 + side]
      : [word, clamp(word + side, 1, length)];
    if (to < from && span) return;
    this.plan.send({ do: "span", from, to: Math.min(to, length), old: span && span.text }, "spans");
  }

  /** To a word; where it is not in sight, the window over a long text goes on first. */
  walk(/** @type {number} */ word, /** @type {number} */ side) {
    const { stretch } = this.plan.record;
    if (!this.root.querySelector(`[data-word="${word}"]`) && stretch) this.kit.stretch(stretch.from + 8 * side);
    focusOn(this.root, `[data-word="${word}"]`);
  }

  /** A word button covers its chip, so it passes the pointer on: the reader lights up as if the canvas were bare. */
  light(/** @type {number} */ word) {
    const frame = this.kit.frame();
    const matrix = ["content", "encoder"].map((name) => matrixOf(frame, name)).find(Boolean);
    const cell = word && matrix ? laneOf(frame, "original")?.cells[this.wordOf.indexOf(word)] : null;
    const row = cell ? streamSpots(frame, "inputs").findIndex((spot) => spot.cell.key === cell.key) : -1;
    this.kit.now.hover = matrix && row >= 0 && row < matrix.n ? { matrix: matrix.name, row, column: -1 } : null;
    this.kit.wake();
  }
}
