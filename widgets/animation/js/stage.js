/**
 * The stage: shows how an objective rebuilds a sentence (lanes of tokens) and who may look at whom (matrices).
 *
 * One text, three hosts: anywidget in a notebook, Panel's AnyWidgetComponent in the app, and an inline module script
 * in a saved page. `widgets/bundle.py` joins the modules to that text: no build step, nothing that needs a network.
 *
 * The picture is a pure function of (record, frame k, fraction u, view). Everything that changes over time lives in
 * `mount`; everything above it can be called with any k and u, so scrubbing, stepping back and testing are free.
 * Text from the record only ever reaches `fillText` and `textContent`: data can never become markup.
 */

import { answersShown, speakGuess } from "./answers.js";
import { streamSpots } from "./chips.js";
import { ICONS, button, icon, isText, setLamp } from "./controls.js";
import { node } from "./dom.js";
import { HANDS_STYLE, handsOn } from "./editing.js";
import { entire, fitting, lengthOf, saysStretch, stretchOf, stretched } from "./long_text.js";
import { patterns } from "./matrices.js";
import { answering, duration, paint, storyReader } from "./paint.js";
import { SHEETS_STYLE, sheetsOf } from "./panels.js";
import { makePlan } from "./plan.js";
import {
  BACK, FAMILY, LANES, MOVE, READER_LANE, REST, SPEEDS, WIDEST, clamp, ease, laneOf, layerOf, leakSteps, matrixOf,
  range, readRecord, runsThrough, shownFrom, speak, speakWeights, withNumbers,
} from "./record.js";
import { moreOf } from "./source_and_history.js";
import { HOST_COLOURS, themeOf } from "./theme.js";

// ---------------------------------------------------------------------------------------------------- the frame around it

const STYLE = `
.stage { position: relative; box-sizing: border-box; width: 100%; min-width: 0; max-width: ${WIDEST}px; padding: 4px 0 2px; outline: none;
  ${HOST_COLOURS} font: 400 14px/1.45 ${FAMILY};
  transition: color 30ms linear; container-type: inline-size; text-align: left; }
.stage *, .stage *::before { box-sizing: border-box; }
.stage .stage-head { display: flex; flex-wrap: wrap; align-items: baseline; gap: 4px 14px; padding: 0 var(--pad); }
.stage .stage-title { font-size: 19px; font-weight: 650; letter-spacing: -.012em; line-height: 1.25; margin: 0; }
.stage .stage-subtitle { flex: 1 1 260px; color: var(--muted); margin: 0; }
.stage .stage-lamp { display: inline-flex; align-items: center; gap: 7px; font-size: 12.5px; padding: 3px 11px 3px 8px; border-radius: 99px;
  background: var(--track); color: var(--muted); margin: 0; max-width: 100%; align-self: center; }
.stage .stage-lamp svg { flex: none; width: 15px; height: 15px; }
.stage .stage-caption { display: flex; gap: 10px; align-items: baseline; min-height: 1.5em; margin: 5px 0 6px; padding: 0 var(--pad); font-size: 15px; }
.stage .stage-caption b { font-weight: 650; white-space: nowrap; }
.stage canvas { display: block; width: 100%; border-radius: 8px; touch-action: pan-y; }
.stage .stage-picture { position: relative; min-width: 0; } .stage .stage-main { min-width: 0; flex: 1 1 0; }
.stage .stage-body { display: flex; gap: 0 18px; align-items: flex-start; }
.stage .stage-foot { display: flex; flex-wrap: wrap; gap: 0 16px; margin: 6px 0 0; padding: 0 var(--pad); color: var(--muted); font-size: 13px; }
.stage .stage-reader { flex: 1 1 300px; min-height: 1.5em; margin: 0; } .stage .stage-source { margin: 0; font-size: 12px; }
.stage .stage-controls { display: flex; flex-wrap: wrap; align-items: center; gap: 6px 12px; margin: 4px var(--pad) 8px; padding: 4px 8px;
  background: var(--track); border-radius: 12px; font-size: 13px; }
.stage .stage-group { display: inline-flex; align-items: center; gap: 2px; } .stage .stage-group:last-child { margin-left: auto; gap: 4px; }
.stage button, .stage select { font: inherit; color: inherit; background: transparent; border: 1px solid transparent; border-radius: 8px;
  height: 34px; cursor: pointer; }
.stage button { min-width: 34px; padding: 0 8px; display: inline-flex; align-items: center; justify-content: center; gap: 6px; }
.stage button svg { width: 17px; height: 17px; fill: currentColor; }
.stage select { padding: 0 4px; border-color: var(--line); background: var(--paper); }
.stage select option { color: var(--ink); background: var(--paper); }
.stage button:hover { background: var(--hover); }
.stage button[aria-pressed="true"] { background: var(--hover); border-color: var(--line); color: var(--accent); }
.stage button.stage-play { background: var(--accent); color: var(--paper); min-width: 42px; }
.stage button.stage-play:hover { filter: brightness(1.1); }
.stage button:disabled { opacity: .35; cursor: default; background: transparent; }
.stage :focus-visible, .stage:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
.stage:focus-visible { border-radius: 8px; outline-offset: -2px; }
.stage .stage-scrub { flex: 1 1 140px; display: flex; align-items: center; min-width: 120px; }
.stage input[type=range] { width: 100%; margin: 0; height: 26px; accent-color: var(--accent); cursor: pointer; }
.stage .stage-where { min-width: 9em; font-variant-numeric: tabular-nums; white-space: nowrap; overflow: hidden; text-overflow: ellipsis; }
.stage [hidden] { display: none !important; }
@container (max-width: 560px) {
  .stage .stage-subtitle { flex-basis: 100%; }
  .stage .stage-caption { flex-direction: column; gap: 0; min-height: 4.4em; font-size: 14px; }
  .stage .stage-controls .stage-group { flex-wrap: wrap; }
  .stage .stage-scrub { flex-basis: 100%; order: -1; } .stage .stage-where { min-width: 0; flex: 1; text-align: right; }
}
body .cell-output-ipywidget-background:has(.stage) { background: transparent !important; }
@media (forced-colors: active) { .stage button, .stage .stage-lamp, .stage .stage-controls { border: 1px solid currentColor; } }
`;

