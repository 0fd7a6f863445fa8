/**
 * The stage: shows how an objective rebuilds a sentence (lanes of tokens) and who may look at whom (matrices).
 *
 * One text, three hosts: anywidget in a notebook, Panel's AnyWidgetComponent in the app, and an inline module script
 * in a saved page. Hence no imports, no build step, and nothing that needs a network.
 *
 * The picture is a pure function of (record, frame k, fraction u, view). Everything that changes over time lives in
 * `mount`; everything above it can be called with any k and u, so scrubbing, stepping back and testing are free.
 * Text from the record only ever reaches `fillText` and `textContent`: data can never become markup.
 */

// ---------------------------------------------------------------------------------------------------- constants

const MOVE = 450; // ms of one move
const REST = 700; // ms of rest between two moves while playing
const BACK = 260; // ms of a step back: nobody wants to wait for a rewind
const ROW = 75; // ms for a row of the matrix to appear
const ANSWER = 180; // ms for one answer of the forward sweep
const SWEEP = 1200; // no sweep lasts longer than this
const SPEEDS = [0.25, 0.5, 1, 2, 4];
const FAMILY = 'ui-sans-serif, system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, "Noto Sans", sans-serif';

const LANES = ["original", "inputs", "decoder", "targets"];
const MATRICES = ["encoder", "content", "query", "decoder", "cross"];
const FUSED = 13; // px: cells below this are painted in runs
const LABEL = 86; // px at most for a word beside a matrix
const CELL = { blocked: 0, visible: 1, self: 2, padding: 3, leaked: 4 };

/** Where the reader of a matrix stands and where the places that it reads stand. */
const READER_LANE = { encoder: "inputs", content: "inputs", query: "inputs", decoder: "decoder", cross: "decoder" };
const READ_LANE = { encoder: "inputs", content: "inputs", query: "inputs", decoder: "decoder", cross: "inputs" };

/** Okabe-Ito: told apart by people with any kind of colour vision. A hue has one meaning throughout the picture. */
const HUE = {
  blue: [0, 114, 178], // may be looked at
  sky: [86, 180, 233], // added by the objective
  green: [0, 158, 115], // moved, fine
  orange: [230, 159, 0], // chosen and graded
  vermilion: [213, 94, 0], // made wrong on purpose, leak
  purple: [204, 121, 167], // from another model
};

const TOKEN_LEGEND = {
  chosen: "chosen",
  masked: "masked",
  randomised: "random word instead",
  graded_as_is: "left as it is, but graded",
  deleted: "deleted",
  moved: "moved",
  replaced: "replaced by the generator",
  same_by_luck: "sampled the same by luck",
  inserted: "inserted",
  special: "special token",
  padding: "padding",
  graded: "graded: counts in the loss",
};
const CELL_LEGEND = ["may not look", "may look", "hidden from itself", "padding", "leak: shows the answer"];

// ---------------------------------------------------------------------------------------------------- small tools

const clamp = (x, low = 0, high = 1) => Math.min(high, Math.max(low, x));
const lerp = (a, b, t) => a + (b - a) * t;
const ease = (t) => (t < 0.5 ? 4 * t * t * t : 1 - Math.pow(2 - 2 * t, 3) / 2);
const font = (size, weight = 400) => `${weight} ${size}px ${FAMILY}`;
const sum = (list) => list.reduce((a, b) => a + b, 0);
const range = (n) => Array.from({ length: n }, (_, i) => i);

/** Hosts hand over dictionaries as objects or as Maps; the stage works on its own plain copy. */
function plain(value) {
  if (value instanceof Map) return plain(Object.fromEntries(value));
  if (Array.isArray(value)) return value.map(plain);
  if (value && typeof value === "object" && !ArrayBuffer.isView(value)) {
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, plain(inner)]));
  }
  return value;
}

/** Base64 of uint8, or an array of numbers, as exactly `size` bytes. */
function bytes(data, size) {
  const out = new Uint8Array(size);
  if (typeof data !== "string") out.set(Array.from(data || []).slice(0, size));
  else {
    const text = atob(data);
    for (let i = 0; i < Math.min(size, text.length); i++) out[i] = text.charCodeAt(i);
  }
  return out;
}

