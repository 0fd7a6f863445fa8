/** What is drawn often: boxes, lines, dots, text that fits, and canvases in device pixels. */

import { clamp, font } from "../record.js";

/** @param {PenPath} path @param {number} x @param {number} y @param {number} w @param {number} h @param {number} r */
export function boxPath(path, x, y, w, h, r) {
  if (r > 0 && path.roundRect) path.roundRect(x, y, w, h, Math.min(r, w / 2, h / 2));
  else path.rect(x, y, w, h);
}

/** A rounded box, filled and stroked in the colours that are given.
 * @param {Pen} ctx @param {Box} box @param {number} r @param {Fill | null} fill @param {string | null} edge */
export function paintBox(ctx, { x, y, w, h }, r, fill, edge = null) {
  ctx.beginPath();
  boxPath(ctx, x, y, w, h, r);
  if (fill) {
    ctx.fillStyle = fill;
    ctx.fill();
  }
  if (!edge) return;
  ctx.strokeStyle = edge;
  ctx.stroke();
}

/** A path through points, several if there are several lists; filled or stroked by whoever asked for it.
 * @param {Pen} ctx @param {Point[][]} lines */
export function trace(ctx, ...lines) {
  ctx.beginPath();
  for (const points of lines) points.forEach(([x, y], i) => (i ? ctx.lineTo(x, y) : ctx.moveTo(x, y)));
}

/** @param {Pen} ctx @param {Point[][]} lines */
export function paintLines(ctx, ...lines) {
  trace(ctx, ...lines);
  ctx.stroke();
}

/** @param {Pen} ctx @param {number} x @param {number} y @param {number} radius */
export function paintDot(ctx, x, y, radius) {
  ctx.beginPath();
  ctx.arc(x, y, radius, 0, 7);
  ctx.fill();
}

/** A line of text around y; without a font or a colour in those that are set.
 * @param {Pen} ctx @param {string} text @param {number} x @param {number} y
 * @param {{ spec?: string, fill?: Fill, align?: CanvasTextAlign }} [options] */
export function paintText(ctx, text, x, y, { spec = ctx.font, fill = ctx.fillStyle, align = "left" } = {}) {
  Object.assign(ctx, { font: spec, fillStyle: fill, textAlign: align, textBaseline: "middle" });
  ctx.fillText(text, x, y);
}

/** Text cut to a width with an ellipsis.
 * @param {Pen} ctx @param {string} text @param {number} width */
export function cut(ctx, text, width) {
  let kept = text;
  const shown = () => (kept === text ? text : kept + "…");
  while (kept.length > 1 && ctx.measureText(shown()).width > width) kept = kept.slice(0, -1);
  return shown();
}

/** The font in which a text fits into a width, down to four fifths of its size: rather a little smaller than cut off.
 * @param {Pen} ctx @param {string} text @param {number} width @param {number} size @param {number} weight */
export function fitted(ctx, text, width, size, weight) {
  ctx.font = font(size, weight);
  const share = width / Math.max(1, ctx.measureText(text).width);
  return font(size * clamp(share, Math.min(1, Math.max(0.8, 9 / size)), 1), weight);
}

/** A title on one or two lines, centred on y.
 * @param {Pen} ctx @param {string} text @param {number} x @param {number} y @param {number} width
 * @param {number} pitch */
export function paintWrapped(ctx, text, x, y, width, pitch) {
  const words = text.split(" ");
  let first = words.length;
  while (first > 1 && ctx.measureText(words.slice(0, first).join(" ")).width > width) first -= 1;
  const lines = [words.slice(0, first).join(" "), words.slice(first).join(" ")].filter(Boolean);
  lines.forEach((line, i) => paintText(ctx, cut(ctx, line, width), x, y + (i - (lines.length - 1) / 2) * pitch));
}

/** What measures texts with a pen, each text and font once: a plan asks for the same widths many times.
 * @param {Pen} ctx */
export function measuring(ctx) {
  /** @type {Map<string, number>} */
  const widths = new Map();
  return (/** @type {string} */ text, /** @type {string} */ spec) => {
    const key = `${spec}|${text}`;
    let width = widths.get(key);
    if (width === undefined) {
      ctx.font = spec;
      width = ctx.measureText(text).width;
      widths.set(key, width);
    }
    return width;
  };
}

/** A canvas of a size in CSS pixels, and its pen, which is scaled to the pixels of the device.
 * @param {number} width @param {number} height @param {number} ratio */
export function canvasOf(width, height, ratio, canvas = document.createElement("canvas")) {
  const [across, down] = [width, height].map((side) => Math.max(1, Math.round(side * ratio)));
  Object.assign(canvas, { width: across, height: down });
  const pen = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  return { canvas, pen };
}

export const screenRatio = (most = 3) => Math.min(most, window.devicePixelRatio || 1);
