/** Colours: the theme of whatever the stage stands in, and ours on it. */

import tokens from "../../../design_tokens.json" with { type: "json" };
import { HUE, lerp, mapped } from "../record.js";

/** @param {RGB} a @param {RGB} b @param {number} t */
const mix = (a, b, t) => a.map((value, i) => Math.round(lerp(value, b[i], t)));
/** @param {RGB} rgb */
const css = (rgb, alpha = 1) => `rgba(${rgb[0]},${rgb[1]},${rgb[2]},${alpha})`;
/** @param {RGB} rgb */
const luminance = (rgb) => (0.2126 * rgb[0] + 0.7152 * rgb[1] + 0.0722 * rgb[2]) / 255;

/** A computed colour as [r, g, b, a]; the browser always answers with rgb() or color(srgb ...).
 * @param {string} text */
function parseColour(text) {
  const numbers = (text.match(/[\d.]+(?:e-?\d+)?/g) || []).map(Number);
  const scale = text.startsWith("color(") ? 255 : 1;
  return numbers.length < 3 ? [0, 0, 0, 0] : [...numbers.slice(0, 3).map((x) => x * scale), numbers[3] ?? 1];
}

/** The first painted background behind an element, looking through shadow roots.
 * @param {HTMLElement} element */
function backgroundOf(element) {
  for (let at = /** @type {any} */ (element); at; at = at.parentElement || at.getRootNode().host) {
    const colour = parseColour(getComputedStyle(at).backgroundColor);
    if (colour[3] > 0.5) return colour.slice(0, 3);
  }
  return null;
}

/** All colours of the picture from the two that the host gives: ink and paper.
 * @param {HTMLElement} element
 * @returns {Theme} */
function themeOf(element) {
  const colour = parseColour(getComputedStyle(element).color);
  const guess = luminance(colour) > 0.5 ? [24, 26, 31] : [255, 255, 255];
  let paper = backgroundOf(element) || guess;
  if (Math.abs(luminance(paper) - luminance(colour)) < 0.25) paper = guess; // a host that lies about its background
  const ink = mix(paper, colour.slice(0, 3), colour[3]);
  const dark = luminance(ink) > luminance(paper);
  const toward = (/** @type {number} */ t) => mix(paper, ink, t);
  const tint = (/** @type {string} */ hue, /** @type {number} */ t) => mix(paper, HUE[hue], t);
  const strong = (/** @type {string} */ hue) =>
    (dark ? mix(HUE[hue], [255, 255, 255], 0.28) : mix(HUE[hue], [0, 0, 0], 0.08));
  return {
    dark,
    key: css(ink) + css(paper),
    .../** @type {Record<Shade, string>} */ (mapped(tokens.shades, ([light, dim]) => css(toward(dark ? dim : light)))),
    ink: css(ink),
    paper: css(paper),
    shadow: dark ? "rgba(0,0,0,.55)" : "rgba(20,24,40,.16)",
    ledge: dark ? "rgba(0,0,0,.4)" : "rgba(20,24,40,.09)",
    visible: css(dark ? mix(paper, mix(HUE.blue, HUE.sky, 0.45), 0.85) : mix(paper, mix(HUE.blue, HUE.sky, 0.35), 0.8)),
    weight: dark ? "rgba(255,255,255,1)" : css(mix(HUE.blue, [0, 0, 0], 0.72)),
    leak: css(strong("vermilion")),
    tint: (/** @type {string} */ hue, t = dark ? 0.3 : 0.16) => css(tint(hue, t)),
    strong: (/** @type {string} */ hue) => css(strong(hue)),
  };
}

/** The colours of an element, which its style sheet gets too, as variables.
 * @param {HTMLElement} element */
export function dressed(element) {
  const theme = themeOf(element);
  const { ink, paper, muted, line, track, lattice, leak, strong } = theme;
  const shades = {
    ink, paper, muted, line, track, hover: lattice, accent: strong("blue"), orange: strong("orange"), leak,
    good: strong("green"),
  };
  for (const [name, value] of Object.entries(shades)) element.style.setProperty(`--${name}`, value);
  return theme;
}
