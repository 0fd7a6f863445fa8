/**
 * The stage: shows how an objective rebuilds a sentence (lanes of tokens) and its attention masks (matrices).
 *
 * The picture is a pure function of (record, frame k, fraction u, view). What changes over time is `now`, which only
 * the player and the hands of a person write. Text from the record only ever reaches `fillText` and `textContent`:
 * data can never become markup.
 */

import { endOf, listen, scrolledBy } from "../dom.js";
import { explained } from "../glossary.js";
import { isForeign, setLamp, watchTheme } from "../interact/controls.js";
import { Hands } from "../interact/editing.js";
import { Epochs } from "../interact/epochs.js";
import { panelsOf } from "../interact/panels.js";
import { Player, clockAtRest, playerKeys } from "../interact/player.js";
import { Pointer } from "../interact/reader.js";
import { Source } from "../interact/source.js";
import { StretchBar } from "../interact/stretch.js";
import { Weights } from "../interact/weights.js";
import { answersShown } from "../paint/answers.js";
import { makePlan } from "../paint/layout.js";
import { fitting, lengthOf, saysStretch, stretched } from "../paint/long_text.js";
import { patterns } from "../paint/matrices.js";
import { duration, paint, storyReader } from "../paint/paint.js";
import { measuring, screenRatio } from "../paint/pen.js";
import { dressed } from "../paint/theme.js";
import { LANES, MOVE, SPEEDS, WIDEST, clamp, ease, matrixOf, readRecord, shownFrom, withNumbers } from "../record.js";
import { buildParts } from "./parts.js";

const [FOOT, ACTIONS] = [30, 44]; // px of the line below the picture, and of the buttons that a host has there
const HINT = "Hover a row or a token to see what it attends to; click to pin it.";

const setText = (/** @type {Element} */ part, /** @type {string} */ text) =>
  part.textContent !== text && (part.textContent = text);

/**
 * A stage in `el`, which is also `el.__stage`. Options: frame, playing, onFrame(frame), onPlaying(playing) keep a host
 * in step; with onEdit(edit) it can be edited; a bare one has no player of its own. Its plugs see it as a `Kit`.
 */
export class Stage {
  /** @type {Now} */
  now = {
    ...clockAtRest(), sort: 0, sorted: false, hover: null, lock: null, layer: null, head: -1, from: 0, size: null,
  };
  /** @type {Flight[]} */
  drawn = []; // the chips of the picture
  /** @type {Plug[]} */
  plugs = [];
  /** @type {any} */
  theme = null;
  /** @type {any} */
  plan = null;
  /** @type {any} */
  art = null;
  onScreen = true;
  height = 0;
  painting = false;
  /** @type {Kit["lit"]} */
  lit = null;
  /** @type {Sketch | null} */
  sketch = null;
  /** @type {string | null} */
  after = null; // the frame that shows the last edit, once its answer has come
  /** @type {string | null} */
  sheet = null;
  end = () => {};

  /** @param {Element} el @param {any} raw @param {StageOptions} options */
  constructor(el, raw, options = {}) {
    this.el = el;
    this.options = options;
    this.live = Boolean(options.onEdit);
    this.whole = readRecord(raw);
    this.record = this.whole; // of a long text, the part that is drawn
    this.player = new Player(this.now, this.clockwork());
    this.parts = buildParts(this);
    this.root = this.parts.root;
    this.canvas = this.parts.canvas;
    this.pen = this.canvas.getContext("2d");
    this.measure = measuring(this.pen);
    this.pointer = new Pointer(this, () => this.drawn);
    this.weights = new Weights(this, (layer) => options.onEdit?.({ do: "look", layer }), options.onLook || (() => {}));
    this.plugs.push(...this.makePlugs());
    this.keys = this.makeKeys();
    el.replaceChildren(this.root);
    if (options.bare) this.undress();
    this.begin();
    el.__stage = this;
  }

  clockwork() {
    const { onFrame, onPlaying } = this.options;
    return {
      last: () => this.last(), pace: (/** @type {number} */ k) => duration(this.record, k), draw: () => this.draw(),
      also: (/** @type {number} */ ms) => this.glide(ms), seen: () => this.onScreen, onFrame, onPlaying,
    };
  }

