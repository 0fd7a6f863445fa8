"""What compression changed, as markup: the table, the meters, maps of the matrices, layers, lost words, exits."""

import re
from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import Any, Literal

from numpy import array
from torch import tensor

from playground.compression.compare import CompressionFacts, Meter, Outcome, PipelineFacts
from playground.compression.lost_words import FEWEST, LostWord, LostWords
from playground.compression.meters import Flip, Latency, SpeedCurve, WeightMatrix
from playground.compression.report import kept_in_words
from playground.finetuning.comparing.significance import PairFacts
from playground.finetuning.data.task import short
from widgets.charts.columns import ticks
from widgets.charts.legend import MARKERS, Mark, key, shape, style
from widgets.charts.wide_table import wide_table
from widgets.design_tokens import BLUE, GREEN, ORANGE
from widgets.static.comparison import paired_difference
from widgets.static.findings import one_matrix
from widgets.static.svg import BOLD, dot, heat, levels, picture, rect, scale, words

COUNTED: dict[Literal["parameters", "bytes", "operations"], str] = {
    "parameters": "parameters",
    "bytes": "file size",
    "operations": "operations per text",
}
"""The meters that are counted, by their names in the facts."""

TIMED = {"1": "latency, batch of 1", "32": "latency, batch of 32"}
"""Those that are measured, by the size of the batch."""

COSTS: dict[Meter, tuple[str, Callable[[PipelineFacts], float]]] = {
    "bytes": ("file size, KiB", lambda row: row["bytes"] / 1024),
    "operations": ("operations per text, M", lambda row: row["operations"] / 1e6),
    "seconds": ("latency, batch of 1, ms", lambda row: row["latency"]["1"]["median"] * 1e3),
}
"""What the frontier is drawn over: the words along the axis, and the number of a pipeline in its unit."""

PANEL, EDGE, HIGH, FAINT = 310, 46, 190, 0.3
"""Pixels of a panel of the frontier and of its left edge, and how opaque a pipeline is that another one beats."""

Share = tuple[str, float, float, float]
"""A pipeline, its share of the uncompressed model's, and where a quarter of the rounds lies below and above."""

STEPS_A_SECOND = 12
"""How fast the steps of module replacing are played."""

MAP, GAP, LETTER = 96, 12, 6.4
"""Pixels of the longest side of a matrix and between two of them, and the width of a letter."""


def frontier(facts: CompressionFacts) -> str:
    """The score of each pipeline over its cost, by each meter, with one standard deviation; pale where it is beaten."""
    panels = "".join(picture(panel, PANEL, HIGH + 22, f"Frontier by {name}") for name, panel in _panels(facts).items())
    marks = [Mark(row["name"], style(k)[0], shape=shape(k), width=0) for k, row in enumerate(facts["pipelines"])]
    return f'<div style="display:flex;flex-wrap:wrap">{panels}</div>{key(marks)}'


def frontier_file(facts: CompressionFacts) -> str:
    """The same as one picture on white paper."""
    panels, rows = _panels(facts), facts["pipelines"]
    parts = [f'<g transform="translate({k * PANEL} 0)">{panel}</g>' for k, panel in enumerate(panels.values())]
    for n, row in enumerate(rows):
        x, y = EDGE + n % len(panels) * PANEL, HIGH + 40 + n // len(panels) * 19
        parts.append(f'<g fill="{style(n)[0]}">{_mark(n, x, y - 4)}</g>{words(x + 12, y, row["name"])}')
    foot = HIGH + 46 + (len(rows) - 1) // len(panels) * 19
    return picture("".join(parts), len(panels) * PANEL, foot, "The frontier", paper=True)


