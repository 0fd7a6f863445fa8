/** Grips that are dragged, or moved with the arrow keys; and where parts stand over the picture. */

import { node } from "../dom.js";
import { clamp } from "../record.js";

/**
 * A grip between `low` and `high`: `step` moves it by one, `to` moves it to a value and says whether it moved.
 * @param {string} name @param {string} label @param {number} low @param {number} high @param {number} value
 * @param {(to: number) => void} act
 * @returns {Grip}
 */
export function grip(name, label, low, high, value, act) {
  const made = node("div", {
    class: name, role: "slider", tabindex: "0", title: label, "aria-label": label, "aria-valuemin": String(low),
    "aria-valuemax": String(high), "aria-valuenow": String(value),
  });
  return Object.assign(made, {
    step: (/** @type {number} */ by) => act(clamp(value + by, low, high)),
    to(/** @type {number} */ to) {
      const moved = clamp(to, low, high) !== value;
      if (moved) act(clamp(to, low, high));
      return moved;
    },
  });
}

/** Puts a part over the picture, in pixels. */
export function setPlace(/** @type {HTMLElement} */ part, /** @type {{ [side: string]: number }} */ place) {
  for (const [side, px] of Object.entries(place)) part.style.setProperty(side, `${px}px`);
}
