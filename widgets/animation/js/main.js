// ---------------------------------------------------------------------------------------------------- hosts

import { plain } from "./dom.js";
import { mountInStep } from "./side_by_side.js";
import { mountOne } from "./stage.js";

/**
 * Puts a stage into `el`, or several in step if the record holds several. Options: frame, playing, onFrame(frame),
 * onPlaying(playing) and onEdit(edit) keep a host in step; without onEdit nothing can be edited. The handle is also
 * `el.__stage`, which is what the browser tests talk to.
 */
export function mount(el, raw, options = {}) {
  const several = (value) => ((value instanceof Map ? value.get("records") : value && value.records) || []).length > 1;
  const make = (value, more) => (several(value) ? mountInStep : mountOne)(el, value, { ...options, ...more });
  let many = several(raw);
  let inner = make(raw);
  const outer = {};
  for (const name of ["set", "play", "pause", "state", "svg", "link", "tell"]) outer[name] = (...values) => inner[name]?.(...values);
  outer.destroy = () => {
    inner.destroy();
    if (el.__stage === outer) delete el.__stage;
  };
  outer.update = (fresh) => {
    if (several(fresh) === many) return inner.update(fresh);
    const { frame, playing } = inner.state();
    inner.destroy();
    many = several(fresh);
    inner = make(fresh, { frame, playing });
    el.__stage = outer;
  };
  el.__stage = outer;
  return outer;
}

/** anywidget and Panel's AnyWidgetComponent offer the same model: get, set, on, save_changes. */
function render({ model, el }) {
  const send = (name, value) => {
    if (model.get(name) === value) return;
    model.set(name, value);
    model.save_changes();
  };
  // Hosts may keep only the last of several values, so each message carries the last edits and the numbers tell which are new.
  const told = { from: Math.random().toString(36).slice(2), edits: [] };
  const tell = (edit) => {
    told.edits = [...told.edits, { ...edit, number: (told.edits.at(-1)?.number || 0) + 1 }].slice(-20);
    send("edit", { kind: "edit", ...told });
  };
  const handle = mount(el, model.get("record"), {
    frame: model.get("frame"),
    playing: model.get("playing"),
    onFrame: (frame) => send("frame", frame),
    onPlaying: (playing) => send("playing", playing),
    onEdit: model.get("editable") ? tell : undefined,
  });
  const changes = {
    "change:record": () => handle.update(model.get("record")),
    "change:frame": () => {
      const { frame, fraction, moving } = handle.state();
      const wanted = model.get("frame");
      if (moving || Math.round(frame + fraction) !== wanted) handle.set(wanted);
    },
    "change:playing": () => (model.get("playing") ? handle.play() : handle.pause()),
    "change:cue": () => {
      const { frame, playing } = plain(model.get("cue"));
      handle.set(frame);
      if (playing) handle.play();
      else handle.pause();
    },
  };
  for (const [event, act] of Object.entries(changes)) model.on(event, act);
  return () => {
    for (const [event, act] of Object.entries(changes)) model.off?.(event, act);
    handle.destroy();
  };
}

export default { render };
