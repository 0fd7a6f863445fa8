/**
 * A list of objectives to choose from: grouped, searched, walked by the arrow keys. It unfolds from a button that says
 * what is chosen. Texts only ever reach `textContent`.
 */

import objectivePickerStyle from "./objective_picker.css" with { type: "text" };
import { endOf, follow, listen, node, plain, tell } from "../animation/js/dom.js";
import { matches, neighbour, ranked, searchField, searched } from "./listbox.js";

class ObjectivePicker {
  active = ""; // the name of the row that Enter takes
  asked = ""; // what was searched for when `active` was set
  drawn = ""; // the list as JSON: a row that is pressed while it stays the same must not be replaced
  /** @type {Card[]} */
  shown = [];

  constructor(/** @type {HostModel} */ model) {
    const id = `picker-${Math.random().toString(36).slice(2)}`;
    const seek = () => this.seek(!this.root.classList.contains("unfolded"));
    const draw = () => this.draw();
    const onkeydown = (/** @type {KeyboardEvent} */ event) => this.key(event);
    const box = { role: "combobox", "aria-expanded": "true", "aria-controls": id, "aria-autocomplete": "list" };
    this.model = model;
    this.id = id;
    this.now = node("button", { type: "button", class: "now", "aria-expanded": "false", onclick: seek });
    this.search = searchField("Search objectives", { ...box, oninput: draw, onkeydown });
    this.list = node("div", { class: "list", role: "listbox", id, "aria-label": "Objectives" });
    this.count = node("p", { class: "count", role: "status" });
    const open = node("div", { class: "open" }, this.search, this.list, this.count);
    this.root = node("div", { class: "picker" }, node("style", {}, objectivePickerStyle), this.now, open);
  }

  /** @returns {Card[]} */
  get cards() {
    return (this.model.get("cards") || []).map(plain);
  }

  /** @returns {string[]} */
  get compared() {
    return this.model.get("compared") || [];
  }

  get value() {
    return this.model.get("value");
  }

  /** What is typed, where it is a sum of objectives and no name of one; the engine reads it, or says why it cannot. */
  get sum() {
    const { value } = this.search;
    return value.includes("+") && !ranked(this.cards, value).length ? value.trim() : "";
  }

  /** The idea of an objective, after the models that are searched for and train with it. */
  about(/** @type {Card} */ { models = [], idea }) {
    const { value } = this.search;
    const found = value.trim() ? models.filter((model) => matches(model, value)) : [];
    return found.length ? `${found.join(", ")} ${found.length > 1 ? "train" : "trains"} with it. ${idea}` : idea;
  }

  choose(/** @type {string} */ name) {
    this.active = name;
    this.fold(false);
    if (this.value !== name) tell(this.model, "value", name);
    else this.draw();
  }

  compare(/** @type {string} */ name) {
    const others = this.compared;
    const without = others.filter((each) => each !== name);
    this.fold(false);
    tell(this.model, "compared", others.includes(name) ? without : [...others, name].slice(-3));
    this.draw();
  }

  /** The cards that answer the search, and a sentence above them. */
  found() {
    const { sum } = this;
    if (!sum) return searched(this.model, this.cards, this.search.value, "objective");
    return { note: `Enter takes the sum '${sum}'; a weight comes before a name, as in MLM + 0.5 SOP.`, shown: [] };
  }

  draw() {
    const { search, value } = this;
    const { note, shown } = this.found();
    this.shown = shown;
    const best = (!search.value && shown.find((card) => card.name === value)) || shown[0] || { name: "" };
    const kept = search.value === this.asked && shown.some((card) => card.name === this.active);
    if (!kept) this.active = best.name;
    this.asked = search.value;
    const facts = JSON.stringify([note, shown, this.active, value, this.compared, search.value, this.cards.length]);
    if (facts === this.drawn) return;
    this.drawn = facts;
    const rows = shown.flatMap((card, i) => [...this.heading(card, shown[i - 1]), this.row(card, i)]);
    this.list.replaceChildren(...(note ? [node("p", { class: "none" }, note)] : []), ...rows);
    this.now.textContent = [value || "Choose an objective", ...this.compared].join(" | ");
    const all = `${this.cards.length} objectives`;
    this.count.textContent = search.value ? `${note ? 0 : shown.length} of ${all}` : all;
    search.setAttribute("aria-activedescendant", this.list.querySelector(".active")?.id || "");
  }

