/**
 * What was typed is sent before the click that follows it. A number field of the widget library sends its value only
 * some tasks of the browser after it lost the focus, which on a busy machine is after the button was pressed: the
 * button then acts on the old value. So a click on a button that follows typing is held back until the browser has
 * nothing else to do.
 */

const LONGEST = 3000; // milliseconds that a click is held back, also where there is always something to do

export function render() {
  let typed = false;
  const heard = () => (typed = true);

  function held(event) {
    if (!event.isTrusted) return;
    const button = event.composedPath().find((node) => node.tagName === "BUTTON");
    const waits = typed && button;
    typed = !button; // a click elsewhere may choose something, which is sent as late
    if (!waits) return;
    event.stopImmediatePropagation();
    event.preventDefault();
    whenIdle(() => whenIdle(() => button.click()));
  }

  window.addEventListener("input", heard, true);
  window.addEventListener("click", held, true);
  return () => {
    window.removeEventListener("input", heard, true);
    window.removeEventListener("click", held, true);
  };
}

/** Act once nothing else waits to be done. */
function whenIdle(act) {
  if (window.requestIdleCallback) requestIdleCallback(act, { timeout: LONGEST });
  else setTimeout(act, 100);
}

export default { render };
