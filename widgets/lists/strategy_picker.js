/**
 * Strategies to choose several from: all as native check boxes in families, with a search; chosen ones as chips with
 * their colour below the list, which therefore stays where it is while one chooses. One box is in the tab order, arrow
 * keys walk to the others; the strategy under the pointer or the focus is explained. Text only ever becomes text nodes.
 */

import strategyPickerStyle from "./strategy_picker.css" with { type: "text" };
import { endOf, focusOn, focused, follow, node, plain, svgNode, tell } from "../animation/js/dom.js";
import { neighbour, searchField, searched } from "./listbox.js";

/** The marks of the charts, each as a path around the middle of a swatch. @type {Record<string, string>} */
const SHAPES = {
  circle: "M14 2.4a3.6 3.6 0 1 1 0 7.2a3.6 3.6 0 1 1 0-7.2z",
  square: "M10.6 2.6h6.8v6.8h-6.8z",
  triangle: "M14 1.6 18.2 9.4H9.8z",
  diamond: "M14 1.2 18 6 14 10.8 10 6z",
};

/** A piece of the line with its mark, as a strategy is drawn in every chart. */
function swatch(/** @type {Record<string, string>} */ { colour, dash, shape }) {
  const line = svgNode(
    "line", { x1: 0, x2: 28, y1: 6, y2: 6, stroke: colour, "stroke-width": 3, "stroke-dasharray": dash }
  );
  return svgNode(
    "svg", { width: 28, height: 12, "aria-hidden": "true" }, line,
    ...(SHAPES[shape] ? [svgNode("path", { d: SHAPES[shape], fill: colour })] : [])
  );
}

class StrategyPicker {
  at = ""; // the strategy whose box was last in focus
  drawn = ""; // the cards of the list as JSON: a box that is pressed while they stay the same must not be replaced

  constructor(/** @type {HostModel} */ model) {
    const id = `chooser-${Math.random().toString(36).slice(2)}`;
    const onkeydown = (/** @type {On<KeyboardEvent, HTMLInputElement>} */ event) => this.walk(event);
    const group = { class: "list", role: "group", "aria-label": "strategies", "aria-describedby": `${id}-keys` };
    this.model = model;
    this.id = id;
    this.chips = node("ul", { "aria-label": "chosen strategies" });
    this.search = searchField("Search strategies", { oninput: () => this.draw(), onkeydown });
    this.note = node("p", { class: "count" });
    this.sets = node("div");
    this.list = node("div", { ...group, onkeydown }, this.note, this.sets);
    this.about = node("p", { class: "described", "aria-hidden": "true" });
    this.count = node("p", { class: "count", role: "status" });
    const keys = node("p", { class: "unseen", id: `${id}-keys` }, "Arrow keys move through the list, space selects.");
    const style = node("style", {}, strategyPickerStyle);
    const { search, list, chips, count, about } = this;
    this.root = node("div", { class: "chooser" }, style, search, keys, list, chips, count, about);
  }

  /** @returns {Card[]} */
  get cards() {
    return (this.model.get("cards") || []).map(plain);
  }

  /** @returns {string[]} */
  get value() {
    return [...(this.model.get("value") || [])];
  }

  /** @returns {HTMLInputElement[]} */
  get boxes() {
    return [...this.list.querySelectorAll("input")];
  }

  turn(/** @type {string} */ name) {
    const now = this.value;
    const fresh = now.includes(name) ? now.filter((each) => each !== name) : [...now, name];
    if (fresh.length <= this.model.get("most")) tell(this.model, "value", fresh);
    this.show();
  }

  explain(/** @type {string | undefined} */ name) {
    const card = this.cards.find((each) => each.name === name);
    const inside = card && [
      node("b", {}, card.name), card.idea, node("span", {}, card.source), node("span", {}, card.rate),
    ];
    this.about.replaceChildren(...(inside || []));
  }

