/**
 * The stage: shows how an objective rebuilds a sentence (lanes of tokens) and its attention masks (matrices).
 *
 * The picture is a pure function of (record, frame k, fraction u, view). What changes over time is `now`, which only
 * the player and the hands of a person write. Text from the record only ever reaches `fillText` and `textContent`:
 * data can never become markup.
 */

import hostStyle from "../paint/host.css" with { type: "text" };
import stageStyle from "./stage.css" with { type: "text" };
import { endOf, listen, node, optionsOf, scrolledBy } from "../dom.js";
import { explained } from "../glossary.js";
import { ICONS, button, icon, isForeign, setLamp, watchTheme } from "../interact/controls.js";
import { handsOn } from "../interact/editing.js";
import { sheetsOf } from "../interact/panels.js";
import { makePlayer, playerBar, playerKeys } from "../interact/player.js";
import { readerOf } from "../interact/reader.js";
import { moreOf } from "../interact/source_and_history.js";
import { stretchOf } from "../interact/stretch.js";
import { answersShown } from "../paint/answers.js";
import { makePlan } from "../paint/layout.js";
import { fitting, lengthOf, saysStretch, stretched } from "../paint/long_text.js";
import { patterns } from "../paint/matrices.js";
import { duration, paint, storyReader } from "../paint/paint.js";
import { measuring, screenRatio } from "../paint/pen.js";
import { dressed } from "../paint/theme.js";
import {
  LANES, MOVE, SPEEDS, WIDEST, clamp, ease, layerOf, matrixOf, range, readRecord, shownFrom, withNumbers,
} from "../record.js";

const [FOOT, ACTIONS] = [30, 44]; // px of the line below the picture, and of the buttons that a host has there

const TITLES = { first: "First frame (Home)", back: "Step back (Left)", play: "Play (Space)", step: "Step forward (Right)", last: "Last frame (End)" };

const select = (control, name, title, choices = []) => node("select", { "data-control": control, "aria-label": name, title: explained(title) }, ...optionsOf(choices));

/** All elements of the component, made once; only texts and attributes change afterwards. */
function buildParts(player, setSorted, now) {
  const bar = playerBar(player, TITLES);
  bar.play.classList.add("stage-play");
  bar.where.className = "stage-where";
  const parts = {
    bar,
    title: node("h2", { class: "stage-title" }),
    subtitle: node("p", { class: "stage-subtitle" }),
    lamp: node("p", { class: "stage-lamp", role: "status" }),
    name: node("b"),
    caption: node("span"),
    canvas: node("canvas", { role: "img" }),
    reader: node("p", { class: "stage-reader", "aria-live": "polite" }),
    source: node("p", { class: "stage-source" }),
    speed: select("speed", "Speed", "Speed (+ and -)", SPEEDS.map((speed) => [speed, `${speed}×`])),
    loop: button(icon(ICONS.loop), "Repeat from the start", () => parts.loop.setAttribute("aria-pressed", String((now.looping = !now.looping))), { "data-control": "loop", "aria-label": "Repeat", "aria-pressed": "false" }),
    sort: button(icon(ICONS.sort), "Sort axes by order (O)", () => setSorted(!now.sorted), { class: "stage-sort", "aria-label": "Sort axes by order", "aria-pressed": "false" }),
    layer: select("layer", "Layer", "Layer (, and .)"),
    head: select("head", "Attention head", "Attention head (H)"),
    bench: node("span", { class: "stage-bench" }),
    tools: node("div", { class: "stage-tools", role: "group", "aria-label": "By hand" }),
    picture: node("div", { class: "stage-picture" }),
    below: node("div", { class: "stage-below" }),
    explain: node("aside", { class: "stage-explain", "aria-label": "Explanation" }),
    style: node("style", {}, hostStyle, stageStyle),
  };
  parts.sort.append(node("span", { class: "stage-word" }, "Sort by order"));
  parts.speed.value = "1";
  parts.picture.append(parts.canvas, parts.below);
  const live = node("p", { class: "stage-caption", "aria-live": "polite" }, parts.name, parts.caption);
  const steps = node("span", { class: "stage-group" }, bar.first, bar.back, bar.play, bar.step, bar.last);
  const extras = node("span", { class: "stage-group" }, parts.sort, parts.layer, parts.head, parts.speed, parts.loop);
  parts.controls = node("div", { class: "stage-controls", role: "group", "aria-label": "Player" }, steps, node("span", { class: "stage-scrub" }, bar.scrub), bar.where, extras, parts.bench);
  parts.top = node("header", { class: "stage-head" }, parts.title, live, parts.lamp);
  parts.foot = node("footer", { class: "stage-foot" }, parts.reader, parts.source);
  const body = node("div", { class: "stage-body" }, node("div", { class: "stage-main" }, parts.picture, parts.foot), parts.explain);
  parts.root = node("section", { class: "stage", style: `max-width: ${WIDEST}px`, tabindex: "0", "data-lm-suppress-shortcuts": "true" }, parts.style, parts.top, parts.controls, parts.tools, body);
  return parts;
}

