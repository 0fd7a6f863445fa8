/**
 * A ring over matrices of the same rows and columns: it is dragged in one, moves in all, and its numbers are listed.
 */

import { CELL_STEPS, listen, svgNode } from "../animation/js/dom.js";
import { pointIn } from "./lasso.js";

const RADIUS = 12; // pixels of the drawing

/** The cell `[row, column]` that is nearest to a point, of cells with the middle `[row, column, x, y]`. */
export function nearest(/** @type {number[][]} */ middles, /** @type {Point} */ [x, y]) {
  const far = (/** @type {number[]} */ [, , a, b]) => (a - x) ** 2 + (b - y) ** 2;
  return middles.reduce((best, each) => (far(each) < far(best) ? each : best)).slice(0, 2);
}

/** What a matrix says of a cell: its title and the value. */
const said = (/** @type {Element | null} */ figure, /** @type {Element | undefined} */ cell) =>
  `${figure?.querySelector("figcaption")?.textContent}: ${cell?.dataset.value}`;

const cellOf = (/** @type {Element} */ { dataset }) => (dataset.cell || "").split(",").map(Number);

function middle(/** @type {Element} */ cell) {
  const [x, y, width, height] = ["x", "y", "width", "height"].map((name) => Number(cell.getAttribute(name)));
  return [...cellOf(cell), x + width / 2, y + height / 2];
}

/** Puts a ring into every matrix of a frame and hears what moves it; what comes back ends it. */
function ringIn(/** @type {Element} */ frame) {
  const maps = [...frame.querySelectorAll("svg")].map((svg) => {
    const cells = new Map([...svg.querySelectorAll("[data-cell]")].map((cell) => [cell.dataset.cell, cell]));
    return { svg, cells, middles: [...cells.values()].map(middle), figure: svg.closest("figure") };
  }).filter(({ middles }) => middles.length);
  const rings = maps.map(({ svg }) => svg.appendChild(svgNode(
    "circle", { class: "ring", r: RADIUS, tabindex: 0, role: "button" }
  )));
  const list = /** @type {Element} */ (frame.querySelector(".caught"));
  let at = maps[0].middles[maps[0].middles.length >> 1].slice(0, 2);
  let dragged = -1;

  function show() {
    for (const [k, { cells, middles }] of maps.entries()) {
      const cell = cells.get(at.join());
      rings[k].style.display = cell ? "" : "none";
      if (!cell) continue;
      const [, , x, y] = middles.find(([i, j]) => i === at[0] && j === at[1]) || [];
      rings[k].setAttribute("cx", x);
      rings[k].setAttribute("cy", y);
      rings[k].setAttribute("aria-label", cell.textContent);
    }
  }

  function go(/** @type {number[]} */ to) {
    const cell = maps[0].cells.get(to.join());
    if (!cell) return;
    at = to;
    show();
    const here = maps.filter(({ cells }) => cells.has(at.join()));
    const { across, down } = cell.dataset;
    const names = `${frame.dataset.across} ${across}, ${frame.dataset.down} ${down}`;
    list.textContent = `${names}. ${here.map(({ figure, cells }) => said(figure, cells.get(at.join()))).join("; ")}.`;
  }

  function onDown(/** @type {On<PointerEvent>} */ event) {
    dragged = rings.indexOf(event.target);
    if (dragged >= 0) return event.target.setPointerCapture(event.pointerId);
    const cell = event.target.closest("[data-cell]");
    if (cell) go(cellOf(cell));
  }

  function onKey(/** @type {On<KeyboardEvent>} */ event) {
    const step = rings.includes(event.target) && CELL_STEPS[event.key];
    if (!step) return;
    event.preventDefault();
    event.stopPropagation();
    go([at[0] + step[0], at[1] + step[1]]);
  }

  show();
  const onMove = (/** @type {PointerEvent} */ event) =>
    dragged >= 0 && go(nearest(maps[dragged].middles, pointIn(maps[dragged].svg, event)));
  const onUp = () => (dragged = -1);
  return listen([[frame, {
    pointerdown: onDown, pointermove: onMove, pointerup: onUp, pointercancel: onUp, keydown: onKey,
  }]]);
}

/** Rings in all frames below a root that want one; what comes back ends them. */
export function rings(/** @type {Element} */ root) {
  const ends = [...root.querySelectorAll("[data-ring]")].map(ringIn);
  return () => ends.forEach((end) => end());
}
