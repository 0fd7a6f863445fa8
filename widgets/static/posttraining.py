"""What post-training does, as markup: the batch that trains, the likeliest answers, still pictures of the charts."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from statistics import fmean

from playground.batch import Batch
from playground.posttraining import Comparison, Method, Setting
from playground.posttraining.facts import PromptFacts
from playground.posttraining.method import Rollout
from widgets.bundle import sheet
from widgets.charts.columns import ticks
from widgets.charts.legend import DASHES, MARKERS, STAR, Mark, key, shape, style
from widgets.charts.posttraining_marks import FRONTIER, OPTIMUM, PROXY, TITLES
from widgets.charts.wide_table import wide_table
from widgets.design_tokens import BLUE, GREEN, GREY, VERMILION
from widgets.static.svg import BOLD, levels, picture, scale, words

MOST_ROWS = 8
"""Answers, or pairs of them, that are drawn of one prompt."""

WIDTH, HEIGHT, LEFT, FOOT = 430, 236, 48, 196

STYLE = f"<style>{sheet(__file__)}</style>"

NOTHING_TRAINS = "{name} draws from the reference and trains nothing, so it has no batch."
LEGEND = "Words on blue are in the loss mask: the loss counts them, and the prompt is only read."


# the batch that trains


def batch(method: Method, rollout: Rollout | None, setting: Setting, prompt: int) -> str:
    """The rows of one prompt in the batch of the last step: the words that count, and the value of each answer."""
    if rollout is None:
        why = NOTHING_TRAINS.format(name=method.name) if not method.step.trains else "No step has been taken yet."
        return f'<p class="quiet">{escape(why)}</p>'
    rows = (rollout.prompts == prompt).nonzero()[:, 0].tolist()
    pairs = method.step.value == "preference"
    rows = [row for row in rows if row < len(rollout.values)]  # the first answers, where there are pairs
    table = (_pairs if pairs else _answers)(method, rollout, setting, rows[:MOST_ROWS])
    shown = f" (the first {MOST_ROWS} are shown)" if len(rows) > MOST_ROWS else ""
    said = f"{method}: {len(rows)} {'pairs of answers' if pairs else 'answers'} to this prompt{shown}. {LEGEND}"
    return f'{STYLE}<p class="quiet">{escape(said)}</p><div class="batch">{table}</div>'


def _pairs(_: Method, rollout: Rollout, setting: Setting, rows: Sequence[int]) -> str:
    """Chosen and rejected answer of each pair, with their rewards and the chance of the preference."""
    half, lines = len(rollout.values), []
    for row in rows:
        first = float(rollout.values[row])
        chosen, rejected = (row, row + half) if first >= 0.5 else (row + half, row)
        chance = max(first, 1 - first)
        said = f"{chance:.3f}" if chance > 0.5 else f"{chance:.3f} (tie)"
        lines.append([
            *(f"<td>{_row(rollout.batch, each)}</td>{_reward(rollout, setting, each)}" for each in (chosen, rejected)),
            f'<td class="number">{said}</td>',
        ])  # fmt: skip
    return wide_table(
        "pairs of the last step", ("chosen", "reward", "rejected", "reward", "chance of this preference"), lines
    )


def _answers(method: Method, rollout: Rollout, setting: Setting, rows: Sequence[int]) -> str:
    """Each answer with its reward, and with its advantage where the method has one."""
    lines, most = [], max(1e-9, float(rollout.values.abs().max()))
    for row in rows:
        cells = [f"<td>{_row(rollout.batch, row)}</td>", _reward(rollout, setting, row)]
        if method.step.value:
            value = float(rollout.values[row])
            colour = GREEN if value >= 0 else VERMILION
            cells.append(f'<td class="number">{_meter(abs(value) / most, colour)}{value:+.2f}</td>')
        lines.append(cells)
    heads = ("answer", "reward", *([method.step.value] if method.step.value else []))
    return wide_table("answers of the last step", heads, lines)


def _reward(rollout: Rollout, setting: Setting, row: int) -> str:
    return f'<td class="number">{float(setting.rewards[rollout.prompts[row], rollout.answers[row]]):.2f}</td>'


def _row(batch: Batch, row: int) -> str:
    """A row of a batch; the words in the loss mask are marked."""
    [target] = batch.targets
    counted = set(target.origin[row][target.loss_mask[row]].tolist())
    spelt = (batch.tokens.vocabulary[i] for i in batch.tokens.ids[row].tolist())
    marks = (f"<span{' class=counted' * (k in counted)}>{escape(word)}</span>" for k, word in enumerate(spelt))
    return f'<div class="rollout">{"".join(marks)}</div>'


def _meter(share: float, colour: str) -> str:
    filled = f"linear-gradient(90deg,{colour}bb {share:.1%},#8883 {share:.1%})"
    return f'<span class="meter" style="background:{filled}" aria-hidden="true"></span>'


# the likeliest answers


def answers(facts: PromptFacts, proxy: bool) -> str:
    """The likeliest answers to a prompt under reference, policy and optimum, with chances and rewards."""
    heads = ("answer", "reference", "policy", "optimum", *(("proxy reward", "true reward") if proxy else ("reward",)))
    chances = (("reference", GREY), ("policy", BLUE), ("optimum", GREEN))
    most = max(each[of] for each in facts["answers"] for of, _ in chances)
    rows = [
        [
            f'<th scope="row">{escape(each["answer"])}</th>',
            *(f'<td class="number">{_meter(each[of] / most, colour)}{each[of]:.2%}</td>' for of, colour in chances),
            f'<td class="number">{each["reward"]:.2f}</td>',
            *([f'<td class="number">{each["true_reward"]:.2f}</td>'] if proxy else []),
        ]
        for each in facts["answers"]
    ]
    return STYLE + wide_table("likeliest answers", heads, rows)


# the charts, still


@dataclass(frozen=True)
class Line:
    """A line or points of a still picture."""

    points: Sequence[tuple[float, float]]
    colour: str
    dash: str = "solid"
    shape: str = ""
    joined: bool = True


def pictures(made: Comparison) -> str:
    """The four charts of a comparison and their legend."""
    steps = {figure: made.values(figure) for figure in ("kl_to_optimum", "true_reward", "proxy_reward", "forgetting")}
    rewards = _lines(steps["true_reward"])
    if made.reward.proxy_of:
        rewards += _lines(steps["proxy_reward"], PROXY)
    front = [(point.kl, point.reward) for point in made.setting.optimum.frontier()]
    plane = [Line(front, GREY, FRONTIER.dash)]
    for k, method in enumerate(made.methods):
        way = [(kl, reward) for _, kl, reward in made.path(str(method))]
        plane.append(Line(way, style(k)[0], "solid", shape(k), joined=method.step.trains))
    [best] = made.setting.optimum.frontier([made.setting.beta])
    plane.append(Line([(best.kl, best.reward)], GREY, "solid", "star"))
    drawn = (
        _panel(TITLES["kl"], _lines(steps["kl_to_optimum"]), "step"),
        _panel(TITLES["goodhart" if made.reward.proxy_of else "reward"], rewards, "step"),
        _panel(TITLES["plane"], plane, "KL to the reference (nats)"),
        _panel(TITLES["forgetting"], _lines(steps["forgetting"]), "step"),
    )
    return f'<div class="pictures">{"".join(drawn)}</div>{legend(made)}'


def _lines(values: dict[str, dict[int, list[float]]], dash: str = "solid") -> list[Line]:
    """The means over the seeds."""
    return [
        Line([(step, fmean(some)) for step, some in steps.items()], style(k)[0], dash, shape(k))
        for k, steps in enumerate(values.values())
    ]


def _panel(title: str, lines: Sequence[Line], across: str) -> str:
    """Lines over round numbers on both axes."""
    xs, ys = ([point[k] for line in lines for point in line.points] or [0.0] for k in (0, 1))
    wide, low, high = max(*xs, 1e-9), min(0.0, *ys), max(*ys, 1e-9) * 1.05
    x_of, y_of = scale(0, wide, LEFT, WIDTH - 14), scale(low, high, FOOT, 28)
    parts = [words(4, 14, title, more=BOLD, explained=True), words(WIDTH - 14, HEIGHT - 6, across, "end")]
    parts += levels(y_of, low, high, LEFT, WIDTH - 14, 4)
    parts += [words(x_of(value), FOOT + 16, f"{value:g}", "middle") for value in ticks(0, wide)]
    for line in lines:
        at = [(x_of(x), y_of(y)) for x, y in line.points]
        if line.joined and len(at) > 1:
            way = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in at)
            parts.append(f'<path d="{way}" fill="none" stroke="{line.colour}" stroke-width="2"{DASHES[line.dash]}/>')
        ends = at[-1:] if line.joined else at
        mark = (MARKERS | STAR).get(line.shape, "")
        parts += [
            f'<g fill="{line.colour}" transform="translate({x - 13:.1f} {y - 6:.1f})">{mark}</g>' for x, y in ends
        ]
    return picture("".join(parts), WIDTH, HEIGHT, title)


def legend(made: Comparison) -> str:
    """The methods with colour and mark, and what is exact; one legend for all charts."""
    named = [
        Mark(str(m), *style(k), shape=shape(k), width=3 if m.step.trains else 0) for k, m in enumerate(made.methods)
    ]
    return key([*named, FRONTIER, OPTIMUM])
