/** The one clock of everything that plays: a place between frames, the way to a goal, rests and speed. */

import { node } from "../dom.js";
import { BACK, REST, clamp } from "../record.js";
import { ICONS, icon, iconButton } from "./controls.js";

/**
 * Moves `now` over the frames from 0 to `last()`. `pace(k)` is the ms of the step from frame k to the next, `back` that
 * of a step back, `rest` that on a frame while playing; `draw()` paints what changed; `also(ms)` moves anything else
 * and says whether it is still moving; `seen()` says whether anybody looks. Hosts hear of whole frames (`onFrame`), and
 * of `onPlaying`.
 */
export class Player {
  calm = matchMedia("(prefers-reduced-motion: reduce)");
  reported = { frame: 0, playing: false };
  loop = 0; // the number of the animation frame that is waited for
  clock = 0;
  asked = false;
  alive = true;

  constructor(/** @type {Clock} */ now, /** @type {PlayerOptions} */ options) {
    this.now = now;
    this.options = { back: BACK, rest: REST, also: () => false, seen: () => true, ...options };
    this.reported.frame = now.at;
  }

  /** Paints soon, and goes on for as long as something moves. */
  wake() {
    this.asked = true;
    if (this.loop || !this.alive) return;
    this.clock = performance.now();
    this.request();
  }

  request() {
    this.loop = requestAnimationFrame((stamp) => this.tick(stamp));
  }

  tick(/** @type {number} */ stamp) {
    const { now, options: { also, seen } } = this;
    this.loop = 0;
    const ms = clamp(stamp - this.clock, 0, 64) * now.speed;
    const before = now.at;
    this.clock = stamp;
    const moving = seen() && also(ms);
    const busy = seen() && this.advance(ms);
    if (this.asked || moving || now.at !== before) this.redraw();
    this.asked = false;
    if ((busy || moving) && this.alive && !this.loop) this.request();
  }

  redraw() {
    this.options.draw();
    this.report();
  }

  /** Moves the clock on; returns whether there is more to come. */
  advance(/** @type {number} */ ms) {
    const { now } = this;
    if (now.goal !== null) this.travel(ms, now.goal);
    else if (now.playing && (now.rest -= ms) <= 0) this.onward();
    return now.goal !== null || now.playing;
  }

  travel(/** @type {number} */ ms, /** @type {number} */ goal) {
    const { now, options: { back, last, pace, rest } } = this;
    const forward = goal > now.at;
    const step = ms / (forward ? pace(clamp(Math.floor(now.at), 0, last() - 1)) : back);
    const left = Math.abs(goal - now.at);
    if (this.calm.matches || left <= step || left > 1) Object.assign(now, { at: goal, goal: null, rest });
    else now.at += forward ? step : -step;
  }

  onward() {
    const { now, options: { last, rest } } = this;
    if (now.at < last()) now.goal = Math.floor(now.at) + 1;
    else if (now.looping) Object.assign(now, { at: 0, rest });
    else this.setPlaying(false);
  }

  go(/** @type {number} */ frame) {
    const goal = clamp(frame, 0, this.options.last());
    this.now.goal = goal === this.now.at ? null : goal;
    this.wake();
  }

  setPlaying(/** @type {boolean} */ value) {
    const { now } = this;
    if (now.playing === value) return;
    Object.assign(now, { playing: value, rest: 0 });
    if (value && now.goal === null && now.at >= this.options.last()) now.at = 0;
    this.report();
    this.wake();
  }

  /** Where a running move is heading, or the frame nearest to the place. */
  report() {
    const { now, reported, options: { onFrame, onPlaying } } = this;
    const frame = now.goal ?? Math.round(now.at);
    if (frame !== reported.frame) onFrame?.((reported.frame = frame));
    if (now.playing !== reported.playing) onPlaying?.((reported.playing = now.playing));
  }

  /** Shows a place at once. */
  jump(/** @type {number} */ at) {
    Object.assign(this.now, { at: clamp(at, 0, this.options.last()), goal: null, rest: this.options.rest });
    this.redraw();
    this.wake();
  }

  pause() {
    this.setPlaying(false);
  }

  toggle() {
    this.setPlaying(!this.now.playing);
  }