  /** Make the list of what the search finds, where that is another; the marks are set by `show`. */
  draw() {
    const { note, shown } = searched(this.model, this.cards, this.search.value, "strategy");
    const [facts, { name }] = [JSON.stringify(shown), focused(this.list)];
    Object.assign(this.note, { textContent: note, hidden: !note });
    if (facts === this.drawn) return this.show();
    this.drawn = facts;
    const families = [...new Set(shown.map((card) => card.group))];
    const sets = families.map((family) => {
      const members = shown.filter((card) => card.group === family);
      const legend = node("legend", {}, family, node("small", {}, members[0].shared));
      return node("fieldset", {}, legend, ...members.map((card) => this.row(card)));
    });
    this.sets.replaceChildren(...sets);
    this.show();
    if (name) focusOn(this.sets, `[data-name="${CSS.escape(name)}"]`);
  }

  row(/** @type {Card} */ { name, idea, source }) {
    const described = `${this.id}-${name}`.replace(/\s+/g, "-");
    const onfocus = () => {
      this.at = name;
      this.explain(name);
      this.show();
    };
    const hear = { onchange: () => this.turn(name), onfocus };
    const box = node("input", { type: "checkbox", "aria-describedby": described, "data-name": name, ...hear });
    const made = node("label", { onpointerenter: () => this.explain(name) }, box, node("span", {}, name));
    return node("div", {}, made, node("span", { class: "unseen", id: described }, `${idea} ${source}`));
  }

  show() {
    const { boxes, cards, chips, model, value } = this;
    const marks = (model.get("marks") || []).map(plain);
    const full = value.length >= model.get("most");
    const isChosen = (/** @type {Element} */ { dataset }) => value.includes(dataset.name ?? "");
    const last = boxes.find((box) => box.dataset.name === this.at);
    const reached = last || boxes.find(isChosen) || boxes[0];
    for (const box of boxes) {
      box.checked = isChosen(box);
      box.tabIndex = box === reached ? 0 : -1;
      box.parentElement?.setAttribute("data-full", String(full && !box.checked));
    }
    chips.replaceChildren(...value.map((name, k) => this.chip(name, k, marks[k])));
    const some = this.search.value ? `${boxes.length} of ${cards.length} found; ` : "";
    const chosen = `${value.length} of ${cards.length} chosen${full ? ", which is the most at once" : ""}`;
    this.count.textContent = `${some}${chosen}. The first is the baseline.`;
  }

  /** A chosen strategy with its mark in the charts; its button leaves it out. */
  chip(/** @type {string} */ name, /** @type {number} */ k, mark = { colour: "#8a8f98", dash: "none", shape: "" }) {
    const onclick = () => {
      this.turn(name);
      (this.chips.querySelectorAll("button")[Math.max(0, k - 1)] || this.search).focus();
    };
    const label = `leave out ${name}`;
    const leave = node("button", { type: "button", "aria-label": label, title: label, onclick }, "×");
    return node("li", {}, swatch(mark), node("span", {}, name), leave);
  }

  /** Arrow keys walk through the list, and from the search into it. */
  walk(/** @type {On<KeyboardEvent, HTMLInputElement>} */ event) {
    const { boxes } = this;
    /** @type {Steps} */
    const steps = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1, Home: -Infinity, End: Infinity };
    const step = boxes.includes(event.target) && steps[event.key];
    const entry = event.target === this.search && event.key === "ArrowDown" && boxes[0];
    const next = entry || (step && neighbour(boxes, event.target, step));
    if (!next) return;
    event.preventDefault();
    next.focus();
  }

  changed() {
    this.explain(this.value.at(-1));
    this.show();
  }
}

function render(/** @type {Host} */ { model, el }) {
  const picker = new StrategyPicker(model);
  el.replaceChildren(picker.root);
  picker.draw();
  picker.explain(picker.value[0]);
  const drawn = follow(model, ["cards", "nearest"], () => picker.draw());
  return endOf(drawn, follow(model, ["value", "marks"], () => picker.changed()), () => picker.root.remove());
}

export default { render };
