/** One line of the list of runs: a check box with the run's name, and the button that opens the run. */

import runLineStyle from "./run_line.css" with { type: "text" };
import { follow, node, tell } from "../animation/js/dom.js";

function render(/** @type {Host} */ { model, el }) {
  const box = node("input", { type: "checkbox", onchange: () => tell(model, "value", box.checked) });
  const name = node("span");
  const open = node(
    "button", { type: "button", onclick: () => tell(model, "opened", model.get("opened") + 1) }, "Open"
  );

  function show() {
    name.textContent = model.get("label");
    box.checked = model.get("value");
    open.disabled = model.get("disabled");
    open.title = `Open ${model.get("label")}`;
  }

  el.replaceChildren(
    node("style", {}, runLineStyle), node("div", { class: "run-line" }, node("label", {}, box, name), open)
  );
  show();
  return follow(model, ["label", "value", "disabled"], show);
}

export default { render };
