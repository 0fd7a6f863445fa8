/** A pen with the words of a canvas context that writes SVG: the picture on screen and the saved one are the same drawing. */

import { FAMILY, font } from "../record.js";

const two = (x) => Math.round(x * 100) / 100;
const UNTURNED = [1, 0, 0, 1, 0, 0];
const START = {
  globalAlpha: 1, fillStyle: "#000", strokeStyle: "#000", lineWidth: 1, font: font(12), textAlign: "start",
  textBaseline: "alphabetic", lineCap: "butt", dash: [], matrix: UNTURNED, cut: "",
};
const PATH_WORDS = ["moveTo", "lineTo", "bezierCurveTo", "arc", "rect", "roundRect"];

/** Text as XML can hold it, which allows no control characters. */
// eslint-disable-next-line no-control-regex
const quoted = (text) => String(text).replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`).replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "\ufffd");

/** The pen knows exactly the words that `paint` uses; text stays text. `pen.text(title)` is the drawing. */
export function svgPen(width, height, theme, measure) {
  const [body, defs, saved] = [[], [], []];
  let path = svgPath();
  const define = (kind, write) => {
    const id = `${kind}${defs.length}`;
    defs.push(write(id));
    return id;
  };
  const shared = () => {
    const turned = pen.matrix.some((value, i) => value !== UNTURNED[i]);
    return (turned ? ` transform="matrix(${pen.matrix.map(two).join(" ")})"` : "") + (pen.cut ? ` clip-path="url(#${pen.cut})"` : "");
  };
  const paintOf = (name, style) => {
    const [, r, g, b, a] = /rgba?\((\d+), ?(\d+), ?(\d+)(?:, ?([\d.]+))?\)/.exec(style) || [];
    const alpha = two((a === undefined ? 1 : Number(a)) * pen.globalAlpha);
    return `${name}="${r === undefined ? quoted(style) : `rgb(${r},${g},${b})`}"` + (alpha < 1 ? ` ${name}-opacity="${alpha}"` : "");
  };
  const fillOf = (style) => (typeof style === "string" ? paintOf("fill", style) : `fill="url(#${style.id})"${pen.globalAlpha < 1 ? ` fill-opacity="${two(pen.globalAlpha)}"` : ""}`);
  const strokeOf = () => `fill="none" ${paintOf("stroke", pen.strokeStyle)} stroke-width="${two(pen.lineWidth)}"${pen.dash.length ? ` stroke-dasharray="${pen.dash.join(" ")}"` : ""}${pen.lineCap === "round" ? ' stroke-linecap="round"' : ""}`;
  const turn = ([a, b, c, d, e, f]) => {
    const [A, B, C, D, E, F] = pen.matrix;
    pen.matrix = [A * a + C * b, B * a + D * b, A * c + C * d, B * c + D * d, A * e + C * f + E, B * e + D * f + F];
  };
  const boxAs = (x, y, w, h, look) => body.push(`<rect x="${two(x)}" y="${two(y)}" width="${two(w)}" height="${two(h)}" ${look}${shared()}/>`);
  const pathAs = ({ d }, look) => d() && body.push(`<path d="${d()}" ${look}${shared()}/>`);
  const pen = {
    ...START,
    newPath: svgPath,
    save: () => saved.push(Object.fromEntries(Object.keys(START).map((name) => [name, pen[name]]))),
    restore: () => Object.assign(pen, saved.pop()),
    setTransform() {},
    translate: (x, y) => turn([1, 0, 0, 1, x, y]),
    rotate: (angle) => turn([Math.cos(angle), Math.sin(angle), -Math.sin(angle), Math.cos(angle), 0, 0]),
    beginPath: () => (path = svgPath()),
    clip: () => (pen.cut = define("clip", (id) => `<clipPath id="${id}"><path d="${path.d()}"/></clipPath>`)),
    setLineDash: (dash) => (pen.dash = dash),
    fill: (other = path) => pathAs(other, fillOf(pen.fillStyle)),
    stroke: () => pathAs(path, strokeOf()),
    fillRect: (x, y, w, h) => boxAs(x, y, w, h, fillOf(pen.fillStyle)),
    strokeRect: (x, y, w, h) => boxAs(x, y, w, h, strokeOf()),
    clearRect: (x, y, w, h) => boxAs(x, y, w, h, paintOf("fill", theme.paper)),
    measureText: (text) => ({ width: measure(text, pen.font) }),
    fillText(text, x, y) {
      const [, weight, size] = /^(\d+) ([\d.]+)px/.exec(pen.font) || [0, 400, 12];
      const anchor = { center: "middle", right: "end", end: "end" }[pen.textAlign] || "start";
      const drop = pen.textBaseline === "middle" ? Number(size) * 0.35 : 0;
      body.push(`<text x="${two(x)}" y="${two(y + drop)}" font-size="${size}" font-weight="${weight}" text-anchor="${anchor}" ${paintOf("fill", pen.fillStyle)}${shared()}>${quoted(text)}</text>`);
    },
    /** Hatching as a pattern of SVG's own. */
    hatch: (side) => ({ id: define("hatch", (id) => `<pattern id="${id}" width="${side}" height="${side}" patternUnits="userSpaceOnUse"><path d="M-1 ${side + 1}L${side + 1} -1M-1 1L1 -1M${side - 1} ${side + 1}L${side + 1} ${side - 1}" stroke="${theme.hatch}" stroke-width="1"/></pattern>`) }),
    text: (title) =>
      `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" font-family="${quoted(FAMILY)}">` +
      `<title>${quoted(title)}</title><defs>${defs.join("")}</defs><rect width="${width}" height="${height}" fill="${theme.paper}"/>${body.join("")}</svg>`,
    ...Object.fromEntries(PATH_WORDS.map((word) => [word, (...values) => path[word](...values)])),
  };
  return pen;
}

/** The path data of SVG, built with a canvas path's words. */
function svgPath() {
  const parts = [];
  const say = (letter) => (...numbers) => parts.push(letter + numbers.map(two).join(" "));
  return {
    d: () => parts.join(""),
    moveTo: say("M"),
    lineTo: say("L"),
    bezierCurveTo: say("C"),
    arc: (x, y, r) => parts.push(`M${two(x - r)} ${two(y)}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0`),
    rect: (x, y, w, h) => parts.push(`M${two(x)} ${two(y)}h${two(w)}v${two(h)}h${two(-w)}z`),
    roundRect(x, y, w, h, r) {
      const round = (across, down) => `a${r} ${r} 0 0 1 ${across} ${down}`;
      parts.push(`M${two(x + r)} ${two(y)}h${two(w - 2 * r)}${round(r, r)}v${two(h - 2 * r)}${round(-r, r)}h${two(2 * r - w)}${round(-r, -r)}v${two(2 * r - h)}${round(r, -r)}z`);
    },
  };
}
