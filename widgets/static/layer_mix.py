"""A learned mix of layers over the steps (ELMo's s_j and gamma, arXiv:1802.05365, eq. 1) as stacked bars."""

from collections.abc import Sequence
from html import escape

from playground.finetuning.comparing.compare import MixFacts, StrategyFacts, level_names
from playground.glossary import hover
from widgets.charts.legend import COLOURS, Mark, key
from widgets.static.svg import picture, rect, words

WIDE, LEFT, TOP, HIGH = 420, 44, 8, 150
"""Width of a picture, where its bars begin, and their height, in pixels."""

TITLE = "Layer mix over the steps"


def markup(strategies: Sequence[StrategyFacts]) -> str:
    """A picture for each strategy that learns a mix, with a legend; nothing where none does."""
    mixed = [s for s in strategies if s["mix"]]
    if not mixed:
        return ""
    names = level_names(mixed[0]["mix"][0]["levels"])
    marks = [Mark(name, COLOURS[k % len(COLOURS)], width=8) for k, name in enumerate(names)]
    legend = key([*marks, Mark("equal shares", "currentColor", "dashed", width=1.4)])
    pictures = "".join(f"<div><div><b>{escape(s['name'])}</b></div>{bars(s['name'], s['mix'])}</div>" for s in mixed)
    about = f'<p class="title"{hover(TITLE)}>{TITLE} (share of each level, mean over the seeds)</p>'
    return f'{about}{legend}<div class="pictures" style="display:flex;flex-wrap:wrap;gap:8px 24px">{pictures}</div>'


def bars(name: str, mix: Sequence[MixFacts]) -> str:
    """The shares of the levels at every step that is known, embeddings at the bottom, and where equal shares end."""
    wide, levels, parts = (WIDE - LEFT - 8) / len(mix), level_names(mix[0]["levels"]), []
    for k, look in enumerate(mix):
        foot = float(TOP + HIGH)
        for level, (what, share) in enumerate(zip(levels, look["levels"], strict=True)):
            foot -= HIGH * share
            said = f"step {look['step']}: {what} {share:.1%}, scale {look['scale']:.3f}"
            parts.append(
                rect(LEFT + wide * k, foot, wide - 1, round(HIGH * share, 2), COLOURS[level % len(COLOURS)], title=said)
            )
    for k in range(len(levels) + 1):
        y, dash = TOP + HIGH * k / len(levels), "" if k in (0, len(levels)) else ' stroke-dasharray="6 4"'
        parts.append(f'<path d="M{LEFT} {y:.1f}H{WIDE - 8}" stroke="currentColor" stroke-width="1.2"{dash}/>')
    parts += [words(LEFT - 6, TOP + HIGH * (1 - share) + 4, f"{share:.0%}", "end") for share in (0, 0.5, 1)]
    parts.append(words(LEFT, TOP + HIGH + 16, f"step {mix[0]['step']}"))
    parts.append(words(WIDE - 8, TOP + HIGH + 16, f"{mix[-1]['step']}", "end"))
    scales = f"scale γ {mix[0]['scale']:.2f} → {mix[-1]['scale']:.2f}"
    parts.append(words((LEFT + WIDE - 8) / 2, TOP + HIGH + 16, scales, "middle"))
    return picture("".join(parts), WIDE, TOP + HIGH + 22, f"{TITLE} of {name}")