  /** Each may adopt a record, place itself, follow a picture, hear keys and the pointer. */
  makePlugs() {
    const { bare } = this.options;
    return [
      new StretchBar(this), ...(this.live || !bare ? [new Hands(this)] : []),
      ...(bare ? [] : [...panelsOf(this), new Source(this), new Epochs(this)]),
    ];
  }

  tellPlugs(/** @type {"adopt" | "place" | "follow" | "renew" | "destroy"} */ what) {
    for (const plug of this.plugs) plug[what]?.();
  }

  /** One of several under one player has no controls of its own. */
  undress() {
    const { options, parts } = this;
    options.bench?.append(parts.layer, parts.head, parts.bench);
    if (this.live) parts.picture.after(parts.tools); // so that the lanes of all stages are at one height
    const spare = [parts.controls, parts.explain, parts.below, parts.source, ...(this.live ? [] : [parts.tools])];
    for (const part of spare) part.remove();
  }

  begin() {
    this.retheme();
    const [first, end] = String(this.record.begin || 1).split("-").map(Number);
    Object.assign(this.now, { from: Math.max(0, first - 1), size: end > first ? end - first + 1 : null });
    this.cutOut();
    this.adopt();
    this.relayout();
    this.watch();
    this.player.begin(this.options);
  }

  // -- where the story is

  last() {
    return this.record.frames.length - 1;
  }

  nearest() {
    return Math.round(this.now.at);
  }

  frame() {
    return this.record.frames[this.nearest()];
  }

  wake() {
    this.player.wake();
  }

  jump(/** @type {number} */ at) {
    this.player.jump(at);
  }

  // -- drawing

  /** Moves the axes between the order of the text and the order of prediction. */
  glide(/** @type {number} */ ms) {
    const { now } = this;
    const target = now.sorted ? 1 : 0;
    if (now.sort === target) return false;
    const step = (Math.sign(target - now.sort) * ms) / (MOVE * 1.4);
    now.sort = this.player.calm.matches ? target : clamp(now.sort + step);
    return true;
  }

  view() {
    const { lit, sketch, pointer: { reader }, now: { layer, head, sort } } = this;
    return { reader, sort: ease(sort), layer, head, lit, sketch };
  }

  /** On a very wide screen everything grows, so that it can be read from the same distance. */
  grown() {
    return clamp(this.el.clientWidth / WIDEST, 1, 2);
  }

  dots() {
    return Math.min(3, screenRatio(Infinity) * this.grown());
  }

  room() {
    return Math.max(280, Math.min(WIDEST, this.parts.picture.clientWidth || this.el.clientWidth || 800));
  }

  /**
   * The height in which the picture can be seen with what is above and below it: on the first screen of the page
   * where the stage begins in its upper half, else in a window that is scrolled to the stage.
   */
  inSight() {
    if (this.room() < 560) return Infinity;
    const [top, picture] = [this.root, this.parts.picture].map((part) => part.getBoundingClientRect().top);
    const above = top + scrolledBy(this.root);
    const seen = innerHeight - (above < innerHeight / 2 ? above : 0) - (picture - top);
    return Math.max(300, seen) / this.grown() - FOOT - (this.options.bare || !this.alone() ? ACTIONS : 0);
  }

  /** Of a long text, takes the part that fits into the width or was asked for. */
  cutOut() {
    const { now, whole } = this;
    const size = now.size ?? fitting(this.room());
    now.from = clamp(now.from, 0, Math.max(0, lengthOf(whole) - size));
    this.record = stretched(whole, now.from, size);
  }

  /** Moves the window over a long text; the reader that is held stays held as long as it is in sight. */
  stretch(/** @type {number} */ from) {
    const { now } = this;
    const { lock } = now;
    const old = lock && matrixOf(this.frame(), lock.matrix);
    now.from = from;
    this.cutOut();
    const fresh = old && matrixOf(this.frame(), lock.matrix);
    const row = fresh ? lock.row + (old.top || 0) - (fresh.top || 0) : -1;
    const held = fresh && row >= 0 && row < fresh.n;
    Object.assign(now, { hover: null, lock: held ? { ...lock, row, column: -1 } : null });
    const { stretch } = this.record;
    if (stretch) this.options.onStretch?.(stretch.from / (stretch.length - stretch.size));
    this.relayout();
    this.player.redraw();
    this.tellPlugs("renew");
  }

