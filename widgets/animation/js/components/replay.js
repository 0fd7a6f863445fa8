/** A training run to be seen again: the loss curve with a scrub bar over its moments, and the stage as it was at each. */

import hostStyle from "../paint/host.css" with { type: "text" };
import replayStyle from "./replay.css" with { type: "text" };
import { endOf, node } from "../dom.js";
import { unpacked, unpackedBytes } from "../export/files.js";
import { draggable, watchTheme } from "../interact/controls.js";
import { makePlayer, playerBar } from "../interact/player.js";
import { CURVE, paintCurve } from "../paint/loss_curve.js";
import { canvasOf, screenRatio } from "../paint/pen.js";
import { dressed } from "../paint/theme.js";
import { WIDEST, clamp, range } from "../record.js";
import { mount } from "./side_by_side.js";

const BEAT = 320; // ms of a moment while the run plays
const CALM_BEAT = 1000; // the same for people who want less motion

/** The story, and the numbers of every moment with their attention in place. */
async function readReplay(packed) {
  const story = await unpacked(packed.story);
  const attention = {};
  for (const [name, { shape, data }] of Object.entries(packed.attention)) attention[name] = { shape, data: await unpackedBytes(data) };
  const weights = (k) => Object.fromEntries(Object.entries(attention).map(([name, { shape, data }]) => {
    const [, layers, heads, n, m] = shape;
    const size = heads * n * m;
    const at = (layer) => (k * layers + layer) * size;
    return [name, { layers, heads, data: Object.fromEntries(range(layers).map((l) => [l, data.subarray(at(l), at(l) + size)])) }];
  }));
  return { ...story, moments: story.moments.map((moment, k) => ({ ...moment, attention: weights(k) })) };
}

const MOMENTS = { first: "First recorded step", back: "Previous recorded step", play: "Play the run", step: "Next recorded step", last: "Last recorded step" };

/** Puts a replay into `el`. The handle is also `el.__replay`, which is what the browser tests talk to. */
export async function mountReplay(el, packed) {
  const { record, moments, curve } = await readReplay(packed);
  const now = {};
  const last = () => moments.length - 1;
  const rest = matchMedia("(prefers-reduced-motion: reduce)").matches ? CALM_BEAT : BEAT;
  const player = makePlayer(now, { last, pace: () => 1, back: 1, rest, draw: show });
  const bar = playerBar(player, MOMENTS, { step: "1", "aria-label": "Training step" });
  const said = node("p", { class: "replay-said", role: "status", "aria-live": "off" });
  const canvas = node("canvas", { class: "replay-curve", style: `height: ${CURVE.height}px`, role: "img" });
  const stageHome = node("div");
  const head = node("div", { class: "replay-head" }, node("h2", {}, record.title), said);
  const row = node("div", { class: "replay-bar", role: "group", "aria-label": "Training" }, bar.first, bar.back, bar.play, bar.step, bar.last, bar.scrub, bar.where);
  const root = node("section", { class: "replay", style: `max-width: ${2 * WIDEST}px`, "aria-label": record.title }, node("style", {}, hostStyle, replayStyle), head, canvas, row, stageHome);
  el.replaceChildren(root);
  let [theme, shown] = [dressed(root), last()];
  const stage = mount(stageHome, { ...record, title: "", changing: true, numbers: moments[last()] }, { frame: record.frames.findIndex((frame) => frame.name === "predict") });

  const steps = moments.map((moment) => moment.step);
  const final = Math.max(1, steps.at(-1), ...curve.training.map(([step]) => step));
  const losses = [...curve.training, ...curve.held_out].map(([, loss]) => loss).filter(Number.isFinite);
  const top = 1.08 * Math.max(1e-9, ...losses, ...Object.values(curve.levels));
  const place = (width) => ({
    x: (step) => CURVE.left + ((width - CURVE.left - CURVE.right) * Math.log1p(step)) / Math.log1p(final),
    y: (loss) => CURVE.top + (CURVE.height - CURVE.top - CURVE.bottom) * (1 - clamp(loss / top)),
  });
  const before = (points, step) => points.filter(([each]) => each <= step).at(-1);

  function draw() {
    const width = Math.max(260, canvas.clientWidth);
    const { pen } = canvasOf(width, CURVE.height, screenRatio(), canvas);
    paintCurve(pen, theme, { curve, steps, last: final, top, width, now: steps[Math.round(now.at)] }, place(width));
  }

  /** Shows the moment that the player has come to. */
  function show() {
    const at = Math.round(now.at);
    const step = steps[at];
    if (at !== shown) stage.tell(moments[(shown = at)]);
    const [train, held] = [before(curve.training, step), before(curve.held_out, step)];
    const words = [train && `training ${train[1].toFixed(2)}`, held && `held out ${held[1].toFixed(2)}`].filter(Boolean).join(", ");
    said.textContent = `${moments[at].model}${words ? ` · ${words} ${curve.unit}${curve.target ? ` (${curve.target})` : ""}` : ""}`;
    said.setAttribute("aria-live", now.playing ? "off" : "polite");
    canvas.setAttribute("aria-label", `Loss over steps. At step ${step}: ${words || "no loss yet"}.`);
    bar.show({ ...now, at }, last(), `step ${step} of ${final} (${at + 1}/${moments.length})`, `step ${step}${words ? `, ${words} ${curve.unit}` : ""}`, " the run");
    draw();
  }

  /** The moment whose place on the axis is nearest to the pointer. */
  function nearest(event) {
    const box = canvas.getBoundingClientRect();
    const { x } = place(box.width);
    const far = (k) => Math.abs(x(steps[k]) - event.clientX + box.left);
    return range(steps.length).reduce((best, k) => (far(k) < far(best) ? k : best), 0);
  }

  function repaint() {
    theme = dressed(root);
    draw();
  }

  const resized = new ResizeObserver(repaint);
  const pull = (_, event) => (player.scrub(nearest(event)), true);
  const end = endOf(watchTheme(repaint), draggable(canvas, { start: (event) => pull(null, event), move: pull }), player.destroy);
  player.begin({ frame: last() });
  resized.observe(canvas);
  const handle = {
    show: player.scrub,
    stage,
    state: () => ({ at: Math.round(now.at), step: steps[Math.round(now.at)], moments: moments.length, playing: now.playing, stage: stage.state() }),
    destroy() {
      end();
      resized.disconnect();
      stage.destroy();
      root.remove();
      delete el.__replay;
    },
  };
  el.__replay = handle;
  return handle;
}
