/** The loss curve of a replay. */

import { clamp, font } from "../record.js";
import { paintDot, paintLines, paintText } from "./pen.js";

const TICKS = [0, 1, 3, 10, 30, 100, 300, 1000, 3000, 10000, 30000, 100000];
export const CURVE = { height: 168, left: 46, right: 14, top: 14, bottom: 30 };

/** Where steps and losses are at a width: the steps on a logarithmic axis, with room for 0.
 * @param {number} width @param {{ last: number, top: number }} limits */
export function curveAxes(width, { last, top }) {
  const [across, down] = [width - CURVE.left - CURVE.right, CURVE.height - CURVE.top - CURVE.bottom];
  return {
    x: (/** @type {number} */ step) => CURVE.left + (across * Math.log1p(step)) / Math.log1p(last),
    y: (/** @type {number} */ loss) => CURVE.top + down * (1 - clamp(loss / top)),
  };
}

/** Loss over steps: training thin, held out bold with dots, levels dashed, a tick for every moment, a line for now.
 * @param {Pen} pen @param {Theme} theme
 * @param {{ curve: Curve, steps: number[], last: number, top: number, width: number, now: number }} drawn
 * @param {ReturnType<typeof curveAxes>} scales */
export function paintCurve(pen, theme, { curve, steps, last, top, width, now }, { x, y }) {
  const floor = CURVE.height - CURVE.bottom;
  pen.clearRect(0, 0, width, CURVE.height);
  pen.font = font(11);
  /** @type {(text: string, left: number, high: number, align: CanvasTextAlign, fill?: string) => void} */
  const say = (text, left, high, align, fill = theme.muted) => paintText(pen, text, left, high, { fill, align });
  /** @type {(points: Point[], strokeStyle: string, lineWidth: number, dash?: number[]) => void} */
  const line = (points, strokeStyle, lineWidth, dash = []) => {
    Object.assign(pen, { strokeStyle, lineWidth });
    pen.setLineDash(dash);
    paintLines(pen, points);
    pen.setLineDash([]);
  };
  /** @type {(high: number) => Point[]} */
  const across = (high) => [[CURVE.left, high], [width - CURVE.right, high]];
  const each = top > 5 ? 2 : top > 2 ? 1 : top > 0.8 ? 0.5 : 0.1;
  for (let loss = 0; loss <= top; loss += each) {
    line(across(y(loss)), theme.line, 1);
    say(String(Number(loss.toFixed(1))), CURVE.left - 8, y(loss), "right");
  }
  for (const step of TICKS) if (step <= last) say(String(step), x(step), floor + 20, "center");
  for (const step of steps) {
    const [long, wide] = step === now ? [11, 2] : [6, 1];
    line([[x(step), floor], [x(step), floor + long]], step === now ? theme.ink : theme.faint, wide);
  }
  line([[x(now), CURVE.top - 6], [x(now), floor]], theme.ink, 1.5);
  /** @type {(point: Point) => Point} */
  const at = ([step, loss]) => [x(step), y(loss)];
  line(curve.training.map(at), theme.strong("blue"), 1.2);
  line(curve.held_out.map(at), theme.strong("vermilion"), 2.2);
  pen.fillStyle = theme.strong("vermilion");
  for (const point of curve.held_out) paintDot(pen, ...at(point), 2.6);
  for (const [name, level] of Object.entries(curve.levels)) {
    line(across(y(level)), theme.muted, 1, [5, 4]);
    const text = `${name} ${level.toFixed(2)}`;
    pen.fillStyle = theme.paper; // the words stay readable where the curve runs through them
    pen.fillRect(CURVE.left + 3, y(level) - 15, pen.measureText(text).width + 6, 13);
    say(text, CURVE.left + 6, y(level) - 8, "left");
  }
  say(curve.unit, 4, 5, "left", theme.faint);
  const of = curve.target ? `: ${curve.target}` : "";
  let right = width - CURVE.right;
  for (const { name, hue, thick } of [
    { name: `held out${of}`, hue: "vermilion", thick: 2.2 }, { name: `training${of}`, hue: "blue", thick: 1.2 },
  ]) {
    say(name, right, 7, "right");
    right -= pen.measureText(name).width + 6;
    line([[right - 18, 7], [right, 7]], theme.strong(hue), thick);
    right -= 30;
  }
}
