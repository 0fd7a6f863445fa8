/** The one clock of everything that plays: a place between frames, the way to a goal, rests and speed. */

import { node } from "../dom.js";
import { BACK, REST, clamp } from "../record.js";
import { ICONS, icon, iconButton } from "./controls.js";

/**
 * Moves `now` = { at, goal, playing, rest, looping, speed } over the frames from 0 to `last()`.
 * `pace(k)` is the ms of the step from frame k to the next, `back` that of a step back, `rest` that on a frame while
 * playing; `draw()` paints what changed; `also(ms)` moves anything else and says whether it is still moving;
 * `seen()` says whether anybody looks. Hosts hear of whole frames (`onFrame`), and of `onPlaying`.
 * @param {any} now
 * @param {any} options
 */
export function makePlayer(now, options) {
  const { last, pace, back = BACK, rest = REST, draw, also = () => false, seen = () => true, onFrame, onPlaying } = options;
  const calm = matchMedia("(prefers-reduced-motion: reduce)");
  Object.assign(now, { at: 0, goal: null, playing: false, rest: 0, looping: false, speed: 1, ...now });
  const reported = { frame: now.at, playing: false };
  let [loop, clock, asked, alive] = [0, 0, false, true];

  /** Paints soon, and goes on for as long as something moves. */
  function wake() {
    asked = true;
    if (loop || !alive) return;
    clock = performance.now();
    loop = requestAnimationFrame(tick);
  }

  function tick(stamp) {
    loop = 0;
    const ms = clamp(stamp - clock, 0, 64) * now.speed;
    const before = now.at;
    clock = stamp;
    const moving = seen() && also(ms);
    const busy = seen() && advance(ms);
    if (asked || moving || now.at !== before) redraw();
    asked = false;
    if ((busy || moving) && alive && !loop) loop = requestAnimationFrame(tick);
  }

  function redraw() {
    draw();
    tell();
  }

  /** Moves the clock on; returns whether there is more to come. */
  function advance(ms) {
    if (now.goal !== null) travel(ms);
    else if (now.playing && (now.rest -= ms) <= 0) onward();
    return now.goal !== null || now.playing;
  }

  function travel(ms) {
    const forward = now.goal > now.at;
    const step = ms / (forward ? pace(clamp(Math.floor(now.at), 0, last() - 1)) : back);
    const left = Math.abs(now.goal - now.at);
    if (calm.matches || left <= step || left > 1) Object.assign(now, { at: now.goal, goal: null, rest });
    else now.at += forward ? step : -step;
  }

  function onward() {
    if (now.at < last()) now.goal = Math.floor(now.at) + 1;
    else if (now.looping) Object.assign(now, { at: 0, rest });
    else setPlaying(false);
  }

  function go(frame) {
    now.goal = clamp(frame, 0, last());
    if (now.goal === now.at) now.goal = null;
    wake();
  }

  function setPlaying(value) {
    if (now.playing === value) return;
    Object.assign(now, { playing: value, rest: 0 });
    if (value && now.goal === null && now.at >= last()) now.at = 0;
    tell();
    wake();
  }

  /** Where a running move is heading, or the frame nearest to the place. */
  function tell() {
    const frame = now.goal ?? Math.round(now.at);
    if (frame !== reported.frame) onFrame?.((reported.frame = frame));
    if (now.playing !== reported.playing) onPlaying?.((reported.playing = now.playing));
  }

  /** Shows a place at once. */
  function jump(at) {
    Object.assign(now, { at: clamp(at, 0, last()), goal: null, rest });
    redraw();
    wake();
  }

  const pause = () => setPlaying(false);
  /** What a person does stops the story. */
  const byHand = (act) => () => {
    pause();
    act();
  };
  return {
    wake, redraw, go, jump, setPlaying, pause, byHand, calm,
    toggle: () => setPlaying(!now.playing),
    forward: byHand(() => go(Math.floor((now.goal ?? now.at) + 1e-6) + 1)),
    backward: byHand(() => go(Math.ceil((now.goal ?? now.at) - 1e-6) - 1)),
    first: byHand(() => jump(0)),
    end: byHand(() => jump(last())),
    /** The scrub bar: a place that a person has moved to. */
    scrub: (at) => byHand(() => jump(at))(),
    /** Shows (frame, fraction); a whole neighbouring frame without a fraction is walked to, anything else is cut to. */
    set(frame, fraction) {
      if (fraction !== undefined || Math.abs(frame - now.at) > 1) return jump(frame + clamp(fraction || 0));
      reported.frame = clamp(frame, 0, last());
      go(frame);
    },
    /** Begins where a host wants it, which is not reported. */
    begin({ frame = 0, playing = false }) {
      now.at = reported.frame = clamp(frame, 0, last());
      redraw();
      reported.playing = playing;
      if (playing) setPlaying(true);
    },
    destroy() {
      alive = false;
      cancelAnimationFrame(loop);
    },
  };
}

/** What each key does to a player; Shift and Space step back. */
export const playerKeys = (player) => ({
  " ": ({ shiftKey }) => (shiftKey ? player.backward() : player.toggle()), p: player.pause, s: player.forward,
  ArrowRight: player.forward, ArrowLeft: player.backward, Home: player.first, End: player.end,
});

const ACTS = { first: "first", back: "backward", play: "toggle", step: "forward", last: "end" };

/** Words for a place, such as "Choose (2/5)": the name is left out where there is little room and stands above. */
function wordsOfPlace(words) {
  const [, name, count] = words.match(/^(.+ )(\(\d+\/\d+\))$/) || [];
  return count ? [node("span", { class: "stage-word" }, name), count] : [words];
}

/**
 * The bar of a player: a button for each title, by the name of its icon, a scrub bar, and words for where it stands.
 * @returns {any}
 */
export function playerBar(player, titles, attributes = {}) {
  const buttons = Object.fromEntries(Object.entries(titles).map(([name, title]) => [name, iconButton(name, title, () => player[ACTS[name]]())]));
  const scrub = node("input", { type: "range", min: "0", step: "0.01", "aria-label": "Animation step", oninput: () => player.scrub(Number(scrub.value)), ...attributes });
  const where = node("output");
  const disable = (names, on) => names.forEach((name) => buttons[name] && (buttons[name].disabled = on));
  return {
    ...buttons, scrub, where,
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
