/**
 * Strategies to choose several from: all as native check boxes in families, with a search; chosen ones as chips with
 * their colour below the list, which therefore stays where it is while one chooses. One box is in the tab order, arrow
 * keys walk to the others; the strategy under the pointer or the focus is explained. Text only ever becomes text nodes.
 */

import strategyPickerStyle from "./strategy_picker.css" with { type: "text" };
import { endOf, follow, node, plain, svgNode, tell } from "../animation/js/dom.js";
import { neighbour, searchField, searched } from "./listbox.js";

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
  const root = node("div", { class: "chooser" }, node("style", {}, strategyPickerStyle), search, keys, list, chips, count, about);
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
