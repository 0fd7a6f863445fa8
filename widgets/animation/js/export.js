/** What a person may take home: the frame as a picture or a drawing, all frames on one sheet, a range of them animated. */

import { button } from "./controls.js";
import { node, optionsOf } from "./dom.js";
import { download, fileName } from "./files.js";
import { patterns } from "./matrices.js";
import { duration } from "./paint.js";
import { canvasOf } from "./pen.js";
import { makePlan } from "./layout.js";
import { REST, font, range, sum } from "./record.js";
import { svgPen } from "./svg_pen.js";

/** Paper goes under a picture last: cells are cut out of it while it is painted. */
function layPaper(pen, width, height, theme) {
  pen.save();
  pen.globalCompositeOperation = "destination-over";
  pen.fillStyle = theme.paper;
  pen.fillRect(0, 0, width, height);
  pen.restore();
}

/** Saves what `paint(pen, art)` paints as PNG. */
export function savePng(root, { width, height }, theme, scale, name, paint) {
  const { canvas, pen } = canvasOf(width, height, scale);
  paint(pen, { ratio: scale, patterns: patterns(pen, theme, scale) });
  layPaper(pen, width, height, theme);
  canvas.toBlob((blob) => download(root, blob, name));
}

/** What `paint(pen, art)` paints as SVG, whose text is text. */
export function svgOf({ width, height }, theme, measure, title, paint) {
  const pen = svgPen(width, height, theme, measure);
  paint(pen, { patterns: { hatch: pen.hatch(6), fine: pen.hatch(4) } });
  return pen.text(title);
}

const STRIP_WIDTH = 720; // px of one frame on a sheet or in an animation
const STRIP_GAP = 22;
const BETWEEN_FRAMES = 6; // pictures of one move

export function takeHome(kit) {
  const { title, frames } = kit.record();
  const name = (ending, more = "") => `${fileName([title, kit.frame().name, more].filter(Boolean).join("-")).slice(0, 80)}.${ending}`;
  const sheetName = (ending) => `${fileName(`${title}-frames`)}.${ending}`;
  const plan = () => makePlan(kit.record(), STRIP_WIDTH, kit.measure);
  const view = () => ({ reader: null, sort: kit.now.sorted ? 1 : 0, head: kit.now.head });

  /** Paints what is on screen now with another pen. */
  function paintHere(pen, extra) {
    const k = Math.min(Math.floor(kit.now.at), kit.last());
    kit.drawWith(pen, extra, k, k === kit.last() ? 0 : kit.now.at - k);
  }

  const picture = () => savePng(kit.root, kit.plan(), kit.theme(), 2, name("png"), paintHere);
  const svgText = () => svgOf(kit.plan(), kit.theme(), kit.measure, `${title}: ${kit.frame().caption || kit.frame().title}`, paintHere);
  const drawing = () => download(kit.root, svgText(), name("svg"), "image/svg+xml");

  /** All frames on a sheet, row by row: its size, and what paints it. */
  function sheet() {
    const planned = plan();
    const across = Math.min(3, Math.ceil(Math.sqrt(frames.length)));
    const [w, h] = [STRIP_WIDTH + STRIP_GAP, planned.height + 34 + STRIP_GAP];
    const size = { width: STRIP_GAP + across * w, height: STRIP_GAP + Math.ceil(frames.length / across) * h };
    const paint = (pen, extra) => frames.forEach((frame, k) => {
      pen.save();
      pen.translate(STRIP_GAP + (k % across) * w, STRIP_GAP + Math.floor(k / across) * h);
      Object.assign(pen, { font: font(15, 650), fillStyle: kit.theme().ink, textAlign: "left", textBaseline: "alphabetic" });
      pen.fillText(`${k + 1}. ${frame.title}`, planned.pad, 14);
      pen.translate(0, 28);
      kit.drawWith(pen, { plan: planned, ...extra }, k, 0, view());
      pen.restore();
    });
    return { size, paint };
  }

  function sheetPng() {
    const { size, paint } = sheet();
    savePng(kit.root, size, kit.theme(), 1.5, sheetName("png"), paint);
  }

  function sheetSvg() {
    const { size, paint } = sheet();
    download(kit.root, svgOf(size, kit.theme(), kit.measure, `${title}: all frames`, paint), sheetName("svg"), "image/svg+xml");
  }

  /** The places of an animation and how long each stays: a rest on every frame, and the move to the next. */
  function takes(first, last) {
    const pace = (k) => Math.max(30, duration(kit.record(), k) / BETWEEN_FRAMES);
    const moves = (k) => range(BETWEEN_FRAMES - 1).map((i) => ({ k, u: (i + 1) / BETWEEN_FRAMES, ms: pace(k) }));
    return range(last - first + 1).flatMap((i) => [{ k: first + i, u: 0, ms: first + i === last ? 2 * REST : REST }, ...(first + i < last ? moves(first + i) : [])]);
  }

  async function film(first, last, report) {
    const planned = plan();
    const { canvas, pen } = canvasOf(planned.width, planned.height, 1);
    const extra = { plan: planned, ratio: 1, patterns: patterns(pen, kit.theme(), 1) };
    const pictures = [];
    const places = takes(first, last);
    for (const { k, u, ms } of places) {
      pen.clearRect(0, 0, planned.width, planned.height);
      kit.drawWith(pen, extra, k, u, view());
      layPaper(pen, planned.width, planned.height, kit.theme());
      const blob = await new Promise((done) => canvas.toBlob(done));
      pictures.push({ png: new Uint8Array(await blob.arrayBuffer()), ms });
      report(` ${Math.round((100 * pictures.length) / places.length)} %`);
    }
    download(kit.root, new Blob(apng(pictures), { type: "image/apng" }), sheetName("apng.png"));
  }

  function filmRow() {
    const pick = (label, value) => {
      const made = node("select", { "aria-label": label }, ...optionsOf(frames.map((frame, k) => [k, `${k + 1}. ${frame.title}`])));
      made.value = String(value);
      return made;
    };
    const [from, to] = [pick("First frame of the animation", 0), pick("Last frame of the animation", frames.length - 1)];
    const tell = (share) => (act.textContent = `Animation (APNG)${share}`);
    const act = button("Animation (APNG)", "The frames from the first to the last as an animated PNG", async () => {
      const [first, last] = [Number(from.value), Number(to.value)].sort((a, b) => a - b);
      await film(first, last, tell);
      tell("");
    });
    return node("div", { class: "stage-range" }, act, from, " to ", to);
  }

  const rows = () => [button("All steps (PNG)", "All frames as one PNG", sheetPng), button("All steps (SVG)", "All frames as one SVG whose text is text", sheetSvg), filmRow()];
  return { name, picture, drawing, svgText, rows };
}

