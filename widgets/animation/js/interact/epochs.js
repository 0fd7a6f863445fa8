/** The mask of a text over ten epochs, for several ways to draw it. */

import epochsStyle from "./epochs.css" with { type: "text" };
import { node } from "../dom.js";
import { paintChip } from "../paint/chips.js";
import { canvasOf, cut, paintBox, paintText, screenRatio } from "../paint/pen.js";
import { bytes, font, range, readCell } from "../record.js";
import { isForeign, labelButton } from "./controls.js";

const VISITS = 10;
const SIDE = 15; // px of a cell
const LEFT = 24; // px for the number of an epoch
const STATES = ["", "masked", "randomised", "scored_as_is"];
const ABOUT =
  "The same sentence, read ten times. Which words are hidden if a text keeps one mask, takes four in turn, or gets a " +
  "new one each time?";
const TITLE =
  "Masks over epochs: which words are masked in each of ten epochs, the same ones or others every time (V)";

export class Epochs {
  constructor(/** @type {Kit} */ kit) {
    this.kit = kit;
    this.root = node("div", { class: "stage-film", role: "region", "aria-label": "The mask over ten epochs" });
    this.button = labelButton("film", "Epochs", TITLE, () => kit.turn("film"), { "aria-pressed": "false" });
    kit.parts.style.prepend(epochsStyle);
    kit.parts.bench.querySelector(".stage-menu")?.before(this.button);
    kit.parts.below.prepend(this.root);
  }

  adopt() {
    this.button.hidden = !this.kit.record.film;
    this.renew();
  }

  renew() {
    const { film } = this.kit.record;
    const shown = this.kit.sheet === "film" && film;
    this.button.setAttribute("aria-pressed", String(Boolean(shown)));
    this.root.hidden = !shown;
    if (!shown) return;
    const strips = film.strips.map(({ title, states }) => this.strip(title, bytes(states), film.words));
    this.root.replaceChildren(node("p", {}, ABOUT), node("div", {}, ...strips));
  }

  key(/** @type {KeyboardEvent} */ event) {
    if (event.key.toLowerCase() !== "v" || isForeign(event) || !this.kit.record.film) return false;
    this.kit.turn("film");
    return true;
  }

  strip(/** @type {string} */ title, /** @type {Uint8Array} */ states, /** @type {string[]} */ words) {
    const visits = range(VISITS).map((v) => states.subarray(v * words.length, (v + 1) * words.length));
    const ever = range(words.length).filter((j) => visits.some((visit) => visit[j])).length;
    const different = new Set(visits.map((visit) => Array.from(visit, (state) => Number(state > 0)).join())).size;
    const choices = `${different} choice${different === 1 ? "" : "s"} in 10 epochs`;
    const said = `${choices}; ${ever} of ${words.length} words are masked at least once.`;
    const canvas = node("canvas", { role: "img", "aria-label": `${title}: ${said}` });
    this.paint(canvas, words, visits);
    return node("figure", {}, canvas, node("figcaption", {}, node("b", {}, `${title}: `), said));
  }

  /** Words across, epochs down; a word that is masked in an epoch is a chip. */
  paint(/** @type {HTMLCanvasElement} */ canvas, /** @type {string[]} */ words, /** @type {Uint8Array[]} */ visits) {
    const theme = this.kit.theme;
    const widest = Math.max(...words.map((word) => this.kit.measure(word, font(11.5))));
    const head = Math.min(80, widest * 0.74) + 12;
    const [width, height] = [words.length * SIDE + 30 + head * 0.5, head + VISITS * SIDE + 6];
    const { pen } = canvasOf(width, height, screenRatio(), canvas);
    Object.assign(canvas.style, { width: `${width}px`, aspectRatio: `${width} / ${height}` });
    pen.font = font(11.5);
    words.forEach((word, j) => {
      pen.save();
      pen.translate(LEFT + (j + 0.5) * SIDE, head - 6);
      pen.rotate(-Math.PI / 4);
      paintText(pen, cut(pen, word, 90), 0, 0, { fill: theme.muted });
      pen.restore();
    });
    const chips = { size: 9, mark: 0.72, columns: 1, gap: 2, w: SIDE, h: SIDE - 4 };
    const art = { theme, plan: { chips, lanes: {} } };
    visits.forEach((visit, v) => {
      const look = /** @type {const} */ ({ spec: font(10), fill: theme.muted, align: "right" });
      paintText(pen, String(v + 1), 18, head + (v + 0.5) * SIDE, look);
      visit.forEach((state, j) => {
        const box = { x: LEFT + j * SIDE + 2, y: head + v * SIDE + 2, w: SIDE - 4, h: SIDE - 4 };
        if (STATES[state]) paintChip(pen, art, box, readCell({ state: STATES[state] }), "inputs");
        else paintBox(pen, box, 4, theme.lattice);
      });
    });
  }
}
