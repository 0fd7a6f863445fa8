"""The Post-training page: it draws what the events say, and the batch is the rollout that trained."""

import csv
import json
import re
from html import unescape
from statistics import fmean

import pytest

from playground.errors import UserError
from playground.parsing import dump_json
from playground.posttraining import compare, find_method, find_reward
from playground.posttraining.method import Trained
from tests.posttraining import base, space
from widgets.pages.posttraining import PostTrainingPage
from widgets.state.app import SMALL_LM, Store
from widgets.static import posttraining as drawn

METHODS = ("SFT", "DPO", "GRPO", "best of n(n=4)")


@pytest.fixture(scope="module")
def made():
    """A comparison on a reward with a shortcut, with two seeds."""
    *_, last = compare(base(), space(), find_reward("positive words"), [*map(find_method, METHODS)], (0, 1), 4)
    return last


@pytest.fixture
def page(tmp_path, made):
    store = Store(tmp_path)
    opened = PostTrainingPage(store)
    store.posttraining._events = [made]
    opened.poll()
    yield opened
    store.close()


def test_before_a_run_the_page_says_what_it_does(tmp_path):
    store = Store(tmp_path)
    opened = PostTrainingPage(store)
    opened.poll()
    assert not opened.results.found.visible
    assert "all answers are enumerated" in opened.results.status.object
    assert opened.base.options[SMALL_LM] == opened.base.value == ""
    store.close()


def test_the_charts_have_the_figures_of_the_events(page, made):
    charts = page.results.charts
    for chart, figure in (
        (charts.kl, "kl_to_optimum"), (charts.forgetting, "forgetting"), (charts.reward.true, "true_reward"),
        (charts.reward.proxy, "proxy_reward"),
    ):  # fmt: skip
        means = chart.sources["means"].data
        expected = [
            (name, step, fmean(some)) for name, steps in made.values(figure).items() for step, some in steps.items()
        ]
        assert [*zip(means["name"], means["step"], means["value"], strict=True)] == expected
        assert set(means["name"]) == {"SFT", "DPO", "GRPO"}
    assert set(charts.reward.proxy.sources["lines"].data["dash"]) == {"dashed"}
    assert set(charts.reward.true.sources["lines"].data["dash"]) == {"solid"}
    assert made.headline in unescape(page.results.status.object)


def test_the_files_hold_every_event(page, made):
    state = page.results.state
    rows = [*csv.DictReader(state.file("post-training.csv").decode().splitlines())]
    assert len(rows) == sum(len(events) for seeds in made.runs.values() for events in seeds.values())
    assert {row["method"] for row in rows} == set(METHODS)
    for row in rows:
        event = next(e for e in made.runs[row["method"]][int(row["seed"])] if e.step == int(row["step"]))
        assert float(row["kl_to_optimum"]) == event.kl_to_optimum
    assert json.loads(state.file("post-training.json")) == json.loads(dump_json(made.facts))


def test_there_is_no_file_before_a_run(tmp_path):
    store = Store(tmp_path)
    with pytest.raises(UserError, match="Nothing has been post-trained yet"):
        store.posttraining.file("post-training.csv")
    store.close()


def test_the_plane_has_the_exact_frontier_the_paths_and_best_of_n_as_points(page, made):
    sources = page.results.charts.plane.sources
    points = made.setting.optimum.frontier()
    assert sources["frontier"].data["reward"] == [point.reward for point in points]
    assert sources["paths"].data["name"] == ["SFT", "DPO", "GRPO"]
    best = [k for k, name in enumerate(sources["points"].data["name"]) if name == METHODS[-1]]
    assert [sources["points"].data["step"][k] for k in best] == [1, 2, 4]
    last = {name: made.path(name)[-1] for name in METHODS}
    ends = sources["ends"].data
    assert {
        n: (s, k, r) for n, s, k, r in zip(*(ends[c] for c in ("name", "step", "kl", "reward")), strict=True)
    } == last


def rows_of(markup):
    return re.findall(r"<tr>(?:<td>.*?)</tr>", markup)


@pytest.mark.parametrize("name", METHODS)
def test_the_batch_that_is_drawn_is_the_rollout_that_trained(page, made, name):
    state, details = page.state, page.results.details
    state.param.update(shown=name, prompt=1)
    method, rollout = find_method(name), made.last(name).rollout
    assert (details.method.value, details.prompt.value) == (name, 1)
    if not isinstance(method.step, Trained):
        assert "trains nothing" in details.batch.object
        return
    counted = [
        re.findall(r"<span class=counted>(.*?)</span>", cell)
        for row in rows_of(details.batch.object)
        for cell in re.findall(r'<div class="rollout">(.*?)</div>', row)
    ]
    first = [k for k in range(len(rollout.values)) if rollout.prompts[k] == 1][: drawn.MOST_ROWS]
    shown = [made.setting.space.answer_text(int(rollout.answers[k])).split() for k in first]
    if name != "DPO":
        assert counted == shown
    else:
        half = len(rollout.values)
        other = [made.setting.space.answer_text(int(rollout.answers[k + half])).split() for k in first]
        chosen = [float(rollout.values[k]) >= 0.5 for k in first]
        ordered = [
            pair if one else pair[::-1] for one, pair in zip(chosen, zip(shown, other, strict=True), strict=True)
        ]
        assert counted == [answer for pair in ordered for answer in pair]
    if name == "GRPO":
        assert re.findall(r"</span>([+-][\d.]+)</td>", details.batch.object) == [
            f"{float(rollout.values[k]):+.2f}" for k in first
        ]


def test_the_likeliest_answers_stand_with_their_chances_and_rewards(page, made):
    page.state.param.update(shown="DPO", prompt=0)
    table = page.results.details.answers.object
    best = int(made.setting.optimum.log_probs[0].argmax())
    assert f">{made.setting.space.answer_text(best)}<" in table
    assert f"{float(made.setting.optimum.log_probs[0, best].exp()):.2%}" in table
    assert "true reward" in table and "proxy reward" in table


def test_a_missing_model_is_said_and_the_small_one_chosen(page):
    page.state.base = "kept:gone"
    page.poll()
    assert page.state.base == "" and "There is no model &#x27;kept:gone&#x27; here" in page.trouble.object


def test_a_refused_model_offers_the_small_one(tmp_path):
    store = Store(tmp_path)
    opened = PostTrainingPage(store)
    opened.base.value = "session"
    opened.begin.clicks += 1
    store.posttraining.running.wait()
    opened.poll()
    assert "no trained model yet" in opened.trouble.object and opened.small.visible
    opened.small.clicks += 1
    opened.poll()
    assert store.posttraining.base == "" and not opened.small.visible
    store.close()
