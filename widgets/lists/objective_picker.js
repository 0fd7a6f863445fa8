/**
 * A list of objectives to choose from: grouped, searched, walked by the arrow keys. It unfolds from a button that says
 * what is chosen. Texts only ever reach `textContent`.
 */

import objectivePickerStyle from "./objective_picker.css" with { type: "text" };
import { endOf, follow, listen, node, plain, tell } from "../animation/js/dom.js";
import { matches, neighbour, ranked, searchField, searched } from "./listbox.js";

function render({ model, el }) {
  const id = `picker-${Math.random().toString(36).slice(2)}`;
  const now = node("button", { type: "button", class: "now", "aria-expanded": "false", onclick: () => seek(!root.classList.contains("unfolded")) });
  const search = searchField("Search objectives", { role: "combobox", "aria-expanded": "true", "aria-controls": id, "aria-autocomplete": "list", oninput: draw, onkeydown: onKey });
  const list = node("div", { class: "list", role: "listbox", id, "aria-label": "Objectives" });
  const count = node("p", { class: "count", role: "status" });
  const root = node("div", { class: "picker" }, node("style", {}, objectivePickerStyle), now, node("div", { class: "open" }, search, list, count));
  let active = "";
  let asked = "";
  let shown = [];

  const cards = () => (model.get("cards") || []).map(plain);
  const compared = () => model.get("compared") || [];

  /** What is typed, where it is a sum of objectives and no name of one; the engine reads it, or says why it cannot. */
  const sum = () => (search.value.includes("+") && !ranked(cards(), search.value).length ? search.value.trim() : "");

  /** The idea of an objective, after the models that are searched for and train with it. */
  function about({ models, idea }) {
    const found = search.value.trim() ? models.filter((model) => matches(model, search.value)) : [];
    return found.length ? `${found.join(", ")} ${found.length > 1 ? "train" : "trains"} with it. ${idea}` : idea;
  }

  function choose(name) {
    active = name;
    fold(false);
    if (model.get("value") !== name) tell(model, "value", name);
    else draw();
  }

  function compare(name) {
    const others = compared();
    fold(false);
    tell(model, "compared", others.includes(name) ? others.filter((each) => each !== name) : [...others, name].slice(-3));
    draw();
  }

  function draw() {
    const value = model.get("value");
    const all = cards();
    const found = searched(model, all, search.value, "objective");
    const note = sum() ? `Enter takes the sum '${sum()}'; a weight comes before a name, as in MLM + 0.5 SOP.` : found.note;
    shown = sum() ? [] : found.shown;
    const best = (!search.value && shown.find((card) => card.name === value)) || shown[0] || { name: "" };
    if (search.value !== asked || !shown.some((card) => card.name === active)) active = best.name;
    asked = search.value;
    let group = null;
    const rows = shown.flatMap((card, i) => {
      const heading = search.value || card.group === group ? [] : [node("h5", { role: "presentation" }, card.group)];
      group = card.group;
      return [...heading, draft(card, i, value)];
    });
    list.replaceChildren(...(note ? [node("p", { class: "none" }, note)] : []), ...rows);
    now.textContent = [value || "Choose an objective", ...compared()].join(" | ");
    count.textContent = search.value ? `${note ? 0 : shown.length} of ${all.length} objectives` : `${all.length} objectives`;
    search.setAttribute("aria-activedescendant", list.querySelector(".active")?.id || "");
  }

  function draft(card, i, value) {
    const side = node("span", {});
    if (card.name !== value) {
      const pressed = compared().includes(card.name);
      // An option may hold no button: this one is for the pointer, Shift+Enter does the same.
      const onclick = (event) => {
        event.stopPropagation();
        compare(card.name);
      };
      const title = pressed ? "Remove from the comparison (Shift+Enter)" : "Compare with the chosen objective (Shift+Enter)";
      side.append(node("span", { class: "compare", "data-pressed": String(pressed), title, onclick }, pressed ? "✓ compared" : "+ compare"));
    }
    const marks = { class: `card${card.name === active ? " active" : ""}`, "aria-selected": String(card.name === value), "data-name": card.name };
    return node("div", { role: "option", id: `${id}-${i}`, ...marks, title: card.idea, onclick: () => choose(card.name) }, node("b", {}, card.name), side, node("small", {}, about(card)));
  }

  function walk(step) {
    active = neighbour(shown.map((card) => card.name), active, step) || "";
    draw();
    list.querySelector(".active")?.scrollIntoView({ block: "nearest" });
  }

  function onKey(event) {
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8 }[event.key];
    if (step) walk(step);
    else if (event.key === "Enter" && event.shiftKey && active && active !== model.get("value")) compare(active);
    else if (event.key === "Enter" && active) choose(active);
    else if (event.key === "Enter" && sum()) choose(sum());
    else if (event.key === "Escape" && search.value) search.value = "";
    else if (event.key === "Escape") fold(false);
    else return;
    event.preventDefault();
    event.stopPropagation();
    if (event.key === "Escape") draw();
  }

  function fold(open) {
    root.classList.toggle("unfolded", open);
    now.setAttribute("aria-expanded", String(open));
  }

  function seek(open = true) {
    fold(open);
    search.focus();
  }

  /** From anywhere on the page that is not a field: "/" searches, a digit chooses, "c" compares. */
  function anywhere(event) {
    const at = event.composedPath()[0];
    const typing = ["TEXTAREA", "SELECT"].includes(at.tagName) || (at.tagName === "INPUT" && at.type !== "range");
    if (typing || event.ctrlKey || event.metaKey || event.altKey || !root.offsetParent) return;
    const card = /^\d$/.test(event.key) && cards()[(Number(event.key) + 9) % 10];
    const act = card ? () => choose(card.name) : { "/": () => seek(), c: () => compare(model.get("value") === "LM" ? "MLM" : "LM") }[event.key.toLowerCase()];
    if (!act) return;
    event.preventDefault();
    act();
  }

  const outside = (event) => event.composedPath().includes(root) || fold(false);

  function changed() {
    active = model.get("value");
    draw();
  }

  /** What is nearest comes first, so it is what Enter takes. */
  function answered() {
    asked = "";
    draw();
  }

  el.replaceChildren(root);
  changed();
  return endOf(listen([[document, "keydown", anywhere], [document, "pointerdown", outside]]), follow(model, ["value", "cards", "compared"], changed), follow(model, ["nearest"], answered), () => root.remove());
}

export default { render };
