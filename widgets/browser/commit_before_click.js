/**
 * A press counts for the control on which it began, and what was typed before it counts first. A browser gives a click
 * to what lies under the pointer when it is let go, which is another element where the page grew in between. So a
 * control captures the pointer (Pointer Events, sec. 4.1.3.1) until the pointer itself moves away.
 */

import { hostOf, listen } from "../animation/js/dom.js";

const CONTROLS = "button, a[href], label, summary, input[type=checkbox], input[type=radio], [role=option], [role=tab]";
const STILL = 8; // pixels that a pointer may tremble during a press

/** @type {{ [model: string]: RegExp }} */
const NUMBERS = { IntInput: /^[-+]?\d+$/, FloatInput: /^[-+]?(\d+\.?\d*|\.\d+)$/ };

function render() {
  /** @type {{ control: HTMLElement, x: number, y: number } | null} */
  let pressed = null;

  function down(/** @type {PointerEvent} */ event) {
    sendNumber(event);
    const control = /** @type {any[]} */ (event.composedPath()).find(
      (node) => node.pressable || node.matches?.(CONTROLS)
    ); // the innermost
    if (!control || !event.isPrimary || event.button) return;
    pressed = { control, x: event.clientX, y: event.clientY };
    control.setPointerCapture(event.pointerId);
  }

  /** A pointer that moves away takes the press back, as everywhere. */
  function move(/** @type {PointerEvent} */ event) {
    if (!pressed || !event.isPrimary) return;
    if (Math.hypot(event.clientX - pressed.x, event.clientY - pressed.y) <= STILL) return;
    const { control } = pressed;
    pressed = null;
    if (control.hasPointerCapture(event.pointerId)) control.releasePointerCapture(event.pointerId);
  }

  const up = () => (pressed = null);
  return listen([[window, {
    keydown: ({ key }) => key === "Tab" && sendNumber(), pointerdown: down, pointermove: move, pointerup: up,
    pointercancel: up,
  }]], true);
}

/**
 * A number field sends its value only some tasks of the browser after it lost the focus, which on a busy machine is
 * after the button was pressed. Here it is sent before that, unless the press is within the field itself.
 */
function sendNumber(/** @type {Event | undefined} */ event = undefined) {
  const field = inFocus(document);
  const typed = field instanceof HTMLInputElement && !event?.composedPath().includes(field);
  const host = typed && hostOf(field);
  const model = host && window.Bokeh?.index.query_one((view) => view.el === host)?.model;
  if (model && NUMBERS[model.class_name]?.test(field.value)) model.data.setv({ value: Number(field.value) });
}

/** The element that has the focus, also behind shadow roots. @returns {Element | null} */
function inFocus(/** @type {Document | ShadowRoot} */ root) {
  const element = root.activeElement;
  return element?.shadowRoot ? inFocus(element.shadowRoot) || element : element;
}

export default { render };
