/** Several stages side by side under one player, and the choice between one stage and several. */

import hostStyle from "../paint/host.css" with { type: "text" };
import sideBySideStyle from "./side_by_side.css" with { type: "text" };
import { endOf, listen, node, plain } from "../dom.js";
import { button, isForeign, watchTheme } from "../interact/controls.js";
import { elsewhere } from "../interact/editing.js";
import { KEY_LIST, keyList } from "../interact/key_list.js";
import { Player, clockAtRest, playerBar, playerKeys } from "../interact/player.js";
import { dressed } from "../paint/theme.js";
import { lerp } from "../record.js";
import { Stage } from "./stage.js";

const STEPS = ["text", "arrange", "choose", "corrupt", "propose", "visibility", "ask", "forward", "predict", "loss"];
/** @type {Record<string, string>} */
const STEP_TITLES = {
  text: "Text", arrange: "Arrange", choose: "Choose", corrupt: "Change", propose: "Propose",
  visibility: "Attention mask", ask: "Predict", forward: "Forward", predict: "Guesses", loss: "Loss",
};

const OF_ONE = [
  "+ and -", "Tab, Enter", "Shift+Left, Shift+Right", "Delete", "G", "B", "V", "T",
]; // keys that only a lone stage hears
/** @type {Record<string, string>} */
const IN_STEP = {
  "Home, End": "first step, last step", "Up, Down": "next / previous row of each", M: "paint the mask of the first",
  C: "hide or show the second stage",
};
const STEP_KEYS = KEY_LIST.filter(([key]) => !OF_ONE.includes(key)).map(([key, text]) => [key, IN_STEP[key] || text]);

const LOOKING = new Set(["ArrowUp", "ArrowDown", "Escape", "l", "o", "j", "k"]); // layer and head follow the first

/**
 * Where each stage stands at each common step: the latest of its own frames that belong to that step or an earlier
 * one, so that two objectives with different stages still move together.
 */
function stepsOf(/** @type {StageRecord[]} */ records) {
  const own = records.map((record) => record.frames.map((frame) => frame.name.split(" ")[0]));
  const steps = STEPS.filter((step) => own.some((names) => names.includes(step)));
  const places = own.map((names) => steps.map((_, i) => Math.max(
    0, ...steps.slice(0, i + 1).map((step) => names.lastIndexOf(step))
  )));
  return { steps, places };
}

/** Two to four stages under one player; the first may be edited, and the others follow its plan where it is shared. */
class StagesInStep {
  now = clockAtRest();
  /** @type {{ steps: string[], places: number[][] }} */
  common = { steps: [], places: [] };
  /** @type {Stage[]} */
  stages = [];

  /** @param {HTMLElement} el @param {any} raw @param {StageOptions} options */
  constructor(el, raw, options = {}) {
    const { onFrame, onPlaying } = options;
    const last = () => this.last();
    this.options = options;
    this.player = new Player(
      this.now, { last, pace: () => 700, back: 700, draw: () => this.draw(), onFrame, onPlaying }
    );
    this.build();
    /** @type {ReturnType<typeof playerKeys>} */
    this.keys = { ...playerKeys(this.player), f: () => options.onEdit?.({ do: "fork" }), "?": () => this.turnHelp() };
    el.replaceChildren(this.root);
    const heard = listen([[this.root, { keydown: (event) => this.key(event) }]]);
    this.end = endOf(watchTheme(() => dressed(this.root)), heard, () => this.player.destroy());
    dressed(this.root); // the bar takes its colours from the host, as the stages do
    this.fill(raw);
    this.player.begin(options);
  }

  build() {
    const bar = playerBar(this.player, { back: "Step back", play: "Play", step: "Step forward" });
    const help = { "aria-label": "Keys", "aria-pressed": "false" };
    this.bar = bar;
    this.help = button("?", "Keys (?)", () => this.turnHelp(), help);
    this.row = node("div", { class: "stages-row" });
    this.bench = node("span", { class: "stages-bench" });
    this.list = node("div", { class: "stages-keys", hidden: "" }, ...keyList(STEP_KEYS));
    this.said = node("p", { class: "stages-said", role: "status" });
    const group = { class: "stages-bar", role: "group", "aria-label": "Player" };
    const head = node("div", group, bar.back, bar.play, bar.step, bar.scrub, bar.where, this.bench, this.help);
    const style = node("style", {}, hostStyle, sideBySideStyle);
    const marks = { tabindex: "0", "aria-label": "Stages in step", "data-lm-suppress-shortcuts": "true" };
    this.root = node("section", { class: "stages", ...marks }, style, head, this.said, this.list, this.row);
  }

  last() {
    return this.common.steps.length - 1;
  }

  get step() {
    return this.common.steps[Math.round(this.now.at)];
  }

  /** The place of stage s at a common place: between two steps it is on its own way from one frame to the other. */
  placeOf(/** @type {number} */ s) {
    const places = this.common.places[s];
    const k = Math.min(Math.floor(this.now.at), this.last());
    return lerp(places[k], places[Math.min(k + 1, this.last())], this.now.at - k);
  }