/** A DOM element with attributes and children; strings become text nodes. */
function node(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

// ---------------------------------------------------------------------------------------------------- the record

/** The record with defaults filled in, matrices unpacked, and the moves between neighbouring frames found once. */
function readRecord(raw) {
  const record = { title: "", subtitle: "", source: "", text: [], leak: null, frames: [], ...plain(raw || {}) };
  if (!record.frames.length) record.frames = [{ name: "empty", title: "Nothing to show", caption: "There is no text yet." }];
  record.frames = record.frames.map((frame) => ({
    ...frame,
    title: frame.title || frame.name,
    lanes: (frame.lanes || []).map((lane) => ({ ...lane, cells: (lane.cells || []).map(readCell) })),
    matrices: (frame.matrices || []).map((matrix) => readMatrix(matrix, (record.painted || {})[matrix.name])),
  }));
  record.moves = record.frames.slice(1).map((frame, k) => movesBetween(record.frames[k], frame));
  return record;
}

function readCell(cell) {
  const filled = { key: "", state: "kept", chosen: false, graded: false, badge: "", was: "", ...cell };
  return { ...filled, text: String(filled.text ?? ""), badge: String(filled.badge ?? ""), was: String(filled.was ?? "") };
}

function readMatrix(matrix, painted = []) {
  const [n, m] = matrix.shape || [matrix.rows.length, matrix.columns.length];
  const heads = matrix.weights ? matrix.weights.heads : 0;
  const ordered = matrix.order && (matrix.order.length === n || matrix.order.length === m);
  return {
    ...matrix,
    n,
    m,
    cells: bytes(matrix.states, n * m),
    graded: Array.from(matrix.graded_rows || []),
    heads,
    data: heads ? bytes(matrix.weights.data, heads * n * m) : null,
    painted: new Set(painted.map(([i, j]) => i * m + j)),
    order: ordered ? matrix.order : null,
    slots: ordered ? inverse(matrix.order) : null,
  };
}

/** `order[slot] = position` turned round: the slot of every position. */
function inverse(order) {
  const slots = new Array(order.length);
  order.forEach((position, slot) => (slots[position] = slot));
  return slots;
}

const laneOf = (frame, name) => frame.lanes.find((lane) => lane.name === name);
const matrixOf = (frame, name) => frame.matrices.find((matrix) => matrix.name === name);

/** Every cell of a frame with an identity that is unique in its lane even if a key is given twice. */
function placed(frame) {
  return frame.lanes.flatMap((lane) => {
    const seen = {};
    return lane.cells.map((cell, i) => {
      seen[cell.key] = (seen[cell.key] || 0) + 1;
      return { lane: lane.name, i, cell, id: `${lane.name}/${cell.key}/${seen[cell.key]}` };
    });
  });
}

/**
 * Which token goes where between two frames. The same key in the same lane is the same chip. A chip that is new in
 * its lane is taken out of the lane it vanishes from if there is one (folded spans fly to the targets), else copied
 * from a lane above. What vanishes for good squeezes into what was inserted in its place, or falls.
 */
function movesBetween(before, after) {
  const olds = placed(before);
  const news = placed(after);
  const oldById = new Map(olds.map((spot) => [spot.id, spot]));
  const newById = new Map(news.map((spot) => [spot.id, spot]));
  const vanishing = olds.filter((spot) => !newById.has(spot.id));
  const taken = new Set();
  const moves = news.map((to) => {
    const stay = oldById.get(to.id);
    if (stay) return { from: stay, to };
    const flown = vanishing.find((spot) => spot.cell.key === to.cell.key && !taken.has(spot));
    if (flown) taken.add(flown);
    const twins = olds.filter((spot) => spot.cell.key === to.cell.key);
    const source = flown || (to.lane === "decoder" && twins.find((spot) => spot.lane === "targets")) || twins[0];
    return { from: source || null, to };
  });
  const gone = vanishing.filter((spot) => !taken.has(spot)).map((from) => ({ from, to: null, into: heir(from, before, after) }));
  return [...gone, ...moves];
}

/** The inserted chip that took the place of a vanished one: the first new key after its surviving left neighbour. */
function heir(spot, before, after) {
  const old = laneOf(before, spot.lane).cells;
  const now = laneOf(after, spot.lane);
  if (!now || spot.cell.state === "deleted") return null;
  const known = new Set(old.map((cell) => cell.key));
  const kept = new Set(now.cells.map((cell) => cell.key));
  const left = old.slice(0, spot.i).reverse().find((cell) => kept.has(cell.key));
  const at = left ? now.cells.findIndex((cell) => cell.key === left.key) + 1 : 0;
  return now.cells[at] && !known.has(now.cells[at].key) ? { lane: spot.lane, i: at, cell: now.cells[at] } : null;
}

/** What a reader may do, as one spoken clause. */
function speak(matrix, row) {
  const states = Array.from(matrix.cells.subarray(row * matrix.m, (row + 1) * matrix.m));
  const seen = states.filter((state) => state === CELL.visible || state === CELL.leaked).length;
  const places = states.filter((state) => state !== CELL.padding).length;
  const square = matrix.n === matrix.m && matrix.name !== "cross";
  const self = square && states[row] !== CELL.visible && states[row] !== CELL.leaked ? ", not itself" : "";
  return `'${matrix.rows[row] ?? row + 1}' sees ${seen} of ${places} places${self}`;
}

/** The steps of a leak as cells of matrices: information flows up the layers, so the later node is the reader. */
function leakSteps(record) {
  const path = (record.leak && record.leak.leak && record.leak.path) || [];
  return path.slice(1).map((b, i) => {
    const [read, reader] = (b.layer ?? 0) >= (path[i].layer ?? 0) ? [path[i], b] : [b, path[i]];
    return { reader, read };
  }).filter(({ reader, read }) => reader.stream !== read.stream || reader.position !== read.position);
}

/** Does a step of a leak run through this matrix? A stream is called by the name of its stack or of its lane. */
function runsThrough({ reader, read }, name) {
  if (reader.stream === "decoder") return name === (read.stream === "decoder" ? "decoder" : "cross");
  if (reader.stream === "query") return name === "query";
  return name === "encoder" || name === "content";
}

// ---------------------------------------------------------------------------------------------------- colours

const mix = (a, b, t) => a.map((value, i) => Math.round(lerp(value, b[i], t)));
const css = (rgb, alpha = 1) => `rgba(${rgb[0]},${rgb[1]},${rgb[2]},${alpha})`;
const luminance = (rgb) => (0.2126 * rgb[0] + 0.7152 * rgb[1] + 0.0722 * rgb[2]) / 255;

/** A computed colour as [r, g, b, a]; the browser always answers with rgb() or color(srgb ...). */
function parseColour(text) {
  const numbers = (text.match(/[\d.]+(?:e-?\d+)?/g) || []).map(Number);
  const scale = text.startsWith("color(") ? 255 : 1;
  return numbers.length < 3 ? [0, 0, 0, 0] : [...numbers.slice(0, 3).map((x) => x * scale), numbers[3] ?? 1];
}

/** The first painted background behind an element, looking through shadow roots. */
function backgroundOf(element) {
  for (let at = element; at; at = at.parentElement || at.getRootNode().host) {
    const colour = parseColour(getComputedStyle(at).backgroundColor);
    if (colour[3] > 0.5) return colour.slice(0, 3);
  }
  return null;
}

/** All colours of the picture from the two that the host gives: ink and paper. */
function themeOf(element) {
  const colour = parseColour(getComputedStyle(element).color);
  const guess = luminance(colour) > 0.5 ? [24, 26, 31] : [255, 255, 255];
  let paper = backgroundOf(element) || guess;
  if (Math.abs(luminance(paper) - luminance(colour)) < 0.25) paper = guess; // a host that lies about its background
  const ink = mix(paper, colour.slice(0, 3), colour[3]);
  const dark = luminance(ink) > luminance(paper);
  const toward = (t) => mix(paper, ink, t);
  const tint = (hue, t) => mix(paper, HUE[hue], t);
  const strong = (hue) => (dark ? mix(HUE[hue], [255, 255, 255], 0.28) : mix(HUE[hue], [0, 0, 0], 0.08));
  return {
    dark,
    key: css(ink) + css(paper),
    ink: css(ink),
    paper: css(paper),
    muted: css(toward(0.68)),
    faint: css(toward(0.4)),
    line: css(toward(dark ? 0.22 : 0.16)),
    track: css(toward(dark ? 0.045 : 0.032)),
    lattice: css(toward(dark ? 0.07 : 0.05)),
    chip: css(dark ? toward(0.11) : paper),
    shadow: dark ? "rgba(0,0,0,.55)" : "rgba(20,24,40,.16)",
    ledge: dark ? "rgba(0,0,0,.4)" : "rgba(20,24,40,.09)",
    cover: css(toward(dark ? 0.66 : 0.78)),
    coverText: css(paper),
    visible: css(dark ? mix(paper, mix(HUE.blue, HUE.sky, 0.45), 0.85) : mix(paper, mix(HUE.blue, HUE.sky, 0.35), 0.8)),
    blocked: css(toward(dark ? 0.075 : 0.05)),
    hatch: css(toward(dark ? 0.24 : 0.2)),
    self: css(toward(dark ? 0.075 : 0.05)),
    selfMark: css(toward(0.66)),
    weight: dark ? "rgba(255,255,255,1)" : css(mix(HUE.blue, [0, 0, 0], 0.72)),
    leak: css(strong("vermilion")),
    tint: (hue, t = dark ? 0.3 : 0.16) => css(tint(hue, t)),
    strong: (hue) => css(strong(hue)),
  };
}

// ---------------------------------------------------------------------------------------------------- layout

/**
 * Where everything stands at a given width. Lanes and matrices keep their places over all frames, so the page never
 * jumps: what a later frame will fill is shown as an empty track or lattice.
 */
function makePlan(record, width, measure) {
  const pad = width < 560 ? 10 : 20;
  const wide = width >= 720;
  const gutter = wide ? 112 : 0;
  const inset = wide ? 9 : 6; // from the edge of a track to its first chip
  const left = pad + (wide ? gutter : inset);
  const chips = fitChips(record, width - pad - inset - left, wide, measure);
  const plan = { width, pad, gutter, inset, left, wide, chips, lanes: {}, boxes: {}, legend: [], height: 0 };
  let y = planLanes(record, plan, 6);
  y = planMatrices(record, plan, y, measure);
  plan.height = Math.ceil(planLegend(record, plan, y, measure));
  return plan;
}

/** One chip size for all lanes, the largest at which the longest lane takes no more lines than is comfortable. */
function fitChips(record, room, wide, measure) {
  const cells = record.frames.flatMap((frame) => frame.lanes.flatMap((lane) => lane.cells));
  const count = Math.max(1, ...record.frames.flatMap((frame) => frame.lanes.map((lane) => lane.cells.length)));
  const widest = Math.max(18, ...new Set(cells.map((cell) => measure(cell.text, font(10, 500)))));
  const lines = wide ? Math.ceil(count / (count <= 14 ? 14 : 17)) : Math.ceil(count / Math.max(4, Math.floor(room / 62)));
  let fitted = null;
  for (const size of [15, 14, 13, 12, 11, 10]) {
    const gap = Math.max(3, Math.round(size * 0.5));
    const text = Math.min(widest * (size / 10), size * (size > 11 ? 8.5 : 6));
    const natural = text + size * (size > 12 ? 1.6 : 1.1);
    const across = Math.max(1, Math.floor((room + gap) / (natural + gap)));
    const columns = Math.ceil(count / Math.ceil(count / across));
    const w = Math.min((room - gap * (columns - 1)) / columns, Math.max(natural, size * 8));
    fitted = { size, gap, columns, w: Math.floor(w), h: Math.round(size * 2.1), mark: clamp(size / 14, 0.72, 1) };
    if (Math.ceil(count / across) <= lines) break;
  }
  return fitted;
}

function planLanes(record, plan, top) {
  const { chips } = plan;
  const looked = record.frames.some((frame) => frame.matrices.length);
  const has = (name, test) => record.frames.some((frame) => (laneOf(frame, name) || { cells: [] }).cells.some(test));
  let y = top;
  for (const name of LANES) {
    const lanes = record.frames.map((frame) => laneOf(frame, name)).filter(Boolean);
    if (!lanes.length) continue;
    const lines = Math.max(1, Math.ceil(Math.max(...lanes.map((lane) => lane.cells.length)) / chips.columns));
    const numbered = name === "original" && chips.size >= 12;
    const above = numbered ? 19 : has(name, (cell) => cell.badge) ? 9 : rises(name) && has(name, (cell) => cell.chosen) ? 6 : 0;
    const below = lines <= 4 && has(name, (cell) => cell.was) ? Math.round(chips.size * 0.95) : 0;
    const pitch = above + chips.h + below + (lines > 1 ? chips.gap : 0);
    const heading = plan.wide ? 0 : 19;
    const height = heading + pitch * lines - (lines > 1 ? chips.gap : 0);
    const room = looked && (name === "inputs" || name === "decoder") ? (lines === 1 ? 8 : 2) : 0;
    plan.lanes[name] = { title: lanes[0].title || name, y, top: y + heading, above, below, pitch, lines, height, numbered, room };
    y += height + room + (plan.wide ? 18 : 16);
  }
  return y;
}

/** Chosen tokens rise in the lanes of the text; what must be predicted stays on its line. */
const rises = (lane) => lane === "original" || lane === "inputs";

/** The box of the i-th chip of a lane. */
function chipBox(plan, lane, i, chosen = false) {
  const { chips } = plan;
  const slot = plan.lanes[lane];
  const x = plan.left + (i % chips.columns) * (chips.w + chips.gap);
  const y = slot.top + slot.above + Math.floor(i / chips.columns) * slot.pitch;
  return { x, y: y - (chosen && rises(lane) ? 5 : 0), w: chips.w, h: chips.h };
}

/** The largest shape that each matrix takes in the record; it decides the room that is kept for it. */
function matrixShapes(record) {
  const shapes = new Map();
  for (const matrix of record.frames.flatMap((frame) => frame.matrices)) {
    const known = shapes.get(matrix.name) || { n: 0, m: 0, rows: [], columns: [], heads: 0 };
    shapes.set(matrix.name, {
      name: matrix.name,
      title: matrix.title || matrix.name,
      n: Math.max(known.n, matrix.n),
      m: Math.max(known.m, matrix.m),
      rows: [...known.rows, ...matrix.rows],
      columns: [...known.columns, ...matrix.columns],
    });
  }
  return MATRICES.filter((name) => shapes.has(name)).map((name) => shapes.get(name));
}

/** Matrices side by side with one cell size if that leaves cells large enough, else one below the other. */
function planMatrices(record, plan, y, measure) {
  const shapes = matrixShapes(record);
  if (!shapes.length) return y;
  const room = plan.width - 2 * plan.pad;
  const longest = (words) => Math.min(LABEL, Math.max(8, ...words.map((word) => measure(word, font(12.5, 600)) + 1)));
  for (const shape of shapes) Object.assign(shape, { labelRow: longest(shape.rows), labelColumn: longest(shape.columns) });
  const most = Math.max(...shapes.map((shape) => Math.max(shape.n, shape.m)));
  const cap = Math.min(30, (most > 26 ? 500 : 420) / most);
  const fit = (labelled) => {
    const margin = (shape, first) => Math.max(first ? plan.gutter : 0, labelled ? shape.labelRow + 26 : 34);
    const gap = plan.wide ? 30 : 18;
    const margins = shapes.map((shape, i) => margin(shape, i === 0));
    const spare = (shape) => (labelled ? shape.labelColumn * 0.5 : 0);
    const beside = (room - sum(margins) - sum(shapes.map(spare)) - gap * (shapes.length - 1)) / sum(shapes.map((s) => s.m));
    const below = Math.min(...shapes.map((shape) => (room - margin(shape, true) - spare(shape)) / shape.m));
    const stacked = shapes.length > 1 && beside < Math.min(13, cap);
    return { stacked, gap, cell: Math.min(cap, stacked ? below : beside), margins: stacked ? shapes.map((s) => margin(s, true)) : margins };
  };
  let fitted = fit(true);
  if (fitted.cell < 9.5) fitted = fit(false);
  const labelled = fitted.cell >= 9.5;
  const cell = fitted.cell >= 6 ? Math.floor(fitted.cell * 2) / 2 : fitted.cell;
  const size = clamp(cell * 0.82, 8.5, 12.5);
  const level = (shape) => !labelled || (fitted.stacked ? [shape] : shapes).every((each) => each.labelColumn <= cell - 5);
  const angle = (shape) => (level(shape) ? 0 : cell >= 17 ? -Math.PI / 4 : -Math.PI / 2);
  const lean = (shape) => (angle(shape) === 0 ? 14 : angle(shape) === -Math.PI / 2 ? shape.labelColumn + 6 : shape.labelColumn * 0.71 + 13);
  const head = (shape) => 24 + Math.max(...(fitted.stacked ? [shape] : shapes).map(lean));
  let x = plan.pad;
  let bottom = y;
  shapes.forEach((shape, i) => {
    if (fitted.stacked && i) {
      x = plan.pad;
      y = bottom + 22;
    }
    const margin = fitted.margins[i];
    const box = { ...shape, x: x + margin, y: y + head(shape), cell, top: y, left: x, margin, labelled, angle: angle(shape), size };
    box.right = box.x + shape.m * cell;
    plan.boxes[shape.name] = box;
    bottom = Math.max(bottom, box.y + shape.n * cell);
    x = box.right + fitted.gap + (labelled && box.angle > -1 ? shape.labelColumn * 0.5 : 0);
  });
  plan.beside = fitted.stacked ? null : { x: x + 6, y: y + head(shapes[0]) };
  return bottom + 26;
}

/** Only what occurs in the record is explained; beside a lone matrix as a list, else as a row below everything. */
function planLegend(record, plan, y, measure) {
  const cells = record.frames.flatMap((frame) => frame.lanes.flatMap((lane) => lane.cells));
  const matrices = record.frames.flatMap((frame) => frame.matrices);
  const occurs = {
    chosen: cells.some((cell) => cell.chosen),
    graded: cells.some((cell) => cell.graded) || matrices.some((matrix) => matrix.graded.some(Boolean)),
  };
  const items = Object.entries(TOKEN_LEGEND)
    .filter(([state]) => occurs[state] ?? cells.some((cell) => cell.state === state))
    .map(([state, text]) => ({ kind: "token", state, text }));
  const codes = [1, 2, 0, 3, 4].filter((code) => matrices.some((matrix) => matrix.cells.includes(code)) || (code === 4 && leakSteps(record).length));
  const hidden = items.some((item) => item.state === "padding");
  for (const code of codes) if (code !== CELL.padding || !hidden) items.push({ kind: "cell", code, text: CELL_LEGEND[code] });
  if (matrices.some((matrix) => matrix.heads)) items.push({ kind: "weight", text: "attention weight, by area" });
  const column = plan.beside && plan.width - plan.pad - plan.beside.x >= 210;
  let x = column ? plan.beside.x : plan.pad;
  let at = column ? plan.beside.y + 4 : y;
  for (const item of items) {
    const width = 30 + measure(item.text, font(12)) + 20;
    if (!column && x > plan.pad && x + width - 20 > plan.width - plan.pad) {
      x = plan.pad;
      at += 24;
    }
    plan.legend.push({ ...item, x, y: at });
    if (column) at += 26;
    else x += width;
  }
  return Math.max(y, items.length ? at + (column ? 0 : 22) : y);
}

// ---------------------------------------------------------------------------------------------------- painting: chips

/** Text cut to a width with an ellipsis; measured once for each text, font and width. */
function cut(ctx, text, width, memory) {
  const key = `${ctx.font}|${width | 0}|${text}`;
  if (!memory.has(key)) {
    let kept = text;
    while (kept.length > 1 && ctx.measureText(kept === text ? text : kept + "…").width > width) kept = kept.slice(0, -1);
    memory.set(key, kept === text ? text : kept + "…");
  }
  return memory.get(key);
}

function boxPath(ctx, x, y, w, h, r) {
  if (r > 0 && ctx.roundRect) ctx.roundRect(x, y, w, h, Math.min(r, w / 2, h / 2));
  else ctx.rect(x, y, w, h);
}

/** How a chip looks: the state decides fill, edge and mark together, never colour alone. */
function lookOf(theme, cell, lane) {
  const plainChip = { fill: theme.chip, edge: theme.line, text: theme.ink };
  if (lane === "targets" && !cell.graded && cell.state !== "padding") return { fill: null, edge: theme.line, text: theme.faint, flat: true };
  const looks = {
    masked: { fill: theme.cover, edge: theme.cover, text: theme.coverText, weight: 600 },
    randomised: { fill: theme.tint("vermilion"), edge: theme.strong("vermilion"), text: theme.ink, mark: "dice" },
    graded_as_is: { ...plainChip, edge: theme.strong("orange"), dash: [1.5, 3.5], thick: 2 },
    deleted: { fill: null, edge: theme.faint, text: theme.faint, dash: [4, 4], mark: "strike", flat: true },
    moved: { ...plainChip, mark: "ribbon" },
    replaced: { fill: theme.tint("purple"), edge: theme.strong("purple"), text: theme.ink, mark: "notch" },
    same_by_luck: { ...plainChip, edge: theme.strong("purple"), mark: "lucky" },
    inserted: { fill: theme.tint("sky"), edge: theme.strong("sky"), text: theme.ink, mark: "plus", weight: 600 },
    special: { fill: theme.track, edge: theme.faint, text: theme.muted, pill: true, flat: true },
    padding: { fill: null, edge: theme.line, text: "transparent", mark: "dots", flat: true },
  };
  const look = looks[cell.state] || plainChip;
  if (lane === "targets" && cell.graded) return { ...look, fill: theme.tint("orange"), edge: theme.strong("orange"), text: theme.ink, thick: 1.5, dash: null };
  return look;
}

function paintChip(ctx, art, box, cell, lane, alpha = 1, lift = 0) {
  if (alpha <= 0.004) return;
  const { theme, plan } = art;
  const look = lookOf(theme, cell, lane);
  const { x, y, w, h } = box;
  const radius = look.pill ? h / 2 : Math.min(9, h * 0.28);
  const raised = cell.chosen && rises(lane);
  ctx.save();
  ctx.globalAlpha *= alpha;
  if (look.fill) {
    if (!look.flat && (raised || lift > 0.02)) {
      Object.assign(ctx, { shadowColor: theme.shadow, shadowBlur: (raised ? 9 : 3) + 12 * lift, shadowOffsetY: (raised ? 3 : 1) + 6 * lift });
    } else if (!look.flat) {
      ctx.fillStyle = theme.ledge; // blurred shadows are slow; a chip at rest needs only an edge to stand on
      ctx.beginPath();
      boxPath(ctx, x, y + 1.5, w, h, radius);
      ctx.fill();
    }
    ctx.fillStyle = look.fill;
    ctx.beginPath();
    boxPath(ctx, x, y, w, h, radius);
    ctx.fill();
    ctx.shadowColor = "transparent";
  }
  ctx.lineWidth = raised ? 2 : look.thick || 1;
  ctx.strokeStyle = raised && !look.dash ? theme.strong("orange") : look.edge;
  ctx.setLineDash(look.dash || []);
  ctx.beginPath();
  boxPath(ctx, x + 0.5, y + 0.5, w - 1, h - 1, radius);
  ctx.stroke();
  ctx.setLineDash([]);
  paintChipMarks(ctx, theme, box, look, cell, plan.chips.mark, radius);
  const size = Math.min(plan.chips.size, h * 0.62);
  ctx.font = font(size, look.weight || 500);
  ctx.fillStyle = look.text;
  ctx.textAlign = "center";
  ctx.textBaseline = "middle";
  const shown = cell.text === "" && lane === "targets" ? "·" : cell.text;
  if (w > 14) ctx.fillText(cut(ctx, shown, w - size * 0.7, art.memory), x + w / 2, y + h / 2 + size * 0.06);
  ctx.restore();
}

/** The mark that says the state without colour. */
function paintChipMarks(ctx, theme, { x, y, w, h }, look, cell, s, radius) {
  ctx.strokeStyle = ctx.fillStyle = look.edge;
  ctx.lineWidth = 1.6 * s;
  ctx.beginPath();
  if (look.mark === "dice") {
    const side = 10 * s;
    const [left, top] = [x + w - side * 0.62, y - side * 0.38]; // over the corner, clear of the word
    boxPath(ctx, left, top, side, side, 2.5 * s);
    ctx.fill();
    ctx.fillStyle = theme.paper;
    for (const [dx, dy] of [[0.27, 0.27], [0.5, 0.5], [0.73, 0.73]]) {
      ctx.beginPath();
      ctx.arc(left + side * dx, top + side * dy, 1.15 * s, 0, 7);
      ctx.fill();
    }
  } else if (look.mark === "strike") {
    ctx.moveTo(x + w * 0.18, y + h / 2 + 1);
    ctx.lineTo(x + w * 0.82, y + h / 2 + 1);
    ctx.stroke();
  } else if (look.mark === "plus") {
    const [cx, cy] = [x + w - 8 * s, y + 8 * s];
    ctx.moveTo(cx - 3 * s, cy);
    ctx.lineTo(cx + 3 * s, cy);
    ctx.moveTo(cx, cy - 3 * s);
    ctx.lineTo(cx, cy + 3 * s);
    ctx.stroke();
  } else if (look.mark === "ribbon") {
    ctx.strokeStyle = theme.strong("green");
    ctx.lineWidth = 2.4 * s;
    ctx.lineCap = "round";
    const [base, wave] = [y + h - 5 * s, 2.2 * s];
    ctx.moveTo(x + w * 0.25, base);
    ctx.bezierCurveTo(x + w * 0.42, base - 2.4 * wave, x + w * 0.58, base + 2.4 * wave, x + w * 0.75, base);
    ctx.stroke();
  } else if (look.mark === "notch" || look.mark === "lucky") {
    const side = (look.mark === "lucky" ? 16 : 13) * s;
    ctx.save();
    boxPath(ctx, x, y, w, h, radius);
    ctx.clip();
    ctx.beginPath();
    ctx.moveTo(x + w - side, y);
    ctx.lineTo(x + w, y);
    ctx.lineTo(x + w, y + side);
    ctx.fill();
    ctx.restore();
    if (look.mark === "lucky") {
      ctx.strokeStyle = theme.paper;
      ctx.beginPath();
      ctx.moveTo(x + w - 8 * s, y + 4.6 * s);
      ctx.lineTo(x + w - 6 * s, y + 6.6 * s);
      ctx.lineTo(x + w - 2.8 * s, y + 2.6 * s);
      ctx.stroke();
    }
  } else if (look.mark === "dots") {
    ctx.fillStyle = theme.faint;
    for (const dx of [-6, 0, 6]) {
      ctx.beginPath();
      ctx.arc(x + w / 2 + dx * s, y + h / 2, 1.4 * s, 0, 7);
      ctx.fill();
    }
  }
  if (cell.graded) paintRing(ctx, theme, x + 8.5 * s, y + 8.5 * s, 3 * s);
}

/** The sign for "graded", the same on chips, beside matrix rows and in the legend. */
function paintRing(ctx, theme, x, y, radius) {
  ctx.strokeStyle = theme.strong("orange");
  ctx.lineWidth = Math.max(1.4, radius * 0.5);
  ctx.beginPath();
  ctx.arc(x, y, radius, 0, 7);
  ctx.stroke();
}

/** What hangs on a chip from outside: the order of prediction above, the hidden original below. */
function paintHangers(ctx, art, box, cell, lane, alpha) {
  const { theme, plan } = art;
  if (alpha <= 0.004 || (!cell.badge && !cell.was)) return;
  ctx.save();
  ctx.globalAlpha *= alpha;
  ctx.textAlign = "center";
  ctx.textBaseline = "middle";
  if (cell.badge) {
    const size = Math.round(plan.chips.size * 0.72);
    ctx.font = font(size, 700);
    const width = Math.max(size * 1.55, ctx.measureText(cell.badge).width + size * 0.8);
    const [x, y] = [box.x + box.w - width + 5, box.y - size * 0.78];
    ctx.fillStyle = theme.strong("purple");
    ctx.beginPath();
    boxPath(ctx, x, y, width, size * 1.55, size);
    ctx.fill();
    ctx.fillStyle = theme.dark ? theme.paper : "#fff";
    ctx.fillText(cell.badge, x + width / 2, y + size * 0.83);
  }
  if (cell.was && plan.lanes[lane].below) {
    const size = Math.max(9, plan.chips.size * 0.76);
    ctx.font = font(size);
    ctx.fillStyle = theme.muted;
    const x = box.x + box.w / 2;
    const y = box.y + (cell.chosen && rises(lane) ? 5 : 0) + box.h + plan.lanes[lane].below * 0.62;
    const text = cut(ctx, cell.was, box.w, art.memory);
    ctx.fillText(text, x, y);
    const half = ctx.measureText(text).width / 2 + 1;
    ctx.fillRect(x - half, y, 2 * half, 1);
  }
  ctx.restore();
}

// ---------------------------------------------------------------------------------------------------- painting: lanes

const sameLook = (a, b) => ["text", "state", "chosen", "graded"].every((field) => a[field] === b[field]);

/** The lane frames: a name, a quiet track, and a hint of lanes that later frames will fill. */
function paintTracks(ctx, art, record, k, u) {
  const { theme, plan } = art;
  const frames = [record.frames[k], record.frames[Math.min(k + 1, record.frames.length - 1)]];
  for (const [name, slot] of Object.entries(plan.lanes)) {
    const [a, b] = frames.map((frame) => (laneOf(frame, name) ? 1 : 0));
    const presence = lerp(a, b, ease(u));
    const lane = laneOf(frames[b ? 1 : 0], name);
    ctx.save();
    ctx.globalAlpha = lerp(0.5, 1, presence);
    ctx.fillStyle = theme.track;
    ctx.beginPath();
    const bottom = slot.y + slot.height;
    const right = plan.left + plan.chips.columns * (plan.chips.w + plan.chips.gap) - plan.chips.gap;
    boxPath(ctx, plan.left - plan.inset, slot.top - 7, right - plan.left + 2 * plan.inset, bottom - slot.top + 14, 13);
    ctx.fill();
    ctx.font = font(plan.wide ? 12.5 : 12, 600);
    ctx.fillStyle = presence > 0.5 ? theme.muted : theme.faint;
    ctx.textAlign = "left";
    ctx.textBaseline = "middle";
    const y = plan.wide ? slot.top + slot.above + plan.chips.h / 2 : slot.y + 3;
    paintWrapped(ctx, art, (lane && lane.title) || slot.title, plan.pad, y, plan.wide ? plan.gutter - 18 : plan.width - 2 * plan.pad, 15);
    if (slot.numbered && presence > 0.5) paintNumbers(ctx, art, name, laneOf(frames[0], name) || lane);
    ctx.restore();
  }
}

/** A title on one or two lines, centred on y. */
function paintWrapped(ctx, art, text, x, y, width, pitch) {
  const words = text.split(" ");
  let first = words.length;
  while (first > 1 && ctx.measureText(words.slice(0, first).join(" ")).width > width) first -= 1;
  const lines = [words.slice(0, first).join(" "), words.slice(first).join(" ")].filter(Boolean);
  lines.forEach((line, i) => ctx.fillText(cut(ctx, line, width, art.memory), x, y + (i - (lines.length - 1) / 2) * pitch));
}

/** Position numbers over the original: positions stay when tokens change, which is worth seeing. */
function paintNumbers(ctx, art, name, lane) {
  ctx.font = font(10);
  ctx.textAlign = "center";
  ctx.fillStyle = art.theme.faint;
  lane.cells.forEach((cell, i) => {
    const box = chipBox(art.plan, name, i);
    ctx.fillText(String(i + 1), box.x + box.w / 2, box.y - 12);
  });
}

/** All chips at (k, u). Moving chips come last so that they pass over those that rest. */
function paintLanes(ctx, art, record, k, u, focus) {
  const moves = u > 0 ? record.moves[k] : placed(record.frames[k]).map((spot) => ({ from: spot, to: spot }));
  const count = Math.max(...moves.map((move) => (move.to || move.from).i), 0) + 1;
  const drawn = moves.map((move) => flight(art.plan, move, u, count));
  const still = (item) => item.lift < 0.02;
  for (const item of [...drawn.filter(still), ...drawn.filter((item) => !still(item))]) paintFlight(ctx, art, item, focus);
  return drawn;
}

/** Where one chip is at fraction u; chips start one after the other, a little, so that the eye can follow. */
function flight(plan, { from, to, into }, u, count) {
  const spot = to || from;
  const spread = Math.min(0.45, 0.05 * count);
  const e = ease(clamp(u * (1 + spread) - spread * (spot.i / count)));
  if (from && to) {
    const a = chipBox(plan, from.lane, from.i, from.cell.chosen);
    const b = chipBox(plan, to.lane, to.i, to.cell.chosen);
    const far = clamp((Math.hypot(b.x - a.x, b.y - a.y) - 8) / 60);
    return { from, to, e, box: between(a, b, e), alpha: 1, lift: far * Math.sin(Math.PI * e) };
  }
  if (to) return { from: null, to, e, box: swell(chipBox(plan, to.lane, to.i, to.cell.chosen), lerp(0.72, 1, e)), alpha: e, lift: 0 };
  const a = chipBox(plan, from.lane, from.i, from.cell.chosen);
  if (into) {
    const b = chipBox(plan, into.lane, into.i, into.cell.chosen);
    const narrow = { x: b.x + b.w / 2 - 4, y: b.y, w: 8, h: b.h };
    return { from, to: null, e, box: between(a, narrow, e), alpha: 1 - e * e, lift: 0 };
  }
  return { from, to: null, e, box: { ...a, y: a.y + 30 * e * e }, alpha: Math.pow(1 - e, 1.5), lift: 0, turn: 0.16 * e };
}

const between = (a, b, t) => ({ x: lerp(a.x, b.x, t), y: lerp(a.y, b.y, t), w: lerp(a.w, b.w, t), h: lerp(a.h, b.h, t) });
const swell = (box, s) => ({ x: box.x + (box.w * (1 - s)) / 2, y: box.y + (box.h * (1 - s)) / 2, w: box.w * s, h: box.h * s });

function paintFlight(ctx, art, item, focus) {
  const { from, to, e, box, lift } = item;
  const spot = to || from;
  const alpha = item.alpha * (focus && focus.dims(spot) ? 0.3 : 1);
  ctx.save();
  if (item.turn) {
    ctx.translate(box.x + box.w / 2, box.y + box.h / 2);
    ctx.rotate(item.turn);
    ctx.translate(-box.x - box.w / 2, -box.y - box.h / 2);
  }
  if (!from || !to || from === to || (sameLook(from.cell, to.cell) && from.lane === to.lane)) {
    paintChip(ctx, art, box, spot.cell, spot.lane, alpha, lift);
  } else paintChange(ctx, art, item, alpha);
  ctx.restore();
  if (focus) paintHalo(ctx, art, box, focus.halo(spot));
  const changed = from && to && (from.cell.badge !== to.cell.badge || from.cell.was !== to.cell.was || from.lane !== to.lane);
  if (changed) {
    paintHangers(ctx, art, box, from.cell, from.lane, alpha * (1 - e));
    paintHangers(ctx, art, box, to.cell, to.lane, alpha * e);
  } else paintHangers(ctx, art, box, spot.cell, spot.lane, alpha);
}

/** The ring around the reader and around each chip that it reads; under the hangers, which must stay readable. */
function paintHalo(ctx, { theme, plan }, { x, y, w, h }, role) {
  if (!role) return;
  ctx.strokeStyle = role === "reader" ? theme.ink : role === "leaked" ? theme.leak : theme.visible;
  ctx.lineWidth = 2;
  ctx.beginPath();
  boxPath(ctx, x - 1.5, y - 1.5, w + 3, h + 3, Math.min(10.5, plan.chips.h * 0.28 + 1.5));
  ctx.stroke();
}

/** One chip turning into another: a mask slides down as a cover, a swapped word rolls like a counter, the rest fades. */
function paintChange(ctx, art, { from, to, e, box, lift }, alpha) {
  const rolls = ["randomised", "replaced"].includes(to.cell.state) && from.cell.text !== to.cell.text;
  if (to.cell.state === "masked" && from.cell.state !== "masked") {
    paintChip(ctx, art, box, from.cell, from.lane, alpha, lift);
    if (e <= 0) return;
    ctx.beginPath();
    ctx.rect(box.x - 12, box.y - 12, box.w + 24, (box.h + 12) * e + (e >= 1 ? 24 : 0));
    ctx.clip();
    paintChip(ctx, art, box, to.cell, to.lane, alpha, lift);
  } else if (rolls && e > 0 && e < 1) {
    ctx.beginPath();
    boxPath(ctx, box.x - 1, box.y - 1, box.w + 2, box.h + 2, 9);
    ctx.clip();
    paintChip(ctx, art, { ...box, y: box.y - (box.h + 4) * e }, from.cell, from.lane, alpha);
    paintChip(ctx, art, { ...box, y: box.y + (box.h + 4) * (1 - e) }, to.cell, to.lane, alpha);
  } else {
    const fades = lookOf(art.theme, to.cell, to.lane).fill === null; // a chip without a body cannot cover the old one
    paintChip(ctx, art, box, from.cell, from.lane, alpha * (fades ? 1 - e : e >= 1 ? 0 : 1), lift);
    paintChip(ctx, art, box, to.cell, to.lane, alpha * e, lift);
  }
}

// ---------------------------------------------------------------------------------------------------- painting: arcs

/** The n-th token of a stream in a lane: deleted chips are still drawn but have no row in a matrix. */
function streamSpots(frame, lane) {
  const cells = (laneOf(frame, lane) || { cells: [] }).cells;
  return cells.map((cell, i) => ({ lane, i, cell })).filter((spot) => spot.cell.state !== "deleted");
}

/**
 * The current reader in the lanes: whom it sees, as arcs, and which chips stay bright. A decoder row reads its own
 * past and the encoder at once, so both matrices of that row speak together.
 */
function focusOf(record, k, reader, head) {
  const frame = record.frames[k];
  const own = reader && matrixOf(frame, reader.matrix);
  if (!own || reader.row >= own.n) return null;
  const lane = READER_LANE[reader.matrix] || "inputs";
  const voices = lane === "decoder" ? frame.matrices.filter((matrix) => READER_LANE[matrix.name] === "decoder") : [own];
  const home = laneOf(frame, lane) ? lane : "targets";
  const me = streamSpots(frame, home)[reader.row];
  const seen = voices.flatMap((matrix) => {
    const readLane = READ_LANE[matrix.name] || "inputs";
    const spots = streamSpots(frame, laneOf(frame, readLane) ? readLane : home);
    return spots.flatMap((spot, j) => {
      const state = j < matrix.m && reader.row < matrix.n ? matrix.cells[reader.row * matrix.m + j] : 0;
      if (state !== CELL.visible && state !== CELL.leaked) return [];
      return [{ ...spot, leaked: state === CELL.leaked, weight: weightAt(matrix, reader.row, j, head) }];
    });
  });
  const id = (spot) => `${spot.lane}/${spot.i}`;
  const roles = new Map(seen.map((spot) => [id(spot), spot.leaked ? "leaked" : "seen"]));
  const involved = new Set([home, ...voices.map((matrix) => READ_LANE[matrix.name])]);
  return {
    me,
    seen,
    dims: (spot) => involved.has(spot.lane) && !roles.has(id(spot)) && !(me && id(me) === id(spot)),
    halo: (spot) => (me && id(me) === id(spot) ? "reader" : roles.get(id(spot))),
  };
}

/** The weight of a cell in 0..1 for a head, or for all heads on average (head -1). */
function weightAt(matrix, i, j, head) {
  if (!matrix.heads || head === null) return null;
  if (head >= 0 && head < matrix.heads) return matrix.data[(head * matrix.n + i) * matrix.m + j] / 255;
  matrix.mean ??= meanOf(matrix);
  return matrix.mean[i * matrix.m + j];
}

/** The mean of all heads, found once for each matrix: it is asked for in every picture. */
function meanOf({ heads, n, m, data }) {
  const mean = new Float32Array(n * m);
  for (let at = 0; at < heads * n * m; at++) mean[at % (n * m)] += data[at] / 255 / heads;
  return mean;
}

function paintArcs(ctx, art, focus) {
  if (!focus || !focus.me) return;
  const { theme, plan } = art;
  const start = chipBox(plan, focus.me.lane, focus.me.i, focus.me.cell.chosen);
  const under = ({ lane, i }) => {
    const rest = chipBox(plan, lane, i);
    return rest.y + rest.h + plan.lanes[lane].below + 2;
  };
  const wrapped = (spot) => plan.lanes[spot.lane].lines > 1; // arcs across lines are a tangle; there the rings must do
  for (const spot of wrapped(focus.me) ? [] : focus.seen.filter((seen) => !wrapped(seen))) {
    const box = chipBox(plan, spot.lane, spot.i, spot.cell.chosen);
    const [ax, bx] = [start.x + start.w / 2, box.x + box.w / 2];
    const strength = spot.weight === null ? 0.75 : 0.12 + 0.88 * Math.sqrt(spot.weight);
    ctx.save();
    ctx.globalAlpha = strength;
    ctx.strokeStyle = ctx.fillStyle = spot.leaked ? theme.leak : theme.visible;
    ctx.lineWidth = spot.weight === null ? 1.6 : 1 + 2.6 * spot.weight;
    ctx.beginPath();
    let tip = [bx, 0, 1];
    if (spot.lane !== focus.me.lane) {
      const up = box.y < start.y;
      const [ay, by] = up ? [start.y - 3, under(spot)] : [under(focus.me), box.y - 3];
      const bend = (by - ay) * 0.55;
      ctx.moveTo(ax, ay);
      ctx.bezierCurveTo(ax, ay + bend, bx, by - bend, bx, by);
      tip = [bx, by, up ? 1 : -1];
    } else {
      const [ay, by] = [under(focus.me), under(spot)];
      const deep = Math.min(25, 9 + 3.4 * Math.abs(spot.i - focus.me.i));
      if (spot.i !== focus.me.i) {
        ctx.moveTo(ax, ay);
        ctx.bezierCurveTo(ax, ay + deep * 1.3, bx, by + deep * 1.3, bx, by + 3);
      }
      tip = [bx, by, 1];
    }
    ctx.stroke();
    ctx.globalAlpha = Math.max(0.5, strength);
    ctx.beginPath(); // an arrow head that touches the chip which is being read
    ctx.moveTo(tip[0], tip[1]);
    ctx.lineTo(tip[0] - 4, tip[1] + 6 * tip[2]);
    ctx.lineTo(tip[0] + 4, tip[1] + 6 * tip[2]);
    ctx.fill();
    ctx.restore();
  }
}

// ---------------------------------------------------------------------------------------------------- painting: matrices

/** Textures in device pixels, so that hatching stays crisp on any screen. */
function patterns(ctx, theme, ratio) {
  const tile = (size, draw) => {
    const side = Math.round(size * ratio);
    const canvas = document.createElement("canvas");
    canvas.width = canvas.height = side;
    const pen = canvas.getContext("2d");
    pen.strokeStyle = pen.fillStyle = theme.hatch;
    draw(pen, side);
    const pattern = ctx.createPattern(canvas, "repeat");
    if (pattern.setTransform) pattern.setTransform(new DOMMatrix([1 / ratio, 0, 0, 1 / ratio, 0, 0]));
    return pattern;
  };
  const hatch = (pen, side) => {
    pen.lineWidth = 1.1 * ratio;
    for (const shift of [-side, 0, side]) {
      pen.beginPath();
      pen.moveTo(shift - 2, side + 2);
      pen.lineTo(shift + side + 2, -2);
      pen.stroke();
    }
  };
  return { hatch: tile(6, hatch), fine: tile(4, hatch) };
}

/** Row and column slots of a matrix while its axes glide to the order of prediction. */
function axes(matrix, sort) {
  const slot = (length) => (i) => (matrix.slots && matrix.slots.length === length ? lerp(i, matrix.slots[i], sort) : i);
  return { row: slot(matrix.n), column: slot(matrix.m), still: sort === 0 || !matrix.slots };
}

/** The gap between cells; without gaps nothing would be left of very small ones. */
const gapOf = ({ cell }) => (cell >= 9 ? 1.5 : cell >= 5 ? 0.6 : 0);

/** Small cells are painted as whole runs, and this cuts the gaps: thousands of single boxes would be slow. */
function cutGaps(ctx, box, n, m) {
  const gap = gapOf(box);
  if (!gap) return;
  for (let j = 1; j <= m; j++) ctx.clearRect(box.x + j * box.cell - gap, box.y, gap, n * box.cell);
  for (let i = 1; i <= n; i++) ctx.clearRect(box.x, box.y + i * box.cell - gap, m * box.cell, gap);
}

function paintLattice(ctx, art, box, n, m, alpha) {
  ctx.save();
  ctx.globalAlpha = alpha;
  ctx.fillStyle = art.theme.lattice;
  ctx.beginPath();
  const gap = gapOf(box);
  if (box.cell < FUSED) boxPath(ctx, box.x, box.y, m * box.cell, n * box.cell, 0);
  else for (let i = 0; i < n; i++) for (let j = 0; j < m; j++) boxPath(ctx, box.x + j * box.cell, box.y + i * box.cell, box.cell - gap, box.cell - gap, 3.5);
  ctx.fill();
  ctx.restore();
}

/** Cells of some rows, one path for each state: a matrix of 64 x 64 costs five fills, not four thousand. */
function paintCells(ctx, art, box, matrix, axis, rows, shown) {
  const { theme } = art;
  const { cell } = box;
  const fused = cell < FUSED && axis.still;
  const side = cell - gapOf(box);
  const radius = cell >= 13 ? Math.min(4, cell * 0.14) : 0;
  const paths = [0, 1, 2, 3, 4].map(() => (ctx.newPath ? ctx.newPath() : new Path2D()));
  const marks = [];
  for (const i of rows) {
    for (let j = 0; j < matrix.m; j++) {
      if (!shown(i, j)) continue;
      const state = matrix.cells[i * matrix.m + j];
      const [x, y] = [box.x + axis.column(j) * cell, box.y + axis.row(i) * cell];
      if (state > 1) marks.push({ state, x, y });
      if (matrix.painted && matrix.painted.has(i * matrix.m + j)) marks.push({ state: "painted", x, y });
      if (fused && j > 0 && shown(i, j - 1) && matrix.cells[i * matrix.m + j - 1] === state) continue;
      let run = 1;
      while (fused && j + run < matrix.m && shown(i, j + run) && matrix.cells[i * matrix.m + j + run] === state) run += 1;
      boxPath(paths[state] || paths[0], x, y, side + (run - 1) * cell, side, radius);
    }
  }
  const fills = [theme.blocked, theme.visible, theme.self, theme.blocked, theme.tint("vermilion", 0.4)];
  fills.forEach((fill, state) => {
    ctx.fillStyle = fill;
    ctx.fill(paths[state]);
  });
  ctx.fillStyle = cell >= 13 ? art.patterns.hatch : art.patterns.fine;
  ctx.fill(paths[CELL.blocked]);
  for (const mark of marks) paintCellMark(ctx, theme, mark, side);
}

function paintCellMark(ctx, theme, { state, x, y }, side) {
  const at = (t) => [x + side * t, y + side * t];
  ctx.lineWidth = clamp(side * 0.08, 1, 2);
  if (state === CELL.self) {
    const [[a, b], [c, d]] = [at(0.28), at(0.72)];
    ctx.strokeStyle = theme.selfMark;
    ctx.beginPath();
    ctx.moveTo(a, b);
    ctx.lineTo(c, d);
    ctx.moveTo(c, b);
    ctx.lineTo(a, d);
    ctx.stroke();
  } else if (state === CELL.padding) {
    ctx.fillStyle = theme.faint;
    const radius = clamp(side * 0.06, 0.7, 1.6);
    const dots = side >= 12 ? [[0.3, 0.3], [0.7, 0.3], [0.3, 0.7], [0.7, 0.7]] : [[0.5, 0.5]];
    for (const [dx, dy] of dots) {
      ctx.beginPath();
      ctx.arc(x + side * dx, y + side * dy, radius, 0, 7);
      ctx.fill();
    }
  } else if (state === "painted") {
    ctx.fillStyle = theme.ink; // a folded corner: this cell is as a hand left it
    const fold = clamp(side * 0.34, 3, 9);
    ctx.beginPath();
    ctx.moveTo(x + side - fold, y);
    ctx.lineTo(x + side, y);
    ctx.lineTo(x + side, y + fold);
    ctx.fill();
  } else if (state === CELL.leaked) paintLeakBorder(ctx, theme, x, y, side);
}

/** Leaked: a double border, readable without colour. */
function paintLeakBorder(ctx, theme, x, y, side) {
  ctx.strokeStyle = theme.leak;
  ctx.lineWidth = clamp(side * 0.07, 1, 2);
  for (const inset of side >= 10 ? [0, clamp(side * 0.16, 2.5, 4.5)] : [0]) {
    ctx.strokeRect(x + inset + 0.5, y + inset + 0.5, side - 2 * inset - 1, side - 2 * inset - 1);
  }
}

/** Real attention over the mask: an inner square whose area is the weight, so mask and weight are never confused. */
function paintWeights(ctx, art, box, matrix, axis, rows, shown, head, strength) {
  if (!matrix.heads || head === null || strength <= 0) return;
  const side = box.cell - gapOf(box);
  ctx.save();
  const base = ctx.globalAlpha;
  ctx.fillStyle = art.theme.weight;
  for (const i of rows) {
    for (let j = 0; j < matrix.m; j++) {
      const weight = shown(i, j) ? weightAt(matrix, i, j, head) * strength : 0;
      if (weight < 0.004) continue;
      const inner = Math.sqrt(weight) * side * 0.82;
      const [x, y] = [box.x + axis.column(j) * box.cell + (side - inner) / 2, box.y + axis.row(i) * box.cell + (side - inner) / 2];
      ctx.globalAlpha = base * (0.45 + 0.5 * weight);
      ctx.fillRect(x, y, inner, inner);
    }
  }
  ctx.restore();
}

/** The words along both axes; when cells are too small for words, every fifth number. */
function paintLabels(ctx, art, box, matrix, axis, reader, column) {
  const { theme } = art;
  const lit = (j) => {
    if (!reader) return false;
    const state = matrix.cells[reader.row * matrix.m + j];
    return state === CELL.visible || state === CELL.leaked;
  };
  const every = box.labelled ? 1 : 5;
  const name = (labels, i) => (box.labelled ? labels[i] ?? "" : String(i + 1));
  const size = box.labelled ? box.size : 9;
  ctx.textBaseline = "middle";
  for (let i = 0; i < matrix.n; i++) {
    const mine = reader && reader.row === i;
    const y = box.y + (axis.row(i) + 0.5) * box.cell;
    if (matrix.graded[i]) paintRing(ctx, theme, box.x - 9, y - 0.5, clamp(box.cell * 0.22, 1.6, 4));
    if (!mine && (i + 1) % every) continue;
    ctx.font = font(size, mine ? 600 : 400);
    ctx.fillStyle = mine ? theme.ink : reader ? theme.faint : theme.muted;
    ctx.textAlign = "right";
    ctx.fillText(cut(ctx, name(matrix.rows, i), box.labelled ? box.margin - 24 : LABEL, art.memory), box.x - 18, y);
  }
  for (let j = 0; j < matrix.m; j++) {
    if (j !== column && (j + 1) % every) continue;
    ctx.save();
    ctx.translate(box.x + (axis.column(j) + 0.5) * box.cell - 0.5, box.y - (box.angle === 0 ? 9 : 7));
    ctx.rotate(box.angle);
    ctx.font = font(size, j === column || lit(j) ? 600 : 400);
    ctx.fillStyle = j === column ? theme.ink : lit(j) ? theme.strong("blue") : reader ? theme.faint : theme.muted;
    ctx.textAlign = box.angle === 0 ? "center" : "left";
    ctx.fillText(cut(ctx, name(matrix.columns, j), LABEL, art.memory), 0, 0);
    ctx.restore();
  }
}

/**
 * One matrix at (k, u): it grows row by row when it first appears, fades where its cells change, and glides when its
 * axes are sorted. `reader` is the current row, `column` the one under the pointer.
 */
function paintMatrix(ctx, art, box, pair, u, view, reader) {
  const [before, after] = pair;
  const matrix = u > 0 ? after || before : before || null;
  ctx.save();
  const known = matrix && (before || u > 0);
  ctx.globalAlpha = known ? 1 : 0.55;
  ctx.font = font(13, 600);
  ctx.fillStyle = known ? art.theme.ink : art.theme.faint;
  ctx.textAlign = "left";
  ctx.textBaseline = "alphabetic";
  ctx.fillText(cut(ctx, box.title, Math.max(120, box.right - box.left + (art.plan.wide ? 20 : 6)), art.memory), box.left, box.top + 12);
  ctx.restore();
  const shape = matrix || box;
  const leaving = before && !after && u > 0;
  const growing = after && u > 0 && (!before || !sameStates(before, after));
  if (!matrix || growing || leaving) paintLattice(ctx, art, box, shape.n, shape.m, 1);
  if (!matrix) {
    if (box.cell < FUSED) cutGaps(ctx, box, shape.n, shape.m);
    return;
  }
  const axis = axes(matrix, view.sort);
  const mine = reader && READER_LANE[reader.matrix] === READER_LANE[box.name] && reader.row < matrix.n ? reader : null;
  const grown = growing ? u * matrix.n : matrix.n;
  const shown = (i, j) => Math.round(axis.row(i)) + (axis.column(j) + 0.5) / matrix.m < grown;
  ctx.save();
  ctx.globalAlpha = leaving ? 1 - ease(u) : 1;
  const base = ctx.globalAlpha;
  if (growing && before && before.n === after.n && before.m === after.m) {
    paintCells(ctx, art, box, before, axis, range(before.n), (i, j) => !shown(i, j));
  }
  const rows = range(matrix.n);
  const strength = after && u > 0 && !(before && before.heads) ? ease(u) : 1;
  for (const [list, alpha] of mine ? [[rows.filter((i) => i !== mine.row), 0.34], [[mine.row], 1]] : [[rows, 1]]) {
    ctx.globalAlpha = base * alpha;
    paintCells(ctx, art, box, matrix, axis, list, shown);
    paintWeights(ctx, art, box, matrix, axis, list, shown, view.head, strength);
  }
  if (box.cell < FUSED && axis.still) cutGaps(ctx, box, matrix.n, matrix.m);
  ctx.globalAlpha = base;
  paintLabels(ctx, art, box, matrix, axis, mine, mine && mine.matrix === box.name ? mine.column ?? -1 : -1);
  if (mine) paintReaderRow(ctx, art, box, matrix, axis, mine);
  ctx.restore();
}

function paintReaderRow(ctx, art, box, matrix, axis, mine) {
  const y = box.y + axis.row(mine.row) * box.cell;
  ctx.strokeStyle = art.theme.ink;
  ctx.lineWidth = 2;
  ctx.beginPath();
  boxPath(ctx, box.x - 2.5, y - 2.5, matrix.m * box.cell + 3.5, box.cell + 3.5, 6);
  ctx.stroke();
  if (mine.matrix !== box.name || !(mine.column >= 0) || mine.column >= matrix.m) return;
  ctx.strokeStyle = art.theme.ink;
  ctx.strokeRect(box.x + axis.column(mine.column) * box.cell - 0.5, y - 0.5, box.cell - 0.5, box.cell - 0.5);
}

const sameStates = (a, b) => a.n === b.n && a.m === b.m && a.cells.every((state, i) => state === b.cells[i]);

/** The way of a leaked answer through the matrices: its cells doubly bordered, joined in the order of the layers. */
function paintLeak(ctx, art, record, frame, view) {
  const { theme, plan } = art;
  for (const matrix of frame.matrices) {
    const box = plan.boxes[matrix.name];
    const axis = axes(matrix, view.sort);
    const steps = leakSteps(record).filter((step) => runsThrough(step, matrix.name) && step.reader.position < matrix.n && step.read.position < matrix.m);
    const centre = ({ reader, read }) => [box.x + (axis.column(read.position) + 0.5) * box.cell, box.y + (axis.row(reader.position) + 0.5) * box.cell];
    for (const step of steps) {
      const [x, y] = centre(step);
      paintLeakBorder(ctx, theme, x - box.cell / 2, y - box.cell / 2, box.cell - 1);
    }
    if (steps.length < 2) continue;
    ctx.save();
    ctx.strokeStyle = theme.leak;
    ctx.lineWidth = 2;
    ctx.setLineDash([5, 4]);
    ctx.beginPath();
    steps.forEach((step, i) => (i ? ctx.lineTo(...centre(step)) : ctx.moveTo(...centre(step))));
    ctx.stroke();
    ctx.restore();
  }
}

// ---------------------------------------------------------------------------------------------------- painting: all

function paintLegend(ctx, art) {
  const { theme, plan } = art;
  const small = { ...art, plan: { ...plan, chips: { ...plan.chips, mark: 0.72, size: 9 } } };
  for (const item of plan.legend) {
    const box = { x: item.x, y: item.y - 7, w: 22, h: 14 };
    const cell = { text: "", key: "", state: item.state, chosen: item.state === "chosen", graded: false, badge: "", was: "" };
    if (item.kind === "token" && item.state === "graded") paintRing(ctx, theme, item.x + 11, item.y, 4);
    else if (item.kind === "token") paintChip(ctx, small, box, cell, "inputs");
    else {
      const square = { name: "encoder", x: item.x + 4, y: item.y - 7, cell: 15.5 };
      const one = { n: 1, m: 1, cells: [item.kind === "weight" ? CELL.visible : item.code], heads: 1, data: [110] };
      paintCells(ctx, art, square, one, axes(one, 0), [0], () => true);
      if (item.kind === "weight") paintWeights(ctx, art, square, one, axes(one, 0), [0], () => true, 0, 1);
    }
    ctx.font = font(12);
    ctx.fillStyle = theme.muted;
    ctx.textAlign = "left";
    ctx.textBaseline = "middle";
    ctx.fillText(item.text, item.x + 30, item.y + 0.5);
  }
}

/** Is the step from k to k+1 the one that builds the matrices? Then it takes a beat for each row. */
const builds = (record, k) => !record.frames[k].matrices.length && record.frames[k + 1].matrices.length > 0;

/** The matrix whose rows give the answers: where a story or the arrow keys begin to read. */
const answering = (frame) =>
  ["query", "decoder", "content", "encoder"].map((name) => matrixOf(frame, name)).find((found) => found && found.graded.some(Boolean)) || frame.matrices[0];

/** The rows that answer one after the other on the way into "predict", in the order of prediction if there is one. */
function sweepRows(record, k) {
  const frame = record.frames[k + 1];
  if (frame.name !== "predict" || builds(record, k)) return null;
  const matrix = answering(frame);
  if (!matrix || !matrix.graded.some(Boolean)) return null;
  const rows = (matrix.order && matrix.order.length === matrix.n ? matrix.order : range(matrix.n)).filter((i) => matrix.graded[i]);
  return { matrix: matrix.name, rows };
}

/** How long the step from k to k+1 takes at normal speed. */
function duration(record, k) {
  const beats = (count, each) => clamp(count * each, MOVE, SWEEP);
  if (builds(record, k)) return beats(Math.max(...record.frames[k + 1].matrices.map((matrix) => matrix.n)), ROW);
  const sweep = sweepRows(record, k);
  return sweep ? beats(sweep.rows.length, ANSWER) : MOVE;
}

/** The reader that the story itself points at while it moves: the row being built, or the row that answers. */
function storyReader(record, k, u, sort) {
  if (u <= 0 || u >= 1 || k + 1 >= record.frames.length) return null;
  const sweep = sweepRows(record, k);
  if (sweep) return { matrix: sweep.matrix, row: sweep.rows[Math.min(sweep.rows.length - 1, Math.floor(u * sweep.rows.length))] };
  if (!builds(record, k)) return null;
  const matrix = record.frames[k + 1].matrices[0];
  const slot = Math.min(matrix.n - 1, Math.floor(u * matrix.n));
  return { matrix: matrix.name, row: sort > 0.5 && matrix.order && matrix.order.length === matrix.n ? matrix.order[slot] : slot };
}

/** The chips that feed a term of the loss, lit up: positions (from 1) by lane. */
function litFocus(frame, lit) {
  if (!lit) return null;
  const bright = new Set();
  for (const [lane, positions] of Object.entries(lit)) {
    const spots = streamSpots(frame, lane);
    for (const position of positions) if (spots[position - 1]) bright.add(`${lane}/${spots[position - 1].i}`);
  }
  const has = (spot) => bright.has(`${spot.lane}/${spot.i}`);
  return { me: null, seen: [], dims: (spot) => spot.lane in lit && !has(spot), halo: (spot) => (has(spot) ? "reader" : null) };
}

/** A matrix with the cells that a hand is painting right now, before the engine has answered. */
function sketched(matrix, sketch) {
  if (!matrix || !sketch || sketch.matrix !== matrix.name) return matrix;
  const cells = matrix.cells.slice();
  const painted = new Set(matrix.painted);
  for (const [at, open] of sketch.cells) {
    cells[at] = open ? CELL.visible : CELL.blocked;
    painted.add(at);
  }
  return { ...matrix, cells, painted };
}

/** The whole picture as a function of (record, k, u) and the view (reader, sort, head); returns where the chips are. */
function paint(ctx, art, record, k, u, view) {
  const { plan } = art;
  const next = Math.min(k + 1, record.frames.length - 1);
  const pair = (name) => [matrixOf(record.frames[k], name), matrixOf(record.frames[next], name)].map((matrix) => sketched(matrix, view.sketch));
  const story = storyReader(record, k, u, view.sort);
  const reader = view.reader || story;
  const focus = reader ? focusOf(record, story || (u > 0 && !record.frames[k].matrices.length) ? next : k, reader, view.head) : null;
  paintTracks(ctx, art, record, k, u);
  const drawn = paintLanes(ctx, art, record, k, u, litFocus(record.frames[k], view.lit) || focus);
  if (u === 0 || story) paintArcs(ctx, art, focus);
  for (const [name, box] of Object.entries(plan.boxes)) paintMatrix(ctx, art, box, pair(name), u, view, reader);
  if (record.frames[k].matrices.length && !view.sketch) paintLeak(ctx, art, record, record.frames[k], view);
  paintLegend(ctx, art);
  return drawn;
}

// ---------------------------------------------------------------------------------------------------- the frame around it

const STYLE = `
.stage { position: relative; box-sizing: border-box; width: 100%; min-width: 0; max-width: 1600px; padding: 4px 0 2px; outline: none;
  color: var(--panel-on-background-color, var(--jp-content-font-color1, CanvasText)); font: 400 14px/1.45 ${FAMILY};
  transition: color 30ms linear; container-type: inline-size; text-align: left; }
.stage *, .stage *::before { box-sizing: border-box; }
.stage .stage-head { display: flex; flex-wrap: wrap; align-items: baseline; gap: 4px 14px; padding: 0 var(--pad); }
.stage .stage-title { font-size: 19px; font-weight: 650; letter-spacing: -.012em; line-height: 1.25; margin: 0; }
.stage .stage-subtitle { flex: 1 1 260px; color: var(--muted); margin: 0; }
.stage .stage-lamp { display: inline-flex; align-items: center; gap: 7px; font-size: 12.5px; padding: 3px 11px 3px 8px; border-radius: 99px;
  background: var(--track); color: var(--muted); margin: 0; max-width: 100%; align-self: center; }
.stage .stage-lamp svg { flex: none; width: 15px; height: 15px; }
.stage .stage-caption { display: flex; gap: 10px; align-items: baseline; min-height: 1.5em; margin: 5px 0 6px; padding: 0 var(--pad); font-size: 15px; }
.stage .stage-caption b { font-weight: 650; white-space: nowrap; }
.stage canvas { display: block; width: 100%; border-radius: 8px; touch-action: pan-y; }
.stage .stage-picture { position: relative; min-width: 0; } .stage .stage-main { min-width: 0; flex: 1 1 0; }
.stage .stage-body { display: flex; gap: 0 18px; align-items: flex-start; }
.stage .stage-foot { display: flex; flex-wrap: wrap; gap: 0 16px; margin: 6px 0 0; padding: 0 var(--pad); color: var(--muted); font-size: 13px; }
.stage .stage-reader { flex: 1 1 300px; min-height: 1.5em; margin: 0; } .stage .stage-source { margin: 0; font-size: 12px; }
.stage .stage-controls { display: flex; flex-wrap: wrap; align-items: center; gap: 6px 12px; margin: 4px var(--pad) 8px; padding: 4px 8px;
  background: var(--track); border-radius: 12px; font-size: 13px; }
.stage .stage-group { display: inline-flex; align-items: center; gap: 2px; } .stage .stage-group:last-child { margin-left: auto; gap: 4px; }
.stage button, .stage select { font: inherit; color: inherit; background: transparent; border: 1px solid transparent; border-radius: 8px;
  height: 34px; cursor: pointer; }
.stage button { min-width: 34px; padding: 0 8px; display: inline-flex; align-items: center; justify-content: center; gap: 6px; }
.stage button svg { width: 17px; height: 17px; fill: currentColor; }
.stage select { padding: 0 4px; border-color: var(--line); background: var(--paper); }
.stage select option { color: var(--ink); background: var(--paper); }
.stage button:hover { background: var(--hover); }
.stage button[aria-pressed="true"] { background: var(--hover); border-color: var(--line); color: var(--accent); }
.stage button.stage-play { background: var(--accent); color: var(--paper); min-width: 42px; }
.stage button.stage-play:hover { filter: brightness(1.1); }
.stage button:disabled { opacity: .35; cursor: default; background: transparent; }
.stage :focus-visible, .stage:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
.stage:focus-visible { border-radius: 8px; outline-offset: -2px; }
.stage .stage-scrub { flex: 1 1 140px; display: flex; align-items: center; min-width: 120px; }
.stage input[type=range] { width: 100%; margin: 0; height: 26px; accent-color: var(--accent); cursor: pointer; }
.stage .stage-where { min-width: 9em; font-variant-numeric: tabular-nums; white-space: nowrap; overflow: hidden; text-overflow: ellipsis; }
.stage [hidden] { display: none !important; }
@container (max-width: 560px) {
  .stage .stage-subtitle { flex-basis: 100%; }
  .stage .stage-caption { flex-direction: column; gap: 0; min-height: 4.4em; font-size: 14px; }
  .stage .stage-scrub { flex-basis: 100%; order: -1; } .stage .stage-where { min-width: 0; flex: 1; text-align: right; }
}
@media (forced-colors: active) { .stage button, .stage .stage-lamp, .stage .stage-controls { border: 1px solid currentColor; } }
`;

const ICONS = {
  first: "M4 4h2.4v16H4zM20 4v16L8 12z",
  back: "M17 4v16L6 12z",
  play: "M6 4l14 8-14 8z",
  pause: "M6 4h4.2v16H6zM13.8 4H18v16h-4.2z",
  step: "M7 4v16l11-8z",
  last: "M17.6 4H20v16h-2.4zM4 4v16l12-8z",
  loop: "M7 7h9V4l5 4.5L16 13v-3H9v3H6V8a1 1 0 0 1 1-1zm10 10H8v3l-5-4.5L8 11v3h7v-3h3v5a1 1 0 0 1-1 1z",
  undo: "M8 4v4h6a6 6 0 0 1 0 12H7v-2.6h7a3.4 3.4 0 0 0 0-6.8H8v4L2 9.3z",
  redo: "M16 4v4h-6a6 6 0 0 0 0 12h7v-2.6h-7a3.4 3.4 0 0 1 0-6.8h6v4l6-5.3z",
  sort: "M3 4h4v4H3zM3 10h4v4H3zM9 10h4v4H9zM3 16h4v4H3zM9 16h4v4H9zM15 16h4v4h-4z",
};

function icon(path, extra = {}) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const shape = document.createElementNS("http://www.w3.org/2000/svg", "path");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("aria-hidden", "true");
  shape.setAttribute("d", path);
  for (const [name, value] of Object.entries(extra)) shape.setAttribute(name, value);
  svg.append(shape);
  return svg;
}

