/** What every module of ours begins with: elements of the page, and what a host hands over. */

function filled(/** @type {any} */ made, /** @type {any} */ attributes, /** @type {any[]} */ children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") made.addEventListener(name.slice(2), value);
    else made.setAttribute(name, value);
  }
  made.append(...children);
  if (attributes.onclick) made.pressable = true; // a press on it is not one of what it stands in
  return made;
}

/**
 * A DOM element with attributes, listeners such as `onclick`, and children; strings become text nodes.
 * @param {string} tag @param {any} [attributes] @param {any[]} children
 */
export const node = (tag, attributes = {}, ...children) => filled(document.createElement(tag), attributes, children);

/** The same in SVG. @param {string} tag @param {any} [attributes] @param {any[]} children */
export const svgNode = (tag, attributes = {}, ...children) => filled(
  document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children
);

/** What a select offers: values with their texts. @param {[string | number, string][]} choices */
export const optionsOf = (choices) => choices.map(([value, text]) => node("option", { value: String(value) }, text));

/** Hosts hand over dictionaries as objects or as Maps; a drawing works on its own plain copy. @returns {any} */
export function plain(/** @type {any} */ value) {
  if (value instanceof Map) return plain(Object.fromEntries(value));
  if (Array.isArray(value)) return value.map(plain);
  if (value && typeof value === "object" && !ArrayBuffer.isView(value)) {
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, plain(inner)]));
  }
  return value;
}

/** Listens for `[target, acts]`, acts by the names of events; what comes back ends it. */
export function listen(/** @type {[EventTarget, Heard][]} */ listeners, capture = false) {
  const ended = new AbortController();
  for (const [target, acts] of listeners) {
    for (const [type, act] of Object.entries(acts)) {
      target.addEventListener(type, /** @type {EventListener} */ (act), { capture, signal: ended.signal });
    }
  }
  return () => ended.abort();
}

/** Rows and columns that each arrow key goes. @type {Record<string, Point>} */
export const CELL_STEPS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

/** One end for several. @param {(() => void)[]} ends */
export const endOf = (...ends) => () => ends.forEach((end) => end());

/** Acts when one of the named values of a host's model changes; what comes back ends it. */
export function follow(/** @type {HostModel} */ model, /** @type {string[]} */ names, /** @type {any} */ act) {
  for (const name of names) model.on(`change:${name}`, act);
  return () => names.forEach((name) => model.off?.(`change:${name}`, act));
}

/** All elements below a root, also behind shadow roots. @param {any} root @returns {Generator<any>} */
export function* everywhere(root) {
  for (const element of root.querySelectorAll("*")) {
    yield element;
    if (element.shadowRoot) yield* everywhere(element.shadowRoot);
  }
}

/** Gives the focus to the part of an element that has replaced the one that had it. */
export const focusOn = (/** @type {Element} */ part, /** @type {string} */ selector) =>
  part.querySelector(selector)?.focus({ preventScroll: true });

/** The data of the element that has the focus. @returns {DOMStringMap} */
export const focused = (/** @type {Element} */ root) => activeIn(root)?.dataset || {};

export const activeIn = (/** @type {Element} */ root) =>
  /** @type {Document | ShadowRoot} */ (root.getRootNode()).activeElement;

/** The element whose shadow root holds another one. @param {Element | undefined} element */
export const hostOf = (element) => /** @type {Partial<ShadowRoot> | undefined} */ (element?.getRootNode())?.host;

/** How far what holds an element is scrolled, in pixels, also across shadow roots. @returns {number} */
export const scrolledBy = (/** @type {any} */ element) =>
  element ? (element.scrollTop || 0) + scrolledBy(element.parentNode || element.host) : 0;

/** Gives a value of a host's model to the kernel or the app. */
export function tell(/** @type {HostModel} */ model, /** @type {string} */ name, /** @type {any} */ value) {
  model.set(name, value);
  model.save_changes();
}