/**
 * Puts a stage into `el`. Options: frame, playing, onFrame(frame), onPlaying(playing) keep a host in step; with
 * onEdit(edit) it can be edited; a bare one has no player of its own. The handle is also `el.__stage`.
 */
export function mountOne(el, raw, options = {}) {
  const now = { sort: 0, sorted: false, hover: null, lock: null, layer: null, head: -1, from: 0, size: null };
  const last = () => record.frames.length - 1;
  const player = makePlayer(now, {
    last, pace: (k) => duration(record, k), draw, also: glide, seen: () => onScreen, onFrame: options.onFrame, onPlaying: options.onPlaying,
  });
  const parts = buildParts(player, setSorted, now);
  const { root, canvas } = parts;
  const ctx = canvas.getContext("2d");
  const measure = measuring(ctx);
  let whole = readRecord(raw);
  let record = whole; // of a long text, the part that is drawn
  let [plan, theme, art, drawn, onScreen, height] = [null, null, null, [], true, 0];
  const nearest = () => Math.round(now.at);
  const frameNow = () => record.frames[nearest()];
  const { redraw, wake, jump, pause } = player;

  // -- drawing

  /** Moves the axes between the order of the text and the order of prediction. */
  function glide(ms) {
    const target = now.sorted ? 1 : 0;
    if (now.sort === target) return false;
    now.sort = player.calm.matches ? target : clamp(now.sort + (Math.sign(target - now.sort) * ms) / (MOVE * 1.4));
    return true;
  }

  const look = () => ({ reader: reader(), sort: ease(now.sort), layer: now.layer, head: now.head, lit: kit.lit, sketch: kit.sketch });

  /** On a very wide screen everything grows, so that it can be read from the same distance. */
  const grown = () => clamp(el.clientWidth / WIDEST, 1, 2);
  const dots = () => Math.min(3, screenRatio(Infinity) * grown());
  /**
   * The height in which the picture can be seen with what stands above and below it: on the first screen of the page
   * where the stage begins in its upper half, else in a window that is scrolled to the stage.
   */
  function inSight() {
    const [top, picture] = [root, parts.picture].map((part) => part.getBoundingClientRect().top);
    const above = top + scrolledBy(root);
    return room() < 560 ? Infinity : Math.max(300, innerHeight - (above < innerHeight / 2 ? above : 0) - (picture - top)) / grown() - FOOT - (options.bare || !alone() ? ACTIONS : 0);
  }

  const room = () => Math.max(280, Math.min(WIDEST, parts.picture.clientWidth || el.clientWidth || 800));

  /** Of a long text, takes the part that fits into the width or was asked for. */
  function cutOut() {
    const size = now.size ?? fitting(room());
    now.from = clamp(now.from, 0, Math.max(0, lengthOf(whole) - size));
    record = stretched(whole, now.from, size);
  }

  /** Moves the window over a long text; the reader that is held stays held as long as it is in sight. */
  function stretch(from) {
    const old = now.lock && matrixOf(frameNow(), now.lock.matrix);
    now.from = from;
    cutOut();
    const fresh = old && matrixOf(frameNow(), now.lock.matrix);
    const row = fresh ? now.lock.row + (old.top || 0) - (fresh.top || 0) : -1;
    Object.assign(now, { hover: null, lock: fresh && row >= 0 && row < fresh.n ? { ...now.lock, row, column: -1 } : null });
    if (record.stretch) options.onStretch?.(record.stretch.from / (record.stretch.length - record.stretch.size));
    relayout();
    redraw();
    tellPlugs("renew");
  }

  function relayout() {
    root.style.zoom = grown() > 1 ? String(grown()) : "";
    const [width, ratio] = [room(), dots()];
    cutOut();
    height = inSight();
    plan = makePlan(record, width, measure, height);
    const [across, down] = [Math.round(width * ratio), Math.round(plan.height * ratio)];
    if (canvas.width !== across || canvas.height !== down) Object.assign(canvas, { width: across, height: down });
    canvas.style.height = `${plan.height}px`;
    root.style.setProperty("--pad", `${plan.pad}px`);
    root.style.setProperty("--band", `${plan.band}px`);
    art = { plan, theme, ratio, patterns: patterns(ctx, theme, ratio) };
    tellPlugs("place");
  }

  function retheme() {
    theme = dressed(root);
    setLamp(parts.lamp, record.leak, theme);
    if (!plan) return;
    art = { ...art, theme, patterns: patterns(ctx, theme, art.ratio) };
  }

  function draw() {
    const k = Math.min(Math.floor(now.at), last());
    const u = k === last() ? 0 : now.at - k;
    ctx.setTransform(art.ratio, 0, 0, art.ratio, 0, 0);
    ctx.clearRect(0, 0, plan.width, plan.height);
    drawn = paint(ctx, art, record, k, u, look());
    write(k, u);
    tellPlugs("follow");
  }

  /** Puts words beside the picture: the same facts for people who hear it. */
  function write(k, u) {
    const frame = frameNow();
    const spoken = describe(frame, reader() || storyReader(record, k, u, now.sort));
    const set = (part, text) => part.textContent !== text && (part.textContent = text);
    if (set(parts.name, frame.title)) parts.name.title = explained(frame.title);
    if (set(parts.caption, frame.caption || "")) parts.caption.title = frame.caption || "";
    set(parts.reader, spoken || (frame.matrices.length ? "Hover a row or a token to see what it attends to; click to pin it." : ""));
    parts.reader.setAttribute("aria-live", now.lock && !now.hover ? "polite" : "off"); // previews would chatter
    const part = record.stretch ? ` (tokens ${saysStretch(record)})` : "";
    canvas.setAttribute("aria-label", `${frame.title}${part}: ${spoken || frame.caption || ""}`);
    const step = nearest() + 1;
    parts.bar.show(now, last(), `${frame.title} (${step}/${last() + 1})`, `${frame.title}, ${step} of ${last() + 1}`);
  }

  // -- the record

  /** No page of the app stands around this stage, to say and to hear what is not the picture's. */
  const alone = () => !options.onEdit || Boolean(record.alone);

  function adopt() {
    parts.title.textContent = record.title;
    parts.subtitle.textContent = [record.subtitle, ...(alone() ? (record.left_out || []).map(({ said }) => said) : [])].filter(Boolean).join(" ");
    parts.source.textContent = record.source;
    root.setAttribute("aria-label", `Stage: ${record.title}`);
    const matrices = record.frames.flatMap((frame) => frame.matrices);
    parts.sort.hidden = !matrices.some((matrix) => matrix.order);
    offerWeights(matrices);
    if (parts.sort.hidden) setSorted(false);
    tellPlugs("adopt");
    if (options.bare) parts.lamp.after(parts.subtitle);
    else if (!root.contains(parts.subtitle) || parts.explain.hidden) parts.top.after(parts.subtitle);
  }

  /** The layers and heads that can be chosen. */
  function offerWeights(matrices) {
    const [layers, heads] = ["layers", "heads"].map((what) => Math.max(0, ...matrices.map((matrix) => matrix[what])));
    const offer = (part, choices, value) => {
      part.replaceChildren(...optionsOf(choices));
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
  function ask() {
    const weighed = record.frames.flatMap((frame) => frame.matrices).filter((matrix) => matrix.heads);
    if (weighed.some((matrix) => !matrix.data[layerOf(matrix, now)])) options.onEdit?.({ do: "look", layer: now.layer });
  }

  function setLayer() {
    now.layer = Number(parts.layer.value);
    turn();
  }

  function setHead() {
    now.head = parts.head.value === "none" ? null : Number(parts.head.value);
    turn();
  }

  /** Draws the weights that were chosen, also on the stages beside. */
  function turn() {
    ask();
    options.onLook?.(now.layer, now.head);
    wake();
  }

  function stepThrough(part, by) {
    if (part.hidden) return;
    part.selectedIndex = (part.selectedIndex + by + part.options.length) % part.options.length;
    part.dispatchEvent(new Event("change"));
  }

  function update(fresh) {
    const { name } = frameNow();
    whole = readRecord(fresh);
    cutOut();
    const same = record.frames.findIndex((frame) => frame.name === name);
    Object.assign(now, { at: same >= 0 ? same : Math.min(nearest(), last()), goal: null, hover: null, lock: null });
    if (kit.after) now.at = Math.max(now.at, shownFrom(record, kit.after));
    Object.assign(kit, { after: null, lit: null, sketch: null });
    adopt();
    setLamp(parts.lamp, record.leak, theme);
    relayout();
    redraw();
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

  // -- what is put on the stage: each plug may adopt a record, place itself, follow a picture, hear keys and the pointer

  const kit = {
    root, canvas, parts, now, wake, jump, pause, last, nearest, measure, alone, stretch, plugs: [],
    painting: false, lit: null, sketch: null, after: null, sheet: null,
    live: Boolean(options.onEdit),
    pointAt: (event) => pointAt(event),
    record: () => record,
    whole: () => whole,
    /** Opens a sheet over the lower half of the picture, in place of another one, or closes it. */
    turn(name) {
      kit.sheet = kit.sheet === name ? null : name;
      tellPlugs("renew");
    },
    plan: () => plan,
    theme: () => theme,
    frame: frameNow,
    /** Draws (k, u) with any pen that knows the canvas' words: the picture itself, a thumbnail, an SVG. */
    drawWith: (pen, extra, k, u, view) => paint(pen, { ...art, ...extra }, record, k, u, view || look()),
    /** Tells the host what a person did; the frame that shows it is opened when the answer comes. */
    send(edit, frame) {
      pause();
      kit.after = frame;
      options.onEdit?.(edit);
    },
  };
  const tellPlugs = (what) => kit.plugs.forEach((plug) => plug[what]?.());
  const { reader, hold, pointAt, hover, lock, leak, walk, describe } = readerOf(kit, () => drawn);
  kit.plugs.push(stretchOf(kit), ...(kit.live || !options.bare ? [handsOn(kit)] : []), ...(options.bare ? [] : [sheetsOf(kit), moreOf(kit)]));

  // -- keys

  const faster = (step) => setSpeed(SPEEDS[clamp(SPEEDS.indexOf(now.speed) + step, 0, SPEEDS.length - 1)]);
  const KEYS = {
    ...(options.bare ? {} : playerKeys(player)), // several under one player leave these to it
    ArrowUp: () => walk(-1),
    ArrowDown: () => walk(1),
    Escape: () => hold(null),
    l: leak,
    o: () => parts.sort.hidden || setSorted(!now.sorted),
    "+": () => faster(1),
    "=": () => faster(1),
    "-": () => faster(-1),
    h: () => stepThrough(parts.head, 1),
    ".": () => stepThrough(parts.layer, 1),
    ",": () => stepThrough(parts.layer, -1),
  };

  function onKey(event) {
    const heard = kit.plugs.some((plug) => plug.key?.(event));
    if (!heard && (isForeign(event) || event.target.tagName === "SELECT")) return;
    if (!heard && event.key === " " && event.target.tagName === "BUTTON") return; // space presses the button that has the focus
    const name = event.key in KEYS ? event.key : event.key.toLowerCase();
    if (!heard && !KEYS[name]) return;
    event.preventDefault();
    event.stopPropagation(); // in a notebook the arrows would also move the cell selection
    if (!heard) KEYS[name](event);
  }

  // -- surroundings

  /** Themes change by attributes, by media query or by a swapped style sheet; the last shows only as a transition. */
  function repaint() {
    const old = theme.key;
    retheme();
    if (theme.key === old) return;
    tellPlugs("renew");
    redraw();
  }

  function refit() {
    if (!parts.picture.clientWidth || (room() === plan.width && dots() === art.ratio && Math.abs(inSight() - height) < 3)) return;
    relayout();
    redraw();
  }

  const resized = new ResizeObserver(() => {
    repaint();
    refit();
  });
  const watched = new IntersectionObserver((entries) => {
    onScreen = entries[entries.length - 1].isIntersecting;
    if (onScreen) wake();
  });

  el.replaceChildren(root);
  if (options.bare) {
    options.bench?.append(parts.layer, parts.head, parts.bench);
    if (kit.live) parts.picture.after(parts.tools); // so that the lanes of all stages stand at one height
    for (const part of [parts.controls, parts.explain, parts.below, parts.source, ...(kit.live ? [] : [parts.tools])]) part.remove();
  }
  retheme();
  const [first, end] = String(record.begin || 1).split("-").map(Number);
  Object.assign(now, { from: Math.max(0, first - 1), size: end > first ? end - first + 1 : null });
  cutOut();
  adopt();
  relayout();
  resized.observe(root);
  watched.observe(root);
  const stop = endOf(
    watchTheme(repaint),
    player.destroy,
    listen([
      [root, "keydown", onKey],
      [canvas, "pointermove", hover], [canvas, "pointerleave", hover], [canvas, "click", lock],
      [parts.speed, "change", () => setSpeed(Number(parts.speed.value))], [parts.layer, "change", setLayer], [parts.head, "change", setHead],
      [root, "transitionend", (event) => event.target === root && event.propertyName === "color" && repaint()],
      [player.calm, "change", wake],
      [window, "resize", refit],
    ]),
  );
  player.begin(options);

  const handle = {
    /** A key that was pressed elsewhere, as if this stage had the focus. */
    key: onKey,
    set: player.set,
    play: () => player.setPlaying(true),
    pause,
    update,
    /** Other numbers over the same frames: another moment of a run. */
    tell(numbers) {
      whole = withNumbers(whole, numbers);
      cutOut();
      redraw();
    },
    /** Shows another window of a long text, at a share of the way along it. */
    stretch(share) {
      const goal = record.stretch && share * (record.stretch.length - record.stretch.size);
      if (record.stretch && Math.abs(goal - now.from) >= 1) stretch(Math.round(goal));
    },
    /** Draws the weights of one head. */
    look(layer, head) {
      Object.assign(now, { layer, head });
      offerWeights(record.frames.flatMap((frame) => frame.matrices));
      ask();
      redraw();
    },
    svg: () => kit.plugs.find((plug) => plug.svg)?.svg(),
    link: () => kit.plugs.find((plug) => plug.link)?.link(),
    /** Shows any place without telling the host: how a player of several stages moves this one. */
    show(at) {
      Object.assign(now, { at: clamp(at, 0, last()), goal: null });
      redraw();
    },
    state() {
      const frame = Math.min(Math.floor(now.at), last());
      const held = reader();
      const own = held && matrixOf(record.frames[frame], held.matrix);
      const { playing, sorted, sort, speed, head, layer } = now;
      return {
        frame, playing, sorted, sort, speed, head, layer,
        name: record.frames[frame].name,
        fraction: now.at - frame,
        reader: held ? { ...held, label: own ? own.rows[held.row] : "", locked: Boolean(now.lock) && !now.hover } : null,
        answers: answersShown(record, frame, plan.answers || null),
        dark: theme.dark,
        moving: now.goal !== null,
        painting: kit.painting,
        plan: record.plan || {},
        leak: Boolean(record.leak && record.leak.leak),
        stretch: record.stretch || null,
        layout: { width: plan.width, height: plan.height, lanes: lanesDrawn(drawn), matrices: matricesDrawn(plan, frameNow()) },
      };
    },
    destroy() {
      stop();
      tellPlugs("destroy");
      for (const observer of [resized, watched]) observer.disconnect();
      root.remove();
      if (el.__stage === handle) delete el.__stage;
    },
  };
  el.__stage = handle;
  return handle;
}

function lanesDrawn(drawn) {
  const spots = drawn.map(({ from, to, box }) => ({ ...(to || from), box }));
  return LANES.map((name) => ({
    name,
    cells: spots.filter((spot) => spot.lane === name).sort((a, b) => a.i - b.i)
      .map(({ cell: { key, text, state }, box: { x, y, w, h } }) => ({ key, text, x, y, w, h, state })),
  })).filter((lane) => lane.cells.length);
}

/** `size` is the side of one cell in CSS pixels; (x, y) is the top left corner of the cells. */
function matricesDrawn(plan, frame) {
  return frame.matrices.map(({ name, n, m }) => ({ name, x: plan.boxes[name].x, y: plan.boxes[name].y, size: plan.boxes[name].cell, n, m }));
}
