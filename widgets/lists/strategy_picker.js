/**
 * Strategies to choose several from: chosen ones as chips with their colour, all others below in families, with a search.
 *
 * Native check boxes, so that a screen reader says what they are. One of them is in the tab order, arrow keys walk to the
 * others. What a strategy is for and where it comes from is said below the list for the one under the pointer or the focus.
 * Text only ever reaches `append`: data can never become markup.
 */

import { node, plain } from "../animation/js/dom.js";
import { matches } from "../animation/js/search.js";

const STYLE = `
.chooser { color: var(--panel-on-background-color, CanvasText); font-family: inherit; font-size: 14px; line-height: 1.4; }
.chooser ul { list-style: none; display: flex; flex-wrap: wrap; gap: 5px; margin: 0 0 8px; padding: 0; }
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
.chooser .told { min-height: 7.2em; margin: 6px 2px 0; font-size: 12.5px; }
.chooser .told b { display: block; font-size: 13px; }
.chooser .told span { display: block; opacity: .8; overflow-wrap: anywhere; }
.chooser .count { font-size: 12px; opacity: .8; margin: 4px 2px 0; }
.chooser .unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.chooser :focus-visible { outline: 2px solid #3390d6; outline-offset: 1px; }
`;

/** Everything by which a card is found. */
const said = (card) => `${card.name} ${card.also} ${card.idea} ${card.family}`;

/** The marks of the charts, each as a path around the middle of a swatch. */
const SHAPES = {
  circle: "M14 2.4a3.6 3.6 0 1 1 0 7.2a3.6 3.6 0 1 1 0-7.2z",
  square: "M10.6 2.6h6.8v6.8h-6.8z",
  triangle: "M14 1.6 18.2 9.4H9.8z",
  diamond: "M14 1.2 18 6 14 10.8 10 6z",
};

function drawn(tag, attributes) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

/** A piece of the line with its mark, as a strategy is drawn in every chart. */
function swatch({ colour, dash, shape }) {
  const box = drawn("svg", { width: 28, height: 12, "aria-hidden": "true" });
  box.append(drawn("line", { x1: 0, x2: 28, y1: 6, y2: 6, stroke: colour, "stroke-width": 3, "stroke-dasharray": dash }));
  if (SHAPES[shape]) box.append(drawn("path", { d: SHAPES[shape], fill: colour }));
  return box;
}

function render({ model, el }) {
  const id = `chooser-${Math.random().toString(36).slice(2)}`;
  const chips = node("ul", { "aria-label": "chosen strategies" });
  const search = node("input", { type: "search", placeholder: "Search strategies", "aria-label": "Search strategies", autocomplete: "off", spellcheck: "false" });
  const keys = node("p", { class: "unseen", id: `${id}-keys` }, "Arrow keys walk through the list, space chooses.");
  const list = node("div", { class: "list", role: "group", "aria-label": "strategies", "aria-describedby": `${id}-keys` });
  const told = node("p", { class: "told", "aria-hidden": "true" });
  const count = node("p", { class: "count", role: "status" });
  const style = node("style", {}, STYLE);
  const root = node("div", { class: "chooser" }, style, chips, search, keys, list, told, count);
  let at = "";

  const cards = () => (model.get("cards") || []).map(plain);
  const value = () => [...(model.get("value") || [])];
  const boxes = () => [...list.querySelectorAll("input")];

  function turn(name) {
    const now = value();
    const fresh = now.includes(name) ? now.filter((each) => each !== name) : [...now, name];
    if (fresh.length > model.get("most")) return show();
    model.set("value", fresh);
    model.save_changes();
    show();
  }

  function tell(card) {
    told.replaceChildren(...(card ? [node("b", {}, card.name), card.idea, node("span", {}, card.source), node("span", {}, card.rate)] : []));
  }

  /** Make the list of what the search finds; the marks are set by `show`. */
  function draw() {
    const found = cards().filter((card) => matches(said(card), search.value));
    const families = [...new Set(found.map((card) => card.family))];
    const sets = families.map((family) => {
      const members = found.filter((card) => card.family === family);
      const legend = node("legend", {}, family, node("small", {}, members[0].shared));
      return node("fieldset", {}, legend, ...members.map(row));
    });
    list.replaceChildren(...(sets.length ? sets : [node("p", { class: "count" }, `No strategy has '${search.value}' in its name or purpose.`)]));
    show();
  }

  function row(card) {
    const described = `${id}-${card.name}`.replace(/\s+/g, "-");
    const box = node("input", { type: "checkbox", "aria-describedby": described, "data-name": card.name });
    const made = node("label", {}, box, node("span", {}, card.name));
    box.addEventListener("change", () => turn(card.name));
    box.addEventListener("focus", () => { at = card.name; tell(card); show(); });
    made.addEventListener("pointerenter", () => tell(card));
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
      const leave = node("button", { type: "button", "aria-label": `leave out ${name}`, title: `leave out ${name}` }, "×");
      leave.addEventListener("click", () => { turn(name); (chips.querySelectorAll("button")[Math.max(0, k - 1)] || search).focus(); });
      return node("li", {}, swatch(marks[k] || { colour: "#8a8f98", dash: "none" }), node("span", {}, name), leave);
    }));
    const some = search.value ? `${shown.length} of ${cards().length} found; ` : "";
    count.textContent = `${some}${now.length} of ${cards().length} chosen${full ? ", which is the most at once" : ""}. The first is the baseline.`;
  }

  list.addEventListener("keydown", (event) => {
    const shown = boxes();
    const here = shown.indexOf(event.target);
    const there = { ArrowDown: here + 1, ArrowRight: here + 1, ArrowUp: here - 1, ArrowLeft: here - 1, Home: 0, End: shown.length - 1 }[event.key];
    if (there === undefined || here < 0) return;
    event.preventDefault();
    shown[Math.min(shown.length - 1, Math.max(0, there))].focus();
  });
  search.addEventListener("input", draw);
  search.addEventListener("keydown", (event) => {
    if (event.key !== "ArrowDown") return;
    event.preventDefault();
    boxes()[0]?.focus();
  });
  const changed = () => {
    tell(cards().find((card) => card.name === value().at(-1)));
    show();
  };
  const remake = ["change:cards"], renew = ["change:value", "change:marks"];
  for (const change of remake) model.on(change, draw);
  for (const change of renew) model.on(change, changed);
  el.replaceChildren(root);
  draw();
  tell(cards().find((card) => card.name === value()[0]));
  return () => {
    for (const change of remake) model.off?.(change, draw);
    for (const change of renew) model.off?.(change, changed);
    root.remove();
  };
}

export default { render };
