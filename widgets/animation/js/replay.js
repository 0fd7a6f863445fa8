/** A training run to be seen again: the loss curve with a scrub bar over its moments, and the stage as it was at each. */

import { ICONS, icon } from "./controls.js";
import { node } from "./dom.js";
import { mount } from "./main.js";
import { FAMILY, WIDEST, bytes, clamp, font, range } from "./record.js";
import { HOST_COLOURS, dressed } from "./theme.js";

// ---------------------------------------------------------------------------------------------------- replay

const CURVE = { height: 168, left: 46, right: 14, top: 14, bottom: 30 };
const BEAT = 320; // ms of a moment while the run plays
const CALM_BEAT = 1000; // the same for people who want less motion

const REPLAY_STYLE = `
.replay { ${HOST_COLOURS} font: 400 14px/1.45 ${FAMILY}; container-type: inline-size; max-width: ${2 * WIDEST}px; text-align: left; }
.replay .replay-head { margin: 0 0 2px; padding: 0 20px; display: flex; flex-wrap: wrap; gap: 2px 16px; align-items: baseline; }
.replay h2 { font-size: 19px; font-weight: 650; letter-spacing: -.012em; margin: 0; } .replay .replay-said { margin: 0; opacity: .72; font-variant-numeric: tabular-nums; }
.replay .replay-curve { display: block; width: 100%; margin-top: 6px; height: ${CURVE.height}px; touch-action: pan-y; cursor: ew-resize; }
.replay .replay-bar { display: flex; flex-wrap: wrap; align-items: center; gap: 6px 12px; padding: 4px 8px; margin: 0 20px 12px; border-radius: 12px; background: color-mix(in srgb, currentColor 5%, transparent); font-size: 13px; }
.replay .replay-bar button { font: inherit; color: inherit; background: transparent; border: 0; border-radius: 8px; min-width: 34px; height: 34px; padding: 0 8px; cursor: pointer; }
.replay .replay-bar button:hover { background: color-mix(in srgb, currentColor 9%, transparent); } .replay .replay-bar button:disabled { opacity: .35; cursor: default; }
.replay .replay-bar svg { width: 17px; height: 17px; fill: currentColor; vertical-align: middle; }
.replay .replay-bar input { flex: 1 1 160px; min-width: 120px; height: 26px; margin: 0; accent-color: var(--accent, #0072b2); cursor: pointer; }
.replay .replay-bar output { min-width: 9em; font-variant-numeric: tabular-nums; }
.replay :focus-visible { outline: 2px solid var(--accent, #3390d6); outline-offset: 2px; }
@container (max-width: 560px) { .replay .replay-head { padding: 0 10px; } .replay .replay-bar { margin: 0 10px 10px; } .replay .replay-bar input { flex-basis: 100%; order: -1; } }
`;

