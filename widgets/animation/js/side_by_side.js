// ---------------------------------------------------------------------------------------------------- in step

import { ICONS, icon, isText } from "./controls.js";
import { node, plain } from "./dom.js";
import { CHOSEN_ELSEWHERE, FORK_ELSEWHERE } from "./editing.js";
import { FAMILY, REST, clamp, lerp } from "./record.js";
import { mountOne } from "./stage.js";
import { HOST_COLOURS, dressed } from "./theme.js";

const STEPS = ["text", "arrange", "choose", "corrupt", "propose", "visibility", "ask", "forward", "predict", "loss"];
const STEP_TITLES = { text: "Text", arrange: "Arrange", choose: "Choose", corrupt: "Change", propose: "Propose", visibility: "Attention mask", ask: "Predict", forward: "Forward", predict: "Guesses", loss: "Loss" };

const IN_STEP_STYLE = `
.stages { container-type: inline-size; ${HOST_COLOURS} font: 400 14px/1.45 ${FAMILY}; outline: none; }
.stages .stages-row { display: grid; gap: 14px; grid-template-columns: repeat(auto-fit, minmax(min(100%, 430px), 1fr)); align-items: start; }
.stages .stages-bar { display: flex; flex-wrap: wrap; align-items: center; gap: 6px 12px; padding: 6px 10px; margin: 4px 0 10px; border-radius: 12px; background: color-mix(in srgb, currentColor 5%, transparent); font-size: clamp(13px, 6px + .5cqw, 24px); }
.stages .stages-bar button { font: inherit; color: inherit; background: transparent; border: 1px solid color-mix(in srgb, currentColor 22%, transparent); border-radius: 8px; min-width: max(36px, 2.4em); height: max(34px, 2.2em); cursor: pointer; }
.stages .stages-bar button svg { width: max(17px, 1.15em); height: max(17px, 1.15em); fill: currentColor; vertical-align: middle; }
.stages .stages-bar input { flex: 1 1 160px; accent-color: var(--accent, #0072b2); }
.stages :focus-visible, .stages:focus-visible { outline: 2px solid var(--accent, #3390d6); outline-offset: 2px; }
.stages .stages-keys { columns: 2 220px; margin: 0 0 10px; font-size: 13px; } .stages .stages-keys div { break-inside: avoid; } .stages kbd { font: inherit; font-weight: 650; display: inline-block; min-width: 9.2em; }
.stages .stages-said { margin: 0 0 8px; padding: 0 10px; font-size: 13px; } .stages .stages-said:empty { display: none; }
.stages [hidden] { display: none !important; }
.stages .stages-place { min-width: 0; border: 1px solid color-mix(in srgb, currentColor 14%, transparent); border-radius: 12px; padding: 6px 2px; }
`;

const STEP_KEYS = [
  ["Space", "play, pause"], ["P", "pause"], ["Left, Right", "step back, step on"], ["Shift+Space, S", "step back, step on"], ["Home, End", "first step, last step"], ["F", "fork the training run at the step that is shown"],
  ["Up, Down", "next / previous row of each"], ["Escape", "let them go"], ["L", "show the path of a leak"], ["O", "sort the axes by order"], ["H", "the next attention head"], [", and .", "the layer below, the layer above"], ["J, K", "on a long text: the next stretch, the stretch before"],
  ["M", "paint the mask of the first"], ["N", "roll again"], ["R", "reset the edits (same seed)"], ["Ctrl+Z, Ctrl+Shift+Z", "undo, redo"],
  ["1 to 9, 0", "one of the first ten objectives"], ["C", "the second stage goes, or comes"], ["/", "search the objectives"], ["?", "this list"],
];

