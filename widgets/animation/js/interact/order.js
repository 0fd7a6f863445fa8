/** The order of prediction as a strip of buttons: drag a word or the cut, or move it with Shift and the arrows. */

import { focusOn, focused, node } from "../dom.js";
import { LONG } from "../paint/long_text.js";
import { clamp } from "../record.js";
import { draggable } from "./controls.js";
import { grip } from "./grip.js";

export class OrderStrip {
  /** @type {OrderDrag | null} */
  dealt = null; // the unit or the cut that is being moved

  constructor(/** @type {Kit} */ kit, /** @type {import("./plan.js").EditablePlan} */ plan) {
    this.kit = kit;
    this.plan = plan;
    this.root = node("div", { class: "stage-order", role: "group", "aria-label": "Order" });
    draggable(this.root, {
      start: (event) => this.start(event),
      move: (drag, event) => this.drag(drag, event),
      end: (drag, event, cancelled) => this.drop(drag, event, cancelled),
    });
  }

  /** @returns {Element[]} */
  get units() {
    return [...this.root.querySelectorAll("[data-unit]")];
  }

  adopt() {
    if (this.dealt) return; // what is in the hand stays there; it is laid down in the strip that follows
    this.root.hidden = !this.plan.can("order");
    if (this.root.hidden) return;
    const [sequence, cut] = [this.plan.values.order || [], this.plan.values.cut];
    const { unit } = focused(this.kit.root);
    this.root.style.touchAction = sequence.length > LONG ? "pan-y" : ""; // a long strip is scrolled by a finger
    const made = sequence.map((each, i) => this.unitButton(each, i, sequence.length, cut !== undefined && i >= cut));
    this.root.replaceChildren(node("span", {}, cut === undefined ? "new order" : "prediction order"), ...made);
    if (cut !== undefined && made[cut]) made[cut].before(this.cutGrip(cut, sequence.length));
    if (unit) focusOn(this.root, `[data-unit="${unit}"]`);
  }

  /** @param {number} unit @param {number} i @param {number} total @param {boolean} predicted */
  unitButton(unit, i, total, predicted) {
    const name = this.plan.record.units?.[unit - 1];
    const label = `${name}, step ${i + 1} of ${total}${predicted ? ", predicted" : ""}`;
    return node("button", {
      type: "button", "data-unit": String(unit), "data-at": String(i), "aria-label": label,
      title: "Drag, or Shift+Left and Shift+Right", class: predicted ? "late" : "", tabindex: i ? "-1" : "0",
    }, node("small", {}, String(i + 1)), name ?? String(unit));
  }

  cutGrip(/** @type {number} */ cut, /** @type {number} */ total) {
    const label = "Context length: words that are given before the first prediction";
    const made = grip("stage-cut", label, 0, total - 1, cut, (to) => this.plan.send({ do: "cut", to }, "cut"));
    made.dataset.cut = "1";
    return made;
  }

  /** Moves a unit; the strip stays as laid until the answer comes. */
  moveUnit(/** @type {number} */ unit, /** @type {number} */ to) {
    const order = this.plan.values.order || [];
    const sequence = order.filter((each) => each !== unit);
    sequence.splice(clamp(to, 0, sequence.length), 0, unit);
    if (String(sequence) === String(order)) this.adopt();
    else this.plan.send({ do: "order", to: sequence }, "order");
  }

  /** The position in the strip that is nearest to the pointer. */
  placeAt(/** @type {MouseEvent} */ { clientX, clientY }) {
    const boxes = this.units.map((each) => each.getBoundingClientRect());
    const far = (/** @type {DOMRect} */ box) =>
      Math.hypot(clientX - box.left - box.width / 2, 2 * (clientY - box.top - box.height / 2));
    const at = boxes.reduce((best, box, i) => (far(box) < far(boxes[best]) ? i : best), 0);
    return { at, after: clientX > boxes[at].left + boxes[at].width / 2 };
  }

  start(/** @type {On<PointerEvent>} */ { target, clientX: from, clientY: high }) {
    const part = target.closest("[data-cut], [data-unit]");
    const handle = part?.matches("[data-cut]") ? /** @type {Grip} */ (part) : null;
    this.dealt = part && { part, handle, from, high };
    return this.dealt;
  }

  /** The strip shows where what is dragged will land. */
  drag(/** @type {OrderDrag} */ drag, /** @type {MouseEvent} */ event) {
    drag.moved = drag.moved || Math.hypot(event.clientX - drag.from, event.clientY - drag.high) > 5;
    if (!drag.moved) return;
    const { at, after } = this.placeAt(event);
    const [others, to] = [this.units, at + Number(after)];
    if (drag.handle) {
      others.forEach((unit, i) => unit.classList.toggle("late", i >= to));
      others[to]?.before(drag.handle);
      return;
    }
    drag.part.classList.add("dragged");
    if (others[at] && others[at] !== drag.part) others[at][after ? "after" : "before"](drag.part);
  }

  /** @param {OrderDrag} drag @param {MouseEvent} event @param {boolean} cancelled */
  drop({ part, handle, moved }, event, cancelled) {
    this.dealt = null;
    if (!moved) part.focus();
    if (!moved || cancelled) return this.adopt();
    if (!handle) return this.moveUnit(Number(part.dataset.unit), this.units.indexOf(part));
    const { at, after } = this.placeAt(event);
    if (!handle.to(at + Number(after))) this.adopt();
  }

  /** An arrow on a unit: with Shift it moves the unit, else the focus. */
  key(/** @type {KeyboardEvent} */ event, /** @type {DOMStringMap} */ { unit, at }, /** @type {number} */ side) {
    if (event.shiftKey) this.moveUnit(Number(unit), Number(at) + side);
    else this.root.querySelector(`[data-at="${Number(at) + side}"]`)?.focus();
    return true;
  }
}
