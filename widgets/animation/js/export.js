// ---------------------------------------------------------------------------------------------------- strips and films

import { node } from "./dom.js";
import { patterns } from "./matrices.js";
import { duration } from "./paint.js";
import { makePlan } from "./plan.js";
import { REST, bytes, font, range, sum } from "./record.js";
import { svgPen } from "./svg_pen.js";

/** Hands a file to the person. */
export function download(root, blob, name) {
  const address = URL.createObjectURL(blob);
  const anchor = node("a", { href: address, download: name });
  root.append(anchor);
  anchor.click();
  anchor.remove();
  setTimeout(() => URL.revokeObjectURL(address), 4000);
}

/** The other way round: what `packed` in hosts.py made small. */
export async function unpacked(text) {
  const stream = new Blob([bytes(text, atob(text).length)]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).json();
}

const STRIP_WIDTH = 720; // px of one frame in a strip or a film
const STRIP_GAP = 22;
const BETWEEN_FRAMES = 6; // pictures of one move

/** What a person may take home beside the frame itself: all frames as one picture, and a range of them as a film. */
export function takeHome(kit, press) {
  const frames = () => kit.record().frames;
  const named = (ending) => `${kit.record().title}-frames.${ending}`.replace(/[^\p{L}\p{N}.]+/gu, "-");
  const plan = () => makePlan(kit.record(), STRIP_WIDTH, kit.measure);
  const view = () => ({ reader: null, sort: kit.now.sorted ? 1 : 0, head: kit.now.head });

  /** Where each frame of a strip stands, row by row. */
  function sheet(planned) {
    const across = Math.min(3, Math.ceil(Math.sqrt(frames().length)));
    const [w, h] = [STRIP_WIDTH + STRIP_GAP, planned.height + 34 + STRIP_GAP];
    const places = frames().map((_, k) => ({ k, x: STRIP_GAP + (k % across) * w, y: STRIP_GAP + Math.floor(k / across) * h }));
    return { places, width: STRIP_GAP + across * w, height: STRIP_GAP + Math.ceil(places.length / across) * h };
  }

  function paintSheet(pen, planned, { places }, extra) {
    for (const { k, x, y } of places) {
      pen.save();
      pen.translate(x, y);
      pen.font = font(15, 650);
      pen.fillStyle = kit.theme().ink;
      pen.textAlign = "left";
      pen.textBaseline = "alphabetic";
      pen.fillText(`${k + 1}. ${frames()[k].title}`, planned.pad, 14);
      pen.translate(0, 28);
      kit.drawWith(pen, { plan: planned, memory: new Map(), ...extra }, k, 0, view());
      pen.restore();
    }
  }

  function canvasOf(width, height, scale) {
    const canvas = node("canvas", { width: String(Math.round(width * scale)), height: String(Math.round(height * scale)) });
    const pen = canvas.getContext("2d");
    pen.setTransform(scale, 0, 0, scale, 0, 0);
    return { canvas, pen };
  }

  /** Paper goes under the picture last: cells are cut out of it while it is painted. */
  function onPaper(pen, width, height) {
    pen.save();
    pen.globalCompositeOperation = "destination-over";
    pen.fillStyle = kit.theme().paper;
    pen.fillRect(0, 0, width, height);
    pen.restore();
  }

  function stripPng() {
    const planned = plan();
    const whole = sheet(planned);
    const scale = 1.5;
    const { canvas, pen } = canvasOf(whole.width, whole.height, scale);
    paintSheet(pen, planned, whole, { ratio: scale, patterns: patterns(pen, kit.theme(), scale) });
    onPaper(pen, whole.width, whole.height);
    canvas.toBlob((blob) => download(kit.root, blob, named("png")));
  }

  function stripSvg() {
    const planned = plan();
    const whole = sheet(planned);
    const pen = svgPen(whole.width, whole.height, kit.theme(), kit.measure);
    paintSheet(pen, planned, whole, { patterns: { hatch: pen.hatch(6), fine: pen.hatch(4) } });
    download(kit.root, new Blob([pen.text(`${kit.record().title}: all frames`)], { type: "image/svg+xml" }), named("svg"));
  }

  /** The places of a film and how long each stays: a rest on every frame, and the move to the next. */
  function takes(first, last) {
    const pace = (k) => Math.max(30, duration(kit.record(), k) / BETWEEN_FRAMES);
    const moves = (k) => range(BETWEEN_FRAMES - 1).map((i) => ({ k, u: (i + 1) / BETWEEN_FRAMES, ms: pace(k) }));
    return range(last - first + 1).flatMap((i) => [{ k: first + i, u: 0, ms: first + i === last ? 2 * REST : REST }, ...(first + i < last ? moves(first + i) : [])]);
  }

  async function film(first, last, told) {
    const planned = plan();
    const { canvas, pen } = canvasOf(planned.width, planned.height, 1);
    const extra = { plan: planned, ratio: 1, patterns: patterns(pen, kit.theme(), 1), memory: new Map() };
    const pictures = [];
    for (const { k, u, ms } of takes(first, last)) {
      pen.clearRect(0, 0, planned.width, planned.height);
      kit.drawWith(pen, extra, k, u, view());
      onPaper(pen, planned.width, planned.height);
      const blob = await new Promise((done) => canvas.toBlob(done));
      pictures.push({ png: new Uint8Array(await blob.arrayBuffer()), ms });
      told(`${Math.round((100 * pictures.length) / takes(first, last).length)} %`);
    }
    download(kit.root, new Blob([apng(pictures)], { type: "image/apng" }), named("apng.png"));
  }

  function filmRow() {
    const pick = (label, value) => {
      const made = node("select", { "aria-label": label }, ...frames().map((frame, k) => node("option", { value: String(k) }, `${k + 1}. ${frame.title}`)));
      made.value = String(value);
      return made;
    };
    const [from, to] = [pick("First frame of the film", 0), pick("Last frame of the film", frames().length - 1)];
    const act = press("Animation (APNG)", "The frames from the first to the last as an animated PNG", async () => {
      const [first, last] = [Number(from.value), Number(to.value)].sort((a, b) => a - b);
      await film(first, last, (said) => (act.textContent = `Animation (APNG) ${said}`));
      act.textContent = "Animation (APNG)";
    });
    return node("div", { class: "stage-range" }, act, from, " to ", to);
  }

  return [press("All steps (PNG)", "All frames as one PNG", stripPng), press("All steps (SVG)", "All frames as one SVG whose text is text", stripSvg), filmRow()];
}