/** All elements of the component, made once; only texts and attributes change afterwards. */
function buildParts() {
  const parts = {
    title: node("h2", { class: "stage-title" }),
    subtitle: node("p", { class: "stage-subtitle" }),
    lamp: node("p", { class: "stage-lamp", role: "status" }),
    name: node("b"),
    caption: node("span"),
    canvas: node("canvas", { role: "img" }),
    reader: node("p", { class: "stage-reader", "aria-live": "polite" }),
    source: node("p", { class: "stage-source" }),
    first: button("first", "First frame", "Home"),
    back: button("back", "Step back", "Left"),
    play: button("play", "Play", "Space", { class: "stage-play" }),
    step: button("step", "Step forward", "Right"),
    last: button("last", "Last frame", "End"),
    scrub: node("input", { type: "range", min: "0", step: "0.01", "aria-label": "Animation step" }),
    where: node("output", { class: "stage-where" }),
    speed: node("select", { "aria-label": "Speed", title: "Speed (+ and -)" }),
    loop: button("loop", "Repeat", "loop", { "aria-pressed": "false" }),
    sort: button("sort", "Sort axes by order", "O", { "aria-pressed": "false" }),
    layer: node("select", { "aria-label": "Layer", title: "Layer (, and .)" }),
    head: node("select", { "aria-label": "Attention head", title: "Attention head (H)" }),
    tools: node("div", { class: "stage-tools", role: "group", "aria-label": "By hand" }),
    picture: node("div", { class: "stage-picture" }),
    below: node("div", { class: "stage-below" }),
    explain: node("aside", { class: "stage-explain", "aria-label": "Explanation" }),
  };
  parts.sort.append(node("span", {}, "Sort by order"));
  parts.loop.title = "Repeat from the start";
  for (const speed of SPEEDS) parts.speed.append(node("option", { value: String(speed) }, `${speed}×`));
  parts.speed.value = "1";
  const live = node("p", { class: "stage-caption", "aria-live": "polite" }, parts.name, parts.caption);
  const keys = node("span", { class: "stage-group" }, parts.first, parts.back, parts.play, parts.step, parts.last);
  const extras = node("span", { class: "stage-group" }, parts.sort, parts.layer, parts.head, parts.speed, parts.loop);
  const controls = node("div", { class: "stage-controls", role: "group", "aria-label": "Player" }, keys, node("span", { class: "stage-scrub" }, parts.scrub), parts.where, extras);
  const style = node("style");
  style.textContent = STYLE + HANDS_STYLE + SHEETS_STYLE;
  const head = node("header", { class: "stage-head" }, parts.title, parts.subtitle, parts.lamp);
  const foot = node("footer", { class: "stage-foot" }, parts.reader, parts.source);
  parts.picture.append(parts.canvas);
  const body = node("div", { class: "stage-body" }, node("div", { class: "stage-main" }, parts.tools, parts.picture, foot, parts.below), parts.explain);
  parts.controls = controls;
  parts.root = node("section", { class: "stage", tabindex: "0", "data-lm-suppress-shortcuts": "true" }, style, head, live, controls, body);
  return parts;
}

