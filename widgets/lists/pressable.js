/**
 * Markup of our own in which parts can be pressed: tables, a timeline and cards. What is pressed is said by its name.
 */

import { activeIn, endOf, focusOn, follow, listen, node, tell } from "../animation/js/dom.js";
import { lassos } from "./lasso.js";
import { rings } from "./ring.js";

const PART = "[data-act]";
const BAR = 70; // pixels of the bar over the page

function render(/** @type {Host} */ { model, el }) {
  const root = node("div", { class: "pressable" });
  let presses = 0;
  let endRings = () => {};

  const where = (/** @type {string} */ name, value = "") => `[data-${name}="${CSS.escape(value)}"]`;
  const inside = () => activeIn(root)?.closest(PART);

  function press(/** @type {Element} */ part) {
    presses += 1;
    tell(model, "pressed", [part.dataset.act, part.dataset.name, presses]);
  }

  function onClick(/** @type {On<Event>} */ event) {
    const part = event.target.closest(PART) || event.target.closest("tr[data-row]")?.querySelector(PART);
    if (part) press(part);
  }

  /** The arrow keys walk down and up a table in its column; a part of a drawing is pressed as a button is. */
  function onKey(/** @type {On<KeyboardEvent>} */ event) {
    const part = event.target.closest(PART);
    const step = /** @type {Steps} */ ({ ArrowDown: 1, ArrowUp: -1 })[event.key];
    if (part && step) {
      const column = [...root.querySelectorAll(where("act", part.dataset.act))].filter((each) => !each.closest(".out"));
      column[column.indexOf(part) + step]?.focus();
    } else if (part && part.tagName !== "BUTTON" && ["Enter", " "].includes(event.key)) press(part);
    else return;
    event.preventDefault();
  }

  const frames = () => [...root.querySelectorAll(".wide, .scroll")];

  /** New markup keeps the focus and the places that were scrolled to. */
  function draw() {
    const focus = inside();
    const scrolled = frames().map((frame) => [frame.scrollLeft, frame.scrollTop]);
    endRings();
    root.innerHTML = model.get("markup");
    endRings = rings(root);
    for (const [k, frame] of frames().entries()) frame.scrollTo(...(scrolled[k] || [0, 0]));
    mark();
    if (focus) focusOn(root, where("act", focus.dataset.act) + where("name", focus.dataset.name));
  }

  /** What is new comes into sight where it begins outside the window, below the bar of the page. */
  function arrive() {
    draw();
    const { top } = root.getBoundingClientRect();
    if (model.get("arrives") && root.firstChild && (top < BAR || top > innerHeight - BAR)) root.scrollIntoView();
  }

  function mark() {
    const [shown, chosen] = [model.get("shown"), model.get("chosen")];
    for (const part of root.querySelectorAll("[data-row]")) {
      part.classList.toggle("out", !shown.includes(part.dataset.row));
      part.classList.toggle("chosen", part.dataset.row === chosen);
    }
    requestAnimationFrame(centre);
  }

  /** The chosen part of a drawing that is wider than its frame stands in the middle of it. */
  function centre() {
    const [frame, part] = [
      root.querySelector(".wide"), root.querySelector("g.chosen"),
    ].map((each) => each?.getBoundingClientRect());
    if (!frame || !part || (part.left >= frame.left && part.right <= frame.right)) return;
    root.querySelector(".wide").scrollLeft += (part.left + part.right - frame.left - frame.right) / 2;
  }

  el.replaceChildren(root);
  draw();
  const heard = listen([[root, { click: onClick, keydown: onKey }]]);
  return endOf(
    heard, () => endRings(), lassos(root), follow(model, ["markup"], arrive), follow(model, ["shown", "chosen"], mark)
  );
}

export default { render };