// -- a moving PNG out of still ones (PNG specification, third edition, clause 11.3.6)

const CRC_TABLE = Uint32Array.from({ length: 256 }, (_, n) => {
  for (let k = 0; k < 8; k++) n = n & 1 ? 0xedb88320 ^ (n >>> 1) : n >>> 1;
  return n;
});

function crc(data) {
  let value = 0xffffffff;
  for (const byte of data) value = CRC_TABLE[(value ^ byte) & 255] ^ (value >>> 8);
  return (value ^ 0xffffffff) >>> 0;
}

/** One chunk: length, four letters, data, check sum. */
function chunk(name, data) {
  const out = new Uint8Array(12 + data.length);
  const view = new DataView(out.buffer);
  view.setUint32(0, data.length);
  for (let i = 0; i < 4; i++) out[4 + i] = name.charCodeAt(i);
  out.set(data, 8);
  view.setUint32(8 + data.length, crc(out.subarray(4, 8 + data.length)));
  return out;
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

/** Numbers of 4, 2 or 1 bytes, most significant first. */
function packed(...fields) {
  const size = { u32: 4, u16: 2, u8: 1 };
  const out = new Uint8Array(sum(fields.map(([kind]) => size[kind])));
  const view = new DataView(out.buffer);
  let at = 0;
  for (const [kind, value] of fields) {
    view[{ u32: "setUint32", u16: "setUint16", u8: "setUint8" }[kind]](at, value);
    at += size[kind];
  }
  return out;
}

/** Pictures of one size, each as PNG with its milliseconds, as one animated PNG that repeats for ever. */
function apng(pictures) {
  const kept = pictures.reduce((list, { png, ms }) => {
    const before = list.at(-1);
    const same = before && before.png.length === png.length && before.png.every((byte, i) => byte === png[i]);
    return same ? [...list.slice(0, -1), { png, ms: before.ms + ms }] : [...list, { png, ms }];
  }, []);
  const head = chunksOf(kept[0].png).find(({ name }) => name === "IHDR").data;
  const view = new DataView(head.buffer, head.byteOffset);
  const [width, height] = [view.getUint32(0), view.getUint32(4)];
  let number = 0;
  const out = [kept[0].png.subarray(0, 8), chunk("IHDR", head), chunk("acTL", packed(["u32", kept.length], ["u32", 0]))];
  kept.forEach(({ png, ms }, i) => {
    out.push(chunk("fcTL", packed(["u32", number++], ["u32", width], ["u32", height], ["u32", 0], ["u32", 0], ["u16", Math.min(65535, Math.round(ms))], ["u16", 1000], ["u8", 0], ["u8", 0])));
    for (const { name, data } of chunksOf(png)) {
      if (name !== "IDAT") continue;
      out.push(i ? chunk("fdAT", joined([packed(["u32", number++]), data])) : chunk("IDAT", data));
    }
  });
  out.push(chunk("IEND", new Uint8Array()));
  return joined(out);
}

function joined(parts) {
  const whole = new Uint8Array(sum(parts.map((part) => part.length)));
  parts.reduce((at, part) => (whole.set(part, at), at + part.length), 0);
  return whole;
}
