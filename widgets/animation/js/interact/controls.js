/** Controls that everything animated shares: icons, buttons, dragging, and the colours of the host as they change. */

import { listen, node, svgNode } from "../dom.js";
import { explained } from "../glossary.js";

/** @type {{ [name: string]: string }} */
export const ICONS = {
  first: "M4 4h2.4v16H4zM20 4v16L8 12z",
  back: "M17 4v16L6 12z",
  play: "M6 4l14 8-14 8z",
  pause: "M6 4h4.2v16H6zM13.8 4H18v16h-4.2z",
  step: "M7 4v16l11-8z",
  last: "M17.6 4H20v16h-2.4zM4 4v16l12-8z",
  loop: "M7 7h9V4l5 4.5L16 13v-3H9v3H6V8a1 1 0 0 1 1-1zm10 10H8v3l-5-4.5L8 11v3h7v-3h3v5a1 1 0 0 1-1 1z",
  undo: "M8 4v4h6a6 6 0 0 1 0 12H7v-2.6h7a3.4 3.4 0 0 0 0-6.8H8v4L2 9.3z",
  redo: "M16 4v4h-6a6 6 0 0 0 0 12h7v-2.6h-7a3.4 3.4 0 0 1 0-6.8h6v4l6-5.3z",
  roll:
    "M5 3h14a2 2 0 0 1 2 2v14a2 2 0 0 1-2 2H5a2 2 0 0 1-2-2V5a2 2 0 0 1 2-2z" +
    "m3 3.5A1.6 1.6 0 1 0 8 9.7a1.6 1.6 0 0 0 0-3.2zm8 0a1.6 1.6 0 1 0 0 3.2 1.6 1.6 0 0 0 0-3.2z" +
    "m-4 4a1.6 1.6 0 1 0 0 3.2 1.6 1.6 0 0 0 0-3.2zm-4 4a1.6 1.6 0 1 0 0 3.2 1.6 1.6 0 0 0 0-3.2z" +
    "m8 0a1.6 1.6 0 1 0 0 3.2 1.6 1.6 0 0 0 0-3.2z",
  paint:
    "M20.7 3.3a2 2 0 0 0-2.8 0L9 12.2l2.8 2.8 8.9-8.9a2 2 0 0 0 0-2.8z" +
    "M7.6 13.5A4 4 0 0 0 4 17.4c0 1.4-.7 2.2-2 2.6 1 1 2.5 1.5 4 1.5a4.1 4.1 0 0 0" +
    " 4.2-4.1c0-.6-.2-1.2-.5-1.700z",
  story: "M3 4h8v7H3zM13 4h8v7h-8zM3 13h8v7H3zM13 13h8v7h-8z",
  table: "M3 4h18v4H3zM3 10h5v4H3zM10 10h11v4H10zM3 16h5v4H3zM10 16h11v4H10z",
  film: "M3 4h3v3H3zM8 4h13v3H8zM3 10h3v3H3zM8 10h13v3H8zM3 16h3v3H3zM8 16h13v3H8z",
  share: "M12 2l5.5 5.5-1.8 1.8-2.4-2.4V16h-2.6V6.900L8.300 9.300 6.5 7.5zM4 13h2.6v6.4h10.8V13H20v9H4z",
  sort: "M3 4h4v4H3zM3 10h4v4H3zM9 10h4v4H9zM3 16h4v4H3zM9 16h4v4H9zM15 16h4v4h-4z",
};

/** @param {string} path @param {any} [extra] */
export const icon = (path, extra = {}) => svgNode(
  "svg", { viewBox: "0 0 24 24", "aria-hidden": "true" }, svgNode("path", { d: path, ...extra })
);

/**
 * A button with a text or an element on its face; hovering shows its title and the terms in it.
 * @param {any} face @param {string} title @param {(...args: any[]) => void} act @param {any} [extra]
 */
export const button = (face, title, act, extra = {}) => node(
  "button", { type: "button", title: explained(title), onclick: act, ...extra }, face
);