  draw() {
    this.stages.forEach((stage, s) => stage.show(this.placeOf(s)));
    const where = `${Math.round(this.now.at) + 1}/${this.last() + 1}`;
    this.bar.show(this.now, this.last(), `${STEP_TITLES[this.step]} (${where})`);
  }

  turnHelp() {
    this.list.hidden = !this.list.hidden;
    this.help.setAttribute("aria-pressed", String(!this.list.hidden));
  }

  key(/** @type {On<KeyboardEvent>} */ event) {
    if (["INPUT", "SELECT", "BUTTON"].includes(event.target.tagName) && event.key === " ") return;
    if ((event.ctrlKey || event.metaKey) && /^[zy]$/i.test(event.key)) return this.pass(event);
    if (isForeign(event) || event.target === this.bar.scrub) return;
    const act = this.keys[event.key] || this.keys[event.key.toLowerCase()];
    this.said.textContent = (!this.options.onEdit && elsewhere(event)) || "";
    if (!act) return this.pass(event);
    event.preventDefault();
    event.stopPropagation();
    act(event);
  }

  /** What is no key of the player goes to the stages: to all of them what only looks, to the first one what edits. */
  pass(/** @type {On<KeyboardEvent>} */ event) {
    if (event.target.closest("section.stage")) return; // that stage has heard it
    const looks = LOOKING.has(event.key) || LOOKING.has(event.key.toLowerCase());
    for (const stage of looks ? this.stages : this.stages.slice(0, 1)) stage.key(event);
  }

  /** Takes other records; what is on screen stays where it is. */
  fill(/** @type {any} */ value) {
    /** @type {StageRecord[]} */
    const records = plain(value).records.slice(0, 4);
    this.common = stepsOf(records);
    if (this.stages.length === records.length) return this.stages.forEach((stage, i) => stage.update(records[i]));
    for (const stage of this.stages) stage.destroy();
    const homes = records.map(() => node("div", { class: "stages-place" }));
    this.row.replaceChildren(...homes);
    this.bench.replaceChildren();
    this.stages = homes.map((home, i) => new Stage(home, records[i], this.optionsOf(i)));
  }

  /** @returns {StageOptions} */
  optionsOf(/** @type {number} */ i) {
    const first = i ? {} : { bench: this.bench, onEdit: this.options.onEdit };
    return {
      bare: true, ...first,
      onStretch: (share) => this.stages.forEach((stage) => stage.stretchTo(share)),
      onLook: (...eye) => this.stages.forEach((stage, j) => j === i || stage.look(...eye)),
    };
  }

  // -- what a host does

  update(/** @type {any} */ value) {
    const { step } = this;
    this.fill(value);
    Object.assign(this.now, { at: Math.max(0, this.common.steps.indexOf(step)), goal: null });
    this.player.redraw();
  }

  set(/** @type {number} */ frame, /** @type {number | undefined} */ fraction = undefined) {
    this.player.set(frame, fraction);
  }

  play() {
    this.player.setPlaying(true);
  }

  pause() {
    this.player.pause();
  }

  state() {
    const { now: { at, goal, playing }, stages, step: name } = this;
    const frame = Math.floor(at);
    const each = stages.map((stage) => stage.state());
    return { frame, fraction: at - frame, name, playing, moving: goal !== null, stages: each };
  }

  destroy() {
    this.end();
    for (const stage of this.stages) stage.destroy();
    this.root.remove();
  }
}

const isSeveral = (/** @type {any} */ value) =>
  ((value instanceof Map ? value.get("records") : value && value.records) || []).length > 1;
const HANDLE = ["set", "look", "play", "pause", "state", "svg", "link", "tell"];

/**
 * Puts a stage into `el`, or several in step if the record holds several. Options: frame, playing, onFrame(frame),
 * onPlaying(playing) and onEdit(edit) keep a host in step; without onEdit nothing can be edited. The handle is also
 * `el.__stage`, which is what the browser tests talk to.
 * @param {HTMLElement} el @param {any} raw @param {StageOptions} options
 */
export function mount(el, raw, options = {}) {
  /** @returns {any} one of two classes, of which one has all that is in `HANDLE` */
  const make = (/** @type {any} */ value, more = {}) =>
    new (isSeveral(value) ? StagesInStep : Stage)(el, value, { ...options, ...more });
  let [many, inner] = [isSeveral(raw), make(raw)];
  const outer = Object.fromEntries(HANDLE.map(
    (name) => [name, (/** @type {any[]} */ ...values) => inner[name]?.(...values)]
  ));
  outer.destroy = () => {
    inner.destroy();
    if (el.__stage === outer) delete el.__stage;
  };
  outer.update = (fresh) => {
    if (isSeveral(fresh) === many) return inner.update(fresh);
    const { frame, playing } = inner.state();
    inner.destroy();
    many = isSeveral(fresh);
    inner = make(fresh, { frame, playing });
    el.__stage = outer;
  };
  el.__stage = outer;
  return outer;
}