  /** The name of a group above its first card, where nothing is searched. */
  heading(/** @type {Card} */ { group }, /** @type {Card | undefined} */ before) {
    const same = this.search.value || before?.group === group;
    return same ? [] : [node("h5", { role: "presentation" }, group)];
  }

  row(/** @type {Card} */ card, /** @type {number} */ i) {
    const { name, idea } = card;
    const look = { class: `card${name === this.active ? " active" : ""}`, title: idea };
    const marks = { role: "option", id: `${this.id}-${i}`, "aria-selected": String(name === this.value) };
    const choose = () => this.choose(name);
    const side = node("span", {}, ...(name === this.value ? [] : [this.compareMark(name)]));
    const inside = [node("b", {}, name), side, node("small", {}, this.about(card))];
    return node("div", { ...marks, ...look, "data-name": name, onclick: choose }, ...inside);
  }

  /** An option may hold no button: this one is for the pointer, Shift+Enter does the same. */
  compareMark(/** @type {string} */ name) {
    const pressed = this.compared.includes(name);
    const onclick = (/** @type {Event} */ event) => {
      event.stopPropagation();
      this.compare(name);
    };
    const title = pressed ? "Remove from the comparison" : "Compare with the chosen objective";
    const marks = { class: "compare", "data-pressed": String(pressed), title: `${title} (Shift+Enter)`, onclick };
    return node("span", marks, pressed ? "✓ compared" : "+ compare");
  }

  walk(/** @type {number} */ step) {
    this.active = neighbour(this.shown.map((card) => card.name), this.active, step) || "";
    this.draw();
    this.list.querySelector(".active")?.scrollIntoView({ block: "nearest" });
  }

  /** A key in the field of the search. */
  key(/** @type {KeyboardEvent} */ event) {
    const { active, search, sum } = this;
    const step = /** @type {Steps} */ ({ ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8 })[event.key];
    if (step) this.walk(step);
    else if (event.key === "Enter" && event.shiftKey && active && active !== this.value) this.compare(active);
    else if (event.key === "Enter" && (active || sum)) this.choose(active || sum);
    else if (event.key === "Escape" && search.value) search.value = "";
    else if (event.key === "Escape") this.fold(false);
    else return;
    event.preventDefault();
    event.stopPropagation();
    if (event.key === "Escape") this.draw();
  }

  fold(/** @type {boolean} */ open) {
    this.root.classList.toggle("unfolded", open);
    this.now.setAttribute("aria-expanded", String(open));
  }

  seek(open = true) {
    this.fold(open);
    this.search.focus();
  }

  /** From anywhere on the page that is not a field: "/" searches, a digit chooses, "c" compares. */
  anywhere(/** @type {KeyboardEvent} */ event) {
    const at = /** @type {HTMLInputElement} */ (event.composedPath()[0]);
    const typing = ["TEXTAREA", "SELECT"].includes(at.tagName) || (at.tagName === "INPUT" && at.type !== "range");
    if (typing || event.ctrlKey || event.metaKey || event.altKey || !this.root.offsetParent) return;
    const card = /^\d$/.test(event.key) && this.cards[(Number(event.key) + 9) % 10];
    const other = () => this.compare(this.value === "LM" ? "MLM" : "LM");
    /** @type {Record<string, () => void>} */
    const letters = { "/": () => this.seek(), c: other };
    const act = card ? () => this.choose(card.name) : letters[event.key.toLowerCase()];
    if (!act) return;
    event.preventDefault();
    act();
  }

  outside(/** @type {Event} */ event) {
    if (!event.composedPath().includes(this.root)) this.fold(false);
  }

  changed() {
    this.active = this.value;
    this.draw();
  }

  /** What is nearest comes first, so it is what Enter takes. */
  answered() {
    this.asked = "";
    this.draw();
  }
}

function render(/** @type {Host} */ { model, el }) {
  const picker = new ObjectivePicker(model);
  const changed = () => picker.changed();
  const answered = () => picker.answered();
  el.replaceChildren(picker.root);
  changed();
  const acts = { keydown: picker.anywhere.bind(picker), pointerdown: picker.outside.bind(picker) };
  const ends = [follow(model, ["value", "cards", "compared"], changed), follow(model, ["nearest"], answered)];
  return endOf(listen([[document, acts]]), ...ends, () => picker.root.remove());
}

export default { render };
