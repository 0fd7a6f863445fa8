/** What is drawn often: boxes, lines, dots, text that fits, and canvases in device pixels. */

import { node } from "../dom.js";
import { clamp, font } from "../record.js";

export function boxPath(ctx, x, y, w, h, r) {
  if (r > 0 && ctx.roundRect) ctx.roundRect(x, y, w, h, Math.min(r, w / 2, h / 2));
  else ctx.rect(x, y, w, h);
}

/** A rounded box, filled and stroked in the colours that are given. */
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

/** A path through points, several if there are several lists; filled or stroked by whoever asked for it. */
export function trace(ctx, ...lines) {
  ctx.beginPath();
  for (const points of lines) points.forEach(([x, y], i) => (i ? ctx.lineTo(x, y) : ctx.moveTo(x, y)));
}

export function paintLines(ctx, ...lines) {
  trace(ctx, ...lines);
  ctx.stroke();
}

export function paintDot(ctx, x, y, radius) {
  ctx.beginPath();
  ctx.arc(x, y, radius, 0, 7);
  ctx.fill();
}

/** A line of text around y; without a font or a colour in those that are set. */
export function paintText(ctx, text, x, y, { spec = ctx.font, fill = ctx.fillStyle, align = "left" } = {}) {
  Object.assign(ctx, { font: spec, fillStyle: fill, textAlign: align, textBaseline: "middle" });
  ctx.fillText(text, x, y);
}

/** Text cut to a width with an ellipsis. */
export function cut(ctx, text, width) {
  let kept = text;
  const shown = () => (kept === text ? text : kept + "…");
  while (kept.length > 1 && ctx.measureText(shown()).width > width) kept = kept.slice(0, -1);
  return shown();
}

/**
 * The font in which a text fits into a width, down to four fifths of its size: rather a little smaller than cut off.
 */
export function fitted(ctx, text, width, size, weight) {
  ctx.font = font(size, weight);
  const share = width / Math.max(1, ctx.measureText(text).width);
  return font(size * clamp(share, Math.min(1, Math.max(0.8, 9 / size)), 1), weight);
}

/** A title on one or two lines, centred on y. */
export function paintWrapped(ctx, text, x, y, width, pitch) {
  const words = text.split(" ");
  let first = words.length;
  while (first > 1 && ctx.measureText(words.slice(0, first).join(" ")).width > width) first -= 1;
  const lines = [words.slice(0, first).join(" "), words.slice(first).join(" ")].filter(Boolean);
  lines.forEach((line, i) => paintText(ctx, cut(ctx, line, width), x, y + (i - (lines.length - 1) / 2) * pitch));
}

/** What measures texts with a pen, each text and font once: a plan asks for the same widths many times. */
export function measuring(ctx) {
  const widths = new Map();
  return (text, spec) => {
    const key = `${spec}|${text}`;
    if (!widths.has(key)) {
      ctx.font = spec;
      widths.set(key, ctx.measureText(text).width);
    }
    return widths.get(key);
  };
}

/** A canvas of a size in CSS pixels, and its pen, which is scaled to the pixels of the device. */
export function canvasOf(width, height, ratio, canvas = node("canvas")) {
  Object.assign(
    canvas, { width: Math.max(1, Math.round(width * ratio)), height: Math.max(1, Math.round(height * ratio)) }
  );
  const pen = canvas.getContext("2d");
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  return { canvas, pen };
}

export const screenRatio = (most = 3) => Math.min(most, window.devicePixelRatio || 1);
