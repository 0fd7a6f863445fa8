/**
 * A lasso around points of a map: those inside are listed below and keep their colour; Escape or a press lets them go.
 */

import { listen, svgNode } from "../animation/js/dom.js";

const SHORTEST = 6; // units of the drawing that a drag is long; less is a press

/** Whether a closed line through points `[x, y]` goes around a point, by the even-odd rule. */
export function encloses(/** @type {Point[]} */ line, /** @type {Point} */ [x, y]) {
  let odd = false;
  for (const [k, [ax, ay]] of line.entries()) {
    const [bx, by] = line[(k + 1) % line.length];
    if (ay > y !== by > y && x < ax + ((bx - ax) * (y - ay)) / (by - ay)) odd = !odd;
  }
  return odd;
}

/** Where a pointer is, in the units of a drawing. @returns {Point} */
export function pointIn(/** @type {SVGSVGElement} */ svg, /** @type {MouseEvent} */ { clientX, clientY }) {
  const { x, y } = new DOMPoint(clientX, clientY).matrixTransform(svg.getScreenCTM()?.inverse());
  return [x, y];
}

/** Hears drags over every map below a root, whatever markup it has; what comes back ends it. */
export function lassos(/** @type {Element} */ root) {
  /** @type {SVGSVGElement | null} */
  let map = null; // the one that is dragged over
  /** @type {Point[]} */
  let line = [];
  /** @type {SVGElement | null} */
  let drawn = null;

  /** Marks the points inside and lists their names; without a line all are as they were. */
  function mark(/** @type {Element} */ frame, /** @type {Point[]} */ around) {
    const points = [...frame.querySelectorAll("[data-label]")];
    const caught = points.filter((point) => {
      const circle = point.querySelector("circle");
      return circle && encloses(around, [circle.cx.baseVal.value, circle.cy.baseVal.value]);
    });
    for (const point of points) point.classList.toggle("faded", around.length > 0 && !caught.includes(point));
    const names = caught.map((point) => point.dataset.label).join(", ");
    const list = /** @type {Element} */ (frame.querySelector(".caught"));
    list.dataset.hint ??= list.textContent ?? "";
    list.textContent = around.length
      ? `${caught.length} of ${points.length} points${names && `: ${names}`}.`
      : list.dataset.hint;
  }

  function clear() {
    drawn?.remove();
    for (const frame of root.querySelectorAll("[data-lasso]")) mark(frame, []);
  }

  function onDown(/** @type {On<PointerEvent>} */ event) {
    map = event.button === 0 ? event.target.closest("[data-lasso] svg") : null;
    if (!map) return;
    event.preventDefault(); // no text is selected
    clear();
    line = [pointIn(map, event)];
    drawn = map.appendChild(svgNode("path", { class: "lasso" }));
    map.setPointerCapture(event.pointerId);
  }

  function onMove(/** @type {PointerEvent} */ event) {
    if (!map) return;
    line.push(pointIn(map, event));
    drawn?.setAttribute("d", `M${line.map(([x, y]) => `${x.toFixed(1)} ${y.toFixed(1)}`).join("L")}z`);
  }

  function onUp() {
    if (!map) return;
    const [[x, y]] = line;
    const frame = map.closest("[data-lasso]");
    const far = line.some(([a, b]) => Math.hypot(a - x, b - y) > SHORTEST);
    if (far && frame) mark(frame, line);
    else drawn?.remove();
    map = null;
  }

  function onCancel() {
    if (map) clear();
    map = null;
  }

  return listen([
    [root, { pointerdown: onDown, pointermove: onMove, pointerup: onUp, pointercancel: onCancel }],
    [document, { keydown: ({ key }) => key === "Escape" && (onCancel(), clear()) }],
  ]);
}
