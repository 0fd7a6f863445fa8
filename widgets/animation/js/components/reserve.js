/**
 * Beside a live widget a notebook keeps the same drawing as a part of the page. It is hidden while the widget is there,
 * and takes its place where it is not: in a notebook that was opened again without its kernel.
 */

const PATIENCE = 2000; // ms until a widget that has not come is not waited for; it may still come later
const CHANGED = "playground-live";

/** The widgets that are drawn on this page, each by its name with the number of its views. */
const views = () => (window.__playgroundViews ??= new Map());

function count(/** @type {string} */ name, /** @type {number} */ by) {
  views().set(name, (views().get(name) || 0) + by);
  document.dispatchEvent(new CustomEvent(CHANGED));
}

/** Notes that a widget is drawn; what comes back notes its end. */
export function whileLive(/** @type {string} */ name) {
  if (!name) return () => {};
  count(name, 1);
  return () => count(name, -1);
}

/** The output of a cell that holds an element, and the one after it, where a widget says that it is not to be found. */
const outputOf = (/** @type {Element} */ el) => el.closest(".jp-OutputArea-child");
const emptyAfter = (/** @type {Element | null} */ output) => {
  const next = output?.nextElementSibling;
  return next && !next.querySelector(".jp-OutputArea-output > *") ? next : null;
};

const shown = (/** @type {Element | null} */ el, /** @type {boolean} */ on) =>
  el && (el.style.display = on ? "" : "none");

/**
 * Draws into an element as soon as it is clear that the widget is not there, and shows it while that is so.
 * @param {string} name @param {Element} el @param {() => Promise<Handle | void>} draw
 */
export function whileNotLive(name, el, draw) {
  /** @type {ReturnType<typeof draw> | null} */
  let drawn = null;
  /** @type {Element | null} */
  let hidden = null;
  let waiting = true;
  function look() {
    const live = (views().get(name) || 0) > 0;
    shown(outputOf(el), !live);
    shown(el, !live);
    if (live) {
      shown(hidden, true);
      drawn?.then((handle) => handle?.destroy());
      [hidden, drawn] = [null, null];
    } else if (!waiting) {
      shown((hidden = hidden || emptyAfter(outputOf(el))), false);
      drawn = drawn || draw();
    }
  }
  document.addEventListener(CHANGED, look);
  look();
  setTimeout(() => {
    waiting = false;
    look();
  }, PATIENCE);
}