  relayout() {
    const { canvas, root, pen } = this;
    root.style.zoom = this.grown() > 1 ? String(this.grown()) : "";
    const [width, ratio] = [this.room(), this.dots()];
    this.cutOut();
    this.height = this.inSight();
    const plan = makePlan(this.record, width, this.measure, this.height);
    const [across, down] = [Math.round(width * ratio), Math.round(plan.height * ratio)];
    if (canvas.width !== across || canvas.height !== down) Object.assign(canvas, { width: across, height: down });
    canvas.style.height = `${plan.height}px`;
    root.style.setProperty("--pad", `${plan.pad}px`);
    root.style.setProperty("--band", `${plan.band}px`);
    this.plan = plan;
    this.art = { plan, theme: this.theme, ratio, patterns: patterns(pen, this.theme, ratio) };
    this.tellPlugs("place");
  }

  retheme() {
    const theme = dressed(this.root);
    this.theme = theme;
    setLamp(this.parts.lamp, this.record.leak, theme);
    if (this.plan) this.art = { ...this.art, theme, patterns: patterns(this.pen, theme, this.art.ratio) };
  }

  draw() {
    const { art, now, pen, plan, record } = this;
    const k = Math.min(Math.floor(now.at), this.last());
    const u = k === this.last() ? 0 : now.at - k;
    pen.setTransform(art.ratio, 0, 0, art.ratio, 0, 0);
    pen.clearRect(0, 0, plan.width, plan.height);
    this.drawn = paint(pen, art, record, k, u, this.view());
    this.write(k, u);
    this.tellPlugs("follow");
  }

  /**
   * Draws (k, u) with any pen that knows the canvas' words: the picture itself, a thumbnail, an SVG.
   * @param {Pen} pen @param {Partial<Art>} extra @param {number} k @param {number} u
   */
  drawWith(pen, extra, k, u, view = this.view()) {
    paint(pen, { ...this.art, ...extra }, this.record, k, u, view);
  }

  /** Puts words beside the picture: the same facts for people who hear it. */
  write(/** @type {number} */ k, /** @type {number} */ u) {
    const { now, parts, pointer, record } = this;
    const frame = this.frame();
    const spoken = pointer.describe(frame, pointer.reader || storyReader(record, k, u, now.sort));
    if (setText(parts.name, frame.title)) parts.name.title = explained(frame.title);
    if (setText(parts.caption, frame.caption || "")) parts.caption.title = frame.caption || "";
    setText(parts.reader, spoken || (frame.matrices.length ? HINT : ""));
    parts.reader.setAttribute("aria-live", now.lock && !now.hover ? "polite" : "off"); // previews would chatter
    const part = record.stretch ? ` (tokens ${saysStretch(record)})` : "";
    this.canvas.setAttribute("aria-label", `${frame.title}${part}: ${spoken || frame.caption || ""}`);
    const [step, steps] = [this.nearest() + 1, this.last() + 1];
    parts.bar.show(now, this.last(), `${frame.title} (${step}/${steps})`, `${frame.title}, ${step} of ${steps}`);
  }

  // -- the record

  /** No page of the app is around this stage, to say and to hear what is not the picture's. */
  alone() {
    return !this.live || Boolean(this.record.alone);
  }

  adopt() {
    const { parts, record, root } = this;
    const left = this.alone() ? (record.left_out || []).map(({ said }) => said) : [];
    parts.title.textContent = record.title;
    parts.subtitle.textContent = [record.subtitle, ...left].filter(Boolean).join(" ");
    parts.source.textContent = record.source;
    root.setAttribute("aria-label", `Stage: ${record.title}`);
    parts.sort.hidden = !record.frames.some((frame) => frame.matrices.some((matrix) => matrix.order));
    this.weights.adopt();
    if (parts.sort.hidden) this.setSorted(false);
    this.tellPlugs("adopt");
    if (this.options.bare) parts.lamp.after(parts.subtitle);
    else if (!root.contains(parts.subtitle) || parts.explain.hidden) parts.top.after(parts.subtitle);
  }

