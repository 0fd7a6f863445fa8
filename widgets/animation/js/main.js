/** The hosts of the drawing: anywidget in a notebook, Panel's component in the app, and the cells of a page. */

import { renderRun } from "./components/notebook.js";
import { mountReplay } from "./components/replay.js";
import { whileLive, whileNotLive } from "./components/reserve.js";
import { mount } from "./components/side_by_side.js";
import { mountTable, renderTable } from "./components/survey_table.js";
import { endOf, follow, plain, tell } from "./dom.js";
import { unpacked } from "./export/files.js";

export { mount };

/** anywidget and Panel's AnyWidgetComponent offer the same model: get, set, on, save_changes. */
function renderStage(/** @type {Host} */ { model, el }) {
  const send = (/** @type {string} */ name, /** @type {unknown} */ value) =>
    model.get(name) !== value && tell(model, name, value);
  // Hosts may keep only the last of several values, so each message carries the last edits; their numbers tell which
  // are new.
  /** @type {{ from: string, edits: (Edit & { number: number })[] }} */
  const sent = { from: Math.random().toString(36).slice(2), edits: [] };
  const edit = (/** @type {Edit} */ made) => {
    sent.edits = [...sent.edits, { ...made, number: (sent.edits.at(-1)?.number || 0) + 1 }].slice(-20);
    send("edit", { kind: "edit", ...sent });
  };
  const handle = mount(el, model.get("record"), {
    frame: model.get("frame"),
    playing: model.get("playing"),
    onFrame: (frame) => send("frame", frame),
    onPlaying: (playing) => send("playing", playing),
    onEdit: model.get("editable") ? edit : undefined,
  });
  const play = (/** @type {boolean} */ on) => (on ? handle.play() : handle.pause());
  const goTo = () => {
    const { frame, fraction, moving } = handle.state();
    const goal = model.get("frame");
    if (moving || Math.round(frame + fraction) !== goal) handle.set(goal);
  };
  const cued = () => plain(model.get("cue") || {});
  const look = (/** @type {Partial<Eye>} */ { layer, head }) => head !== undefined && handle.look(layer, head);
  look(cued()); // a stage that is made to show a head
  const cue = () => {
    const { frame, playing, ...head } = cued();
    look(head);
    handle.set(frame);
    play(playing);
  };
  const changes = {
    record: () => handle.update(model.get("record")), frame: goTo, playing: () => play(model.get("playing")), cue,
  };
  return endOf(...Object.entries(changes).map(([name, act]) => follow(model, [name], act)), handle.destroy);
}

/** @type {Record<string, (host: Host) => () => void>} */
const WIDGETS = { stage: renderStage, table: renderTable, run: renderRun };

/** The one view of all widgets; what the page holds in reserve for it is hidden while it is there. */
function render(/** @type {Host} */ { model, el }) {
  const end = (WIDGETS[model.get("kind")] || renderStage)({ model, el });
  return endOf(end, whileLive(model.get("reserve")));
}

/** @type {Record<string, (el: HTMLElement, data: any) => any>} */
const KINDS = { stage: mount, table: mountTable, replay: mountReplay, markup: () => {} };

/**
 * Draws what the cells of a page put into the queue `__playground`, before or after this module has run: the kind of a
 * drawing, the id of its element, its data, packed or as an object, and the widget it is in reserve for, if any. So a
 * page needs this module once.
 */
export function drawCells() {
  /** @type {PageQueue} */
  const queue = (window.__playground ??= []);
  queue.push = (...cells) => cells.forEach(async ([kind, id, data, reserve]) => {
    const el = document.getElementById(id);
    if (!el) return;
    const draw = async () => KINDS[kind](el, typeof data === "string" ? await unpacked(data) : data);
    if (reserve) whileNotLive(reserve, el, draw);
    else await draw();
  });
  queue.push(...queue.splice(0));
}

/** What Panel looks for by the name of the component, and anywidget without one. */
export default { render, TablePane: { render: renderTable } };
