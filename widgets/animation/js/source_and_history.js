// ---------------------------------------------------------------------------------------------------- more to explain

import { boxPath, cut, paintChip } from "./chips.js";
import { isText, setLamp } from "./controls.js";
import { node } from "./dom.js";
import { takeHome } from "./export.js";
import { bytes, font, range, readCell } from "./record.js";

/** What else the panel says about a frame: its lines of code, the switches of an objective, and the film of its mask. */
const MORE_STYLE = `
.stage .stage-code pre { margin: 3px 0 6px; word-break: normal; padding: 8px 9px; max-height: 330px; overflow: auto; white-space: pre-wrap; overflow-wrap: anywhere; background: var(--track); border-radius: 8px; font: 400 11.5px/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; tab-size: 4; }
.stage .stage-code code { padding: 0; background: none; color: inherit; }
.stage .stage-code .file { font-size: 11px; overflow-wrap: anywhere; } .stage .stage-code summary { cursor: pointer; overflow-wrap: anywhere; }
.stage .stage-code .word { color: var(--accent); } .stage .stage-code .said { color: color-mix(in srgb, var(--good) 70%, var(--ink)); } .stage .stage-code .note { color: var(--muted); } .stage .stage-code .figure { color: color-mix(in srgb, var(--leak) 70%, var(--ink)); } .stage .stage-code .call { font-weight: 650; }
.stage .stage-switch button, .stage .stage-switch > div { display: grid; grid-template-columns: 18px minmax(0, 1fr); gap: 1px 7px; width: 100%; height: auto; min-height: 34px; text-align: left; padding: 5px 8px; margin: 0 0 4px; border: 1px solid var(--line); border-radius: 8px; }
.stage .stage-switch svg { width: 16px; height: 16px; margin-top: 2px; } .stage .stage-switch b { font-weight: 600; }
.stage .stage-switch small { grid-column: 2; color: var(--muted); font-size: 11.5px; line-height: 1.35; }
.stage .stage-switch [aria-pressed="true"], .stage .stage-switch [data-now="true"] { border-color: var(--accent); box-shadow: inset 3px 0 0 var(--accent); color: inherit; }
.stage .stage-film { padding: 8px var(--pad); } .stage .stage-film p { margin: 0 0 6px; color: var(--muted); font-size: 13px; }
.stage .stage-film div { display: flex; flex-wrap: wrap; gap: 10px 18px; } .stage .stage-film canvas { width: auto; max-width: 100%; }
.stage .stage-film figure { margin: 0; min-width: 0; } .stage .stage-film figcaption { font-size: 12.5px; max-width: 200px; } .stage .stage-film figcaption b { font-weight: 650; }
@container (max-width: 860px) { .stage .stage-explain .stage-code { column-span: all; } }
`;

/** Runs of Python `[kind, text]` as text and coloured spans. */
const coloured = (runs) => runs.map(([kind, text]) => (kind ? node("span", { class: kind }, text) : text));