// -- a moving PNG out of still ones (PNG specification, third edition, clause 11.3.6)

const CRC_TABLE = Uint32Array.from({ length: 256 }, (_, n) => {
  for (let k = 0; k < 8; k++) n = n & 1 ? 0xedb88320 ^ (n >>> 1) : n >>> 1;
  return n;
});

function crc(...parts) {
  let value = 0xffffffff;
  for (const part of parts) for (const byte of part) value = CRC_TABLE[(value ^ byte) & 255] ^ (value >>> 8);
  return (value ^ 0xffffffff) >>> 0;
}

/** Numbers of 4, 2 or 1 bytes, most significant first. */
function numbersOf(...fields) {
  const out = new Uint8Array(sum(fields.map(([size]) => size)));
  const view = new DataView(out.buffer);
  fields.reduce((at, [size, value]) => (view[{ 4: "setUint32", 2: "setUint16", 1: "setUint8" }[size]](at, value), at + size), 0);
  return out;
}

/** One chunk in pieces: length, four letters, data, which may be in pieces too, check sum. */
function chunk(name, ...data) {
  const inside = [Uint8Array.from(name, (letter) => letter.charCodeAt(0)), ...data];
  return [numbersOf([4, sum(data.map((part) => part.length))]), ...inside, numbersOf([4, crc(...inside)])];
}

/** The chunks of a PNG with their names. */
function chunksOf(png) {
  const view = new DataView(png.buffer, png.byteOffset, png.byteLength);
  const found = [];
  for (let at = 8; at < png.length; at += 12 + view.getUint32(at)) {
    found.push({ name: String.fromCharCode(...png.subarray(at + 4, at + 8)), data: png.subarray(at + 8, at + 8 + view.getUint32(at)) });
  }
  return found;
}

/** Pictures of one size, each as PNG with its milliseconds, as the pieces of one animated PNG that repeats for ever. */
function apng(pictures) {
  const head = chunksOf(pictures[0].png).find(({ name }) => name === "IHDR").data;
  const view = new DataView(head.buffer, head.byteOffset);
  const [width, height] = [view.getUint32(0), view.getUint32(4)];
  let number = 0;
  const control = chunk("acTL", numbersOf([4, pictures.length], [4, 0]));
  const out = [pictures[0].png.subarray(0, 8), ...chunk("IHDR", head), ...control];
  pictures.forEach(({ png, ms }, i) => {
    out.push(...chunk("fcTL", numbersOf([4, number++], [4, width], [4, height], [4, 0], [4, 0], [2, Math.min(65535, Math.round(ms))], [2, 1000], [1, 0], [1, 0])));
    for (const { name, data } of chunksOf(png)) {
      if (name === "IDAT") out.push(...(i ? chunk("fdAT", numbersOf([4, number++]), data) : chunk("IDAT", data)));
    }
  });
  return [...out, ...chunk("IEND")];
}