const LOOKING = new Set(["ArrowUp", "ArrowDown", "Escape", "h", "l", "o", ",", ".", "j", "k"]);

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
export function mountInStep(el, raw, options = {}) {
  const calm = matchMedia("(prefers-reduced-motion: reduce)");
  const style = node("style");
  style.textContent = IN_STEP_STYLE;
  const press = (name, label) => node("button", { type: "button", "aria-label": label, title: label }, icon(ICONS[name]));
  const [back, play, on] = [press("back", "Step back"), press("play", "Play"), press("step", "Step forward")];
  const scrub = node("input", { type: "range", min: "0", step: "0.01", "aria-label": "Animation step" });
  const where = node("output");
  const bar = node("div", { class: "stages-bar", role: "group", "aria-label": "Player" }, back, play, on, scrub, where);
  const row = node("div", { class: "stages-row" });
  const keys = node("div", { class: "stages-keys", hidden: "" }, ...STEP_KEYS.map(([name, text]) => node("div", {}, node("kbd", {}, name), ` ${text}`)));
  const help = node("button", { type: "button", "aria-label": "Keys", title: "Keys (?)", "aria-pressed": "false" }, "?");
  bar.append(help);
  const said = node("p", { class: "stages-said", role: "status" });
  const root = node("section", { class: "stages", tabindex: "0", "aria-label": "Stages in step", "data-lm-suppress-shortcuts": "true" }, style, bar, said, keys, row);
  el.replaceChildren(root);
  let [stages, common, at, goal, loop, clock, playing] = [[], null, 0, null, 0, 0, false];

  /** The bar takes its colour from the host, as the stages do. */
  const repaint = () => dressed(root);
  const changing = new MutationObserver(() => setTimeout(repaint, 60)); // hosts change their theme by an attribute
  for (const target of [document.documentElement, document.body]) changing.observe(target, { attributes: true });

  const last = () => common.steps.length - 1;
  /** The place of stage s at a common place: between two steps it is on its own way from one frame to the other. */
  const placeOf = (s) => {
    const k = Math.min(Math.floor(at), last());
    return lerp(common.places[s][k], common.places[s][Math.min(k + 1, last())], at - k);
  };

  function draw() {
    stages.forEach((stage, s) => stage.show(placeOf(s)));
    scrub.value = String(at);
    const text = STEP_TITLES[common.steps[Math.round(at)]];
    where.textContent = `${text} (${Math.round(at) + 1}/${last() + 1})`;
    scrub.setAttribute("aria-valuetext", where.textContent);
    back.disabled = at <= 0;
    on.disabled = at >= last();
    options.onFrame?.(Math.round(goal ?? at));
  }

  function tick(stamp) {
    loop = 0;
    const ms = clamp(stamp - clock, 0, 64);
    clock = stamp;
    if (goal === null) return;
    const left = goal - at;
    at = calm.matches || Math.abs(left) < ms / 700 ? goal : at + Math.sign(left) * (ms / 700);
    if (at === goal) {
      goal = null;
      if (playing) setTimeout(onward, REST);
    }
    draw();
    wake();
  }

  function wake() {
    if (loop || goal === null) return;
    clock = performance.now();
    loop = requestAnimationFrame(tick);
  }

  function go(to) {
    goal = clamp(to, 0, last());
    wake();
  }

  function onward() {
    if (!playing) return;
    if (at >= last()) return setPlaying(false);
    go(Math.floor(at) + 1);
  }

  function setPlaying(value) {
    if (playing === value) return;
    playing = value;
    options.onPlaying?.(value);
    play.replaceChildren(icon(ICONS[value ? "pause" : "play"]));
    play.setAttribute("aria-label", value ? "Pause" : "Play");
    if (value && at >= last()) at = 0;
    if (value) onward();
  }

  function jump(to) {
    setPlaying(false);
    [at, goal] = [clamp(to, 0, last()), null];
    draw();
  }

  function list() {
    keys.hidden = !keys.hidden;
    help.setAttribute("aria-pressed", String(!keys.hidden));
  }

  function key(event) {
    if (["INPUT", "SELECT", "BUTTON"].includes(event.target.tagName) && event.key === " ") return;
    if ((event.ctrlKey || event.metaKey) && /^[zy]$/i.test(event.key)) return pass(event);
    if (event.ctrlKey || event.metaKey || event.altKey || isText(event.target)) return;
    const [on, back] = [1, -1].map((step) => () => {
      setPlaying(false);
      go(step > 0 ? Math.floor(goal ?? at) + 1 : Math.ceil(goal ?? at) - 1);
    });
    const acts = { " ": () => setPlaying(!playing), p: () => setPlaying(false), s: on, ArrowRight: on, ArrowLeft: back, Home: () => jump(0), End: () => jump(last()), f: () => options.onEdit?.({ do: "fork" }), "?": list };
    const act = event.key === " " && event.shiftKey ? back : acts[event.key] || acts[event.key.toLowerCase()];
    if (event.target === scrub) return;
    const elsewhere = !options.onEdit && (event.key.toLowerCase() === "f" ? FORK_ELSEWHERE : /^[\dc/]$/i.test(event.key) && CHOSEN_ELSEWHERE);
    said.textContent = elsewhere || "";
    if (!act) return pass(event);
    event.preventDefault();
    event.stopPropagation();
    act();
  }

  /** What is no key of the player goes to the stages: to all of them what only looks, to the first one what edits. */
  function pass(event) {
    if (event.target.closest("section.stage")) return; // that stage has heard it
    const looks = LOOKING.has(event.key) || LOOKING.has(event.key.toLowerCase());
    for (const stage of looks ? stages : stages.slice(0, 1)) stage.key(event);
  }

  function fill(value) {
    const records = plain(value instanceof Map ? Object.fromEntries(value) : value).records.slice(0, 4);
    const step = common && common.steps[Math.round(at)];
    common = stepsOf(records);
    if (stages.length !== records.length) {
      for (const stage of stages) stage.destroy();
      const homes = records.map(() => node("div", { class: "stages-place" }));
      row.replaceChildren(...homes);
      stages = homes.map((home, i) => mountOne(home, records[i], { bare: true, onEdit: i ? undefined : options.onEdit, onStretch: (share) => stages.forEach((stage) => stage.stretch(share)) }));
    } else stages.forEach((stage, i) => stage.update(records[i]));
    scrub.max = String(last());
    at = step === undefined || step === null ? clamp(options.frame ?? 0, 0, last()) : Math.max(0, common.steps.indexOf(step));
    goal = null;
    draw();
  }

  const listen = [
    [matchMedia("(prefers-color-scheme: dark)"), "change", repaint],
    [root, "keydown", key], [help, "click", list], [scrub, "input", () => jump(Number(scrub.value))], [play, "click", () => setPlaying(!playing)],
    [back, "click", () => { setPlaying(false); go(Math.ceil(goal ?? at) - 1); }],
    [on, "click", () => { setPlaying(false); go(Math.floor(goal ?? at) + 1); }],
  ];
  for (const [target, type, act] of listen) target.addEventListener(type, act);
  repaint();
  fill(raw);
  if (options.playing) setPlaying(true);
  return {
    set: (frame, fraction) => (fraction === undefined && Math.abs(frame - at) <= 1 ? go(frame) : jump(frame + clamp(fraction || 0))),
    play: () => setPlaying(true),
    pause: () => setPlaying(false),
    update: fill,
    state: () => ({ frame: Math.floor(at), fraction: at - Math.floor(at), name: common.steps[Math.round(at)], playing, moving: goal !== null, stages: stages.map((stage) => stage.state()) }),
    destroy() {
      playing = false;
      cancelAnimationFrame(loop);
      changing.disconnect();
      for (const stage of stages) stage.destroy();
      for (const [target, type, act] of listen) target.removeEventListener(type, act);
      root.remove();
    },
  };
}
