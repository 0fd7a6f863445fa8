/** A pen with the words of a canvas context that writes SVG: the picture on screen and the saved one are the same
 * drawing. */

import { FAMILY, font } from "../record.js";

const two = (/** @type {number} */ x) => Math.round(x * 100) / 100;
const UNTURNED = [1, 0, 0, 1, 0, 0];

/** Text as XML can hold it, which allows no control characters. */
// eslint-disable-next-line no-control-regex
const REFUSED = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g;
const quoted = (/** @type {string} */ text) =>
  text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`).replace(REFUSED, "\ufffd");

/** Attributes as text, each with a space before it; those that are undefined are left out.
 * @param {{ [name: string]: string | number | undefined }} attributes */
const marks = (attributes) =>
  Object.entries(attributes).map(([name, value]) => (value === undefined ? "" : ` ${name}="${value}"`)).join("");

/** The pen knows exactly the words that `paint` uses; text stays text. `pen.text(title)` is the drawing.
 * @param {number} width @param {number} height @param {{ paper: string, hatch: string }} theme @param {Measure} measure
 */
export function svgPen(width, height, theme, measure) {
  /** @type {{ body: string[], defs: string[], saved: SvgPen[] }} */
  const { body, defs, saved } = { body: [], defs: [], saved: [] };
  const { d, clear, ...words } = svgPath();
  const define = (/** @type {string} */ kind, /** @type {(id: string) => string} */ write) => {
    const id = `${kind}${defs.length}`;
    defs.push(write(id));
    return id;
  };
  const shared = () => {
    const turned = pen.matrix.some((value, i) => value !== UNTURNED[i]);
    const transform = turned ? `matrix(${pen.matrix.map(two).join(" ")})` : undefined;
    return marks({ transform, "clip-path": pen.cut ? `url(#${pen.cut})` : undefined });
  };
  const paintOf = (/** @type {string} */ name, /** @type {string} */ style) => {
    const [, r, g, b, a] = /rgba?\((\d+), ?(\d+), ?(\d+)(?:, ?([\d.]+))?\)/.exec(style) || [];
    const alpha = two((a === undefined ? 1 : Number(a)) * pen.globalAlpha);
    const colour = r === undefined ? quoted(style) : `rgb(${r},${g},${b})`;
    return marks({ [name]: colour, [`${name}-opacity`]: alpha < 1 ? alpha : undefined });
  };
  const fillOf = (/** @type {SvgPen["fillStyle"]} */ style) => {
    if (typeof style === "string") return paintOf("fill", style);
    const alpha = pen.globalAlpha < 1 ? two(pen.globalAlpha) : undefined;
    return marks({ fill: `url(#${style.id})`, "fill-opacity": alpha });
  };
  const strokeOf = () => ` fill="none"${paintOf("stroke", pen.strokeStyle)}${marks({
    "stroke-width": two(pen.lineWidth),
    "stroke-dasharray": pen.dash.length ? pen.dash.join(" ") : undefined,
    "stroke-linecap": pen.lineCap === "round" ? "round" : undefined,
  })}`;
  const turn = (/** @type {number[]} */ [a, b, c, d, e, f]) => {
    const [A, B, C, D, E, F] = pen.matrix;
    pen.matrix = [A * a + C * b, B * a + D * b, A * c + C * d, B * c + D * d, A * e + C * f + E, B * e + D * f + F];
  };
  const boxAs = (/** @type {number[]} */ [x, y, w, h], /** @type {string} */ look) =>
    body.push(`<rect${marks({ x: two(x), y: two(y), width: two(w), height: two(h) })}${look}${shared()}/>`);
  const pathAs = (/** @type {string} */ data, /** @type {string} */ look) =>
    data && body.push(`<path d="${data}"${look}${shared()}/>`);
  /** @type {SvgPen} */
  const pen = {
    globalAlpha: 1, fillStyle: "#000", strokeStyle: "#000", lineWidth: 1, font: font(12), textAlign: "start",
    textBaseline: "alphabetic", lineCap: "butt", dash: [], matrix: UNTURNED, cut: "",
    ...words,
    newPath: svgPath,
    save: () => saved.push({ ...pen }),
    restore: () => Object.assign(pen, saved.pop()),
    translate: (x, y) => turn([1, 0, 0, 1, x, y]),
    rotate: (angle) => turn([Math.cos(angle), Math.sin(angle), -Math.sin(angle), Math.cos(angle), 0, 0]),
    beginPath: clear,
    clip: () => (pen.cut = define("clip", (id) => `<clipPath id="${id}"><path d="${d()}"/></clipPath>`)),
    setLineDash: (dash) => (pen.dash = dash),
    fill: (path) => pathAs(path ? path.d() : d(), fillOf(pen.fillStyle)),
    stroke: () => pathAs(d(), strokeOf()),
    fillRect: (...box) => boxAs(box, fillOf(pen.fillStyle)),
    strokeRect: (...box) => boxAs(box, strokeOf()),
    clearRect: (...box) => boxAs(box, paintOf("fill", theme.paper)),
    measureText: (text) => ({ width: measure(text, pen.font) }),
    fillText(text, x, y) {
      const [, weight, size] = /^(\d+) ([\d.]+)px/.exec(pen.font) || [0, 400, 12];
      const place = { x: two(x), y: two(y + (pen.textBaseline === "middle" ? Number(size) * 0.35 : 0)) };
      const anchor = { center: "middle", right: "end", end: "end", left: "start", start: "start" }[pen.textAlign];
      const look = marks({ ...place, "font-size": size, "font-weight": weight, "text-anchor": anchor });
      body.push(`<text${look}${fillOf(pen.fillStyle)}${shared()}>${quoted(text)}</text>`);
    },
    /** Hatching as a pattern of SVG's own. */
    hatch: (side) => ({
      id: define("hatch", (id) => {
        const [before, after] = [side - 1, side + 1];
        const d = `M-1 ${after}L${after} -1M-1 1L1 -1M${before} ${after}L${after} ${before}`;
        const line = `<path${marks({ d, stroke: theme.hatch, "stroke-width": 1 })}/>`;
        return `<pattern${marks({ id, width: side, height: side, patternUnits: "userSpaceOnUse" })}>${line}</pattern>`;
      }),
    }),
    text(title) {
      const frame = { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "font-family": quoted(FAMILY) };
      const paper = `<rect${marks({ width, height, fill: theme.paper })}/>`;
      const head = `<title>${quoted(title)}</title><defs>${defs.join("")}</defs>`;
      return `<svg xmlns="http://www.w3.org/2000/svg"${marks(frame)}>${head}${paper}${body.join("")}</svg>`;
    },
  };
  return pen;
}

/** The path data of SVG, built with a canvas path's words. @returns {SvgPath} */
function svgPath() {
  /** @type {string[]} */
  const parts = [];
  const say = (/** @type {string} */ letter) => (/** @type {number[]} */ ...numbers) =>
    parts.push(letter + numbers.map(two).join(" "));
  return {
    d: () => parts.join(""),
    clear: () => parts.splice(0),
    moveTo: say("M"),
    lineTo: say("L"),
    bezierCurveTo: say("C"),
    arc: (x, y, r) => parts.push(`M${two(x - r)} ${two(y)}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0`),
    rect: (x, y, w, h) => parts.push(`M${two(x)} ${two(y)}h${two(w)}v${two(h)}h${two(-w)}z`),
    roundRect(x, y, w, h, r) {
      const round = (/** @type {number} */ across, /** @type {number} */ down) => `a${r} ${r} 0 0 1 ${across} ${down}`;
      const [across, down] = [two(w - 2 * r), two(h - 2 * r)];
      const forth = `h${across}${round(r, r)}v${down}${round(-r, r)}`;
      parts.push(`M${two(x + r)} ${two(y)}${forth}h${-across}${round(-r, -r)}v${-down}${round(r, -r)}z`);
    },
  };
}