/**
 * A button with an icon; its name is its title without the keys.
 * @param {string} name @param {string} title @param {(...args: any[]) => void} act @param {any} [extra]
 */
export const iconButton = (name, title, act, extra = {}) => button(
  icon(ICONS[name]), title, act, { "aria-label": title.split(" (")[0], ...extra }
);

/**
 * A button with an icon and a word, of which only the icon is left where there is little room.
 * @param {string} name @param {string} word @param {string} title @param {(...args: any[]) => void} act
 * @param {any} [extra]
 */
export const labelButton = (name, word, title, act, extra = {}) => {
  const made = button(icon(ICONS[name]), title, act, { "aria-label": word, ...extra });
  made.append(node("span", { class: "stage-word" }, word));
  return made;
};

/** @type {{ [level: string]: { hue: string, sign: string, short: string } }} */
const LEVELS = {
  green: { hue: "green", sign: "M7 12.5l3.4 3.4L17 9", short: "No leak" },
  amber: { hue: "orange", sign: "M12 6.5v7M12 16.6v.9", short: "By design" },
  red: { hue: "vermilion", sign: "M8 8l8 8M16 8l-8 8", short: "Leak" },
};

/** The leak indicator: colour, sign and sentence say the same thing. */
export function setLamp(/** @type {HTMLElement} */ lamp, /** @type {Leak | null} */ leak, /** @type {Theme} */ theme) {
  lamp.hidden = !leak;
  if (!leak) return;
  const level = leak.level || (leak.leak ? "red" : "green");
  const look = LEVELS[level] || LEVELS.amber;
  const svg = icon("M12 1a11 11 0 1 0 0 22 11 11 0 0 0 0-22z", { fill: theme.strong(look.hue) });
  svg.append(svgNode("path", {
    d: look.sign, fill: "none", stroke: theme.paper, "stroke-width": "2.6",
    "stroke-linecap": "round",
  }));
  const sentence = leak.sentence || look.short;
  lamp.replaceChildren(svg, node("span", {}, level === "green" ? look.short : sentence));
  lamp.title = explained(sentence);
  lamp.dataset.level = level;
}

export const isText = (/** @type {any} */ element) => element.tagName === "INPUT" && element.type === "text";

/** Is a key not meant for us: with a modifier, or typed into a field? @param {any} event */
export const isForeign = (event) => event.ctrlKey || event.metaKey || event.altKey || isText(event.target);

/**
 * Dragging with the main button. `start(event)` returns what is dragged, or nothing; `move(held, event)` and
 * `end(held, event, cancelled)` follow the pointer, which is captured. What comes back ends it.
 * @template T @param {HTMLElement} element @param {Drag<T>} acts
 */
export function draggable(element, acts) {
  const { start, move, end } = acts;
  /** @type {T | null} */
  let held = null;
  const down = (/** @type {On<PointerEvent>} */ event) => {
    held = (!event.button && start(event)) || null;
    if (held) element.setPointerCapture(event.pointerId);
  };
  const up = (/** @type {PointerEvent} */ event) => {
    const dropped = held;
    held = null;
    if (dropped) end?.(dropped, event, event.type === "pointercancel");
  };
  const go = (/** @type {PointerEvent} */ event) => held && move?.(held, event);
  return listen([[element, { pointerdown: down, pointermove: go, pointerup: up, pointercancel: up }]]);
}

/** Calls back when the host may have new colours: by an attribute or a media query, and once they have faded in. */
export function watchTheme(/** @type {(...args: any[]) => void} */ act) {
  let alive = true;
  const changed = () => {
    act();
    setTimeout(() => alive && act(), 350);
  };
  const attributes = new MutationObserver(changed);
  const attributeFilter = ["class", "style", "data-theme", "data-jp-theme-light", "data-bs-theme", "theme"];
  for (const target of [document.documentElement, document.body]) attributes.observe(
    target, { attributes: true, attributeFilter }
  );
  const end = listen([[matchMedia("(prefers-color-scheme: dark)"), { change: act }]]);
  return () => {
    alive = false;
    attributes.disconnect();
    end();
  };
}
