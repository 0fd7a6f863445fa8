/** What else the panel says about a frame: its lines of code, the switches of an objective, and its mask over ten epochs. */

import sourceAndHistoryStyle from "./source_and_history.css" with { type: "text" };
import { node } from "../dom.js";
import { explained } from "../glossary.js";
import { paintChip } from "../paint/chips.js";
import { canvasOf, cut, paintBox, paintText, screenRatio } from "../paint/pen.js";
import { bytes, font, range, readCell } from "../record.js";
import { button, isForeign, labelButton, setLamp } from "./controls.js";
import { BESIDE } from "./panels.js";

/** Runs of Python `[kind, text]` as text and coloured spans. */
const coloured = (runs) => runs.map(([kind, text]) => (kind ? node("span", { class: kind }, text) : text));

/** Text of a call that may be broken after its signs, so that no word is cut in two. */
const breakable = (part) => (typeof part === "string" ? part.split(/(?<=[(,=])/).flatMap((piece, i) => (i ? [node("wbr"), piece] : [piece])) : [part]);

const VISITS = 10;
const FILM_SIDE = 15;
const FILM_STATES = ["", "masked", "randomised", "scored_as_is"];

export function moreOf(kit) {
  const { parts, record } = kit;
  parts.style.prepend(sourceAndHistoryStyle);
  const code = node("section", { class: "stage-code" });
  const film = node("div", { class: "stage-film", role: "region", "aria-label": "The mask over ten epochs" });
  const reel = labelButton("film", "Epochs", "Masks over epochs: which words are masked in each of ten epochs, the same ones or others every time (V)", () => kit.turn("film"), { "aria-pressed": "false" });
  let shown = null, wish = null; // the wish: whether a person has opened or closed the code, which is in the way below a picture

  function follow() {
    const made = kit.frame().code;
    if (made === shown) return;
    shown = made;
    code.hidden = !made;
    if (!made) return;
    const blocks = made.parts.flatMap(({ file, line, spans }) => [
      node("p", { class: "quiet file" }, `${file}, line ${line}`),
      node("pre", { tabindex: "0", role: "region", "aria-label": `Code in ${file} from line ${line}` }, node("code", {}, ...coloured(spans))),
    ]);
    const call = node("code", {}, ...coloured(made.call).flatMap(breakable));
    const details = node("details", {}, node("summary", { onclick: () => (wish = !details.open) }, call), ...blocks);
    details.open = wish ?? kit.root.clientWidth > BESIDE;
    code.replaceChildren(node("h3", {}, "The code of this frame"), ...(made.says ? [node("p", { class: "quiet" }, made.says)] : []), details);
  }

  function switches() {
    const switched = record().switch;
    if (!switched) return [];
    const choice = ({ value, level, sentence, hears }) => {
      const box = node("p");
      setLamp(box, { level, leak: level === "red", sentence }, kit.theme());
      const inside = [node("span", { "aria-hidden": "true" }, box.firstChild), node("b", {}, value), node("small", {}, `${sentence} ${hears}`)];
      const now = String(value === switched.now);
      if (!kit.live) return node("div", { "data-now": now }, ...inside);
      const made = button("", "", () => kit.send({ do: "set", knob: switched.knob, to: value }, "visibility"), { "aria-pressed": now, "data-choice": value });
      made.replaceChildren(...inside);
      return made;
    };
    return [node("section", { class: "stage-switch" }, node("h3", { title: explained(switched.question) }, switched.question), ...switched.choices.map(choice))];
  }

  function roll() {
    const rolling = kit.sheet === "film" && Boolean(record().film);
    reel.setAttribute("aria-pressed", String(rolling));
    film.hidden = !rolling;
    if (rolling) film.replaceChildren(node("p", {}, "The same sentence, read ten times. Which words are hidden if a text keeps one mask, takes four in turn, or gets a new one each time?"), node("div", {}, ...record().film.strips.map(strip)));
  }

  function strip({ title, states }) {
    const { words } = record().film;
    const visits = range(VISITS).map((v) => bytes(states).subarray(v * words.length, (v + 1) * words.length));
    const ever = range(words.length).filter((j) => visits.some((visit) => visit[j])).length;
    const different = new Set(visits.map((visit) => Array.from(visit, (state) => Number(state > 0)).join())).size;
    const said = `${different} choice${different === 1 ? "" : "s"} in 10 epochs; ${ever} of ${words.length} words are masked at least once.`;
    const canvas = node("canvas", { role: "img", "aria-label": `${title}: ${said}` });
    shoot(canvas, words, visits);
    return node("figure", {}, canvas, node("figcaption", {}, node("b", {}, `${title}: `), said));
  }

  function shoot(canvas, words, visits) {
    const theme = kit.theme();
    const ratio = screenRatio();
    const head = Math.min(80, Math.max(...words.map((word) => kit.measure(word, font(11.5)))) * 0.74) + 12;
    const [width, height] = [words.length * FILM_SIDE + 30 + head * 0.5, head + VISITS * FILM_SIDE + 6];
    const { pen } = canvasOf(width, height, ratio, canvas);
    Object.assign(canvas.style, { width: `${width}px`, aspectRatio: `${width} / ${height}` });
    const art = { theme, ratio, plan: { chips: { size: 9, mark: 0.72, columns: 1, gap: 2, w: FILM_SIDE, h: FILM_SIDE - 4 }, lanes: { inputs: { below: 0 } } } };
    pen.font = font(11.5);
    words.forEach((word, j) => {
      pen.save();
      pen.translate(24 + (j + 0.5) * FILM_SIDE, head - 6);
      pen.rotate(-Math.PI / 4);
      paintText(pen, cut(pen, word, 90), 0, 0, { fill: theme.muted });
      pen.restore();
    });
    visits.forEach((visit, v) => {
      paintText(pen, String(v + 1), 18, head + (v + 0.5) * FILM_SIDE, { spec: font(10), fill: theme.muted, align: "right" });
      visit.forEach((state, j) => {
        const box = { x: 24 + j * FILM_SIDE + 2, y: head + v * FILM_SIDE + 2, w: FILM_SIDE - 4, h: FILM_SIDE - 4 };
        if (FILM_STATES[state]) paintChip(pen, art, box, readCell({ state: FILM_STATES[state] }), "inputs");
        else paintBox(pen, box, 4, theme.lattice);
      });
    });
  }

  parts.bench.querySelector(".stage-menu")?.before(reel);
  parts.below.prepend(film);
  return {
    follow, renew: roll,
    adopt() {
      parts.explain.firstChild?.after(...switches()); // behind the idea, where it is in sight
      parts.explain.append(code);
      shown = null;
      follow();
      reel.hidden = !record().film;
      roll();
    },
    key(event) {
      if (event.key.toLowerCase() !== "v" || isForeign(event) || !record().film) return false;
      kit.turn("film");
      return true;
    },
  };
}