function button(name, label, keys, extra = {}) {
  return node("button", { type: "button", "aria-label": label, title: `${label} (${keys})`, ...extra }, icon(ICONS[name]));
}

/** All elements of the component, made once; only texts and attributes change afterwards. */
function buildParts() {
  const parts = {
    title: node("h2", { class: "stage-title" }),
    subtitle: node("p", { class: "stage-subtitle" }),
    lamp: node("p", { class: "stage-lamp", role: "status" }),
    name: node("b"),
    caption: node("span"),
    canvas: node("canvas", { role: "img" }),
    reader: node("p", { class: "stage-reader", "aria-live": "polite" }),
    source: node("p", { class: "stage-source" }),
    first: button("first", "First frame", "Home"),
    back: button("back", "Step back", "Left"),
    play: button("play", "Play", "Space", { class: "stage-play" }),
    step: button("step", "Step forward", "Right"),
    last: button("last", "Last frame", "End"),
    scrub: node("input", { type: "range", min: "0", step: "0.01", "aria-label": "Position in the story" }),
    where: node("output", { class: "stage-where" }),
    speed: node("select", { "aria-label": "Speed", title: "Speed (+ and -)" }),
    loop: button("loop", "Repeat", "loop", { "aria-pressed": "false" }),
    sort: button("sort", "Sort axes by order", "O", { "aria-pressed": "false" }),
    head: node("select", { "aria-label": "Attention head", title: "Attention head" }),
    tools: node("div", { class: "stage-tools", role: "group", "aria-label": "By hand" }),
    picture: node("div", { class: "stage-picture" }),
    below: node("div", { class: "stage-below" }),
    explain: node("aside", { class: "stage-explain", "aria-label": "Explanation" }),
  };
  parts.sort.append(node("span", {}, "Sort by order"));
  parts.loop.title = "Repeat from the start";
  for (const speed of SPEEDS) parts.speed.append(node("option", { value: String(speed) }, `${speed}×`));
  parts.speed.value = "1";
  const live = node("p", { class: "stage-caption", "aria-live": "polite" }, parts.name, parts.caption);
  const keys = node("span", { class: "stage-group" }, parts.first, parts.back, parts.play, parts.step, parts.last);
  const extras = node("span", { class: "stage-group" }, parts.sort, parts.head, parts.speed, parts.loop);
  const controls = node("div", { class: "stage-controls", role: "group", "aria-label": "Player" }, keys, node("span", { class: "stage-scrub" }, parts.scrub), parts.where, extras);
  const style = node("style");
  style.textContent = STYLE + HANDS_STYLE + SHEETS_STYLE;
  const head = node("header", { class: "stage-head" }, parts.title, parts.subtitle, parts.lamp);
  const foot = node("footer", { class: "stage-foot" }, parts.reader, parts.source);
  parts.picture.append(parts.canvas);
  const body = node("div", { class: "stage-body" }, node("div", { class: "stage-main" }, parts.tools, parts.picture, foot, parts.below), parts.explain);
  parts.controls = controls;
  parts.root = node("section", { class: "stage", tabindex: "0", "data-lm-suppress-shortcuts": "true" }, style, head, live, controls, body);
  return parts;
}

