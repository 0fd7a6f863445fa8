/** Tells whether the column in which this mark stands is on screen, or about to be. */
export function render({ model, el }) {
  const column = el.getRootNode().host?.getRootNode().host;
  if (!column) return;
  const observer = new IntersectionObserver(
    (changes) => {
      model.set("seen", changes[changes.length - 1].isIntersecting);
      model.save_changes();
    },
    { rootMargin: "60px" },
  );
  observer.observe(column);
  return () => observer.disconnect();
}

export default { render };