  // -- what a person does stops the story

  forward() {
    this.pause();
    this.go(Math.floor((this.now.goal ?? this.now.at) + 1e-6) + 1);
  }

  backward() {
    this.pause();
    this.go(Math.ceil((this.now.goal ?? this.now.at) - 1e-6) - 1);
  }

  first() {
    this.scrub(0);
  }

  end() {
    this.scrub(this.options.last());
  }

  /** The scrub bar: a place that a person has moved to. */
  scrub(/** @type {number} */ at) {
    this.pause();
    this.jump(at);
  }

  // -- what a host does

  /** Shows (frame, fraction); a whole neighbouring frame without a fraction is walked to, anything else is cut to. */
  set(/** @type {number} */ frame, /** @type {number | undefined} */ fraction = undefined) {
    if (fraction !== undefined || Math.abs(frame - this.now.at) > 1) return this.jump(frame + clamp(fraction || 0));
    this.reported.frame = clamp(frame, 0, this.options.last());
    this.go(frame);
  }

  /** Begins where a host wants it, which is not reported. @param {any} it */
  begin({ frame = 0, playing = false }) {
    this.now.at = this.reported.frame = clamp(frame, 0, this.options.last());
    this.redraw();
    this.reported.playing = playing;
    if (playing) this.setPlaying(true);
  }

  destroy() {
    this.alive = false;
    cancelAnimationFrame(this.loop);
  }
}

/** A clock before anything has moved. @returns {Clock} */
export const clockAtRest = () => ({ at: 0, goal: null, playing: false, rest: 0, looping: false, speed: 1 });

/**
 * What each key does to a player; Shift and Space step back.
 * @param {Player} player
 * @returns {{ [key: string]: (event: KeyboardEvent) => void }}
 */
export const playerKeys = (player) => ({
  " ": ({ shiftKey }) => (shiftKey ? player.backward() : player.toggle()), p: () => player.pause(),
  s: () => player.forward(), ArrowRight: () => player.forward(), ArrowLeft: () => player.backward(),
  Home: () => player.first(), End: () => player.end(),
});

/** @type {{ [name: string]: string }} */
const ACTS = { first: "first", back: "backward", play: "toggle", step: "forward", last: "end" };

/** Words for a place, such as "Choose (2/5)": the name is left out where there is little room and stands above. */
function wordsOfPlace(/** @type {string} */ words) {
  const [, name, count] = words.match(/^(.+ )(\(\d+\/\d+\))$/) || [];
  return count ? [node("span", { class: "stage-word" }, name), count] : [words];
}

/**
 * The bar of a player: a button for each title, by the name of its icon, a scrub bar, and words for where it stands.
 * @param {any} player @param {{ [name: string]: string }} titles @param {any} [attributes]
 * @returns {any}
 */
export function playerBar(player, titles, attributes = {}) {
  const buttons = Object.fromEntries(Object.entries(titles).map(([name, title]) => [
    name, iconButton(name, title, () => player[ACTS[name]]()),
  ]));
  const scrub = node("input", {
    type: "range", min: "0", step: "0.01", "aria-label": "Animation step",
    oninput: () => player.scrub(Number(scrub.value)), ...attributes,
  });
  const where = node("output");
  const disable = (/** @type {string[]} */ names, /** @type {boolean} */ on) =>
    names.forEach((name) => buttons[name] && (buttons[name].disabled = on));
  return {
    ...buttons, scrub, where,
    /** @param {Clock} clock @param {number} last @param {string} words @param {string} spoken */
    show({ at, playing }, last, words, spoken = words, what = "") {
      disable(["first", "back"], at <= 0);
      disable(["last", "step"], at >= last);
      if (where.textContent !== words) where.replaceChildren(...wordsOfPlace(words));
      scrub.max = String(last);
      if (!scrub.matches(":active")) scrub.value = String(at);
      scrub.setAttribute("aria-valuetext", spoken);
      if (buttons.play.dataset.on === String(playing)) return;
      buttons.play.dataset.on = String(playing);
      buttons.play.setAttribute("aria-label", `${playing ? "Pause" : "Play"}${what}`);
      buttons.play.replaceChildren(icon(ICONS[playing ? "pause" : "play"]));
    },
  };
}
