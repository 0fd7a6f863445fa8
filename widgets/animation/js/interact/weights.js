/** The layer and the head whose attention weights are drawn. */

import { optionsOf } from "../dom.js";
import { layerOf, range } from "../record.js";

/** @param {HTMLSelectElement} part @param {[string | number, string][]} choices @param {string | number} value */
function offer(part, choices, value) {
  part.replaceChildren(...optionsOf(choices));
  part.value = String(value);
}

export class Weights {
  /**
   * @param {Kit} kit
   * @param {(layer: number | null) => void} ask for a layer that has not been sent yet
   * @param {(layer: number | null, head: number | null) => void} onLook is called when a person has chosen
   */
  constructor(kit, ask, onLook) {
    this.kit = kit;
    this.ask = ask;
    this.onLook = onLook;
    this.layer = kit.parts.layer;
    this.head = kit.parts.head;
  }

  get matrices() {
    return this.kit.record.frames.flatMap((frame) => frame.matrices);
  }

  /** The layers and heads that can be chosen. */
  adopt() {
    const { now } = this.kit;
    const layers = Math.max(0, ...this.matrices.map((matrix) => matrix.layers));
    const heads = Math.max(0, ...this.matrices.map((matrix) => matrix.heads));
    if (now.head !== null && now.head >= heads) now.head = -1;
    if (now.layer !== null && now.layer >= layers) now.layer = null;
    this.head.hidden = !heads;
    this.layer.hidden = layers < 2;
    offer(this.layer, range(layers).map((l) => [l, `layer ${l + 1}`]), now.layer ?? layers - 1);
    /** @type {[number, string][]} */
    const each = range(heads).map((h) => [h, `head ${h + 1}`]);
    offer(this.head, [[-1, "all heads, mean"], ...each, ["none", "no weights"]], now.head ?? "none");
  }

  askForLayer() {
    const { now } = this.kit;
    const missing = (/** @type {Matrix} */ matrix) => matrix.heads && !matrix.data[layerOf(matrix, now)];
    if (this.matrices.some(missing)) this.ask(now.layer);
  }

  /** A person has chosen. */
  setLayer() {
    this.kit.now.layer = Number(this.layer.value);
    this.renew();
  }

  setHead() {
    this.kit.now.head = this.head.value === "none" ? null : Number(this.head.value);
    this.renew();
  }

  /** Draws the weights that were chosen, also on the other stages. */
  renew() {
    const { now } = this.kit;
    this.askForLayer();
    this.onLook(now.layer, now.head);
    this.kit.wake();
  }

  /** The next choice of a select, or the one before. */
  step(/** @type {HTMLSelectElement} */ part, /** @type {number} */ by) {
    if (part.hidden) return;
    part.selectedIndex = (part.selectedIndex + by + part.options.length) % part.options.length;
    part.dispatchEvent(new Event("change"));
  }
}