def _panels(facts: CompressionFacts) -> dict[Meter, str]:
    """The axes and the marks of each meter."""
    rows, panels = facts["pipelines"], dict[Meter, str]()
    scores = [row["accuracy"]["mean"] + sign * row["accuracy"]["sd"] for row in rows for sign in (-1, 1)]
    low, high = min(facts["chance"], *scores) - 0.02, min(1.02, max(scores) + 0.02)
    y_of = scale(low, high, HIGH, 24)
    for meter, best in facts["frontier"].items():
        title, cost = COSTS[meter]
        most, wide = 1.08 * max(map(cost, rows)), PANEL - EDGE - 8
        parts = [words(EDGE, 13, f"{short(facts['metric'])} over {title}", more=BOLD, explained=True)]
        parts += levels(y_of, low, high, EDGE, PANEL - 8, 4, ".2f")
        parts += [words(EDGE + wide * v / most, HIGH + 16, f"{v:g}", "middle") for v in ticks(0, most, 4)]
        for n, row in enumerate(rows):
            x, mean, sd = EDGE + wide * cost(row) / most, row["accuracy"]["mean"], row["accuracy"]["sd"]
            colour, alpha = style(n)[0], 1 if row["name"] in best else FAINT
            said = f"{row['name']}: {mean:.3f} ± {sd:.3f}, kept {kept_in_words(row['kept'])}; {title} {cost(row):,.2f}"
            parts.append(
                f'<g fill="{colour}" stroke="{colour}" opacity="{alpha}"><title>{escape(said)}</title>'
                f'<path d="M{x:.1f} {y_of(mean + sd):.1f}V{y_of(mean - sd):.1f}"/>{_mark(n, x, y_of(mean))}</g>'
            )
        panels[meter] = "".join(parts)
    return panels


def _mark(number: int, x: float, y: float) -> str:
    """The marker of a pipeline."""
    return f'<g transform="translate({x:.1f} {y:.1f}) scale(1.4) translate(-13 -6)">{MARKERS[shape(number)]}</g>'


def table(facts: CompressionFacts) -> str:
    """A row for each pipeline: what is kept, then what it costs."""
    gaps = {gap["name"]: gap for gap in facts["against_uncompressed"]}
    heads = (
        "pipeline", short(facts["metric"]), "kept above chance (95 % CI)", "vs. uncompressed", "parameters",
        "file", "operations", "ms, batch of 1", "ms, batch of 32", "memory", "layers used", "pre-training loss",
        "flipped answers",
    )  # fmt: skip
    rows = (_cells(row, gaps.get(row["name"])) for row in facts["pipelines"])
    return wide_table("the meters", heads, rows, small=True)


def _cells(row: PipelineFacts, gap: PairFacts | None) -> list[str]:
    loss, latency = row["pretraining_loss"], [row["latency"].get(batch) for batch in TIMED]
    return [
        f"<td>{escape(row['name'])}{' <i>(baseline)</i>' if row['baseline'] else ''}</td>",
        f"<td>{row['accuracy']['mean']:.3f} ± {row['accuracy']['sd']:.3f}</td>",
        f"<td>{kept_in_words(row['kept'])}</td>",
        paired_difference(gap, none="–"),
        f"<td>{row['parameters']:,}</td>",
        f"<td>{row['bytes'] / 1024:,.0f} KiB</td>",
        f"<td>{row['operations'] / 1e6:.2f} M</td>",
        *(f"<td>{_milliseconds(each)}</td>" for each in latency),
        f"<td>{row['memory'] / 1024:,.0f} KiB</td>",
        f"<td>{row['layers_used']:.2f}</td>",
        f"<td>{'–' if loss is None else format(loss['mean'], '.3f')}</td>",
        f"<td>{row['flipped']['mean']:.1f}</td>",
    ]  # fmt: skip


def _milliseconds(latency: Latency | None) -> str:
    """The median and the quartiles; a dash while nothing is timed."""
    if latency is None:
        return "–"
    return f"{latency['median'] * 1e3:.2f} ({latency['low'] * 1e3:.2f} to {latency['high'] * 1e3:.2f})"


def meters(facts: CompressionFacts) -> str:
    """A bar for each meter and pipeline, as a share of the uncompressed model's, so that they can disagree in sight."""
    rows = facts["pipelines"]
    panels = [
        _meter(title, [(r["name"], *[r[key] / rows[0][key]] * 3) for r in rows]) for key, title in COUNTED.items()
    ]
    for batch, title in TIMED.items() if rows[0]["latency"] else ():
        times = [(r["name"], r["latency"][batch]) for r in rows]
        panels.append(_meter(title, [(name, t["share"], t["share_low"], t["share_high"]) for name, t in times]))
    return f'<div style="display:flex;flex-wrap:wrap;gap:10px 18px">{"".join(panels)}</div>'


