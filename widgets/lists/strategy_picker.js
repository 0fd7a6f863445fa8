/**
 * Strategies to choose several from: all as native check boxes in families, with a search; chosen ones as chips with
 * their colour below the list, which therefore stays where it is while one chooses. One box is in the tab order, arrow
 * keys walk to the others; the strategy under the pointer or the focus is explained. Text only ever becomes text nodes.
 */

import { endOf, follow, node, plain, svgNode, tell } from "../animation/js/dom.js";
import { neighbour, searchField, searched } from "./listbox.js";

const STYLE = `
.chooser { color: var(--panel-on-background-color, CanvasText); font-family: inherit; font-size: 14px; line-height: 1.4; }
.chooser ul { list-style: none; display: flex; flex-wrap: wrap; gap: 5px; margin: 8px 0 0; padding: 0; }
.chooser li { display: inline-flex; align-items: center; gap: 5px; border: 1px solid #8886; border-radius: 14px; padding: 2px 3px 2px 9px; max-width: 100%; }
.chooser li span { overflow-wrap: anywhere; }
.chooser li svg { flex: none; }
.chooser li button { font: inherit; line-height: 1; color: inherit; background: none; border: 0; border-radius: 11px; width: 22px; height: 22px; cursor: pointer; opacity: .75; }
.chooser li button:hover { opacity: 1; background: #8883; }
.chooser input[type=search] { box-sizing: border-box; width: 100%; font: inherit; color: inherit; background: transparent; border: 1px solid #8889; border-radius: 4px; padding: 6px 9px; }
.chooser .list { position: relative; max-height: 290px; overflow-y: auto; border: 1px solid #8885; border-radius: 4px; margin-top: 6px; padding: 0 0 5px; overscroll-behavior: contain; }
.chooser fieldset { border: 0; margin: 0; padding: 0; min-width: 0; }
.chooser legend { position: sticky; top: 0; z-index: 1; box-sizing: border-box; width: 100%; padding: 6px 9px 3px; font-size: 12px; font-weight: 600; background: var(--panel-background-color, Canvas); }
.chooser legend small { display: block; font-weight: 400; font-size: 11.5px; opacity: .8; }
.chooser label { display: flex; align-items: center; gap: 8px; padding: 4px 9px; cursor: pointer; }
.chooser label:hover, .chooser label:focus-within { background: #3390d61f; }
.chooser label[data-full="true"] { opacity: .55; cursor: default; }
.chooser input[type=checkbox] { accent-color: #0072b2; width: 16px; height: 16px; margin: 0; flex: none; }
.chooser .described { min-height: 7.2em; margin: 6px 2px 0; font-size: 12.5px; }
.chooser .described b { display: block; font-size: 13px; }
.chooser .described span { display: block; opacity: .8; overflow-wrap: anywhere; }
.chooser .count { font-size: 12px; opacity: .8; margin: 4px 2px 0; }
.chooser .unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.chooser :focus-visible { outline: 2px solid #3390d6; outline-offset: 1px; }
`;

/** The marks of the charts, each as a path around the middle of a swatch. */
const SHAPES = {
  circle: "M14 2.4a3.6 3.6 0 1 1 0 7.2a3.6 3.6 0 1 1 0-7.2z",
  square: "M10.6 2.6h6.8v6.8h-6.8z",
  triangle: "M14 1.6 18.2 9.4H9.8z",
  diamond: "M14 1.2 18 6 14 10.8 10 6z",
};

/** A piece of the line with its mark, as a strategy is drawn in every chart. */
function swatch({ colour, dash, shape }) {
  const line = svgNode("line", { x1: 0, x2: 28, y1: 6, y2: 6, stroke: colour, "stroke-width": 3, "stroke-dasharray": dash });
  return svgNode("svg", { width: 28, height: 12, "aria-hidden": "true" }, line, ...(SHAPES[shape] ? [svgNode("path", { d: SHAPES[shape], fill: colour })] : []));
}

