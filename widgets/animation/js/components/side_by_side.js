/** Several stages side by side under one player, and the choice between one stage and several. */

import hostStyle from "../paint/host.css" with { type: "text" };
import sideBySideStyle from "./side_by_side.css" with { type: "text" };
import { endOf, listen, node, plain } from "../dom.js";
import { button, isForeign, watchTheme } from "../interact/controls.js";
import { elsewhere } from "../interact/editing.js";
import { KEY_LIST, keyList } from "../interact/panels.js";
import { makePlayer, playerBar, playerKeys } from "../interact/player.js";
import { dressed } from "../paint/theme.js";
import { lerp } from "../record.js";
import { mountOne } from "./stage.js";

const STEPS = ["text", "arrange", "choose", "corrupt", "propose", "visibility", "ask", "forward", "predict", "loss"];
const STEP_TITLES = { text: "Text", arrange: "Arrange", choose: "Choose", corrupt: "Change", propose: "Propose", visibility: "Attention mask", ask: "Predict", forward: "Forward", predict: "Guesses", loss: "Loss" };

const OF_ONE = ["+ and -", "Tab, Enter", "Shift+Left, Shift+Right", "Delete", "G", "B", "V", "T"]; // keys that only a lone stage hears
const IN_STEP = { "Home, End": "first step, last step", "Up, Down": "next / previous row of each", M: "paint the mask of the first", C: "hide or show the second stage" };
const STEP_KEYS = KEY_LIST.filter(([key]) => !OF_ONE.includes(key)).map(([key, text]) => [key, IN_STEP[key] || text]);

const LOOKING = new Set(["ArrowUp", "ArrowDown", "Escape", "l", "o", "j", "k"]); // layer and head follow the first

/**
 * Where each stage stands at each common step: the latest of its own frames that belong to that step or an earlier
 * one, so that two objectives with different stages still move together.
 */
function stepsOf(records) {
  const own = records.map((record) => record.frames.map((frame) => frame.name.split(" ")[0]));
  const steps = STEPS.filter((step) => own.some((names) => names.includes(step)));
  const places = own.map((names) => steps.map((_, i) => Math.max(0, ...steps.slice(0, i + 1).map((step) => names.lastIndexOf(step)))));
  return { steps, places };
}