def _meter(title: str, shares: Sequence[Share]) -> str:
    """Bars with a whisker from quarter to quarter; a bar is pale where that holds 100 %, so that nothing is gained."""
    top, most, row = max(1.0, *(high for *_, high in shares)), 24, 19
    left = 8 + LETTER * min(most, max(len(name) for name, *_ in shares))
    width, end = 150, left + 150
    parts = [words(0, 13, title, more=BOLD)]
    for k, (name, share, low, high) in enumerate(shares):
        y, unit = 22 + k * row, width / top
        shown = name if len(name) <= most else f"{name[: most - 1]}…"
        parts.append(words(left - 6, y + 12, shown, "end"))
        changed = not low <= 1.0 <= high or low == high
        parts.append(rect(left, y, unit * share, row - 5, ORANGE if low > 1.02 else BLUE, 0.75 if changed else 0.3))
        if low < high:
            parts.append(f'<path d="M{left + unit * low:.1f} {y + 7}H{left + unit * high:.1f}" stroke="currentColor"/>')
        parts.append(words(end + 6, y + 12, f"{share:.0%}"))
    at = left + width / top
    parts.append(f'<path d="M{at:.1f} 20V{22 + row * len(shares)}" stroke="currentColor" stroke-dasharray="2 3"/>')
    return picture("".join(parts), end + 48, 26 + row * len(shares), f"{title}, as a share of the uncompressed model's")


def matrix_maps(matrices: Sequence[WeightMatrix], cells: Mapping[str, Sequence[Sequence[float]]]) -> str:
    """Each matrix as a map: filled where weights are left, light where they are 0, with its size and its bits."""
    most = max((side for m in matrices for side in m.shape), default=1)
    maps = "".join(_map(m, cells[m.name], most) for m in matrices)
    return f'<div style="display:flex;flex-wrap:wrap;gap:{GAP}px;align-items:flex-start">{maps}</div>'


def _map(matrix: WeightMatrix, cells: Sequence[Sequence[float]], most: int) -> str:
    rows, columns = (max(10.0, MAP * (side / most) ** 0.5) for side in matrix.shape)
    high, wide, top = rows / len(cells), columns / len(cells[0]), 32
    colour = GREEN if matrix.bits < 32 else BLUE
    parts = [
        rect(j * wide, top + i * high, wide, high, colour, 0.08 + 0.72 * share, ' shape-rendering="crispEdges"')
        for i, line in enumerate(cells)
        for j, share in enumerate(line)
    ]
    shown = _place(matrix.name)
    zeros = f", {matrix.sparsity:.0%} zeros" if matrix.sparsity >= 0.005 else ""
    said = f"{' × '.join(map(str, matrix.shape))}, {matrix.bits} bits{zeros}"
    parts += [words(0, 11, shown, more=BOLD), words(0, 25, said, size=10)]
    width = max(columns, LETTER * max(len(shown) + 1, len(said) * 0.9))
    return picture("".join(parts), width, top + rows + 2, f"{shown}: {said}")


def _place(name: str) -> str:
    """Where a matrix is, in words, as in "decoder layer 2 mlp.fc1"."""
    path = name.removesuffix(".weight").replace("token_embedding", "embedding")
    found = re.fullmatch(r"(?:(backward)_)?network\.(?:(?:encoder|(decoder))\.blocks\.(\d+)\.)?(.*)", path)
    if found is None:
        return path
    backward, decoder, number, rest = found.groups()
    return " ".join(filter(None, (backward, decoder, number and f"layer {int(number) + 1}", rest)))


def changes(outcome: Outcome, layers: int, classes: Sequence[str], speed: float | None = None) -> str:
    """What became of a model of so many layers, under headings; of early exit at a `speed`, by default its own."""
    parts = {
        "Speed of early exit": exits(outcome.curves, speed),
        "Layers": layer_mapping(outcome.layers, layers),
        "Heads": heads(outcome.curves),
        "Replaced modules": planks(outcome.curves),
        "Lost words": lost_words(outcome.lost_words),
        "Flipped answers": flips(outcome.flips, outcome.flipped, classes),
    }
    return "".join(f'<div class="label">{name}</div>{part}' for name, part in parts.items() if part)


def layer_mapping(layers: Sequence[Sequence[int]], teacher: int) -> str:
    """The model's layers on the left, those that stay on the right, and a line where one stands for another."""
    if not layers:
        return '<p class="quiet">No layer of this model is mapped to a layer of the uncompressed one.</p>'
    row, box, apart, wide = 30, 64, 120, 198
    height = row * max(teacher, len(layers)) + 30
    parts = [
        words(0, 13, "uncompressed", more=BOLD),
        words(apart, 13, "compressed", more=BOLD),
    ]

    def y_of(k: int) -> float:
        return height - 6 - (k + 1) * row

    for k in range(teacher):
        parts += _box(0, y_of(k), box, f"layer {k + 1}", BLUE)
    for k, group in enumerate(layers):
        parts += _box(apart, y_of(k), box, f"layer {k + 1}", GREEN)
        parts += [
            f'<path d="M{box} {y_of(t - 1) + 11}L{apart} {y_of(k) + 11}" stroke="{GREEN}" stroke-width="2"/>'
            for t in group
        ]
    return picture("".join(parts), wide, height, "Layer mapping")