// ---------------------------------------------------------------------------------------------------- mount

/**
 * Puts a stage into `el`. Options: frame, playing, onFrame(frame), onPlaying(playing) keep a host in step.
 * The handle is also `el.__stage`, which is what the browser tests talk to.
 */
export function mountOne(el, raw, options = {}) {
  const parts = buildParts();
  const { root, canvas } = parts;
  const ctx = canvas.getContext("2d");
  const calm = matchMedia("(prefers-reduced-motion: reduce)");
  const scheme = matchMedia("(prefers-color-scheme: dark)");
  const memory = new Map();
  const [stamps, widths] = [new Map(), new Map()];
  let stampedFor = "";
  const measure = (text, spec) => {
    const key = `${spec}|${text}`;
    if (widths.has(key)) return widths.get(key);
    if (widths.size > 8000) widths.clear();
    ctx.font = spec;
    widths.set(key, ctx.measureText(text).width);
    return widths.get(key);
  };
  let whole = readRecord(raw);
  let record = whole; // of a long text, the stretch that is drawn
  let [plan, theme, art, drawn, loop] = [null, null, null, [], 0];
  const now = { at: 0, goal: null, playing: false, rest: 0, sort: 0, sorted: false, hover: null, lock: null, layer: null, head: -1, speed: 1, looping: false, from: 0, size: null };
  const told = { frame: 0, playing: false };
  let [onScreen, clock, alive] = [true, 0, true];
  const plugs = [];

  const last = () => record.frames.length - 1;
  const nearest = () => Math.round(now.at);
  const frameNow = () => record.frames[nearest()];
  const reader = () => now.hover || now.lock;

  // -- time

  function wake() {
    if (!loop && alive) {
      clock = performance.now();
      loop = requestAnimationFrame(tick);
    }
  }

  function tick(stamp) {
    loop = 0;
    if (!alive) return;
    const elapsed = clamp(stamp - clock, 0, 64);
    clock = stamp;
    const busy = onScreen && advance(elapsed * now.speed);
    draw();
    if (busy) loop = requestAnimationFrame(tick);
  }

  /** Moves the clock on; answers whether there is more to come. */
  function advance(ms) {
    const target = now.sorted ? 1 : 0;
    if (now.sort !== target) now.sort = calm.matches ? target : clamp(now.sort + (Math.sign(target - now.sort) * ms) / (MOVE * 1.4));
    if (now.goal !== null) travel(ms);
    else if (now.playing) {
      now.rest -= ms;
      if (now.rest <= 0) onward();
    }
    return now.goal !== null || now.playing || now.sort !== target;
  }

  function travel(ms) {
    const forward = now.goal > now.at;
    const k = forward ? Math.floor(now.at) : Math.ceil(now.at) - 1;
    const pace = forward ? duration(record, clamp(k, 0, last() - 1)) : BACK;
    const left = Math.abs(now.goal - now.at);
    if (calm.matches || left <= ms / pace || left > 1) {
      now.at = now.goal;
      now.goal = null;
      now.rest = REST;
    } else now.at += (forward ? 1 : -1) * (ms / pace);
  }

  function onward() {
    if (nearest() < last()) now.goal = Math.floor(now.at) + 1;
    else if (now.looping) {
      now.at = 0;
      now.rest = REST;
    } else setPlaying(false);
  }

  function go(frame) {
    now.goal = clamp(frame, 0, last());
    if (now.goal === now.at) now.goal = null;
    wake();
  }

  const forward = () => go(Math.floor((now.goal ?? now.at) + 1e-6) + 1);
  const backward = () => go(Math.ceil((now.goal ?? now.at) - 1e-6) - 1);

  function setPlaying(value) {
    if (now.playing === value) return;
    now.playing = value;
    now.rest = 0;
    if (value && now.goal === null && now.at >= last()) now.at = 0;
    tell();
    wake();
  }

  /** Hosts hear of whole frames only: where a running move is heading, or the frame nearest to the scrub bar. */
  function tell() {
    const frame = now.goal ?? nearest();
    if (frame !== told.frame) options.onFrame?.((told.frame = frame));
    if (now.playing !== told.playing) options.onPlaying?.((told.playing = now.playing));
  }

  // -- drawing

  const look = () => ({ reader: reader(), sort: ease(now.sort), layer: now.layer, head: now.head, lit: kit.lit, sketch: kit.sketch });

  /** On a very wide screen everything grows, so that it can be read from the same distance. */
  const grown = () => clamp(el.clientWidth / WIDEST, 1, 2);
  const dots = () => Math.min(3, (window.devicePixelRatio || 1) * grown());

  /** Of a long text, takes the stretch that fits into the width or was asked for. */
  function cutOut(width) {
    const size = now.size ?? fitting(width);
    now.from = clamp(now.from, 0, Math.max(0, lengthOf(whole) - size));
    record = stretched(whole, now.from, size);
  }

  const room = () => Math.max(280, Math.min(WIDEST, parts.picture.clientWidth || el.clientWidth || 800));

  /** Moves the stretch of a long text; the reader that is held stays held as long as it is in sight. */
  function stretch(from) {
    const old = now.lock && matrixOf(frameNow(), now.lock.matrix);
    now.from = from;
    cutOut(room());
    const fresh = old && matrixOf(frameNow(), now.lock.matrix);
    const row = fresh ? now.lock.row + (old.top || 0) - (fresh.top || 0) : -1;
    Object.assign(now, { hover: null, lock: fresh && row >= 0 && row < fresh.n ? { ...now.lock, row, column: -1 } : null });
    if (record.stretch) options.onStretch?.(record.stretch.from / (record.stretch.length - record.stretch.size));
    relayout();
    draw();
  }

  function relayout() {
    root.style.zoom = grown() > 1 ? String(grown()) : "";
    const width = room();
    const ratio = dots();
    cutOut(width);
    plan = makePlan(record, width, measure);
    const [across, down] = [Math.round(width * ratio), Math.round(plan.height * ratio)];
    if (canvas.width !== across || canvas.height !== down) Object.assign(canvas, { width: across, height: down });
    canvas.style.height = `${plan.height}px`;
    root.style.setProperty("--pad", `${plan.pad}px`);
    const sheets = art?.sheets || new WeakMap();
    art = { plan, theme, memory, ratio, sheets, stamps, patterns: patterns(ctx, theme, ratio) };
    memory.clear();
    restamp();
    for (const plug of plugs) plug.place?.();
  }

  /** Stamps hold as long as chips keep their size and colours. */
  function restamp() {
    const made = [plan.chips.w, plan.chips.h, plan.chips.size, art.ratio, theme.key].join();
    if (made !== stampedFor) stamps.clear();
    stampedFor = made;
  }

  function retheme() {
    theme = themeOf(root);
    const shades = { ink: theme.ink, paper: theme.paper, muted: theme.muted, line: theme.line, track: theme.track, hover: theme.lattice, accent: theme.strong("blue"), orange: theme.strong("orange"), leak: theme.leak, good: theme.strong("green") };
    for (const [name, value] of Object.entries(shades)) root.style.setProperty(`--${name}`, value);
    setLamp(parts.lamp, record.leak, theme);
    if (!plan) return;
    art = { ...art, theme, patterns: patterns(ctx, theme, art.ratio) };
    restamp();
  }

  function draw() {
    const k = Math.min(Math.floor(now.at), last());
    const u = k === last() ? 0 : now.at - k;
    ctx.setTransform(art.ratio, 0, 0, art.ratio, 0, 0);
    ctx.clearRect(0, 0, plan.width, plan.height);
    drawn = paint(ctx, art, record, k, u, look());
    write(k, u);
    for (const plug of plugs) plug.follow?.();
    tell();
  }

  /** Puts words beside the picture: the same facts for people who hear it. */
  function write(k, u) {
    const frame = record.frames[nearest()];
    const spoken = describe(frame, reader() || storyReader(record, k, u, now.sort));
    const set = (part, text) => part.textContent !== text && (part.textContent = text);
    set(parts.name, frame.title);
    set(parts.caption, frame.caption || "");
    set(parts.where, `${frame.title} (${nearest() + 1}/${last() + 1})`);
    set(parts.reader, spoken || (frame.matrices.length ? "Hover a row or a token to see what it attends to; click to pin it." : ""));
    parts.reader.setAttribute("aria-live", now.lock && !now.hover ? "polite" : "off"); // previews would chatter
    const part = record.stretch ? ` (tokens ${saysStretch(record)})` : "";
    canvas.setAttribute("aria-label", `${frame.title}${part}: ${spoken || frame.caption || ""}`);
    if (document.activeElement !== parts.scrub || !parts.scrub.matches(":active")) parts.scrub.value = String(now.at);
    parts.scrub.setAttribute("aria-valuetext", `${frame.title}, ${nearest() + 1} of ${last() + 1}`);
    parts.first.disabled = parts.back.disabled = now.at <= 0;
    parts.last.disabled = parts.step.disabled = now.at >= last();
    if (parts.play.dataset.on !== String(now.playing)) {
      parts.play.dataset.on = String(now.playing);
      parts.play.setAttribute("aria-label", now.playing ? "Pause" : "Play");
      parts.play.replaceChildren(icon(now.playing ? ICONS.pause : ICONS.play));
    }
  }

  function describe(frame, who) {
    const own = who && matrixOf(frame, who.matrix);
    if (!own || who.row >= own.n) return "";
    const together = READER_LANE[own.name] === "decoder" ? frame.matrices.filter((matrix) => READER_LANE[matrix.name] === "decoder") : [own];
    const clauses = together.filter((matrix) => who.row < matrix.n).map((matrix) => (together.length > 1 ? `${matrix.title}: ` : "") + speak(matrix, who.row) + speakWeights(matrix, who.row, now));
    return `${clauses.join("; ")}.${speakGuess(frame, who)}`;
  }

  // -- the record

  /** No page of the app stands around this stage, to say and to hear what is not the picture's. */
  const alone = () => !options.onEdit || Boolean(record.alone);

  function adopt() {
    parts.title.textContent = record.title;
    parts.subtitle.textContent = [record.subtitle, ...(alone() ? (record.left_out || []).map(({ said }) => said) : [])].filter(Boolean).join(" ");
    parts.source.textContent = record.source;
    root.setAttribute("aria-label", `Stage: ${record.title}`);
    parts.scrub.max = String(last());
    const matrices = record.frames.flatMap((frame) => frame.matrices);
    parts.sort.hidden = !matrices.some((matrix) => matrix.order);
    offerWeights(matrices);
    if (parts.sort.hidden) setSorted(false);
    for (const plug of plugs) plug.adopt?.();
  }

  /** The layers and heads that can be chosen. */
  function offerWeights(matrices) {
    const [layers, heads] = ["layers", "heads"].map((what) => Math.max(0, ...matrices.map((matrix) => matrix[what])));
    const offer = (part, choices, value) => {
      part.replaceChildren(...choices.map(([each, text]) => node("option", { value: String(each) }, text)));
      part.value = String(value);
    };
    if (now.head !== null && now.head >= heads) now.head = -1;
    if (now.layer !== null && now.layer >= layers) now.layer = null;
    parts.head.hidden = !heads;
    parts.layer.hidden = layers < 2;
    offer(parts.layer, range(layers).map((l) => [l, `layer ${l + 1}`]), now.layer ?? layers - 1);
    offer(parts.head, [[-1, "all heads, mean"], ...range(heads).map((h) => [h, `head ${h + 1}`]), ["none", "no weights"]], now.head ?? "none");
  }

  /** A layer that has not been sent yet is asked for. */
  function setLayer(layer) {
    now.layer = layer;
    parts.layer.value = String(layer);
    const weighed = record.frames.flatMap((frame) => frame.matrices).filter((matrix) => matrix.heads);
    if (weighed.some((matrix) => !matrix.data[layerOf(matrix, now)])) options.onEdit?.({ do: "look", layer });
    wake();
  }

  function setHead(head) {
    now.head = head;
    parts.head.value = head === null ? "none" : String(head);
    wake();
  }

  const stepThrough = (part, set, by) => {
    const values = [...part.options].map((option) => option.value);
    const value = values[(values.indexOf(part.value) + by + values.length) % values.length];
    if (!part.hidden) set(value === "none" ? null : Number(value));
  };

  function update(fresh) {
    const name = record.frames[nearest()].name;
    whole = readRecord(fresh);
    cutOut(room());
    const same = record.frames.findIndex((frame) => frame.name === name);
    Object.assign(now, { at: same >= 0 ? same : Math.min(nearest(), last()), goal: null, hover: null, lock: null });
    if (kit.after) now.at = Math.max(now.at, shownFrom(record, kit.after));
    Object.assign(kit, { after: null, lit: null, sketch: null });
    adopt();
    setLamp(parts.lamp, record.leak, theme);
    relayout();
    draw();
    wake();
  }

  function setSorted(value) {
    now.sorted = value;
    parts.sort.setAttribute("aria-pressed", String(value));
    wake();
  }

  function setSpeed(speed) {
    now.speed = speed;
    parts.speed.value = String(speed);
  }

  // -- readers

  /** What is under the pointer, as a reader: a matrix row (with its column) or a chip that stands for a row. */
  function readerAt(x, y) {
    const frame = record.frames[Math.floor(now.at)];
    for (const matrix of frame.matrices) {
      const box = plan.boxes[matrix.name];
      const slot = Math.floor((y - box.y) / box.cell);
      const column = Math.floor((x - box.x) / box.cell);
      if (slot < 0 || slot >= matrix.n || x < box.left || column >= matrix.m) continue;
      const unsort = (place, length) => (now.sorted && matrix.order && matrix.order.length === length ? matrix.order[place] : place);
      return { matrix: matrix.name, row: unsort(slot, matrix.n), column: column >= 0 ? unsort(column, matrix.m) : -1 };
    }
    const chip = drawn.find(({ box }) => x >= box.x && x <= box.x + box.w && y >= box.y && y <= box.y + box.h);
    return chip ? readerOfChip(frame, chip.to || chip.from) : null;
  }

  function readerOfChip(frame, spot) {
    const wanted = {
      original: ["content", "encoder"],
      inputs: ["content", "encoder"],
      decoder: ["decoder", "cross"],
      targets: laneOf(frame, "decoder") ? ["decoder", "cross"] : ["query", "content", "encoder"],
    }[spot.lane];
    const matrix = (wanted || []).map((name) => matrixOf(frame, name)).find(Boolean);
    if (!matrix) return null;
    const spots = spot.lane === "targets" ? null : streamSpots(frame, READER_LANE[matrix.name]);
    const row = spots ? spots.findIndex((other) => other.cell.key === spot.cell.key) : spot.i;
    return row >= 0 && row < matrix.n ? { matrix: matrix.name, row, column: -1 } : null;
  }

  function pointAt(event) {
    const frame = canvas.getBoundingClientRect();
    const scale = plan.width / frame.width;
    return readerAt((event.clientX - frame.left) * scale, (event.clientY - frame.top) * scale);
  }

  function hover(event) {
    const found = event.type === "pointerleave" ? null : pointAt(event);
    if (!found || JSON.stringify(found) !== JSON.stringify(now.hover)) for (const plug of plugs) plug.hover?.(found);
    if (JSON.stringify(found) === JSON.stringify(now.hover)) return;
    now.hover = found;
    canvas.style.cursor = found ? "pointer" : "default";
    wake();
  }

  function lock(event) {
    if (kit.painting) return;
    const found = pointAt(event);
    const again = found && now.lock && found.matrix === now.lock.matrix && found.row === now.lock.row;
    now.lock = again ? null : found;
    if (again) now.hover = null;
    wake();
  }

  /** Holds the reader at the end of a leak, so that the way of its answer stands out; again lets it go. */
  function leak() {
    if (!leakSteps(record).length) return;
    if (!frameNow().matrices.length) jump(last());
    const { reader: far } = leakSteps(whole).at(-1);
    const full = record.stretch && frameNow().matrices.map(entire).find((each) => runsThrough(leakSteps(whole).at(-1), each));
    if (full && full.n > record.stretch.size) stretch(Math.round((far.position / full.n) * record.stretch.length - record.stretch.size / 2));
    const end = leakSteps(record).at(-1);
    const matrix = frameNow().matrices.find((each) => runsThrough(end, each));
    const held = now.lock && matrix && now.lock.matrix === matrix.name && now.lock.row === end.reader.position;
    Object.assign(now, { hover: null, lock: held || !matrix ? null : { matrix: matrix.name, row: end.reader.position, column: end.read.position } });
    wake();
  }

  /** Up and down walk through the rows as they are drawn, so also in sorted order. */
  function walk(step) {
    const frame = record.frames[nearest()];
    const held = reader();
    const matrix = (held && matrixOf(frame, held.matrix)) || answering(frame);
    if (!matrix) return;
    const ordered = now.sorted && matrix.slots && matrix.slots.length === matrix.n;
    const slot = held ? (ordered ? matrix.slots[held.row] : held.row) + step : step > 0 ? 0 : matrix.n - 1;
    if (matrix.whole && !ordered && (slot < 0 || slot >= matrix.n)) {
      const { from } = now;
      stretch(from + step); // the row after the last one in sight
      if (now.from !== from && now.lock) return walk(step);
    }
    const place = clamp(slot, 0, matrix.n - 1);
    Object.assign(now, { hover: null, lock: { matrix: matrix.name, row: ordered ? matrix.order[place] : place, column: -1 } });
    wake();
  }

  function release() {
    Object.assign(now, { hover: null, lock: null });
    wake();
  }

  // -- hands

  const pause = () => setPlaying(false);
  const byHand = (act) => () => {
    pause();
    act();
  };
  const faster = (step) => setSpeed(SPEEDS[clamp(SPEEDS.indexOf(now.speed) + step, 0, SPEEDS.length - 1)]);
  const KEYS = {
    " ": () => setPlaying(!now.playing),
    ArrowRight: byHand(forward),
    ArrowLeft: byHand(backward),
    Home: byHand(() => jump(0)),
    End: byHand(() => jump(last())),
    ArrowUp: () => walk(-1),
    ArrowDown: () => walk(1),
    Escape: release,
    s: byHand(forward),
    p: pause,
    l: leak,
    o: () => parts.sort.hidden || setSorted(!now.sorted),
    "+": () => faster(1),
    "=": () => faster(1),
    "-": () => faster(-1),
    h: () => stepThrough(parts.head, setHead, 1),
    ".": () => stepThrough(parts.layer, setLayer, 1),
    ",": () => stepThrough(parts.layer, setLayer, -1),
  };

  const PLAYERS = new Set([" ", "ArrowRight", "ArrowLeft", "Home", "End", "s", "p"]); // in step, these are the player's

  function jump(at) {
    Object.assign(now, { at: clamp(at, 0, last()), goal: null, rest: REST });
    draw();
    wake();
  }

  function onKey(event) {
    if (plugs.some((plug) => plug.key?.(event))) {
      event.preventDefault();
      event.stopPropagation();
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.tagName === "SELECT" || isText(event.target)) return;
    if (event.key === " " && event.target.tagName === "BUTTON") return; // space presses the button that has the focus
    const back = event.key === " " && event.shiftKey;
    const name = event.key in KEYS ? event.key : event.key.toLowerCase();
    const act = options.bare && PLAYERS.has(name) ? null : back ? byHand(backward) : KEYS[name];
    if (!act) return;
    event.preventDefault();
    event.stopPropagation(); // in a notebook the arrows would also move the cell selection
    act();
  }

  const listen = [
    [root, "keydown", onKey],
    [canvas, "pointermove", hover],
    [canvas, "pointerleave", hover],
    [canvas, "click", lock],
    [parts.first, "click", KEYS.Home],
    [parts.back, "click", KEYS.ArrowLeft],
    [parts.play, "click", KEYS[" "]],
    [parts.step, "click", KEYS.ArrowRight],
    [parts.last, "click", KEYS.End],
    [parts.scrub, "input", () => byHand(() => jump(Number(parts.scrub.value)))()],
    [parts.speed, "change", () => setSpeed(Number(parts.speed.value))],
    [parts.loop, "click", () => parts.loop.setAttribute("aria-pressed", String((now.looping = !now.looping)))],
    [parts.sort, "click", KEYS.o],
    [parts.layer, "change", () => setLayer(Number(parts.layer.value))],
    [parts.head, "change", () => setHead(parts.head.value === "none" ? null : Number(parts.head.value))],
    [root, "transitionend", (event) => event.target === root && event.propertyName === "color" && repaint()],
    [calm, "change", () => wake()],
    [scheme, "change", () => repaint()],
    [window, "resize", () => refit()],
  ];
  for (const [target, type, act] of listen) target.addEventListener(type, act);

  // -- surroundings

  /** Themes change by attributes, by media query or by a swapped style sheet; the last shows only as a transition. */
  function repaint() {
    const old = theme.key;
    retheme();
    if (theme.key === old) return;
    for (const plug of plugs) plug.renew?.();
    draw();
  }

  function refit() {
    const width = parts.picture.clientWidth;
    if (!width || (Math.max(280, Math.min(WIDEST, width)) === plan.width && dots() === art.ratio)) return;
    relayout();
    draw();
  }

  const resized = new ResizeObserver(() => {
    repaint();
    refit();
  });
  const watched = new IntersectionObserver((entries) => {
    onScreen = entries[entries.length - 1].isIntersecting;
    if (onScreen) wake();
  });
  const attributes = new MutationObserver(() => {
    repaint();
    setTimeout(() => alive && repaint(), 350); // hosts fade their colours
  });

  const kit = {
    root, canvas, parts, options, now, pointAt, wake, draw, jump, go, pause, last, nearest, measure,
    painting: false, lit: null, sketch: null, after: null,
    live: Boolean(options.onEdit),
    alone,
    record: () => record,
    whole: () => whole,
    stretch,
    /** The stretch of a long text stands for now. */
    settled: () => plugs.forEach((plug) => plug.settle?.()),
    plan: () => plan,
    theme: () => theme,
    frame: () => record.frames[nearest()],
    /** Draws (k, u) with any pen that knows the canvas' words: the picture itself, a thumbnail, an SVG. */
    drawWith: (pen, extra, k, u, view) => paint(pen, { ...art, sheets: null, stamps: null, ...extra }, record, k, u, view || look()),
    /** Tells the host what a hand did; the frame that shows it is opened when the answer comes. */
    send(edit, frame) {
      pause();
      kit.after = frame;
      options.onEdit?.(edit);
    },
  };
  plugs.push(stretchOf(kit), ...(kit.live || !options.bare ? [handsOn(kit)] : []), ...(options.bare ? [] : [sheetsOf(kit), moreOf(kit)]));

  el.replaceChildren(root);
  if (options.bare) for (const part of [parts.controls, parts.explain, parts.below, ...(kit.live ? [] : [parts.tools])]) part.remove();
  retheme();
  const [first, end] = String(record.begin || 1).split("-").map(Number);
  Object.assign(now, { from: Math.max(0, first - 1), size: end > first ? end - first + 1 : null });
  cutOut(room());
  adopt();
  relayout();
  now.at = told.frame = clamp(options.frame ?? 0, 0, last());
  resized.observe(root);
  watched.observe(root);
  for (const target of [document.documentElement, document.body]) {
    attributes.observe(target, { attributes: true, attributeFilter: ["class", "style", "data-theme", "data-jp-theme-light", "data-bs-theme", "theme"] });
  }
  draw();
  if (options.playing) {
    told.playing = true;
    setPlaying(true);
  }

  const handle = {
    /** A key that was pressed elsewhere, as if this stage had the focus. */
    key: onKey,
    /** Shows (frame, fraction); a whole neighbouring frame without a fraction is walked to, anything else is cut to. */
    set(frame, fraction) {
      if (fraction === undefined && Math.abs(frame - now.at) <= 1) {
        told.frame = clamp(frame, 0, last());
        go(frame);
      } else jump(frame + clamp(fraction || 0));
    },
    play: () => setPlaying(true),
    pause,
    update,
    /** Other numbers over the same frames: another moment of a run. */
    tell(numbers) {
      whole = withNumbers(whole, numbers);
      cutOut(room());
      draw();
    },
    /** Shows another stretch of a long text, at a share of the way along it. */
    stretch(share) {
      if (record.stretch && Math.abs(share * (record.stretch.length - record.stretch.size) - now.from) >= 1) stretch(Math.round(share * (record.stretch.length - record.stretch.size)));
    },
    svg: () => plugs.find((plug) => plug.svg)?.svg(),
    link: () => plugs.find((plug) => plug.link)?.link(),
    /** Shows any place without telling the host: how a player of several stages moves this one. */
    show(at) {
      Object.assign(now, { at: clamp(at, 0, last()), goal: null });
      draw();
    },
    state() {
      const frame = Math.min(Math.floor(now.at), last());
      const held = reader();
      const own = held && matrixOf(record.frames[frame], held.matrix);
      return {
        frame,
        name: record.frames[frame].name,
        fraction: now.at - frame,
        playing: now.playing,
        reader: held ? { ...held, label: own ? own.rows[held.row] : "", locked: Boolean(now.lock) && !now.hover } : null,
        sorted: now.sorted,
        sort: now.sort,
        speed: now.speed,
        head: now.head,
        layer: now.layer,
        answers: answersShown(record, Math.min(frame, last()), plan.answers || null),
        dark: theme.dark,
        moving: now.goal !== null,
        painting: kit.painting,
        plan: record.plan || {},
        leak: Boolean(record.leak && record.leak.leak),
        stretch: record.stretch || null,
        layout: { width: plan.width, height: plan.height, lanes: lanesDrawn(drawn), matrices: matricesDrawn(plan, record.frames[nearest()]) },
      };
    },
    destroy() {
      alive = false;
      cancelAnimationFrame(loop);
      for (const [target, type, act] of listen) target.removeEventListener(type, act);
      for (const plug of plugs) plug.destroy?.();
      for (const observer of [resized, watched, attributes]) observer.disconnect();
      root.remove();
      if (el.__stage === handle) delete el.__stage;
    },
  };
  el.__stage = handle;
  return handle;
}

function lanesDrawn(drawn) {
  return LANES.map((name) => ({
    name,
    cells: drawn
      .filter((item) => (item.to || item.from).lane === name)
      .sort((a, b) => (a.to || a.from).i - (b.to || b.from).i)
      .map((item) => {
        const { cell } = item.to || item.from;
        const { x, y, w, h } = item.box;
        return { key: cell.key, text: cell.text, x, y, w, h, state: cell.state };
      }),
  })).filter((lane) => lane.cells.length);
}

/** `size` is the side of one cell in CSS pixels; (x, y) is the top left corner of the cells. */
function matricesDrawn(plan, frame) {
  return frame.matrices.map(({ name, n, m }) => ({ name, x: plan.boxes[name].x, y: plan.boxes[name].y, size: plan.boxes[name].cell, n, m }));
}
