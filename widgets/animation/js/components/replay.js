/**
 * A training run to be seen again: the loss curve with a scrub bar over its moments, and the stage as it was at each.
 */

import hostStyle from "../paint/host.css" with { type: "text" };
import replayStyle from "./replay.css" with { type: "text" };
import { endOf, node } from "../dom.js";
import { unpacked, unpackedBytes } from "../export/files.js";
import { draggable, watchTheme } from "../interact/controls.js";
import { Player, clockAtRest, playerBar } from "../interact/player.js";
import { CURVE, curveAxes, paintCurve } from "../paint/loss_curve.js";
import { canvasOf, screenRatio } from "../paint/pen.js";
import { dressed } from "../paint/theme.js";
import { WIDEST, mapped, range } from "../record.js";
import { mount } from "./side_by_side.js";

const BEAT = 320; // ms of a moment while the run plays
const CALM_BEAT = 1000; // the same for people who want less motion

/** The story, and the numbers of every moment with their attention in place. @returns {Promise<Story>} */
async function readReplay(/** @type {PackedStory} */ packed) {
  /** @type {Story} */
  const story = await unpacked(packed.story);
  /** @type {{ [matrix: string]: { shape: number[], data: Uint8Array } }} */
  const attention = {};
  for (const [name, { shape, data }] of Object.entries(packed.attention)) attention[name] = {
    shape, data: await unpackedBytes(data),
  };
  const weights = (/** @type {number} */ k) => mapped(attention, ({ shape: [, layers, heads, n, m], data }) => {
    const size = heads * n * m;
    const at = (/** @type {number} */ layer) => (k * layers + layer) * size;
    const layersOf = range(layers).map((layer) => [layer, data.subarray(at(layer), at(layer) + size)]);
    return { layers, heads, data: Object.fromEntries(layersOf) };
  });
  return { ...story, moments: story.moments.map((moment, k) => ({ ...moment, attention: weights(k) })) };
}

const MOMENTS = {
  first: "First recorded step", back: "Previous recorded step", play: "Play the run", step: "Next recorded step",
  last: "Last recorded step",
};

/** What an axis of the loss curve needs: the last step and the largest loss. */
function limitsOf(/** @type {number[]} */ steps, /** @type {Curve} */ curve) {
  const losses = [...curve.training, ...curve.held_out].map(([, loss]) => loss).filter(Number.isFinite);
  const top = 1.08 * Math.max(1e-9, ...losses, ...Object.values(curve.levels));
  return { last: Math.max(1, ...steps, ...curve.training.map(([step]) => step)), top };
}

/** The last loss up to a step. */
const lossAt = (/** @type {Point[]} */ points, /** @type {number} */ step) =>
  points.filter(([each]) => each <= step).at(-1);

/** A replay in `el`, which is also `el.__replay`. */
class Replay {
  now = clockAtRest();

  constructor(/** @type {Element} */ el, /** @type {Story} */ { record, moments, curve }) {
    const rest = matchMedia("(prefers-reduced-motion: reduce)").matches ? CALM_BEAT : BEAT;
    const last = moments.length - 1;
    this.el = el;
    this.moments = moments;
    this.curve = curve;
    this.steps = moments.map((moment) => moment.step);
    this.limits = limitsOf(this.steps, curve);
    this.player = new Player(this.now, { last: () => last, pace: () => 1, back: 1, rest, draw: () => this.draw() });
    this.home = node("div");
    this.build(record.title);
    el.replaceChildren(this.root);
    this.theme = dressed(this.root);
    this.shown = last;
    const frame = record.frames.findIndex((each) => each.name === "predict");
    this.stage = mount(this.home, { ...record, title: "", changing: true, numbers: moments[last] }, { frame });
    this.end = this.watch();
    this.player.begin({ frame: last });
    el.__replay = this;
  }

