/**
 * A lasso around points of a map: those inside are listed below and keep their colour; Escape or a press lets them go.
 */

import { listen, svgNode } from "../animation/js/dom.js";

const SHORTEST = 6; // units of the drawing that a drag is long; less is a press

/** Whether a closed line through points `[x, y]` goes around a point, by the even-odd rule. */
export function encloses(line, [x, y]) {
  let odd = false;
  for (const [k, [ax, ay]] of line.entries()) {
    const [bx, by] = line[(k + 1) % line.length];
    if (ay > y !== by > y && x < ax + ((bx - ax) * (y - ay)) / (by - ay)) odd = !odd;
  }
  return odd;
}

/** Hears drags over every map below a root, whatever markup it has; what comes back ends it. */
export function lassos(root) {
  /** @type {any} */
  let map = null; // the one that is dragged over
  let line = [];
  /** @type {any} */
  let drawn = null;

  function at(event) {
    const { x, y } = new DOMPoint(event.clientX, event.clientY).matrixTransform(map.getScreenCTM().inverse());
    return [x, y];
  }

  /** Marks the points inside and lists their names; without a line all are as they were. */
  function mark(frame, around) {
    const points = [...frame.querySelectorAll("[data-label]")];
    const caught = points.filter((point) => {
      const { cx, cy } = point.querySelector("circle");
      return encloses(around, [cx.baseVal.value, cy.baseVal.value]);
    });
    for (const point of points) point.classList.toggle("faded", around.length > 0 && !caught.includes(point));
    const names = caught.map((point) => point.dataset.label).join(", ");
    const list = frame.querySelector(".caught");
    list.dataset.hint ??= list.textContent;
    list.textContent = around.length
      ? `${caught.length} of ${points.length} points${names && `: ${names}`}.`
      : list.dataset.hint;
  }

  function clear() {
    drawn?.remove();
    for (const frame of root.querySelectorAll("[data-lasso]")) mark(frame, []);
  }

  function onDown(event) {
    map = event.button === 0 ? event.target.closest("[data-lasso] svg") : null;
    if (!map) return;
    event.preventDefault(); // no text is selected
    clear();
    line = [at(event)];
    drawn = map.appendChild(svgNode("path", { class: "lasso" }));
    map.setPointerCapture(event.pointerId);
  }

  function onMove(event) {
    if (!map) return;
    line.push(at(event));
    drawn.setAttribute("d", `M${line.map(([x, y]) => `${x.toFixed(1)} ${y.toFixed(1)}`).join("L")}z`);
  }

  function onUp() {
    if (!map) return;
    const [[x, y]] = line;
    const far = line.some(([a, b]) => Math.hypot(a - x, b - y) > SHORTEST);
    if (far) mark(map.closest("[data-lasso]"), line);
    else drawn.remove();
    map = null;
  }

  function onCancel() {
    if (map) clear();
    map = null;
  }

  return listen([
    [root, "pointerdown", onDown], [root, "pointermove", onMove], [root, "pointerup", onUp], [
      root, "pointercancel", onCancel,
    ],
    [document, "keydown", ({ key }) => key === "Escape" && (onCancel(), clear())],
  ]);
}