/** Text of a call that may be broken after its signs, so that no word is cut in two. */
const breakable = (part) => (typeof part === "string" ? part.split(/(?<=[(,=])/).flatMap((piece, i) => (i ? [node("wbr"), piece] : [piece])) : [part]);

const FILM_SIDE = 15;
const FILM_STATES = ["", "masked", "randomised", "graded_as_is"];

export function moreOf(kit) {
  const { parts, root } = kit;
  const style = node("style");
  style.textContent = MORE_STYLE;
  root.prepend(style);
  const code = node("section", { class: "stage-code" });
  const film = node("div", { class: "stage-film", role: "region", "aria-label": "The mask over ten visits" });
  const reel = node("button", { type: "button", title: "The mask at ten visits of the same sentence (V)", "aria-pressed": "false" }, "Masks over epochs");
  let [shown, rolling] = [null, false];

  // -- the code of a frame

  function read() {
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
    code.replaceChildren(node("h3", {}, "The code of this frame"), ...(made.says ? [node("p", { class: "quiet" }, made.says)] : []), node("details", { open: "" }, node("summary", {}, call), ...blocks));
  }

  // -- the switches

  function switches() {
    const told = record().switch;
    if (!told) return [];
    const choice = ({ value, level, sentence, hears }) => {
      const lamp = node("span", { "aria-hidden": "true" });
      const box = node("p", {});
      setLamp(box, { level, leak: level === "red", sentence }, kit.theme());
      lamp.append(box.firstChild);
      const inside = [lamp, node("b", {}, value), node("small", {}, `${sentence} ${hears}`)];
      const now = String(value === told.now);
      if (!kit.live) return node("div", { "data-now": now }, ...inside);
      const made = node("button", { type: "button", "aria-pressed": now, "data-choice": value }, ...inside);
      made.addEventListener("click", () => kit.send({ do: "set", knob: told.knob, to: value }, "visibility"));
      return made;
    };
    return [node("section", { class: "stage-switch" }, node("h3", {}, told.question), ...told.choices.map(choice))];
  }

  // -- the film of a mask

  function roll(open = !rolling) {
    rolling = open && Boolean(record().film);
    reel.setAttribute("aria-pressed", String(rolling));
    film.hidden = !rolling;
    if (rolling) film.replaceChildren(node("p", {}, "The same sentence, visited ten times. What is hidden when, if a text keeps one choice, takes four in turn, or gets a new one each time?"), node("div", {}, ...record().film.strips.map(strip)));
  }

  function strip({ title, states }) {
    const { words } = record().film;
    const data = bytes(states, words.length * 10);
    const ever = range(words.length).filter((j) => range(10).some((v) => data[v * words.length + j])).length;
    const different = new Set(range(10).map((v) => data.slice(v * words.length, (v + 1) * words.length).map((s) => Number(s > 0)).join())).size;
    const said = `${different} choice${different === 1 ? "" : "s"} in 10 visits; ${ever} of ${words.length} words are ever asked for.`;
    const canvas = node("canvas", { role: "img", "aria-label": `${title}: ${said}` });
    const caption = node("figcaption", {}, node("b", {}, `${title}: `), said);
    shoot(canvas, words, data);
    return node("figure", {}, canvas, caption);
  }

  function shoot(canvas, words, data) {
    const theme = kit.theme();
    const ratio = Math.min(3, window.devicePixelRatio || 1);
    const head = Math.min(80, Math.max(...words.map((word) => kit.measure(word, font(11.5)))) * 0.74) + 12;
    const [width, height] = [words.length * FILM_SIDE + 30 + head * 0.5, head + 10 * FILM_SIDE + 6];
    Object.assign(canvas, { width: Math.round(width * ratio), height: Math.round(height * ratio) });
    Object.assign(canvas.style, { width: `${width}px`, aspectRatio: `${width} / ${height}` });
    const pen = canvas.getContext("2d");
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    const art = { theme, memory: new Map(), ratio, plan: { chips: { size: 9, mark: 0.72, columns: 1, gap: 2, w: FILM_SIDE, h: FILM_SIDE - 4 }, lanes: { inputs: { below: 0 } } } };
    pen.textBaseline = "middle";
    pen.fillStyle = theme.muted;
    pen.font = font(11.5);
    words.forEach((word, j) => {
      pen.save();
      pen.translate(24 + (j + 0.5) * FILM_SIDE, head - 6);
      pen.rotate(-Math.PI / 4);
      pen.fillText(cut(pen, word, 90, art.memory), 0, 0);
      pen.restore();
    });
    for (const v of range(10)) {
      pen.fillStyle = theme.muted;
      pen.font = font(10);
      pen.textAlign = "right";
      pen.fillText(String(v + 1), 18, head + (v + 0.5) * FILM_SIDE);
      words.forEach((_, j) => {
        const state = FILM_STATES[data[v * words.length + j]];
        const box = { x: 24 + j * FILM_SIDE + 2, y: head + v * FILM_SIDE + 2, w: FILM_SIDE - 4, h: FILM_SIDE - 4 };
        if (state) paintChip(pen, art, box, readCell({ state }), "inputs");
        else {
          pen.fillStyle = theme.lattice;
          pen.beginPath();
          boxPath(pen, box.x, box.y, box.w, box.h, 4);
          pen.fill();
        }
      });
    }
  }

  const record = () => kit.record();
  reel.addEventListener("click", () => roll());
  parts.tools.querySelector(".stage-menu")?.before(reel);
  parts.below.prepend(film);
  kit.takeHome = (press) => takeHome(kit, press);
  return {
    adopt() {
      parts.explain.append(...switches(), code);
      shown = null;
      read();
      reel.hidden = !record().film;
      roll(rolling);
    },
    follow: read,
    renew: () => roll(rolling),
    settle: () => roll(rolling),
    key(event) {
      if (event.key.toLowerCase() !== "v" || event.ctrlKey || event.metaKey || event.altKey || isText(event.target) || !record().film) return false;
      roll();
      return true;
    },
  };
}