  build(/** @type {string} */ title) {
    const bar = playerBar(this.player, MOMENTS, { step: "1", "aria-label": "Training step" });
    this.bar = bar;
    this.said = node("p", { class: "replay-said", role: "status", "aria-live": "off" });
    this.canvas = node("canvas", { class: "replay-curve", style: `height: ${CURVE.height}px`, role: "img" });
    const head = node("div", { class: "replay-head" }, node("h2", {}, title), this.said);
    const group = { class: "replay-bar", role: "group", "aria-label": "Training" };
    const row = node("div", group, bar.first, bar.back, bar.play, bar.step, bar.last, bar.scrub, bar.where);
    const style = node("style", {}, hostStyle, replayStyle);
    const marks = { class: "replay", style: `max-width: ${2 * WIDEST}px`, "aria-label": title };
    this.root = node("section", marks, style, head, this.canvas, row, this.home);
  }

  watch() {
    const repaint = () => {
      this.theme = dressed(this.root);
      this.paint();
    };
    const pull = (/** @type {MouseEvent} */ event) => (this.player.scrub(this.nearest(event)), true);
    const resized = new ResizeObserver(repaint);
    resized.observe(this.canvas);
    const dragged = draggable(this.canvas, { start: pull, move: (_, event) => pull(event) });
    return endOf(watchTheme(repaint), dragged, () => this.player.destroy(), () => resized.disconnect());
  }

  /** The number of the moment that the player has come to. */
  get at() {
    return Math.round(this.now.at);
  }

  get step() {
    return this.steps[this.at];
  }

  paint() {
    const width = Math.max(260, this.canvas.clientWidth);
    const { pen } = canvasOf(width, CURVE.height, screenRatio(), this.canvas);
    const { curve, limits, step, steps, theme } = this;
    paintCurve(pen, theme, { curve, steps, ...limits, width, now: step }, curveAxes(width, limits));
  }

  /** Shows the moment that the player has come to. */
  draw() {
    const { at, curve, moments, now, said, step } = this;
    if (at !== this.shown) this.stage.tell(moments[(this.shown = at)]);
    const [train, held] = [lossAt(curve.training, step), lossAt(curve.held_out, step)];
    const losses = [train && `training ${train[1].toFixed(2)}`, held && `held out ${held[1].toFixed(2)}`];
    const words = losses.filter(Boolean).join(", ");
    const target = curve.target ? ` (${curve.target})` : "";
    said.textContent = `${moments[at].model}${words ? ` · ${words} ${curve.unit}${target}` : ""}`;
    said.setAttribute("aria-live", now.playing ? "off" : "polite");
    this.canvas.setAttribute("aria-label", `Loss over steps. At step ${step}: ${words || "no loss yet"}.`);
    const where = `step ${step} of ${this.limits.last} (${at + 1}/${moments.length})`;
    const spoken = `step ${step}${words ? `, ${words} ${curve.unit}` : ""}`;
    this.bar.show({ ...now, at }, moments.length - 1, where, spoken, " the run");
    this.paint();
  }

  /** The moment whose step on the axis is nearest to the pointer. */
  nearest(/** @type {MouseEvent} */ { clientX }) {
    const box = this.canvas.getBoundingClientRect();
    const { x } = curveAxes(box.width, this.limits);
    const far = (/** @type {number} */ k) => Math.abs(x(this.steps[k]) - clientX + box.left);
    return range(this.steps.length).reduce((best, k) => (far(k) < far(best) ? k : best), 0);
  }

  show(/** @type {number} */ at) {
    this.player.scrub(at);
  }

  state() {
    const { at, moments, now: { playing }, step } = this;
    return { at, step, moments: moments.length, playing, stage: this.stage.state() };
  }

  destroy() {
    this.end();
    this.stage.destroy();
    this.root.remove();
    delete this.el.__replay;
  }
}

/** Puts a replay into `el`, from what `replay.py` has packed. @param {Element} el @param {PackedStory} packed */
export const mountReplay = async (el, packed) => new Replay(el, await readReplay(packed));