function render({ model, el }) {
  const id = `chooser-${Math.random().toString(36).slice(2)}`;
  const chips = node("ul", { "aria-label": "chosen strategies" });
  const search = searchField("Search strategies", { oninput: draw, onkeydown: walk });
  const keys = node("p", { class: "unseen", id: `${id}-keys` }, "Arrow keys move through the list, space selects.");
  const list = node("div", { class: "list", role: "group", "aria-label": "strategies", "aria-describedby": `${id}-keys`, onkeydown: walk });
  const about = node("p", { class: "described", "aria-hidden": "true" });
  const count = node("p", { class: "count", role: "status" });
  const root = node("div", { class: "chooser" }, node("style", {}, STYLE), search, keys, list, chips, count, about);
  let at = "";

  const cards = () => (model.get("cards") || []).map(plain);
  const value = () => [...(model.get("value") || [])];
  const boxes = () => [...list.querySelectorAll("input")];

  function turn(name) {
    const now = value();
    const fresh = now.includes(name) ? now.filter((each) => each !== name) : [...now, name];
    if (fresh.length <= model.get("most")) tell(model, "value", fresh);
    show();
  }

  function explain(card) {
    about.replaceChildren(...(card ? [node("b", {}, card.name), card.idea, node("span", {}, card.source), node("span", {}, card.rate)] : []));
  }

  /** Make the list of what the search finds; the marks are set by `show`. */
  function draw() {
    const { note, shown } = searched(model, cards(), search.value, "strategy");
    const families = [...new Set(shown.map((card) => card.group))];
    const sets = families.map((family) => {
      const members = shown.filter((card) => card.group === family);
      const legend = node("legend", {}, family, node("small", {}, members[0].shared));
      return node("fieldset", {}, legend, ...members.map(row));
    });
    list.replaceChildren(...(note ? [node("p", { class: "count" }, note)] : []), ...sets);
    show();
  }

  function row(card) {
    const described = `${id}-${card.name}`.replace(/\s+/g, "-");
    const onfocus = () => {
      at = card.name;
      explain(card);
      show();
    };
    const box = node("input", { type: "checkbox", "aria-describedby": described, "data-name": card.name, onchange: () => turn(card.name), onfocus });
    const made = node("label", { onpointerenter: () => explain(card) }, box, node("span", {}, card.name));
    return node("div", {}, made, node("span", { class: "unseen", id: described }, `${card.idea} ${card.source}`));
  }

  function show() {
    const now = value();
    const marks = (model.get("marks") || []).map(plain);
    const full = now.length >= model.get("most");
    const shown = boxes();
    const reached = shown.find((box) => box.dataset.name === at) || shown.find((box) => now.includes(box.dataset.name)) || shown[0];
    for (const box of shown) {
      box.checked = now.includes(box.dataset.name);
      box.tabIndex = box === reached ? 0 : -1;
      box.parentElement.dataset.full = String(full && !box.checked);
    }
    chips.replaceChildren(...now.map((name, k) => {
      const onclick = () => {
        turn(name);
        (chips.querySelectorAll("button")[Math.max(0, k - 1)] || search).focus();
      };
      const leave = node("button", { type: "button", "aria-label": `leave out ${name}`, title: `leave out ${name}`, onclick }, "×");
      return node("li", {}, swatch(marks[k] || { colour: "#8a8f98", dash: "none" }), node("span", {}, name), leave);
    }));
    const some = search.value ? `${shown.length} of ${cards().length} found; ` : "";
    count.textContent = `${some}${now.length} of ${cards().length} chosen${full ? ", which is the most at once" : ""}. The first is the baseline.`;
  }

  /** Arrow keys walk through the list, and from the search into it. */
  function walk(event) {
    const step = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1, Home: -Infinity, End: Infinity }[event.key];
    const next = event.target === search ? event.key === "ArrowDown" && boxes()[0] : boxes().includes(event.target) && step && neighbour(boxes(), event.target, step);
    if (!next) return;
    event.preventDefault();
    next.focus();
  }

  const named = (name) => cards().find((card) => card.name === name);
  const changed = () => {
    explain(named(value().at(-1)));
    show();
  };
  el.replaceChildren(root);
  draw();
  explain(named(value()[0]));
  return endOf(follow(model, ["cards", "nearest"], draw), follow(model, ["value", "marks"], changed), () => root.remove());
}

export default { render };