  update(/** @type {any} */ fresh) {
    const { now } = this;
    const { name } = this.frame();
    this.whole = readRecord(fresh);
    this.cutOut();
    const same = this.record.frames.findIndex((frame) => frame.name === name);
    const at = same >= 0 ? same : Math.min(this.nearest(), this.last());
    Object.assign(now, { at, goal: null, hover: null, lock: null });
    if (this.after) now.at = Math.max(now.at, shownFrom(this.record, this.after));
    Object.assign(this, { after: null, lit: null, sketch: null });
    this.adopt();
    setLamp(this.parts.lamp, this.record.leak, this.theme);
    this.relayout();
    this.player.redraw();
    this.wake();
  }

  setSorted(/** @type {boolean} */ value) {
    this.now.sorted = value;
    this.parts.sort.setAttribute("aria-pressed", String(value));
    this.wake();
  }

  setSpeed(/** @type {number} */ speed) {
    this.now.speed = speed;
    this.parts.speed.value = String(speed);
  }

  faster(/** @type {number} */ step) {
    this.setSpeed(SPEEDS[clamp(SPEEDS.indexOf(this.now.speed) + step, 0, SPEEDS.length - 1)]);
  }

  /** Opens a sheet over the lower half of the picture, in place of another one, or closes it. */
  turn(/** @type {string} */ name) {
    this.sheet = this.sheet === name ? null : name;
    this.tellPlugs("renew");
  }

  /** Tells the host what a person did; the frame that shows it is opened when the answer comes. */
  send(/** @type {Edit} */ edit, /** @type {string | null} */ frame = null) {
    this.pause();
    this.after = frame;
    this.options.onEdit?.(edit);
  }

  // -- keys

  /** @returns {ReturnType<typeof playerKeys>} */
  makeKeys() {
    const { parts, player, pointer, weights } = this;
    return {
      ...(this.options.bare ? {} : playerKeys(player)), // several under one player leave these to it
      ArrowUp: () => pointer.walk(-1),
      ArrowDown: () => pointer.walk(1),
      Escape: () => pointer.hold(null),
      l: () => pointer.leak(),
      o: () => parts.sort.hidden || this.setSorted(!this.now.sorted),
      "+": () => this.faster(1),
      "=": () => this.faster(1),
      "-": () => this.faster(-1),
      h: () => weights.step(parts.head, 1),
      ".": () => weights.step(parts.layer, 1),
      ",": () => weights.step(parts.layer, -1),
    };
  }

  /** A key that was pressed here, or elsewhere as if this stage had the focus. */
  key(/** @type {On<KeyboardEvent>} */ event) {
    const heard = this.plugs.some((plug) => plug.key?.(event));
    const name = event.key in this.keys ? event.key : event.key.toLowerCase();
    if (!heard && (isOfControl(event) || !this.keys[name])) return;
    event.preventDefault();
    event.stopPropagation(); // in a notebook the arrows would also move the cell selection
    if (!heard) this.keys[name](event);
  }

  // -- surroundings

  /** Themes change by attributes, by media query or by a swapped style sheet; the last shows only as a transition. */
  repaint() {
    const old = this.theme.key;
    this.retheme();
    if (this.theme.key === old) return;
    this.tellPlugs("renew");
    this.player.redraw();
  }

  refit() {
    const { art, parts, plan } = this;
    if (!parts.picture.clientWidth) return;
    const same = Math.abs(this.inSight() - this.height) < 3;
    if (this.room() === plan.width && this.dots() === art.ratio && same) return;
    this.relayout();
    this.player.redraw();
  }

  watch() {
    const { canvas, parts, player, pointer, root, weights } = this;
    const resized = new ResizeObserver(() => {
      this.repaint();
      this.refit();
    });
    const watched = new IntersectionObserver((entries) => {
      this.onScreen = entries[entries.length - 1].isIntersecting;
      if (this.onScreen) this.wake();
    });
    resized.observe(root);
    watched.observe(root);
    const repaint = () => this.repaint();
    const faded = (/** @type {On<TransitionEvent>} */ event) =>
      event.target === root && event.propertyName === "color" && repaint();
    const hover = (/** @type {PointerEvent} */ event) => pointer.hover(event);
    this.end = endOf(
      watchTheme(repaint),
      () => player.destroy(),
      listen([
        [root, { keydown: (event) => this.key(event), transitionend: faded }],
        [canvas, { pointermove: hover, pointerleave: hover, click: (event) => pointer.lock(event) }],
        [parts.speed, { change: () => this.setSpeed(Number(parts.speed.value)) }],
        [parts.layer, { change: () => weights.setLayer() }], [parts.head, { change: () => weights.setHead() }],
        [player.calm, { change: () => this.wake() }], [window, { resize: () => this.refit() }],
      ]),
      () => this.tellPlugs("destroy"),
      () => resized.disconnect(),
      () => watched.disconnect(),
    );
  }

