// Buttons and icons of the stage, and the sign of a leak.

import { node } from "./dom.js";

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
  sort: "M3 4h4v4H3zM3 10h4v4H3zM9 10h4v4H9zM3 16h4v4H3zM9 16h4v4H9zM15 16h4v4h-4z",
};

export function icon(path, extra = {}) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const shape = document.createElementNS("http://www.w3.org/2000/svg", "path");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("aria-hidden", "true");
  shape.setAttribute("d", path);
  for (const [name, value] of Object.entries(extra)) shape.setAttribute(name, value);
  svg.append(shape);
  return svg;
}

export function button(name, label, keys, extra = {}) {
  return node("button", { type: "button", "aria-label": label, title: `${label} (${keys})`, ...extra }, icon(ICONS[name]));
}

/** The leak lamp: colour, sign and sentence say the same thing. */
export function setLamp(lamp, leak, theme) {
  lamp.hidden = !leak;
  if (!leak) return;
  const level = leak.level || (leak.leak ? "red" : "green");
  const signs = { green: "M7 12.5l3.4 3.4L17 9", amber: "M12 6.5v7M12 16.6v.9", red: "M8 8l8 8M16 8l-8 8" };
  const colour = theme.strong({ green: "green", amber: "orange", red: "vermilion" }[level] || "orange");
  const svg = icon("M12 1a11 11 0 1 0 0 22 11 11 0 0 0 0-22z", { fill: colour });
  svg.append(icon(signs[level] || signs.amber, { fill: "none", stroke: theme.paper, "stroke-width": "2.6", "stroke-linecap": "round" }).firstChild);
  const words = { green: "No leak", amber: "By design", red: "Leak" }[level];
  lamp.replaceChildren(svg, node("span", {}, leak.sentence || words));
  lamp.dataset.level = level;
}

export const isText = (element) => element.tagName === "INPUT" && element.type === "text";