/** Two to four stages under one player; the first may be edited, and the others follow its plan where it is shared. */
function mountInStep(el, raw, options = {}) {
  const now = {};
  const last = () => common.steps.length - 1;
  const player = makePlayer(now, { last, pace: () => 700, back: 700, draw, onFrame: options.onFrame, onPlaying: options.onPlaying });
  const bar = playerBar(player, { back: "Step back", play: "Play", step: "Step forward" });
  const help = button("?", "Keys (?)", list, { "aria-label": "Keys", "aria-pressed": "false" });
  const row = node("div", { class: "stages-row" });
  const bench = node("span", { class: "stages-bench" });
  const keys = node("div", { class: "stages-keys", hidden: "" }, ...keyList(STEP_KEYS));
  const said = node("p", { class: "stages-said", role: "status" });
  const head = node("div", { class: "stages-bar", role: "group", "aria-label": "Player" }, bar.back, bar.play, bar.step, bar.scrub, bar.where, bench, help);
  const root = node("section", { class: "stages", tabindex: "0", "aria-label": "Stages in step", "data-lm-suppress-shortcuts": "true" }, node("style", {}, hostStyle, sideBySideStyle), head, said, keys, row);
  el.replaceChildren(root);
  let [stages, common] = [[], null];

  /** The place of stage s at a common place: between two steps it is on its own way from one frame to the other. */
  function placeOf(s) {
    const k = Math.min(Math.floor(now.at), last());
    return lerp(common.places[s][k], common.places[s][Math.min(k + 1, last())], now.at - k);
  }

  function draw() {
    stages.forEach((stage, s) => stage.show(placeOf(s)));
    bar.show(now, last(), `${STEP_TITLES[common.steps[Math.round(now.at)]]} (${Math.round(now.at) + 1}/${last() + 1})`);
  }

  function list() {
    keys.hidden = !keys.hidden;
    help.setAttribute("aria-pressed", String(!keys.hidden));
  }

  const KEYS = { ...playerKeys(player), f: () => options.onEdit?.({ do: "fork" }), "?": list };

  function key(event) {
    if (["INPUT", "SELECT", "BUTTON"].includes(event.target.tagName) && event.key === " ") return;
    if ((event.ctrlKey || event.metaKey) && /^[zy]$/i.test(event.key)) return pass(event);
    if (isForeign(event) || event.target === bar.scrub) return;
    const act = KEYS[event.key] || KEYS[event.key.toLowerCase()];
    said.textContent = (!options.onEdit && elsewhere(event)) || "";
    if (!act) return pass(event);
    event.preventDefault();
    event.stopPropagation();
    act(event);
  }

  /** What is no key of the player goes to the stages: to all of them what only looks, to the first one what edits. */
  function pass(event) {
    if (event.target.closest("section.stage")) return; // that stage has heard it
    const looks = LOOKING.has(event.key) || LOOKING.has(event.key.toLowerCase());
    for (const stage of looks ? stages : stages.slice(0, 1)) stage.key(event);
  }

  /** Takes other records; what is on screen stays where it is. */
  function fill(value) {
    const records = plain(value).records.slice(0, 4);
    common = stepsOf(records);
    if (stages.length !== records.length) {
      for (const stage of stages) stage.destroy();
      const homes = records.map(() => node("div", { class: "stages-place" }));
      row.replaceChildren(...homes);
      bench.replaceChildren();
      stages = homes.map((home, i) => mountOne(home, records[i], { bare: true, bench: i ? undefined : bench, onEdit: i ? undefined : options.onEdit, onStretch: (share) => stages.forEach((stage) => stage.stretch(share)), onLook: (...eye) => stages.forEach((stage, j) => j === i || stage.look(...eye)) }));
    } else stages.forEach((stage, i) => stage.update(records[i]));
  }

  function update(value) {
    const step = common.steps[Math.round(now.at)];
    fill(value);
    Object.assign(now, { at: Math.max(0, common.steps.indexOf(step)), goal: null });
    player.redraw();
  }

  const end = endOf(watchTheme(() => dressed(root)), listen([[root, "keydown", key]]), player.destroy);
  dressed(root); // the bar takes its colours from the host, as the stages do
  fill(raw);
  player.begin(options);
  return {
    set: player.set,
    play: () => player.setPlaying(true),
    pause: player.pause,
    update,
    state: () => ({ frame: Math.floor(now.at), fraction: now.at - Math.floor(now.at), name: common.steps[Math.round(now.at)], playing: now.playing, moving: now.goal !== null, stages: stages.map((stage) => stage.state()) }),
    destroy() {
      end();
      for (const stage of stages) stage.destroy();
      root.remove();
    },
  };
}

/**
 * Puts a stage into `el`, or several in step if the record holds several. Options: frame, playing, onFrame(frame),
 * onPlaying(playing) and onEdit(edit) keep a host in step; without onEdit nothing can be edited. The handle is also
 * `el.__stage`, which is what the browser tests talk to.
 */
export function mount(el, raw, options = {}) {
  const several = (value) => ((value instanceof Map ? value.get("records") : value && value.records) || []).length > 1;
  const make = (value, more) => (several(value) ? mountInStep : mountOne)(el, value, { ...options, ...more });
  let [many, inner] = [several(raw), make(raw)];
  const outer = Object.fromEntries(["set", "look", "play", "pause", "state", "svg", "link", "tell"].map((name) => [name, (...values) => inner[name]?.(...values)]));
  outer.destroy = () => {
    inner.destroy();
    if (el.__stage === outer) delete el.__stage;
  };
  outer.update = (fresh) => {
    if (several(fresh) === many) return inner.update(fresh);
    const { frame, playing } = inner.state();
    inner.destroy();
    many = several(fresh);
    inner = make(fresh, { frame, playing });
    el.__stage = outer;
  };
  el.__stage = outer;
  return outer;
}
