/** A moving line above the page while the app is at work for longer than a moment. */

import busyStyle from "./busy.css" with { type: "text" };
import { follow, node } from "../animation/js/dom.js";

const MOMENT = 1000; // milliseconds

function render(/** @type {Host} */ { model, el }) {
  const line = node("div", { class: "busy", role: "progressbar", "aria-label": "Progress" }, node("i"));
  el.replaceChildren(node("style", {}, busyStyle), line);
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