/** The leak lamp: colour, sign and sentence say the same thing. */
function setLamp(lamp, leak, theme) {
  lamp.hidden = !leak;
  if (!leak) return;
  const level = leak.level || (leak.leak ? "red" : "green");
  const signs = { green: "M7 12.5l3.4 3.4L17 9", amber: "M12 6.5v7M12 16.6v.9", red: "M8 8l8 8M16 8l-8 8" };
  const colour = theme.strong({ green: "green", amber: "orange", red: "vermilion" }[level] || "orange");
  const svg = icon("M12 1a11 11 0 1 0 0 22 11 11 0 0 0 0-22z", { fill: colour });
  svg.append(icon(signs[level] || signs.amber, { fill: "none", stroke: theme.paper, "stroke-width": "2.6", "stroke-linecap": "round" }).firstChild);
  const words = { green: "No leak", amber: "By design", red: "Leak" }[level];
  lamp.replaceChildren(svg, node("span", {}, leak.sentence || words));
  lamp.dataset.level = level;
}

// ---------------------------------------------------------------------------------------------------- mount

/**
 * Puts a stage into `el`. Options: frame, playing, onFrame(frame), onPlaying(playing) keep a host in step.
 * The handle is also `el.__stage`, which is what the browser tests talk to.
 */
function mountOne(el, raw, options = {}) {
  const parts = buildParts();
  const { root, canvas } = parts;
  const ctx = canvas.getContext("2d");
  const calm = matchMedia("(prefers-reduced-motion: reduce)");
  const scheme = matchMedia("(prefers-color-scheme: dark)");
  const memory = new Map();
  const measure = (text, spec) => {
    ctx.font = spec;
    return ctx.measureText(text).width;
  };
  let record = readRecord(raw);
  let [plan, theme, art, drawn, loop] = [null, null, null, [], 0];
  const now = { at: 0, goal: null, playing: false, rest: 0, sort: 0, sorted: false, hover: null, lock: null, head: -1, speed: 1, looping: false };
  const told = { frame: 0, playing: false };
  let [onScreen, clock, alive] = [true, 0, true];
  const plugs = [];

  const last = () => record.frames.length - 1;
  const nearest = () => Math.round(now.at);
  const reader = () => now.hover || now.lock;

  // -- time

  function wake() {
    if (!loop && alive) {
      clock = performance.now();
      loop = requestAnimationFrame(tick);
    }
  }

  function tick(stamp) {
    loop = 0;
    if (!alive) return;
    const elapsed = clamp(stamp - clock, 0, 64);
    clock = stamp;
    const busy = onScreen && advance(elapsed * now.speed);
    draw();
    if (busy) loop = requestAnimationFrame(tick);
  }

  /** Moves the clock on; answers whether there is more to come. */
  function advance(ms) {
    const target = now.sorted ? 1 : 0;
    if (now.sort !== target) now.sort = calm.matches ? target : clamp(now.sort + (Math.sign(target - now.sort) * ms) / (MOVE * 1.4));
    if (now.goal !== null) travel(ms);
    else if (now.playing) {
      now.rest -= ms;
      if (now.rest <= 0) onward();
    }
    return now.goal !== null || now.playing || now.sort !== target;
  }

  function travel(ms) {
    const forward = now.goal > now.at;
    const k = forward ? Math.floor(now.at) : Math.ceil(now.at) - 1;
    const pace = forward ? duration(record, clamp(k, 0, last() - 1)) : BACK;
    const left = Math.abs(now.goal - now.at);
    if (calm.matches || left <= ms / pace || left > 1) {
      now.at = now.goal;
      now.goal = null;
      now.rest = REST;
    } else now.at += (forward ? 1 : -1) * (ms / pace);
  }

  function onward() {
    if (nearest() < last()) now.goal = Math.floor(now.at) + 1;
    else if (now.looping) {
      now.at = 0;
      now.rest = REST;
    } else setPlaying(false);
  }

  function go(frame) {
    now.goal = clamp(frame, 0, last());
    if (now.goal === now.at) now.goal = null;
    wake();
  }

  const forward = () => go(Math.floor((now.goal ?? now.at) + 1e-6) + 1);
  const backward = () => go(Math.ceil((now.goal ?? now.at) - 1e-6) - 1);

  function setPlaying(value) {
    if (now.playing === value) return;
    now.playing = value;
    now.rest = 0;
    if (value && now.goal === null && now.at >= last()) now.at = 0;
    tell();
    wake();
  }

  /** Hosts hear of whole frames only: where a running move is heading, or the frame nearest to the scrub bar. */
  function tell() {
    const frame = now.goal ?? nearest();
    if (frame !== told.frame) options.onFrame?.((told.frame = frame));
    if (now.playing !== told.playing) options.onPlaying?.((told.playing = now.playing));
  }

  // -- drawing

  const look = () => ({ reader: reader(), sort: ease(now.sort), head: now.head, lit: kit.lit, sketch: kit.sketch });

  function relayout() {
    const width = Math.max(280, Math.min(1600, parts.picture.clientWidth || el.clientWidth || 800));
    const ratio = Math.min(3, window.devicePixelRatio || 1);
    plan = makePlan(record, width, measure);
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(plan.height * ratio);
    canvas.style.height = `${plan.height}px`;
    root.style.setProperty("--pad", `${plan.pad}px`);
    art = { plan, theme, memory, ratio, patterns: patterns(ctx, theme, ratio) };
    memory.clear();
    for (const plug of plugs) plug.place?.();
  }

  function retheme() {
    theme = themeOf(root);
    const shades = { ink: theme.ink, paper: theme.paper, muted: theme.muted, line: theme.line, track: theme.track, hover: theme.lattice, accent: theme.strong("blue"), orange: theme.strong("orange"), leak: theme.leak, good: theme.strong("green") };
    for (const [name, value] of Object.entries(shades)) root.style.setProperty(`--${name}`, value);
    setLamp(parts.lamp, record.leak, theme);
    if (plan) art = { ...art, theme, patterns: patterns(ctx, theme, art.ratio) };
  }

  function draw() {
    const k = Math.min(Math.floor(now.at), last());
    const u = k === last() ? 0 : now.at - k;
    ctx.setTransform(art.ratio, 0, 0, art.ratio, 0, 0);
    ctx.clearRect(0, 0, plan.width, plan.height);
    drawn = paint(ctx, art, record, k, u, look());
    write(k, u);
    for (const plug of plugs) plug.follow?.();
    tell();
  }

  /** Puts words beside the picture: the same facts for people who hear it. */
  function write(k, u) {
    const frame = record.frames[nearest()];
    const spoken = describe(frame, reader() || storyReader(record, k, u, now.sort));
    const set = (part, text) => part.textContent !== text && (part.textContent = text);
    set(parts.name, frame.title);
    set(parts.caption, frame.caption || "");
    set(parts.where, `${frame.title} (${nearest() + 1}/${last() + 1})`);
    set(parts.reader, spoken || (frame.matrices.length ? "Point at a row or a token to see whom it may look at; click to hold it." : ""));
    parts.reader.setAttribute("aria-live", now.lock && !now.hover ? "polite" : "off"); // previews would chatter
    canvas.setAttribute("aria-label", `${frame.title}: ${spoken || frame.caption || ""}`);
    if (document.activeElement !== parts.scrub || !parts.scrub.matches(":active")) parts.scrub.value = String(now.at);
    parts.scrub.setAttribute("aria-valuetext", `${frame.title}, ${nearest() + 1} of ${last() + 1}`);
    parts.first.disabled = parts.back.disabled = now.at <= 0;
    parts.last.disabled = parts.step.disabled = now.at >= last();
    if (parts.play.dataset.on !== String(now.playing)) {
      parts.play.dataset.on = String(now.playing);
      parts.play.setAttribute("aria-label", now.playing ? "Pause" : "Play");
      parts.play.replaceChildren(icon(now.playing ? ICONS.pause : ICONS.play));
    }
  }

  function describe(frame, who) {
    const own = who && matrixOf(frame, who.matrix);
    if (!own || who.row >= own.n) return "";
    const together = READER_LANE[own.name] === "decoder" ? frame.matrices.filter((matrix) => READER_LANE[matrix.name] === "decoder") : [own];
    const clauses = together.filter((matrix) => who.row < matrix.n).map((matrix) => (together.length > 1 ? `${matrix.title}: ` : "") + speak(matrix, who.row));
    return `${clauses.join("; ")}.`;
  }

  // -- the record

  function adopt() {
    parts.title.textContent = record.title;
    parts.subtitle.textContent = record.subtitle;
    parts.source.textContent = record.source;
    root.setAttribute("aria-label", `Stage: ${record.title}`);
    parts.scrub.max = String(last());
    const matrices = record.frames.flatMap((frame) => frame.matrices);
    parts.sort.hidden = !matrices.some((matrix) => matrix.order);
    const heads = Math.max(0, ...matrices.map((matrix) => matrix.heads));
    parts.head.hidden = !heads;
    const choices = [[-1, "all heads, mean"], ...range(heads).map((h) => [h, `head ${h + 1}`]), ["none", "no weights"]];
    parts.head.replaceChildren(...choices.map(([value, text]) => node("option", { value: String(value) }, text)));
    if (now.head !== null && now.head >= heads) now.head = -1;
    parts.head.value = now.head === null ? "none" : String(now.head);
    if (parts.sort.hidden) setSorted(false);
    for (const plug of plugs) plug.adopt?.();
  }

  function update(fresh) {
    const name = record.frames[nearest()].name;
    record = readRecord(fresh);
    const same = record.frames.findIndex((frame) => frame.name === name);
    Object.assign(now, { at: same >= 0 ? same : Math.min(nearest(), last()), goal: null, hover: null, lock: null });
    if (kit.after) now.at = Math.max(now.at, shownFrom(record, kit.after));
    Object.assign(kit, { after: null, lit: null, sketch: null });
    adopt();
    setLamp(parts.lamp, record.leak, theme);
    relayout();
    draw();
    wake();
  }

  function setSorted(value) {
    now.sorted = value;
    parts.sort.setAttribute("aria-pressed", String(value));
    wake();
  }

  function setSpeed(speed) {
    now.speed = speed;
    parts.speed.value = String(speed);
  }

  // -- readers

  /** What is under the pointer, as a reader: a matrix row (with its column) or a chip that stands for a row. */
  function readerAt(x, y) {
    const frame = record.frames[Math.floor(now.at)];
    for (const matrix of frame.matrices) {
      const box = plan.boxes[matrix.name];
      const slot = Math.floor((y - box.y) / box.cell);
      const column = Math.floor((x - box.x) / box.cell);
      if (slot < 0 || slot >= matrix.n || x < box.left || column >= matrix.m) continue;
      const unsort = (place, length) => (now.sorted && matrix.order && matrix.order.length === length ? matrix.order[place] : place);
      return { matrix: matrix.name, row: unsort(slot, matrix.n), column: column >= 0 ? unsort(column, matrix.m) : -1 };
    }
    const chip = drawn.find(({ box }) => x >= box.x && x <= box.x + box.w && y >= box.y && y <= box.y + box.h);
    return chip ? readerOfChip(frame, chip.to || chip.from) : null;
  }

  function readerOfChip(frame, spot) {
    const wanted = {
      original: ["content", "encoder"],
      inputs: ["content", "encoder"],
      decoder: ["decoder", "cross"],
      targets: laneOf(frame, "decoder") ? ["decoder", "cross"] : ["query", "content", "encoder"],
    }[spot.lane];
    const matrix = (wanted || []).map((name) => matrixOf(frame, name)).find(Boolean);
    if (!matrix) return null;
    const spots = spot.lane === "targets" ? null : streamSpots(frame, READER_LANE[matrix.name]);
    const row = spots ? spots.findIndex((other) => other.cell.key === spot.cell.key) : spot.i;
    return row >= 0 && row < matrix.n ? { matrix: matrix.name, row, column: -1 } : null;
  }

  function pointAt(event) {
    const frame = canvas.getBoundingClientRect();
    const scale = plan.width / frame.width;
    return readerAt((event.clientX - frame.left) * scale, (event.clientY - frame.top) * scale);
  }

  function hover(event) {
    const found = event.type === "pointerleave" ? null : pointAt(event);
    if (!found || JSON.stringify(found) !== JSON.stringify(now.hover)) for (const plug of plugs) plug.hover?.(found);
    if (JSON.stringify(found) === JSON.stringify(now.hover)) return;
    now.hover = found;
    canvas.style.cursor = found ? "pointer" : "default";
    wake();
  }

  function lock(event) {
    if (kit.painting) return;
    const found = pointAt(event);
    const again = found && now.lock && found.matrix === now.lock.matrix && found.row === now.lock.row;
    now.lock = again ? null : found;
    if (again) now.hover = null;
    wake();
  }

  /** Up and down walk through the rows as they are drawn, so also in sorted order. */
  function walk(step) {
    const frame = record.frames[nearest()];
    const held = reader();
    const matrix = (held && matrixOf(frame, held.matrix)) || answering(frame);
    if (!matrix) return;
    const ordered = now.sorted && matrix.slots && matrix.slots.length === matrix.n;
    const slot = held ? (ordered ? matrix.slots[held.row] : held.row) + step : step > 0 ? 0 : matrix.n - 1;
    const place = clamp(slot, 0, matrix.n - 1);
    Object.assign(now, { hover: null, lock: { matrix: matrix.name, row: ordered ? matrix.order[place] : place, column: -1 } });
    wake();
  }

  function release() {
    Object.assign(now, { hover: null, lock: null });
    wake();
  }

  // -- hands

  const pause = () => setPlaying(false);
  const byHand = (act) => () => {
    pause();
    act();
  };
  const faster = (step) => setSpeed(SPEEDS[clamp(SPEEDS.indexOf(now.speed) + step, 0, SPEEDS.length - 1)]);
  const KEYS = {
    " ": () => setPlaying(!now.playing),
    ArrowRight: byHand(forward),
    ArrowLeft: byHand(backward),
    Home: byHand(() => jump(0)),
    End: byHand(() => jump(last())),
    ArrowUp: () => walk(-1),
    ArrowDown: () => walk(1),
    Escape: release,
    o: () => parts.sort.hidden || setSorted(!now.sorted),
    "+": () => faster(1),
    "=": () => faster(1),
    "-": () => faster(-1),
  };

  function jump(at) {
    Object.assign(now, { at: clamp(at, 0, last()), goal: null, rest: REST });
    draw();
    wake();
  }

  function onKey(event) {
    if (plugs.some((plug) => plug.key?.(event))) {
      event.preventDefault();
      event.stopPropagation();
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.tagName === "SELECT" || isText(event.target)) return;
    if (event.key === " " && event.target.tagName === "BUTTON") return; // space presses the button that has the focus
    const act = KEYS[event.key] || KEYS[event.key.toLowerCase()];
    if (!act) return;
    event.preventDefault();
    event.stopPropagation(); // in a notebook the arrows would also move the cell selection
    act();
  }

  const listen = [
    [root, "keydown", onKey],
    [canvas, "pointermove", hover],
    [canvas, "pointerleave", hover],
    [canvas, "click", lock],
    [parts.first, "click", KEYS.Home],
    [parts.back, "click", KEYS.ArrowLeft],
    [parts.play, "click", KEYS[" "]],
    [parts.step, "click", KEYS.ArrowRight],
    [parts.last, "click", KEYS.End],
    [parts.scrub, "input", () => byHand(() => jump(Number(parts.scrub.value)))()],
    [parts.speed, "change", () => setSpeed(Number(parts.speed.value))],
    [parts.loop, "click", () => parts.loop.setAttribute("aria-pressed", String((now.looping = !now.looping)))],
    [parts.sort, "click", KEYS.o],
    [parts.head, "change", () => {
      now.head = parts.head.value === "none" ? null : Number(parts.head.value);
      wake();
    }],
    [root, "transitionend", (event) => event.target === root && event.propertyName === "color" && repaint()],
    [calm, "change", () => wake()],
    [scheme, "change", () => repaint()],
    [window, "resize", () => refit()],
  ];
  for (const [target, type, act] of listen) target.addEventListener(type, act);

  // -- surroundings

  /** Themes change by attributes, by media query or by a swapped style sheet; the last shows only as a transition. */
  function repaint() {
    const old = theme.key;
    retheme();
    if (theme.key === old) return;
    for (const plug of plugs) plug.renew?.();
    draw();
  }

  function refit() {
    const ratio = Math.min(3, window.devicePixelRatio || 1);
    const width = parts.picture.clientWidth;
    if (!width || (Math.max(280, Math.min(1600, width)) === plan.width && ratio === art.ratio)) return;
    relayout();
    draw();
  }

  const resized = new ResizeObserver(() => {
    repaint();
    refit();
  });
  const watched = new IntersectionObserver((entries) => {
    onScreen = entries[entries.length - 1].isIntersecting;
    if (onScreen) wake();
  });
  const attributes = new MutationObserver(() => {
    repaint();
    setTimeout(() => alive && repaint(), 350); // hosts fade their colours
  });

  const kit = {
    root, canvas, parts, options, now, pointAt, wake, draw, jump, go, pause, last, nearest, measure,
    painting: false, lit: null, sketch: null, after: null,
    live: Boolean(options.onEdit),
    record: () => record,
    plan: () => plan,
    theme: () => theme,
    frame: () => record.frames[nearest()],
    /** Draws (k, u) with any pen that knows the canvas' words: the picture itself, a thumbnail, an SVG. */
    drawWith: (pen, extra, k, u, view) => paint(pen, { ...art, ...extra }, record, k, u, view || look()),
    /** Tells the host what a hand did; the frame that shows it is opened when the answer comes. */
    send(edit, frame) {
      pause();
      kit.after = frame;
      options.onEdit?.(edit);
    },
  };
  plugs.push(...(kit.live || !options.bare ? [handsOn(kit)] : []), ...(options.bare ? [] : [sheetsOf(kit), moreOf(kit)]));

  el.replaceChildren(root);
  if (options.bare) for (const part of [parts.controls, parts.explain, parts.below, ...(kit.live ? [] : [parts.tools])]) part.remove();
  retheme();
  adopt();
  relayout();
  now.at = told.frame = clamp(options.frame ?? 0, 0, last());
  resized.observe(root);
  watched.observe(root);
  for (const target of [document.documentElement, document.body]) {
    attributes.observe(target, { attributes: true, attributeFilter: ["class", "style", "data-theme", "data-jp-theme-light", "data-bs-theme", "theme"] });
  }
  draw();
  if (options.playing) {
    told.playing = true;
    setPlaying(true);
  }

  const handle = {
    /** Shows (frame, fraction); a whole neighbouring frame without a fraction is walked to, anything else is cut to. */
    set(frame, fraction) {
      if (fraction === undefined && Math.abs(frame - now.at) <= 1) {
        told.frame = clamp(frame, 0, last());
        go(frame);
      } else jump(frame + clamp(fraction || 0));
    },
    play: () => setPlaying(true),
    pause,
    update,
    svg: () => plugs.find((plug) => plug.svg)?.svg(),
    link: () => plugs.find((plug) => plug.link)?.link(),
    /** Shows any place without telling the host: how a player of several stages moves this one. */
    show(at) {
      Object.assign(now, { at: clamp(at, 0, last()), goal: null });
      draw();
    },
    state() {
      const frame = Math.min(Math.floor(now.at), last());
      const held = reader();
      const own = held && matrixOf(record.frames[frame], held.matrix);
      return {
        frame,
        name: record.frames[frame].name,
        fraction: now.at - frame,
        playing: now.playing,
        reader: held ? { ...held, label: own ? own.rows[held.row] : "", locked: Boolean(now.lock) && !now.hover } : null,
        sorted: now.sorted,
        sort: now.sort,
        speed: now.speed,
        head: now.head,
        dark: theme.dark,
        moving: now.goal !== null,
        painting: kit.painting,
        plan: record.plan || {},
        leak: Boolean(record.leak && record.leak.leak),
        layout: { width: plan.width, height: plan.height, lanes: lanesDrawn(drawn), matrices: matricesDrawn(plan, record.frames[nearest()]) },
      };
    },
    destroy() {
      alive = false;
      cancelAnimationFrame(loop);
      for (const [target, type, act] of listen) target.removeEventListener(type, act);
      for (const plug of plugs) plug.destroy?.();
      for (const observer of [resized, watched, attributes]) observer.disconnect();
      root.remove();
      if (el.__stage === handle) delete el.__stage;
    },
  };
  el.__stage = handle;
  return handle;
}

/** The frame from which an edit can be seen, by the name of the stage that it bends. */
function shownFrom(record, name) {
  const at = record.frames.findIndex((frame) => frame.name.split(" ")[0] === name);
  return at < 0 ? 0 : at;
}

const isText = (element) => element.tagName === "INPUT" && element.type === "text";

function lanesDrawn(drawn) {
  return LANES.map((name) => ({
    name,
    cells: drawn
      .filter((item) => (item.to || item.from).lane === name)
      .sort((a, b) => (a.to || a.from).i - (b.to || b.from).i)
      .map((item) => {
        const { cell } = item.to || item.from;
        const { x, y, w, h } = item.box;
        return { key: cell.key, text: cell.text, x, y, w, h, state: cell.state };
      }),
  })).filter((lane) => lane.cells.length);
}

/** `size` is the side of one cell in CSS pixels; (x, y) is the top left corner of the cells. */
function matricesDrawn(plan, frame) {
  return frame.matrices.map(({ name, n, m }) => ({ name, x: plan.boxes[name].x, y: plan.boxes[name].y, size: plan.boxes[name].cell, n, m }));
}
