/**
 * What a person may take home: the frame as a picture or a drawing, all frames on one sheet, a range of them animated.
 */

import { makePlan } from "../paint/layout.js";
import { patterns } from "../paint/matrices.js";
import { duration } from "../paint/paint.js";
import { canvasOf } from "../paint/pen.js";
import { svgPen } from "../paint/svg_pen.js";
import { REST, font, range } from "../record.js";
import { apng } from "./apng.js";
import { download, fileName } from "./files.js";

/** Paper goes under a picture last: cells are cut out of it while it is painted. */
function layPaper(/** @type {Pen} */ pen, /** @type {Extent} */ { width, height }, /** @type {Theme} */ theme) {
  pen.save();
  pen.globalCompositeOperation = "destination-over";
  pen.fillStyle = theme.paper;
  pen.fillRect(0, 0, width, height);
  pen.restore();
}

const LONGEST_SIDE = 16_384; // px; browsers make no picture of a larger canvas
const ratioWithin = (/** @type {Extent} */ { width, height }, /** @type {number} */ scale) =>
  Math.min(scale, LONGEST_SIDE / Math.max(width, height));

/**
 * Saves what `paint(pen, art)` paints as PNG.
 * @param {HTMLElement} root @param {Extent} extent @param {Theme} theme @param {number} scale @param {string} name
 * @param {Paint} paint
 */
export function savePng(root, extent, theme, scale, name, paint) {
  const ratio = ratioWithin(extent, scale);
  const { canvas, pen } = canvasOf(extent.width, extent.height, ratio);
  paint(pen, { ratio, patterns: patterns(pen, theme, ratio) });
  layPaper(pen, extent, theme);
  canvas.toBlob((blob) => blob && download(root, blob, name));
}

/**
 * What `paint(pen, art)` paints as SVG, whose text is text.
 * @param {Extent} extent @param {Theme} theme @param {Measure} measure @param {string} title @param {Paint} paint
 */
export function svgOf({ width, height }, theme, measure, title, paint) {
  const pen = svgPen(width, height, theme, measure);
  paint(pen, { patterns: { hatch: pen.hatch(6), fine: pen.hatch(4) } });
  return pen.text(title);
}

const STRIP_WIDTH = 720; // px of one frame on a sheet or in an animation
const STRIP_GAP = 22;
const BETWEEN_FRAMES = 6; // pictures of one move

export function takeHome(/** @type {Kit} */ kit) {
  const { title, frames } = kit.record;
  const name = (/** @type {string} */ ending, more = "") =>
    `${fileName([title, kit.frame().name, more].filter(Boolean).join("-")).slice(0, 80)}.${ending}`;
  const sheetName = (/** @type {string} */ ending) => `${fileName(`${title}-frames`)}.${ending}`;
  const plan = () => makePlan(kit.record, STRIP_WIDTH, kit.measure);
  const view = () => ({ reader: null, sort: kit.now.sorted ? 1 : 0, head: kit.now.head });

  /** Paints what is on screen now with another pen. */
  function paintHere(/** @type {Pen} */ pen, /** @type {Partial<Art>} */ extra) {
    const k = Math.min(Math.floor(kit.now.at), kit.last());
    kit.drawWith(pen, extra, k, k === kit.last() ? 0 : kit.now.at - k);
  }

  const picture = () => savePng(kit.root, kit.plan, kit.theme, 2, name("png"), paintHere);
  const svgText = () => svgOf(
    kit.plan, kit.theme, kit.measure, `${title}: ${kit.frame().caption || kit.frame().title}`, paintHere
  );
  const drawing = () => download(kit.root, svgText(), name("svg"), "image/svg+xml");

  /** All frames on a sheet, row by row: its size, and what paints it. */
  function sheet() {
    const planned = plan();
    const across = Math.min(3, Math.ceil(Math.sqrt(frames.length)));
    const [w, h] = [STRIP_WIDTH + STRIP_GAP, planned.height + 34 + STRIP_GAP];
    const size = { width: STRIP_GAP + across * w, height: STRIP_GAP + Math.ceil(frames.length / across) * h };
    /** @type {Paint} */
    const paint = (pen, extra) => frames.forEach((frame, k) => {
      pen.save();
      pen.translate(STRIP_GAP + (k % across) * w, STRIP_GAP + Math.floor(k / across) * h);
      Object.assign(
        pen, { font: font(15, 650), fillStyle: kit.theme.ink, textAlign: "left", textBaseline: "alphabetic" }
      );
      pen.fillText(`${k + 1}. ${frame.title}`, planned.pad, 14);
      pen.translate(0, 28);
      kit.drawWith(pen, { plan: planned, ...extra }, k, 0, view());
      pen.restore();
    });
    return { size, paint };
  }

  function sheetPng() {
    const { size, paint } = sheet();
    savePng(kit.root, size, kit.theme, 1.5, sheetName("png"), paint);
  }

  function sheetSvg() {
    const { size, paint } = sheet();
    download(
      kit.root, svgOf(size, kit.theme, kit.measure, `${title}: all frames`, paint), sheetName("svg"), "image/svg+xml"
    );
  }

  /** The places of an animation and how long each stays: a rest on every frame, and the move to the next. */
  function takes(/** @type {number} */ first, /** @type {number} */ last) {
    const pace = (/** @type {number} */ k) => Math.max(30, duration(kit.record, k) / BETWEEN_FRAMES);
    const moves = (/** @type {number} */ k) =>
      range(BETWEEN_FRAMES - 1).map((i) => ({ k, u: (i + 1) / BETWEEN_FRAMES, ms: pace(k) }));
    return range(last - first + 1).flatMap((i) => [
      { k: first + i, u: 0, ms: first + i === last ? 2 * REST : REST }, ...(first + i < last ? moves(first + i) : []),
    ]);
  }

  /** @param {number} first @param {number} last @param {(share: string) => void} report */
  async function film(first, last, report) {
    const planned = plan();
    const ratio = ratioWithin(planned, 1);
    const { canvas, pen } = canvasOf(planned.width, planned.height, ratio);
    const extra = { plan: planned, ratio, patterns: patterns(pen, kit.theme, ratio) };
    const pictures = [];
    const places = takes(first, last);
    for (const { k, u, ms } of places) {
      pen.clearRect(0, 0, planned.width, planned.height);
      kit.drawWith(pen, extra, k, u, view());
      layPaper(pen, planned, kit.theme);
      /** @type {Blob} */
      const blob = await new Promise((done) => canvas.toBlob(/** @type {BlobCallback} */ (done)));
      pictures.push({ png: new Uint8Array(await blob.arrayBuffer()), ms });
      report(` ${Math.round((100 * pictures.length) / places.length)} %`);
    }
    download(kit.root, new Blob(apng(pictures), { type: "image/apng" }), sheetName("apng.png"));
  }

  return { name, frames, picture, drawing, svgText, sheetPng, sheetSvg, film };
}
