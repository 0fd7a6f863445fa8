/** Files that a person takes home, and what comes packed into a page. */

import { node } from "../dom.js";
import { bytes } from "../record.js";

/** Hands a file to the person. @param {HTMLElement} root @param {BlobPart} content @param {string} name */
export function download(root, content, name, type = "") {
  const address = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
  const anchor = node("a", { href: address, download: name });
  root.append(anchor);
  anchor.click();
  anchor.remove();
  setTimeout(() => URL.revokeObjectURL(address), 4000);
}

/** A text as part of a file name. @param {string} text */
export const fileName = (text) => text.replace(/[^\p{L}\p{N}]+/gu, "-");

/** The answer of zlib (RFC 1950) to base64: what Python has packed. @param {string} text */
const inflated = (text) => new Response(
  new Blob([bytes(text)]).stream().pipeThrough(new DecompressionStream("deflate"))
);
export const unpacked = (/** @type {string} */ text) => inflated(text).json();
export const unpackedBytes = async (/** @type {string} */ text) => new Uint8Array(await inflated(text).arrayBuffer());