def _box(x: float, y: float, width: float, text: str, colour: str) -> list[str]:
    return [rect(x, y, width, 22, colour, 0.22, ' rx="4"'), words(x + width / 2, y + 15, text, "middle")]


def planks(curves: Mapping[str, Any]) -> str:
    """Which layers were replaced in each step, above the replacing rate; empty for methods that replace none.

    Above it the model itself, whose steps are played where the pointer rests on it.
    """
    if not curves.get("planks"):
        return ""
    steps, chances = curves["planks"], curves["chance"]
    names = ("replacing rate", *(f"layer {k + 1}" for k in range(len(steps[0]))))
    said = f"Filled where a layer was replaced; replacing rate from {chances[0]:.0%} to {chances[-1]:.0%}."
    drawn = heat("Modules replaced in each step", names, tensor([chances, *zip(*steps, strict=True)]))
    return f'{_ship(steps)}{drawn}<p class="quiet">{said}</p>'


def _ship(steps: Sequence[Sequence[bool]]) -> str:
    """The mixed model, its first layer at the bottom, as it ends; its steps are played where the pointer rests."""
    row, box, groups, seconds = 30, 180, len(steps[0]), len(steps) / STEPS_A_SECOND
    height, rules = 22 + groups * row, "@media (prefers-reduced-motion: no-preference) {"
    parts = [words(0, 13, "The model in training: point at it to play", more=BOLD)]
    for k in range(groups):
        for text, colour, new in (
            (f"predecessor, group {k + 1}", BLUE, False),
            (f"successor, layer {k + 1}", GREEN, True),
        ):
            name = f"{'new' if new else 'old'}-{k}"
            frames = (f"{100 * i / len(steps):.2f}%{{opacity:{int(step[k] is new)}}}" for i, step in enumerate(steps))
            rules += f"@keyframes {name}{{{''.join(frames)}}}"
            rules += f".ship:hover .{name}{{animation:{name} {seconds:.1f}s step-end forwards}}"
            drawn = "".join(_box(0, height - (k + 1) * row, box, text, colour))
            parts.append(f'<g class="{name}" opacity="{int(steps[-1][k] is new)}">{drawn}</g>')
    drawn = picture("".join(parts), 2 * box, height, "Module replacing")
    return f'<style>{rules}}}</style><div class="ship">{drawn}</div>'


def heads(curves: Mapping[str, Any]) -> str:
    """How much the answers depend on each head, layer by layer, and which were cut; empty for other methods."""
    if "head importance" not in curves:
        return ""
    found = array(curves["head importance"])
    shares = found / (found.max() or 1.0)
    said = array([[f"{share:.0%}" for share in row] for row in shares], dtype=object)
    for layer, head in curves["heads cut"]:
        said[layer - 1, head - 1] = "cut"
    rows, columns = [f"layer {k + 1}" for k in range(len(said))], [f"head {k + 1}" for k in range(len(said[0]))]
    about = "Importance of each head, as a share of the largest, and which heads were cut."
    return one_matrix(shares, rows, columns, about, said) + f'<p class="quiet">{about}</p>'


def flips(changed: Sequence[Flip], number: int, classes: Sequence[str]) -> str:
    """The answers that compression changed, those that became wrong first."""
    if not classes:
        return '<p class="quiet">This task does not classify whole texts, so no answer can flip.</p>'
    if not number:
        return '<p class="quiet">No answer changed.</p>'
    ordered = sorted(changed, key=lambda flip: flip.before != flip.right)
    rows = ((f.text, f.right, *(f"{a} {'✓' if a == f.right else '✗'}" for a in (f.before, f.after))) for f in ordered)
    cells = ((f"<td>{escape(text)}</td>" for text in row) for row in rows)
    lost = sum(flip.before == flip.right for flip in changed)
    said = f"{number} answers changed with the first seed; of the {len(changed)} shown, {lost} were right before."
    return f"<p>{said}</p>{wide_table('flipped answers', ('text', 'label', 'before', 'after'), cells)}"


