/** The quiz: what may a word attend to, and which answers count? Asked before the frame that shows it. */

import { activeIn, node } from "../dom.js";
import { streamSpots } from "../paint/chips.js";
import { answering } from "../paint/paint.js";
import { isOpen, laneOf, range, shownFrom } from "../record.js";
import { button, isForeign } from "./controls.js";

export class Quiz {
  /** @type {Question | null} */
  question = null;

  constructor(/** @type {Kit} */ kit) {
    this.kit = kit;
    this.root = node("div", { class: "stage-quiz", role: "group", "aria-label": "Quiz", hidden: "" });
    this.button = button("Quiz", "Guess before it is shown (G)", () => this.ask());
    kit.parts.tools.append(this.root);
  }

  adopt() {
    if (this.question) this.finish();
  }

  key(/** @type {KeyboardEvent} */ event) {
    if (event.key.toLowerCase() !== "g" || isForeign(event)) return false;
    this.ask();
    return true;
  }

  /** Asks the question that comes next in the story. */
  ask() {
    if (this.question) return this.finish();
    const { kit } = this;
    const { frames } = kit.record;
    const looks = frames.findIndex((frame) => frame.matrices.length);
    const end = frames.findIndex((frame) => laneOf(frame, "targets"));
    const known = [{ at: looks, about: aboutLooks }, { at: end, about: aboutScored }].filter(({ at }) => at > 0);
    const open = known.filter(({ at }) => at > kit.nearest()).sort((a, b) => a.at - b.at)[0] || known[0];
    if (!open) return;
    kit.pause(); // a story that plays on would tell the answer
    this.question = open.about(kit.record, open.at);
    kit.jump(open.at - 1);
    this.paint();
    this.root.querySelector("button")?.focus({ preventScroll: true });
  }

  paint(scored = false) {
    const { words, marks, truth, text } = /** @type {Question} */ (this.question);
    const isRight = (/** @type {number} */ i) => marks.has(i) === truth.has(i);
    const right = range(words.length).filter(isRight).length;
    const said = scored ? `${right} of ${words.length} right. ${text}` : text;
    const act = scored
      ? button("Done", "Close the question", () => this.finish())
      : button("Reveal", "Check the answer", () => this.reveal(), { class: "stage-play" });
    const chips = words.map((word, i) => this.chip(word, i, scored && (isRight(i) ? "right" : "wrong")));
    this.root.replaceChildren(node("span", { role: "status" }, said), ...chips, act);
    this.root.hidden = false;
    this.button.setAttribute("aria-pressed", "true");
  }

  /** A word to mark; once the answer is shown, `verdict` is its class. */
  chip(/** @type {string} */ word, /** @type {number} */ i, /** @type {string | false} */ verdict) {
    const { marks, begins } = /** @type {Question} */ (this.question);
    const mark = () => {
      if (verdict) return;
      marks[marks.has(i) ? "delete" : "add"](i);
      made.setAttribute("aria-pressed", String(marks.has(i)));
    };
    const looks = { "aria-pressed": String(marks.has(i)), ...(verdict ? { class: verdict } : {}) };
    const made = button(word, `position ${begins + i + 1}`, mark, looks);
    return made;
  }

  reveal() {
    const { kit } = this;
    const { shownAt, matrix, row } = /** @type {Question} */ (this.question);
    kit.jump(shownAt);
    if (matrix) kit.now.lock = { matrix, row, column: -1 };
    kit.wake();
    this.paint(true);
  }

  finish() {
    this.question = null;
    const { root } = this.kit;
    if (this.root.contains(activeIn(root))) root.focus({ preventScroll: true }); // keys go on to the stage
    this.root.hidden = true;
    this.button.setAttribute("aria-pressed", "false");
  }
}

/** Which positions may a row of the mask attend to? @returns {Question} */
function aboutLooks(/** @type {StageRecord} */ record, /** @type {number} */ at) {
  const matrix = answering(/** @type {Frame} */ (record.frames.at(-1))) || record.frames[at].matrices[0];
  const rows = range(matrix.n).filter((i) => !matrix.scored.some(Boolean) || matrix.scored[i]);
  const row = rows[Math.floor(rows.length / 2)] ?? 0;
  const position = (matrix.top || 0) + row + 1;
  return {
    words: matrix.columns, matrix: matrix.name, row,
    truth: new Set(range(matrix.m).filter((j) => isOpen(matrix, row * matrix.m + j))),
    marks: new Set(),
    begins: matrix.left || 0,
    shownAt: Math.max(at, shownFrom(record, "visibility")),
    text: `${matrix.title}. Which positions may '${matrix.rows[row]}' (position ${position}) attend to?`,
  };
}

/** At which positions does an answer count? @returns {Question} */
function aboutScored(/** @type {StageRecord} */ record, /** @type {number} */ shownAt) {
  const end = /** @type {Frame} */ (record.frames.at(-1));
  const { cells, begins = 0 } = /** @type {Lane} */ (laneOf(end, "targets"));
  const home = laneOf(end, "decoder")?.cells || streamSpots(end, "inputs").map(({ cell }) => cell);
  return {
    words: cells.map((cell, i) => (home[i] || cell).text || "·"),
    truth: new Set(range(cells.length).filter((i) => cells[i].scored)),
    marks: new Set(),
    begins, shownAt, matrix: "", row: 0,
    text: "At which of these positions does an answer count in the loss?",
  };
}
