/** The elements of a stage, made once; only texts and attributes change afterwards. */

import hostStyle from "../paint/host.css" with { type: "text" };
import stageStyle from "./stage.css" with { type: "text" };
import { node, optionsOf } from "../dom.js";
import { explained } from "../glossary.js";
import { ICONS, button, icon } from "../interact/controls.js";
import { playerBar } from "../interact/player.js";
import { SPEEDS, WIDEST } from "../record.js";

const TITLES = {
  first: "First frame (Home)", back: "Step back (Left)", play: "Play (Space)", step: "Step forward (Right)",
  last: "Last frame (End)",
};

/** @param {string} control @param {string} name @param {string} title @param {[number, string][]} choices */
const select = (control, name, title, choices = []) =>
  node("select", { "data-control": control, "aria-label": name, title: explained(title) }, ...optionsOf(choices));

/** A button that is pressed or not. @type {typeof button} */
const toggle = (face, title, act, extra) => button(face, title, act, { "aria-pressed": "false", ...extra });

/** The controls of the player: those of its bar, and what else changes how a story is shown. */
function controlsOf(/** @type {import("./stage.js").Stage} */ stage) {
  const bar = playerBar(stage.player, TITLES);
  bar.play.classList.add("stage-play");
  bar.where.className = "stage-where";
  const loop = () => parts.loop.setAttribute("aria-pressed", String((stage.now.looping = !stage.now.looping)));
  const sorting = "Sort axes by order";
  const sort = () => stage.setSorted(!stage.now.sorted);
  const parts = {
    bar,
    speed: select("speed", "Speed", "Speed (+ and -)", SPEEDS.map((speed) => [speed, `${speed}×`])),
    loop: toggle(icon(ICONS.loop), "Repeat from the start", loop, { "data-control": "loop", "aria-label": "Repeat" }),
    sort: toggle(icon(ICONS.sort), `${sorting} (O)`, sort, { class: "stage-sort", "aria-label": sorting }),
    layer: select("layer", "Layer", "Layer (, and .)"),
    head: select("head", "Attention head", "Attention head (H)"),
    bench: node("span", { class: "stage-bench" }),
  };
  parts.sort.append(node("span", { class: "stage-word" }, "Sort by order"));
  parts.speed.value = "1";
  const steps = node("span", { class: "stage-group" }, bar.first, bar.back, bar.play, bar.step, bar.last);
  const { sort: sorted, layer, head, speed, loop: looped } = parts;
  const extras = node("span", { class: "stage-group" }, sorted, layer, head, speed, looped);
  const scrub = node("span", { class: "stage-scrub" }, bar.scrub);
  const group = { class: "stage-controls", role: "group", "aria-label": "Player" };
  return { ...parts, controls: node("div", group, steps, scrub, bar.where, extras, parts.bench) };
}

export function buildParts(/** @type {import("./stage.js").Stage} */ stage) {
  const parts = {
    ...controlsOf(stage),
    title: node("h2", { class: "stage-title" }),
    subtitle: node("p", { class: "stage-subtitle" }),
    lamp: node("p", { class: "stage-lamp", role: "status" }),
    name: node("b"),
    caption: node("span"),
    canvas: node("canvas", { role: "img" }),
    reader: node("p", { class: "stage-reader", "aria-live": "polite" }),
    source: node("p", { class: "stage-source" }),
    tools: node("div", { class: "stage-tools", role: "group", "aria-label": "By hand" }),
    below: node("div", { class: "stage-below" }),
    explain: node("aside", { class: "stage-explain", "aria-label": "Explanation" }),
    style: node("style", {}, hostStyle, stageStyle),
  };
  const { canvas, caption, controls, explain, lamp, name, reader, source, style, title, tools } = parts;
  const live = node("p", { class: "stage-caption", "aria-live": "polite" }, name, caption);
  const picture = node("div", { class: "stage-picture" }, canvas, parts.below);
  const top = node("header", { class: "stage-head" }, title, live, lamp);
  const foot = node("footer", { class: "stage-foot" }, reader, source);
  const main = node("div", { class: "stage-main" }, picture, foot);
  const body = node("div", { class: "stage-body" }, main, explain);
  const marks = {
    class: "stage", style: `max-width: ${WIDEST}px`, tabindex: "0", "data-lm-suppress-shortcuts": "true",
  };
  return { ...parts, picture, top, root: node("section", marks, style, top, controls, tools, body) };
}
