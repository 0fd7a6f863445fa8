"""The loss chart: a recorded run before there is one of one's own, and charts that grow with the screen."""

from itertools import islice, zip_longest
from math import isfinite
from pathlib import Path

import bokeh
import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.training import Session
from playground.training.curve import CurvePoint
from playground.training.parallel.seeds import Band
from playground.zoo.surveys import TABLE_1
from tests.runs import run_of, sampled
from widgets.charts import columns, loss, reference_run
from widgets.charts.chart import Cursor
from widgets.charts.reference_run import EVERY, Recorded
from widgets.pages.train.curves import LossCurve
from widgets.state.train.store import TrainStore
from widgets.static.zoo import card
from widgets.theme import CHART_TYPE, LARGER, chart


def test_a_recorded_run_stands_faintly_until_there_is_one_of_ones_own():
    drawn, run = loss.loss_chart(), Recorded("GPT", "world", "nats", (7.0, 5.0, 4.0))
    assert not drawn.recorded.visible and not drawn.name.visible

    def shown():
        drawn.show_recorded(run)
        return drawn.recorded.visible and drawn.name.visible

    assert shown()
    drawn.show([], {})
    assert shown(), "a run that has not begun has nothing to show either"
    drawn.over("seconds")
    assert not shown()
    drawn.over("steps")
    assert shown()
    drawn.extend([CurvePoint(1, 5.0, None, 10, 0.1)])
    assert not shown()
    assert dict(drawn.recorded.data_source.data) == {"x": [0, 25, 50], "y": [7.0, 5.0, 4.0]}
    assert drawn.name.text == run.title and drawn.figure.y_range.end > 7


@pytest.mark.parametrize(
    "choice",
    [
        {"entry": "GloVe"}, {"corpus": "reviews"}, {"corpus": "my own text"}, {"seed": 1}, {"steps": 900},
        {"window": 16}, {"settings": {"lr": 1e-3}}, {"shapes": {"RoBERTa": {"layers": 3}}}, {"preset": "paper"},
    ],
    ids=str,
)  # fmt: skip
def test_the_recorded_run_is_shown_only_where_the_very_same_is_about_to_be_trained(tmp_path, choice):
    train = TrainStore(tmp_path / "runs")
    chart = LossCurve(train, Cursor()).chart
    assert chart.recorded.visible
    before = {name: getattr(train, name) for name in choice}
    train.param.update(**choice)
    assert not chart.recorded.visible, "at once"
    train.param.update(**before)
    assert chart.recorded.visible
    train.session = Session(run_of())
    assert not chart.recorded.visible, "a run of other things that has not begun"


LOSSES = st.lists(st.floats(0.01, 50.0) | st.just(float("nan")) | st.just(float("inf")), max_size=6)


@given(st.none() | st.floats(0.1, 8.0), LOSSES, LOSSES, LOSSES)
def test_the_axis_holds_the_held_out_curves_and_the_bands(unigram, first, second, spread):
    chart = loss.loss_chart()
    rows = [
        CurvePoint(k, None, a, 0, 0.0, (("a", a), ("b", b)))
        for k, (a, b) in enumerate(zip_longest(first, second, fillvalue=1.0))
    ]
    chart.show(rows, {"a": "nats", "b": "nats"})
    chart.band.data = columns.band(
        rows, [Band(row.step, row.held_out, s, 2) for row, s in zip(rows, spread, strict=False)]
    )
    chart.limits(10, unigram, None)
    drawn = (
        *chart.questions[0].held_out.data["loss"],
        *chart.questions[1].held_out.data["loss"],
        *chart.band.data["high"],
    )
    assert all(loss <= chart.figure.y_range.end for loss in drawn if isfinite(loss))
    assert all(loss <= columns.highest_loss(unigram, [], first) for loss in first if isfinite(loss))


def test_an_axis_grows_while_the_held_out_loss_rises(tmp_path):
    train = TrainStore(tmp_path / "runs")
    train.session = session = Session(run_of())
    curve = LossCurve(train, Cursor())
    for step, loss_now in enumerate((4.0, 8.6)):
        session.rows.append(CurvePoint(step, None, loss_now, 0, 0.0))
        curve.draw(session)
        curve.limits()
    assert curve.chart.figure.y_range.end >= 8.6


def test_every_system_of_table_1_is_recorded():
    assert tuple(reference_run.losses()) == TABLE_1
    for name, kept in reference_run.losses().items():
        entry = reference_run.run_of(name).entry
        assert len(kept) == entry.recipe.steps // EVERY + 1
        assert kept[-1] < 0.8 * kept[0]
        shown = reference_run.recorded_of((entry, entry.corpus, 0))
        assert (shown.entry, shown.held_out) == (name, tuple(kept))
        assert f"and {kept[-1]:.2f} after" in card.markup(entry)
        assert reference_run.recorded_of((entry, entry.corpus, 1)) is None


@pytest.mark.parametrize("name", sampled(TABLE_1, ("RoBERTa", "XLM")))
def test_a_recorded_run_is_what_training_gives(name):
    measured = [*islice(reference_run.held_out(reference_run.run_of(name)), 2)]
    assert measured == pytest.approx(reference_run.losses()[name][:2], abs=0.02)


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
