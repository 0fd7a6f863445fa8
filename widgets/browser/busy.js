/** A moving line above the page while the app is at work for longer than a moment. */

import { follow, node } from "../animation/js/dom.js";

const MOMENT = 1000; // milliseconds

const STYLE = `
.busy { position: fixed; inset: 0 0 auto; z-index: 1300; height: 4px; overflow: hidden; opacity: 0; visibility: hidden; transition: opacity .25s, visibility .25s; pointer-events: none; }
.busy.shown { opacity: 1; visibility: visible; }
.busy i { display: block; width: 30%; height: 100%; background: #e69f00; }
.busy.shown i { animation: busy 1.4s linear infinite alternate; }
@keyframes busy { to { margin-left: 70%; } }
@media (prefers-reduced-motion: reduce) { .busy.shown i { animation: none; width: 100%; } }
`;

function render({ model, el }) {
  const line = node("div", { class: "busy", role: "progressbar", "aria-label": "Progress" }, node("i"));
  el.replaceChildren(node("style", {}, STYLE), line);
  let timer = 0;

  function show() {
    clearTimeout(timer);
    if (model.get("busy")) timer = setTimeout(() => line.classList.add("shown"), MOMENT);
    else line.classList.remove("shown");
  }

  follow(model, ["busy"], show);
  show();
  return () => clearTimeout(timer);
}

export default { render };