  // -- what a host does

  play() {
    this.player.setPlaying(true);
  }

  pause() {
    this.player.pause();
  }

  set(/** @type {number} */ frame, /** @type {number | undefined} */ fraction = undefined) {
    this.player.set(frame, fraction);
  }

  /** Shows any place without telling the host: how a player of several stages moves this one. */
  show(/** @type {number} */ at) {
    Object.assign(this.now, { at: clamp(at, 0, this.last()), goal: null });
    this.player.redraw();
  }

  /** Other numbers over the same frames: another moment of a run. */
  tell(/** @type {Numbers} */ numbers) {
    this.whole = withNumbers(this.whole, numbers);
    this.cutOut();
    this.player.redraw();
  }

  /** Shows another window of a long text, at a share of the way along it. */
  stretchTo(/** @type {number} */ share) {
    const { stretch } = this.record;
    const goal = stretch ? share * (stretch.length - stretch.size) : this.now.from;
    if (Math.abs(goal - this.now.from) >= 1) this.stretch(Math.round(goal));
  }

  /** Draws the weights of one head. */
  look(/** @type {number | null} */ layer, /** @type {number | null} */ head) {
    Object.assign(this.now, { layer, head });
    this.weights.adopt();
    this.weights.askForLayer();
    this.player.redraw();
  }

  pointAt(/** @type {MouseEvent} */ event) {
    return this.pointer.pointAt(event);
  }

  svg() {
    return this.plugs.find((plug) => plug.svg)?.svg?.();
  }

  link() {
    return this.plugs.find((plug) => plug.link)?.link?.();
  }

  state() {
    const { now, plan, pointer: { reader }, record } = this;
    const k = Math.min(Math.floor(now.at), this.last());
    const frame = record.frames[k];
    const own = reader && matrixOf(frame, reader.matrix);
    const locked = Boolean(now.lock) && !now.hover;
    const { playing, sorted, sort, speed, head, layer } = now;
    return {
      frame: k, playing, sorted, sort, speed, head, layer,
      name: frame.name,
      fraction: now.at - k,
      reader: reader ? { ...reader, label: own ? own.rows[reader.row] : "", locked } : null,
      answers: answersShown(record, k, plan.answers || null),
      dark: this.theme.dark,
      moving: now.goal !== null,
      painting: this.painting,
      plan: record.plan || {},
      leak: Boolean(record.leak && record.leak.leak),
      stretch: record.stretch || null,
      layout: {
        width: plan.width, height: plan.height, lanes: lanesDrawn(this.drawn),
        matrices: matricesDrawn(plan, this.frame()),
      },
    };
  }

  destroy() {
    this.end();
    this.root.remove();
    if (this.el.__stage === this) delete this.el.__stage;
  }
}

/** Is a key that of the control which has the focus: typed, chosen from, or the space that presses a button? */
const isOfControl = (/** @type {On<KeyboardEvent>} */ event) =>
  isForeign(event) || event.target.tagName === "SELECT" || (event.key === " " && event.target.tagName === "BUTTON");

function lanesDrawn(/** @type {Flight[]} */ drawn) {
  const spots = drawn.map(({ from, to, box }) => ({ .../** @type {Spot} */ (to || from), box }));
  return LANES.map((name) => ({
    name,
    cells: spots.filter((spot) => spot.lane === name).sort((a, b) => a.i - b.i)
      .map(({ cell: { key, text, state }, box: { x, y, w, h } }) => ({ key, text, x, y, w, h, state })),
  })).filter((lane) => lane.cells.length);
}

/** `size` is the side of one cell in CSS pixels; (x, y) is the top left corner of the cells. */
const matricesDrawn = (/** @type {Plan} */ plan, /** @type {Frame} */ frame) => frame.matrices.map(({ name, n, m }) => {
  const { x, y, cell } = plan.boxes[name];
  return { name, x, y, size: cell, n, m };
});
