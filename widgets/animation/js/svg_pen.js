// ---------------------------------------------------------------------------------------------------- the pen for SVG

import { FAMILY, font } from "./record.js";

/**
 * A pen with the words of a canvas context that writes SVG, so that the picture on screen and the saved one are the
 * same drawing; text stays text. It knows exactly the words that `paint` uses.
 */
export function svgPen(width, height, theme, measure) {
  const body = [];
  const defs = [];
  const state = {
    globalAlpha: 1, fillStyle: "#000", strokeStyle: "#000", lineWidth: 1, font: font(12), textAlign: "start",
    textBaseline: "alphabetic", lineCap: "butt", dash: [], matrix: [1, 0, 0, 1, 0, 0], clip: "",
  };
  const saved = [];
  let path = svgPath();
  const round = (x) => Math.round(x * 100) / 100;
  // eslint-disable-next-line no-control-regex -- XML allows no control characters
  const quoted = (text) => String(text).replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`).replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "\ufffd");
  const shared = () => {
    const turned = state.matrix.some((value, i) => value !== [1, 0, 0, 1, 0, 0][i]);
    return (turned ? ` transform="matrix(${state.matrix.map(round).join(" ")})"` : "") + (state.clip ? ` clip-path="url(#${state.clip})"` : "");
  };
  const paintOf = (name, style) => {
    const [, r, g, b, a] = /rgba?\((\d+), ?(\d+), ?(\d+)(?:, ?([\d.]+))?\)/.exec(style) || [];
    const alpha = round((a === undefined ? 1 : Number(a)) * state.globalAlpha);
    return `${name}="${r === undefined ? quoted(style) : `rgb(${r},${g},${b})`}"` + (alpha < 1 ? ` ${name}-opacity="${alpha}"` : "");
  };
  const fillOf = (style) => (typeof style === "string" ? paintOf("fill", style) : `fill="url(#${style.id})"${state.globalAlpha < 1 ? ` fill-opacity="${round(state.globalAlpha)}"` : ""}`);
  const strokeOf = () => `fill="none" ${paintOf("stroke", state.strokeStyle)} stroke-width="${round(state.lineWidth)}"${state.dash.length ? ` stroke-dasharray="${state.dash.join(" ")}"` : ""}${state.lineCap === "round" ? ' stroke-linecap="round"' : ""}`;
  const turn = ([a, b, c, d, e, f]) => {
    const [A, B, C, D, E, F] = state.matrix;
    state.matrix = [A * a + C * b, B * a + D * b, A * c + C * d, B * c + D * d, A * e + C * f + E, B * e + D * f + F];
  };
  const boxAs = (x, y, w, h, look) => body.push(`<rect x="${round(x)}" y="${round(y)}" width="${round(w)}" height="${round(h)}" ${look}${shared()}/>`);
  const pen = {
    newPath: svgPath,
    save: () => saved.push({ ...state }),
    restore: () => Object.assign(state, saved.pop()),
    setTransform() {},
    translate: (x, y) => turn([1, 0, 0, 1, x, y]),
    rotate: (angle) => turn([Math.cos(angle), Math.sin(angle), -Math.sin(angle), Math.cos(angle), 0, 0]),
    beginPath: () => (path = svgPath()),
    clip() {
      const id = `clip${defs.length}`;
      defs.push(`<clipPath id="${id}"><path d="${path.d()}"/></clipPath>`);
      state.clip = id;
    },
    setLineDash: (dash) => (state.dash = dash),
    fill: (other) => (other || path).d() && body.push(`<path d="${(other || path).d()}" ${fillOf(state.fillStyle)}${shared()}/>`),
    stroke: () => path.d() && body.push(`<path d="${path.d()}" ${strokeOf()}${shared()}/>`),
    fillRect: (x, y, w, h) => boxAs(x, y, w, h, fillOf(state.fillStyle)),
    strokeRect: (x, y, w, h) => boxAs(x, y, w, h, strokeOf()),
    clearRect: (x, y, w, h) => boxAs(x, y, w, h, paintOf("fill", theme.paper)),
    measureText: (text) => ({ width: measure(text, state.font) }),
    fillText(text, x, y) {
      const [, weight, size] = /^(\d+) ([\d.]+)px/.exec(state.font) || [0, 400, 12];
      const anchor = { center: "middle", right: "end", end: "end" }[state.textAlign] || "start";
      const drop = state.textBaseline === "middle" ? Number(size) * 0.35 : 0;
      body.push(`<text x="${round(x)}" y="${round(y + drop)}" font-size="${size}" font-weight="${weight}" text-anchor="${anchor}" ${paintOf("fill", state.fillStyle)}${shared()}>${quoted(text)}</text>`);
    },
    /** Hatching as a pattern of SVG's own. */
    hatch(side) {
      const id = `hatch${defs.length}`;
      defs.push(`<pattern id="${id}" width="${side}" height="${side}" patternUnits="userSpaceOnUse"><path d="M-1 ${side + 1}L${side + 1} -1M-1 1L1 -1M${side - 1} ${side + 1}L${side + 1} ${side - 1}" stroke="${theme.hatch}" stroke-width="1"/></pattern>`);
      return { id };
    },
    text: (title) =>
      `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" font-family="${quoted(FAMILY)}">` +
      `<title>${quoted(title)}</title><defs>${defs.join("")}</defs><rect width="${width}" height="${height}" fill="${theme.paper}"/>${body.join("")}</svg>`,
  };
  for (const word of ["moveTo", "lineTo", "bezierCurveTo", "arc", "rect", "roundRect"]) pen[word] = (...values) => path[word](...values);
  for (const word of ["globalAlpha", "fillStyle", "strokeStyle", "lineWidth", "font", "textAlign", "textBaseline", "lineCap"]) {
    Object.defineProperty(pen, word, { get: () => state[word], set(value) { state[word] = value; } });
  }
  return pen;
}

/** The path data of SVG, built with a canvas path's words. */
function svgPath() {
  const parts = [];
  const say = (letter, ...numbers) => parts.push(letter + numbers.map((x) => Math.round(x * 100) / 100).join(" "));
  return {
    d: () => parts.join(""),
    moveTo: (x, y) => say("M", x, y),
    lineTo: (x, y) => say("L", x, y),
    bezierCurveTo: (...numbers) => say("C", ...numbers),
    arc(x, y, r) {
      say("M", x - r, y);
      parts.push(`a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0`);
    },
    rect(x, y, w, h) {
      say("M", x, y);
      say("h", w);
      say("v", h);
      say("h", -w);
      parts.push("z");
    },
    roundRect(x, y, w, h, r) {
      say("M", x + r, y);
      say("h", w - 2 * r);
      parts.push(`a${r} ${r} 0 0 1 ${r} ${r}`);
      say("v", h - 2 * r);
      parts.push(`a${r} ${r} 0 0 1 ${-r} ${r}`);
      say("h", 2 * r - w);
      parts.push(`a${r} ${r} 0 0 1 ${-r} ${-r}`);
      say("v", 2 * r - h);
      parts.push(`a${r} ${r} 0 0 1 ${r} ${-r}z`);
    },
  };
}
