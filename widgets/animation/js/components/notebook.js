/** What a notebook shows beside stage and table: a run that is going on. */

import hostStyle from "../paint/host.css" with { type: "text" };
import runStyle from "./run.css" with { type: "text" };
import { endOf, follow, node, plain } from "../dom.js";
import { button } from "../interact/controls.js";
import { mountReplay } from "./replay.js";

/** Pause and resume, how far the run is, and its moments so far; a person who looks back is not disturbed. */
export function renderRun(/** @type {Host} */ { model, el }) {
  const status = () => plain(model.get("status"));
  const going = () => status().state === "running";
  const toggle = button("", "Pause or resume the run", () => model.send?.({ do: going() ? "pause" : "resume" }));
  const [bar, said] = [
    node("progress", { "aria-label": "Steps of the run" }), node("p", { role: "status", "aria-live": "off" }),
  ];
  const row = node("div", { class: "run-bar", role: "group", "aria-label": "Run" }, toggle, bar, said);
  const [home, watched] = [node("div"), node("p", { class: "run-watched" })];
  el.replaceChildren(node(
    "section", { class: "run", "aria-label": "Training run" }, node("style", {}, hostStyle, runStyle), row, home,
    watched
  ));
  let latest = 0;

  function report() {
    const now = status();
    row.hidden = now.state === "done";
    toggle.hidden = !["running", "paused"].includes(now.state);
    toggle.textContent = going() ? "Pause" : "Resume";
    Object.assign(bar, { max: now.steps, value: now.step });
    said.textContent = now.said;
    watched.textContent = now.watched;
  }

  async function draw() {
    const [packed, old, mine] = [plain(model.get("story")), home.__replay, ++latest];
    const was = old?.state();
    if (!packed.story || (was && going() && was.at < was.moments - 1)) return;
    const made = await mountReplay(home, packed);
    if (was) made.stage.set(was.stage.frame);
    if (was && was.at < was.moments - 1) made.show(was.at);
    old?.destroy();
    if (mine === latest) home.__replay = made;
  }

  report();
  draw();
  return endOf(follow(model, ["status"], report), follow(model, ["story"], draw), () => home.__replay?.destroy());
}
