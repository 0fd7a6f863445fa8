/**
 * Names what the widget library leaves unnamed, so that everybody can use the page: progress bars, the buttons beside
 * a number, help texts, empty headings. It looks into every shadow root and again whenever something appears.
 */

import { everywhere } from "../animation/js/dom.js";

/** @type {[string, (element: Element) => void][]} */
const MENDS = [
  ["[role=progressbar]:not([aria-label])", (bar) => bar.setAttribute("aria-label", "Progress")],
  ["span[aria-label]:not([role])", (help) => help.setAttribute("role", "note")],
  [".MuiInputAdornment-root button:not([aria-label])", nameStep],
  ["h5:not([role])", (heading) => heading.textContent?.trim() || heading.setAttribute("role", "presentation")],
  [".MuiAccordion-heading:not([aria-level])", (heading) => heading.setAttribute("aria-level", "2")],
  ["h3.title:not([aria-level])", (title) => title.setAttribute("aria-level", "1")],
  [
    "div[popover]:not([role])",
    (layer) => Object.assign(layer, { role: "region", ariaLabel: "Hints" }),
  ],
];

/** The two buttons beside a number say what they do to which number. */
function nameStep(/** @type {Element} */ step) {
  const what = step.closest(".MuiFormControl-root")?.querySelector("label")?.textContent || "value";
  step.setAttribute("aria-label", step.closest(".MuiInputAdornment-positionStart") ? `Less: ${what}` : `More: ${what}`);
}

function render() {
  let waiting = 0;
  const observer = new MutationObserver(() => (waiting ||= setTimeout(look, 400)));

  function look() {
    waiting = 0;
    for (const root of [document, ...[...everywhere(document)].flatMap((element) => element.shadowRoot || [])]) {
      observer.observe(root, { childList: true, subtree: true });
      for (const [where, act] of MENDS) root.querySelectorAll(where).forEach(act);
    }
  }

  document.getElementById("first")?.remove(); // what stood there until the page itself was drawn
  look();
  return () => {
    clearTimeout(waiting);
    observer.disconnect();
  };
}

export default { render };