const unpack = async (text) => {
  const stream = new Blob([bytes(text, atob(text).length)]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
};

/** Bytes that were kept as differences from one moment to the next, as they were. */
function undelta(data, moments) {
  const size = data.length / moments;
  for (let i = size; i < data.length; i++) data[i] += data[i - size]; // bytes wrap round by themselves
  return data;
}

/** The story, and the numbers of every moment with their attention in place. */
async function readReplay(packed) {
  const story = JSON.parse(new TextDecoder().decode(await unpack(packed.story)));
  const attention = {};
  for (const [name, { shape, data }] of Object.entries(packed.attention)) attention[name] = { shape, data: undelta(await unpack(data), shape[0]) };
  const weights = (k) => Object.fromEntries(Object.entries(attention).map(([name, { shape, data }]) => {
    const [, layers, heads, n, m] = shape;
    const size = heads * n * m;
    const at = (layer) => (k * layers + layer) * size;
    return [name, { layers, heads, data: Object.fromEntries(range(layers).map((l) => [l, data.subarray(at(l), at(l) + size)])) }];
  }));
  return { ...story, moments: story.moments.map((moment, k) => ({ ...moment, attention: weights(k) })) };
}

/** Puts a replay into `el`. The handle is also `el.__replay`, which is what the browser tests talk to. */
export async function mountReplay(el, packed) {
  const { record, moments, curve } = await readReplay(packed);
  const press = (name, label) => node("button", { type: "button", "aria-label": label, title: label }, icon(ICONS[name]));
  const [first, back, play, on, end] = [press("first", "First moment"), press("back", "Moment before"), press("play", "Play the run"), press("step", "Next moment"), press("last", "Last moment")];
  const scrub = node("input", { type: "range", min: "0", max: String(moments.length - 1), step: "1", "aria-label": "Moment of the training" });
  const where = node("output");
  const style = node("style");
  style.textContent = REPLAY_STYLE;
  const said = node("p", { class: "replay-said", role: "status", "aria-live": "off" });
  const canvas = node("canvas", { class: "replay-curve", role: "img" });
  const stageHome = node("div");
  const head = node("div", { class: "replay-head" }, node("h2", {}, record.title), said);
  const bar = node("div", { class: "replay-bar", role: "group", "aria-label": "Training" }, first, back, play, on, end, scrub, where);
  const root = node("section", { class: "replay", "aria-label": record.title }, style, head, canvas, bar, stageHome);
  el.replaceChildren(root);
  let [at, timer, theme] = [moments.length - 1, 0, dressed(root)];
  const stage = mount(stageHome, { ...record, title: "", changing: true, numbers: moments[at] }, { frame: record.frames.findIndex((frame) => frame.name === "predict") });

  const steps = moments.map((moment) => moment.step);
  const last = Math.max(1, steps[steps.length - 1], ...curve.training.map(([step]) => step));
  const shown = [...curve.training, ...curve.held_out].filter(([, loss]) => Number.isFinite(loss));
  const top = 1.08 * Math.max(1e-9, ...shown.map(([, loss]) => loss), ...Object.values(curve.levels));
  const place = (width) => ({
    x: (step) => CURVE.left + ((width - CURVE.left - CURVE.right) * Math.log1p(step)) / Math.log1p(last),
    y: (loss) => CURVE.top + (CURVE.height - CURVE.top - CURVE.bottom) * (1 - clamp(loss / top)),
  });
  const before = (points, step) => points.filter(([each]) => each <= step).at(-1);

  function draw() {
    const ratio = Math.min(3, window.devicePixelRatio || 1);
    const width = Math.max(260, canvas.clientWidth);
    Object.assign(canvas, { width: Math.round(width * ratio), height: Math.round(CURVE.height * ratio) });
    const pen = canvas.getContext("2d");
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    paintCurve(pen, theme, { curve, steps, last, top, width, now: steps[at] }, place(width));
  }

  function tell() {
    const step = steps[at];
    const [train, held] = [before(curve.training, step), before(curve.held_out, step)];
    const losses = [train && `training ${train[1].toFixed(2)}`, held && `held out ${held[1].toFixed(2)}`].filter(Boolean).join(", ");
    where.textContent = `step ${step} of ${last} (${at + 1}/${moments.length})`;
    said.textContent = `${moments[at].model}${losses ? ` · ${losses} nats${curve.question ? ` (${curve.question})` : ""}` : ""}`;
    scrub.value = String(at);
    scrub.setAttribute("aria-valuetext", `step ${step}${losses ? `, ${losses} nats` : ""}`);
    canvas.setAttribute("aria-label", `Loss over steps. At step ${step}: ${losses || "no loss yet"}.`);
    first.disabled = back.disabled = at <= 0;
    end.disabled = on.disabled = at >= moments.length - 1;
  }

  function show(k) {
    at = clamp(Math.round(k), 0, moments.length - 1);
    stage.tell(moments[at]);
    tell();
    draw();
  }

  function setPlaying(value) {
    clearInterval(timer);
    timer = 0;
    if (value && at >= moments.length - 1) show(0);
    const beat = matchMedia("(prefers-reduced-motion: reduce)").matches ? CALM_BEAT : BEAT;
    if (value) timer = setInterval(() => (at < moments.length - 1 ? show(at + 1) : setPlaying(false)), beat);
    play.replaceChildren(icon(ICONS[value ? "pause" : "play"]));
    play.setAttribute("aria-label", value ? "Pause the run" : "Play the run");
    said.setAttribute("aria-live", value ? "off" : "polite");
  }

  const byHand = (k) => {
    setPlaying(false);
    show(k);
  };

  /** The moment whose place on the axis is nearest to the pointer. */
  function nearest(event) {
    const box = canvas.getBoundingClientRect();
    const { x } = place(box.width);
    return steps.reduce((best, step, k) => (Math.abs(x(step) - event.clientX + box.left) < Math.abs(x(steps[best]) - event.clientX + box.left) ? k : best), 0);
  }

  function key(event) {
    const by = { PageUp: -1, PageDown: 1 }[event.key];
    if (!by) return;
    event.preventDefault();
    byHand(at + by);
  }

  function repaint() {
    theme = dressed(root);
    draw();
  }

  const held = { down: false };
  const listen = [
    [first, "click", () => byHand(0)], [back, "click", () => byHand(at - 1)], [on, "click", () => byHand(at + 1)], [end, "click", () => byHand(moments.length - 1)],
    [play, "click", () => setPlaying(!timer)], [scrub, "input", () => byHand(Number(scrub.value))], [root, "keydown", key],
    [canvas, "pointerdown", (event) => {
      held.down = true;
      canvas.setPointerCapture(event.pointerId);
      byHand(nearest(event));
    }],
    [canvas, "pointermove", (event) => held.down && byHand(nearest(event))],
    [canvas, "pointerup", () => (held.down = false)], [canvas, "pointercancel", () => (held.down = false)],
    [matchMedia("(prefers-color-scheme: dark)"), "change", repaint],
  ];
  for (const [target, type, act] of listen) target.addEventListener(type, act);
  const resized = new ResizeObserver(repaint);
  resized.observe(canvas);
  const changing = new MutationObserver(() => setTimeout(repaint, 60)); // hosts change their theme by an attribute
  for (const target of [document.documentElement, document.body]) changing.observe(target, { attributes: true });
  tell();
  draw();
  const handle = {
    show: byHand,
    stage,
    state: () => ({ at, step: steps[at], moments: moments.length, playing: Boolean(timer), stage: stage.state() }),
    destroy() {
      setPlaying(false);
      for (const [target, type, act] of listen) target.removeEventListener(type, act);
      for (const observer of [resized, changing]) observer.disconnect();
      stage.destroy();
      root.remove();
      delete el.__replay;
    },
  };
  el.__replay = handle;
  return handle;
}

/** Loss over steps: training thin, held out bold with dots, levels dashed, a tick for every moment, a line for now. */
function paintCurve(pen, theme, { curve, steps, last, top, width, now }, { x, y }) {
  const floor = CURVE.height - CURVE.bottom;
  pen.clearRect(0, 0, width, CURVE.height);
  pen.font = font(11);
  pen.textBaseline = "middle";
  const say = (text, left, high, align, colour = theme.muted) => {
    pen.fillStyle = colour;
    pen.textAlign = align;
    pen.fillText(text, left, high);
  };
  const line = (points, colour, thick, dash = []) => {
    pen.strokeStyle = colour;
    pen.lineWidth = thick;
    pen.setLineDash(dash);
    pen.beginPath();
    points.forEach(([left, high], i) => (i ? pen.lineTo(left, high) : pen.moveTo(left, high)));
    pen.stroke();
    pen.setLineDash([]);
  };
  const each = top > 5 ? 2 : top > 2 ? 1 : top > 0.8 ? 0.5 : 0.1;
  for (let loss = 0; loss <= top; loss += each) {
    line([[CURVE.left, y(loss)], [width - CURVE.right, y(loss)]], theme.line, 1);
    say(String(Number(loss.toFixed(1))), CURVE.left - 8, y(loss), "right");
  }
  for (const step of [0, 1, 3, 10, 30, 100, 300, 1000, 3000, 10000, 30000, 100000]) if (step <= last) say(String(step), x(step), floor + 20, "center");
  for (const step of steps) line([[x(step), floor], [x(step), floor + (step === now ? 11 : 6)]], step === now ? theme.ink : theme.faint, step === now ? 2 : 1);
  line([[x(now), CURVE.top - 6], [x(now), floor]], theme.ink, 1.5);
  line(curve.training.map(([step, loss]) => [x(step), y(loss)]), theme.strong("blue"), 1.2);
  line(curve.held_out.map(([step, loss]) => [x(step), y(loss)]), theme.strong("vermilion"), 2.2);
  for (const [step, loss] of curve.held_out) {
    pen.fillStyle = theme.strong("vermilion");
    pen.beginPath();
    pen.arc(x(step), y(loss), 2.6, 0, 7);
    pen.fill();
  }
  for (const [name, level] of Object.entries(curve.levels)) {
    line([[CURVE.left, y(level)], [width - CURVE.right, y(level)]], theme.muted, 1, [5, 4]);
    const text = `${name} ${level.toFixed(2)}`;
    pen.fillStyle = theme.paper; // the words stay readable where the curve runs through them
    pen.fillRect(CURVE.left + 3, y(level) - 15, pen.measureText(text).width + 6, 13);
    say(text, CURVE.left + 6, y(level) - 8, "left");
  }
  say("nats", CURVE.left - 8, 5, "right", theme.faint);
  const of = curve.question ? `: ${curve.question}` : "";
  const names = [[`held out${of}`, "vermilion", 2.2], [`training${of}`, "blue", 1.2]];
  let right = width - CURVE.right;
  for (const [name, hue, thick] of names) {
    say(name, right, 7, "right");
    right -= pen.measureText(name).width + 6;
    line([[right - 18, 7], [right, 7]], theme.strong(hue), thick);
    right -= 30;
  }
}
