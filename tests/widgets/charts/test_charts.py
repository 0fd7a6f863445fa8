"""Pictures are pure functions of values: what goes in as text comes out as text."""

from importlib import import_module
from inspect import isfunction, signature
from pkgutil import iter_modules
from xml.etree import ElementTree

import pytest
import torch
from bokeh.models import Range1d
from bokeh.plotting import figure

from playground.analysis.predictions import Prediction, Predictions, glance, sentence_of
from playground.glossary import mentioned
from playground.trace.model_frames import as_data
from playground.training.curve import CurvePoint
from playground.training.lr_finder import LRFinderResult, TriedRate
from playground.training.observe.recording import Measured
from tests.runs import learner_of, reviews
from widgets import charts
from widgets.charts import loss, probes
from widgets.charts.chart import Cursor
from widgets.charts.columns import AXES, held_out, seed_bands, seed_range, training
from widgets.static import predictions, svg

HOSTILE = '<script>alert("1")</script>'


def hostile_glance():
    guess = Prediction(1, HOSTILE, ((HOSTILE, 0.9), ("cat", 0.1)), 0.9, 0.1, HOSTILE, "inputs")
    return Predictions(3, ("the", HOSTILE), (guess,), {"encoder": torch.zeros(1, 1, 2, 2)}, {}, {})


def test_guesses_are_text_whatever_they_hold():
    markup = predictions.markup(hostile_glance())
    assert "<script" not in markup
    assert markup.count("&lt;script&gt;") >= 3, "seen, truth and guess"


@pytest.mark.parametrize(("name", "measure"), [("RoBERTa", "probability"), ("data2vec", "cosine"), ("GloVe", "ratio")])
def test_a_number_next_to_an_answer_has_its_name(name, measure):
    learner = learner_of(name)
    found = glance(learner.model, learner.objective, 0, sentence_of(reviews()))
    assert {guess.measure for guess in found.guesses} == {measure}
    markup = predictions.markup(found)
    assert f">{measure}</th>" in markup and ("likeliest" in markup) == (measure == "probability")
    assert as_data(found.guesses[0]).get("measure", "probability") == measure


def test_pictures_of_a_notebook_are_text_and_well_formed():
    plan = torch.tensor([[0.0, 0.0, 1.0], [1.0, 1.0, 1.0]])
    rows = [CurvePoint(s, 5.0 - s / 10, 5.0 if s % 5 == 0 else None, s, s / 10) for s in range(20)]
    pictures = [
        svg.heat(HOSTILE, ("embeddings", HOSTILE), plan),
        svg.dots(HOSTILE, {HOSTILE: [0.5, 0.7], "full": [], "a\x01\udc80": [float("inf")]}),
        svg.outcomes(HOSTILE, {HOSTILE: [0.5, 0.7]}, {HOSTILE: [0.5]}),
        svg.curve(rows, 20, 4.6, 1.2),
        svg.search([TriedRate(1, 1e-4, 5.0, 5.0), TriedRate(2, 1e-2, 4.0, 4.5)], None),
    ]
    for picture in pictures:
        ElementTree.fromstring(picture.encode())
        assert "<script" not in picture


def test_curves_beside_each_other_have_one_scale():
    low, high = ([CurvePoint(s, top - s / 20, top, s, s / 10) for s in range(20)] for top in (2.0, 7.0))
    numbers = [
        [each.text for each in ElementTree.fromstring(picture).iter() if each.tag.endswith("text")]
        for picture in (svg.curve(low, 20, beside=high), svg.curve(high, 20, beside=low), svg.curve(low, 20))
    ]
    assert numbers[0] == numbers[1] != numbers[2]


def test_a_heat_map_draws_one_bar_for_each_run_of_one_rate():
    plan = torch.tensor([[0.0, 0.0, 1.0, 1.0], [1.0, 1.0, 1.0, 1.0]])
    bars = ElementTree.fromstring(svg.heat("gradual", ("layer", "head"), plan)).findall("{*}rect")
    assert [float(b.get("fill-opacity") or 1) for b in bars] == [1.0, 0.0, 1.0]


def test_curves_keep_every_step_and_only_what_was_measured():
    rows = [
        CurvePoint(1, 5.0, None, 10, 0.1, (), 3, 100.0),
        CurvePoint(1, None, 4.5, 10, 0.1),
        CurvePoint(2, 4.0, None, 20, 0.2, (), 7, 9.0),
    ]
    drawn = training(rows)
    assert (drawn["step"], drawn["loss"]) == ([1, 2], [5.0, 4.0])
    assert (drawn["tokens"], drawn["scored"], drawn["flops"], drawn["seconds"]) == (
        [10, 20],
        [3, 7],
        [100, 9],
        [0.1, 0.2],
    )
    assert held_out(rows)["step"] == [1]
    assert held_out(rows)["loss"] == [4.5]


def test_another_axis_changes_what_is_drawn_over_and_never_the_data():
    chart, rows = (
        loss.loss_chart(),
        [CurvePoint(1, 5.0, None, 10, 0.5, (), 3, 1e6), CurvePoint(2, 4.0, 4.1, 20, 1.0, (), 6, 2e6)],
    )
    chart.extend(rows)
    before = {name: list(column) for name, column in chart.questions[0].training.data.items()}
    for axis, column in AXES.items():
        chart.over(axis)
        chart.limits(chart.reach(rows[-1], 10), 5.0, None)
        assert {r.glyph.x for r in chart.figure.renderers if r.name == "run"} == {column}
        assert chart.figure.x_range.end >= getattr(rows[-1], column)
    assert {name: list(column) for name, column in chart.questions[0].training.data.items()} == before


