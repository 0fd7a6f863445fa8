"""Write docs/instruments.md with `python docs/write_instruments.py`."""

import inspect
from collections.abc import Iterable, Iterator
from pathlib import Path

from playground.analysis.instrument import GROUPS, Instrument, Need, instruments
from playground.knob import Knob, knobs

FILE = Path(__file__).with_name("instruments.md")
HEAD = """# Instruments

An instrument asks one question about a trained model and measures the answer. Open one in three ways:

- on the page **Inside** of the app: choose a model and an instrument, then press Measure; "Measure all" asks all that
  train nothing, and the list says what each found;
- in a notebook: `from widgets import inspect`, then `inspect("RoBERTa", "attention")`, with knobs as further arguments;
- on the command line: `playground inspect RoBERTa --with attention`, with knobs as `--set knob=value`. Without `--with`
  all that train nothing are asked; `--list` lists them with what the model lacks.

**Several models.** Up to four models are measured side by side, with their differences from the first; the kept
checkpoints of one run are a film over the steps of training; runs of several seeds give a mean with its standard
deviation. Choose it at "compare" on the page, with `inspect(model, name, others=[...], over="steps")`, or with
`playground inspect RUN RUN --over seeds`.

**Rows** are those of the inventory of what the survey and its sources show of models. To add an instrument, write
[one file](extend.md#an-instrument-playgroundanalysisinstrumentsvector_lengthspy).
"""


def page() -> str:
    """The whole page: the instruments in their groups."""
    every = instruments().values()
    groups = ((group, [each for each in every if each.group == group]) for group in GROUPS)
    return HEAD + "".join(f"\n## {group}\n{''.join(map(section, some))}" for group, some in groups if some)


def section(each: Instrument) -> str:
    """One instrument: its question, where it comes from, what it needs and its knobs."""
    about = {
        "Source": each.source,
        "Needs": " ".join(map(needed, each.needs)),
        "Rows": ", ".join(each.rows),
        "Repeatable": "" if each.repeatable else "no, because it measures time.",
    }
    facts = "".join(f"- {name}: {text}\n" for name, text in about.items() if text)
    return f"\n### {each.name}\n\n{each.question}\n\n{facts}{''.join(table(knobs(each.settings)))}"


def needed(need: Need) -> str:
    """The sentence of a need."""
    return (inspect.getdoc(need) or "").partition("\n")[0]


def table(some: Iterable[Knob]) -> Iterator[str]:
    """A row for each knob, below a head where there are any."""
    for k, knob in enumerate(some):
        if k == 0:
            yield "\n| knob | default | limits | unit | why |\n|---|---|---|---|---|\n"
        default = "on" if knob.default is True else "off" if knob.default is False else f"{knob.default}"
        limits = "–" if knob.low is None or knob.high is None else f"{knob.low:g} to {knob.high:g}"
        cells = default or "empty", ", ".join(map(str, knob.choices)) or limits, knob.unit or "–", knob.why or "–"
        yield f"| `{knob.name}` | {' | '.join(cell.replace('|', '&#124;') for cell in cells)} |\n"


if __name__ == "__main__":
    FILE.write_text(page(), encoding="utf-8")
