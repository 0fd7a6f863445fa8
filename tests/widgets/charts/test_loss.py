"""The loss chart: a recorded run before there is one of one's own, and charts that grow with the screen."""

from pathlib import Path

import bokeh
import pytest
import torch

from playground.corpora import open_corpus
from playground.training import Evaluated, Run, train
from playground.training.session import Row
from playground.zoo import entry_named
from widgets.charts import loss
from widgets.charts.reference_run import RUN
from widgets.theme import CHART_TYPE, LARGER, chart


def test_a_recorded_run_stands_faintly_until_there_is_one_of_ones_own():
    drawn = loss.loss_chart()
    assert drawn.recorded.visible and drawn.name.visible and str(drawn.name.text).startswith("recorded: RoBERTa")
    drawn.show([])
    assert drawn.recorded.visible, "a run that has not begun has nothing to show either"
    drawn.over("seconds")
    assert not drawn.recorded.visible
    drawn.over("steps")
    assert drawn.recorded.visible
    drawn.extend([Row(1, 5.0, None, 10, 0.1)])
    assert not drawn.recorded.visible and not drawn.name.visible


def test_the_recorded_run_is_what_training_gives():
    run = Run(
        entry_named(RUN.entry),
        open_corpus(RUN.corpus),
        RUN.seed,
        torch.device("cpu"),
        RUN.every,
        evaluate_every=RUN.every,
    )
    measured = [event.held_out for event in train(run) if isinstance(event, Evaluated)]
    assert measured == pytest.approx(RUN.held_out[:2], abs=0.15)


def test_charts_grow_with_the_screen_by_names_that_the_library_knows():
    sheet = str(chart(height=200).stylesheets[0])
    for px, times in LARGER.items():
        rule = sheet[sheet.index(f"(min-width: {px}px)") :].split("}")[0]
        assert f"min-height: {200 * times:g}px" in rule
        for name, size in CHART_TYPE.items():
            assert f"--bk-{name}-font-size: {size * times:g}px" in rule
    library = (Path(bokeh.__file__).parent / "server/static/js/bokeh.js").read_text(encoding="utf-8")
    assert '"--bk-"' in library and '_get_css_value("text-font-size")' in library
    for prefix in (name.removesuffix("text").replace("-", "_") for name in CHART_TYPE):
        assert not prefix or f'"{prefix}"' in library, "the words of an axis have a name of their own"