def test_gauges_are_drawn_where_they_were_measured():
    measured = [Measured(0, {"polarity": 0.5}), Measured(50, {"polarity": 0.9})]
    drawn = probes.values(measured)
    assert (drawn.pop("polarity"), any(drawn.values())) == ({0: [0.5], 50: [0.9]}, False)


def test_bands_are_mean_and_standard_deviation_and_leave_out_who_has_not_finished():
    values = {"full": [0.5, 0.7, float("nan")], "gradual": []}
    bands = seed_bands(values)
    assert bands["name"] == ["full"]
    assert seed_range(values) == pytest.approx((0.464, 0.736)), "what is no number has no place"
    assert abs(bands["mean"][0] - 0.6) < 1e-12
    assert abs(bands["high"][0] - bands["low"][0] - 2 * 0.1414213562) < 1e-6


SUM = {"pair": "nats", "hidden words": "logits"}


def test_a_sum_draws_and_names_the_loss_of_each_of_its_questions():
    rows = [
        CurvePoint(0, None, 0.7, 0, 0.0, (("pair", 0.7), ("hidden words", 6.6))),
        CurvePoint(1, 0.71, None, 10, 0.1, (("pair", 0.71), ("hidden words", 6.5))),
        CurvePoint(2, 0.69, None, 20, 0.2, (("pair", 0.69), ("hidden words", 6.4))),
    ]
    chart = loss.loss_chart()
    chart.show(rows[:2], SUM)
    chart.extend(rows[2:])
    (_, words, *spare) = chart.questions
    assert chart.figure.yaxis.axis_label == "loss (nats or logits per position)"
    assert list(chart.questions[0].training.data["loss"]) == [0.71, 0.69]
    assert (list(words.training.data["loss"]), list(words.held_out.data["loss"])) == ([6.5, 6.4], [6.6])
    assert "training: pair" in chart.key and "held out: pair" in chart.key and "hidden words" in chart.key
    assert all(not len(other.training.data["loss"]) for other in spare)
    chart.over("tokens read")
    assert {r.glyph.x for r in chart.figure.renderers if r.name == "run"} == {"tokens"}
    chart.show([CurvePoint(1, 5.0, None, 10, 0.5)], {"hidden words": "logits"})
    assert chart.figure.yaxis.axis_label == "loss (logits per position)"
    assert "training:" not in chart.key and not len(words.training.data["loss"]), "another run has one question alone"


def test_what_asks_for_no_words_has_no_level_of_words_and_an_axis_of_its_own():
    chart = loss.loss_chart()
    chart.show([CurvePoint(0, None, 0.7, 0, 0.0), CurvePoint(1, 0.69, None, 10, 0.1)], {"pair": "nats"})
    chart.limits(10, None, None)
    assert not chart.unigram.visible and chart.figure.y_range.end == 1.1
    chart.limits(10, 5.0, None)
    assert chart.unigram.visible and chart.figure.y_range.end == 8.0


def figures():
    """The figures of all functions of `widgets/charts` that make a chart, called with what they cannot do without."""
    asked = {"steps": Range1d(0, 10), "painted": print, "title": "Forgetting", "axis": "nats per scored position"}
    asked |= {"cursor": Cursor()}
    for found in iter_modules(charts.__path__, "widgets.charts."):
        for make in filter(isfunction, vars(import_module(found.name)).values()):
            needed = {p.name for p in signature(make).parameters.values() if p.default is p.empty}
            makes_a_chart = hasattr(signature(make).return_annotation, "show") and needed <= set(asked)
            if make.__module__ == found.name and makes_a_chart:
                made = make(**{name: asked[name] for name in needed})
                yield from getattr(made, "figures", None) or [made.figure]


def explained(part):
    """The terms that are shown where the pointer rests on an axis or a title."""
    lines = part.html_attributes.get("title", "").splitlines()
    assert bool(lines) == (part.styles.get("pointer-events") == "auto")
    return [line.partition(": ")[0] for line in lines]


def test_every_chart_explains_the_terms_of_its_title_and_of_its_axes():
    known, drawn = set(), list(figures())
    assert len(drawn) == 14 and all(isinstance(plot, figure) for plot in drawn)
    for plot in drawn:
        for part, text in [(plot.title, plot.title.text), *((axis, axis.axis_label) for axis in plot.axis)]:
            assert explained(part) == [term.name for term in mentioned(text or "")], text
            known.update(explained(part))
        plot.xaxis[0].axis_label = "learning rate"
        assert explained(plot.xaxis[0]) == ["learning rate"], "a label that changes explains its new terms"
    found = LRFinderResult(1e-3, 1e-3, ())
    searched = svg.search([TriedRate(1, 1e-4, 5.0, 5.0), TriedRate(2, 1e-2, 4.0, 4.5)], found)
    assert "<title>learning rate: " in searched and "<title>forgetting: " in svg.outcomes("", {"a": [1]}, {"a": [1]})
    words = {"loss", "nats", "scored", "accuracy", "label efficiency", "forgetting", "gradient norm", "held-out"}
    assert words | {"key position", "query position"} <= known
