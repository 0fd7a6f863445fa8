/** What every drawing module of ours begins with: elements of the page, and what a host hands over. */

/** A DOM element with attributes and children; strings become text nodes. */
export function node(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

/** Hosts hand over dictionaries as objects or as Maps; a drawing works on its own plain copy. */
export function plain(value) {
  if (value instanceof Map) return plain(Object.fromEntries(value));
  if (Array.isArray(value)) return value.map(plain);
  if (value && typeof value === "object" && !ArrayBuffer.isView(value)) {
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, plain(inner)]));
  }
  return value;
}
