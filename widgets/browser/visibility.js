import { hostOf, tell } from "../animation/js/dom.js";

/** Tells whether the column in which this mark stands is on screen, or about to be. */
function render(/** @type {Host} */ { model, el }) {
  const column = hostOf(hostOf(el));
  if (!column) return;
  const observer = new IntersectionObserver(
    (changes) => tell(model, "seen", changes[changes.length - 1].isIntersecting), { rootMargin: "60px" }
  );
  observer.observe(column);
  return () => observer.disconnect();
}

export default { render };