def lost_words(lost: LostWords) -> str:
    """The words whose loss rose most, or that have no vector any more; and how many predictions changed."""
    said = lost.note
    if lost.predictions:
        said = (
            f"Of {lost.predictions} predictions in held-out text, {lost.became_wrong} became wrong and "
            f"{lost.became_right} became right."
        )
        said += (
            f" Of {lost.compared} words that are asked for at least {FEWEST} times, the loss of {lost.rose} rose with "
            "a 95 % interval above 0; of 40 words, about one does so by chance."
        )
    heads = ("word", "times in the text") if lost.note else (
        "word", "times asked", "loss before", "loss after", "rise ± standard error")  # fmt: skip
    table = wide_table("lost words", heads, map(_lost_word, lost.words)) if lost.words else ""
    return f'<p class="quiet">{escape(said)}</p>{table}'


def _lost_word(lost: LostWord) -> list[str]:
    cells = [escape(lost.word), f"{lost.asked}"]
    if lost.before is not None and lost.after is not None:
        rise = f"{lost.after - lost.before:+.2f} ± {lost.standard_error:.2f}"
        cells += [f"{lost.before:.2f}", f"{lost.after:.2f}", rise]
    return [f"<td>{cell}</td>" for cell in cells]


def exits(curves: Mapping[str, Any], speed: float | None = None) -> str:
    """What a speed keeps and costs, the accuracy over the layers used, and where some texts leave; empty without."""
    if "speed" not in curves:
        return ""
    curve: SpeedCurve = curves["speed"]
    asked = curve["speed"] if speed is None else speed
    at = min(range(len(curve["speeds"])), key=lambda k: abs(curve["speeds"][k] - asked))
    speed, most, operations = curve["speeds"][at], curve["layers_used"][0], curve["operations"]
    said = (
        f"At speed {speed:.2f} the accuracy is {curve['accuracy'][at]:.3f}; on average a text uses "
        f"{curve['layers_used'][at]:.2f} of {most:.0f} layers and {operations[at] / operations[0]:.0%} of the "
        "operations. It leaves after the first layer whose uncertainty is below the speed. The texts below are chosen "
        "so that some are sure after the first layer and others are not."
    )
    left = [next((k for k, each in enumerate(text["uncertainty"][:-1]) if each < speed), int(most) - 1)
            for text in curve["texts"]]  # fmt: skip
    rows = (
        (text["text"], f"{layer + 1}", text["right"],
         f"{text['answers'][layer]} {'✓' if text['answers'][layer] == text['right'] else '✗'}",
         ", ".join(f"{each:.2f}" for each in text["uncertainty"][: layer + 1]))
        for layer, text in sorted(zip(left, curve["texts"], strict=True), key=lambda pair: pair[0])
    )  # fmt: skip
    names = ("text", "leaves after layer", "label", "answer", "uncertainty by layer")
    table = wide_table("exits of some texts", names, ([f"<td>{escape(cell)}</td>" for cell in row] for row in rows))
    return f"<p>{said}</p>{_speeds(curve, at)}{table}"


def _speeds(curve: SpeedCurve, at: int) -> str:
    """Accuracy over the mean number of layers used, a dot for each speed; the present one is orange."""
    layers, accuracy = curve["layers_used"], curve["accuracy"]
    left, width, top, foot = 44, 300, 26, 146
    low, high = min(accuracy) - 0.02, max(accuracy) + 0.02
    x_of, y_of = scale(1, layers[0], left, left + width), scale(low, high, foot, top)
    points = [(x_of(used), y_of(score)) for used, score in zip(layers, accuracy, strict=True)]
    parts = [words(0, 13, "accuracy over layers used, a dot for each speed", more=BOLD)]
    parts += levels(y_of, low, high, left, left + width, 4, ".2f")
    parts += [words(x_of(k), foot + 16, f"{k}", "middle") for k in range(1, round(layers[0]) + 1)]
    parts.append(f'<path d="M{"L".join(f"{x:.1f} {y:.1f}" for x, y in points)}" fill="none" stroke="{BLUE}"/>')
    for k in (*(k for k in range(len(points)) if k != at), at):
        what = f"speed {curve['speeds'][k]:.2f}: accuracy {accuracy[k]:.3f}, {layers[k]:.2f} layers"
        parts.append(dot(*points[k], ORANGE if k == at else BLUE, what))
    return picture("".join(parts), left + width + 10, foot + 24, "Accuracy over layers used")
