/** A moving PNG out of still ones (PNG specification, third edition, clause 11.3.6). */

import { sum } from "../record.js";

const CRC_TABLE = Uint32Array.from({ length: 256 }, (_, n) => {
  for (let k = 0; k < 8; k++) n = n & 1 ? 0xedb88320 ^ (n >>> 1) : n >>> 1;
  return n;
});

function crc(/** @type {Uint8Array[]} */ ...parts) {
  let value = 0xffffffff;
  for (const part of parts) for (const byte of part) value = CRC_TABLE[(value ^ byte) & 255] ^ (value >>> 8);
  return (value ^ 0xffffffff) >>> 0;
}

/** @type {{ [size: number]: string }} */
const WRITERS = { 4: "setUint32", 2: "setUint16", 1: "setUint8" };

/**
 * Numbers of 4, 2 or 1 bytes, most significant first.
 * @param {[number, number][]} fields each as its size and its value
 */
function numbersOf(...fields) {
  const out = new Uint8Array(sum(fields.map(([size]) => size)));
  /** @type {any} */
  const view = new DataView(out.buffer);
  fields.reduce((at, [size, value]) => (view[WRITERS[size]](at, value), at + size), 0);
  return out;
}

/** One chunk in pieces: length, four letters, data, which may be in pieces too, check sum. */
function chunk(/** @type {string} */ name, /** @type {Uint8Array[]} */ ...data) {
  const inside = [Uint8Array.from(name, (letter) => letter.charCodeAt(0)), ...data];
  return [numbersOf([4, sum(data.map((part) => part.length))]), ...inside, numbersOf([4, crc(...inside)])];
}

/** The chunks of a PNG with their names. @param {Uint8Array} png */
function chunksOf(png) {
  const view = new DataView(png.buffer, png.byteOffset, png.byteLength);
  const found = [];
  for (let at = 8; at < png.length; at += 12 + view.getUint32(at)) {
    found.push({
      name: String.fromCharCode(...png.subarray(at + 4, at + 8)),
      data: png.subarray(at + 8, at + 8 + view.getUint32(at)),
    });
  }
  return found;
}

/**
 * Pictures of one size, each as PNG with its milliseconds, as the pieces of one animated PNG that repeats for ever.
 * @param {{ png: Uint8Array, ms: number }[]} pictures
 * @returns {any[]}
 */
export function apng(pictures) {
  const [{ data: head }] = chunksOf(pictures[0].png).filter(({ name }) => name === "IHDR");
  const view = new DataView(head.buffer, head.byteOffset);
  const [width, height] = [view.getUint32(0), view.getUint32(4)];
  let number = 0;
  const control = chunk("acTL", numbersOf([4, pictures.length], [4, 0]));
  const out = [pictures[0].png.subarray(0, 8), ...chunk("IHDR", head), ...control];
  pictures.forEach(({ png, ms }, i) => {
    out.push(...chunk(
      "fcTL",
      numbersOf(
        [4, number++], [4, width], [4, height], [4, 0], [4, 0], [2, Math.min(65535, Math.round(ms))], [2, 1000], [1, 0],
        [1, 0]
      )
    ));
    for (const { name, data } of chunksOf(png)) {
      if (name === "IDAT") out.push(...(i ? chunk("fdAT", numbersOf([4, number++]), data) : chunk("IDAT", data)));
    }
  });
  return [...out, ...chunk("IEND")];
}
