"""The state of the Compress page: a pipeline is put together, run, and taken away as files."""

import csv
import io
import re
import threading
from base64 import b64decode
from dataclasses import replace
from functools import partial
from html import unescape
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from playground.compression import compare as room
from playground.compression import methods, read_pipeline
from playground.compression.compare import Compression
from playground.compression.lost_words import LostWord, LostWords
from playground.compression.storage import FILE, load
from playground.errors import UserError
from playground.training.system.turns import Turns
from playground.zoo import entries
from tests.compressing import data
from tests.runs import becomes, reviews
from widgets import notebook
from widgets.pages.compress import LayerMap
from widgets.state import compress as module
from widgets.state.app import Store, Tab
from widgets.state.compress import QUESTIONS, SHOWN_FIRST, VARIANTS, CompressStore, Placement
from widgets.state.quota import Quota
from widgets.state.stage import loaded_model, suggestions
from widgets.static import compression as drawn

SESSION = SimpleNamespace(run=SimpleNamespace(entry=entries()["RoBERTa"], corpus=reviews()))


@pytest.fixture(scope="module")
def finished():
    """A state whose run is over; its session is the base of the tests of compression."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(room, "TEST_TEXTS", 40)
        patch.setattr(module, "base_of_session", lambda session: (data().base, data().base.words))
        state = CompressStore(
            chosen=["head pruning", "quantization(bits=2)", "small from scratch(text_steps=2, steps=2)"], seeds=2,
            labels=8, steps=2,
        )  # fmt: skip
        state.begin(SESSION)
        assert state.trouble == ""
        state.running.wait()
        yield state
        state.end()


def test_a_pipeline_is_put_together_step_by_step():
    state = CompressStore()
    state.method = "head pruning"
    state.turned = {"share": 0.25}
    state.append()
    state.method = "int8"
    assert state.turned == {}
    state.append()
    assert state.draft == "head pruning(share=0.25) + int8"
    state.take()
    assert state.chosen[-1] == state.own[0] == "head pruning(share=0.25) + int8"
    assert state.draft == ""
    assert state.offered[0] == state.own[0]


def test_a_layer_mapping_is_made_with_clicks():
    state = CompressStore(method="PKD")
    assert state.mapping(4) == [1, 3]
    state.map_layer(4, 0, 1)
    assert state.turned == {}, "it is so already, and stays as every"
    state.map_layer(4, 0, 2)
    assert state.turned == {"mapping": "3 4"}
    assert state.mapping(4) == [2, 3]
    state.append()
    assert state.draft == "PKD(mapping=3 4)"
    state.turned = {"mapping": "3 4", "alpha": 0.1}
    with pytest.raises(UserError, match=r"each layer of the student \(1\).*like 2"):
        state.mapping(2)
    state.turn("layers", 3)
    assert state.turned == {"alpha": 0.1, "layers": 3}, "the mapping was for two layers"
    state.turn("mapping", "last")
    state.turn("layers", 2)
    assert state.mapping(4) == [2, 3]


def test_the_map_that_is_drawn_is_the_one_that_is_set(tmp_path):
    store = Store(tmp_path)
    page, compress = LayerMap(store), store.compress
    page.poll()
    assert not page.layout.visible
    store.train.shapes = {store.train.entry: {"layers": 4}}
    compress.method = "TinyBERT"
    assert page.layout.visible
    assert [group.value for group in page.groups] == ["2", "4"]
    page.groups[0].value = "1"
    assert compress.turned == {"mapping": "1 4"}
    assert page.picture.object == drawn.layer_mapping([(1,), (4,)], 4)
    compress.turned = {"mapping": "1 5"}
    assert "mapping is &#x27;1 5&#x27;" in page.picture.object
    assert not page.rows.visible
    compress.turned = {"layers": 1}
    assert [group.value for group in page.groups] == ["4"]
    assert compress.turned == {"layers": 1}
    store.train.shapes = {store.train.entry: {"layers": 2}}
    page.poll()
    assert [group.value for group in page.groups] == ["2"]
    store.close()


def test_what_cannot_follow_is_refused_in_a_sentence():
    state = CompressStore(draft="int8", method="pruning")
    state.append()
    assert "quantization comes last" in state.trouble
    assert state.draft == "int8"
    state.draft = "nope"
    state.take()
    assert "no compression method named 'nope'" in state.trouble
    assert "nope" not in state.chosen


def test_all_that_is_offered_is_written_as_it_is_read():
    asked = [line for question in QUESTIONS.values() for line in question["chosen"]]
    state = CompressStore()
    for line in (*SHOWN_FIRST, *VARIANTS, *methods(), *asked):
        assert read_pipeline(line).name == line
        assert line in state.offered
    assert len(state.offered) == len({*state.offered})


@pytest.fixture
def gated(monkeypatch):
    """A state whose runs yield an outcome and wait for their gate before the result; its gates, specs and folders."""
    runs = []

    def made(base, tokenizer, spec, *, folder, **_):
        runs.append(SimpleNamespace(gate=threading.Event(), spec=spec, folder=folder))
        mine = runs[-1]
        yield room.Compression(spec, None, {}, {}, 0.5, 1, 1, done=1)
        mine.gate.wait(30)
        yield room.Compression(spec, None, {}, {}, 0.5, 1, 1, done=2)

    monkeypatch.setattr(module, "compress", made)
    monkeypatch.setattr(module, "base_of_session", lambda session: (data().base, data().base.words))
    state = CompressStore(chosen=["int8"], seeds=1, workers=2)
    yield state, runs
    for run in runs:
        run.gate.set()
    state.end()


def test_a_run_that_was_stopped_gives_no_result_and_leaves_no_files(gated):
    state, runs = gated
    state.begin(SESSION)
    assert becomes(lambda: state.so_far)
    state.running.forget()
    first = state.running._thread
    state.begin(SESSION)
    assert first.is_alive(), "the page does not wait for what was stopped"
    assert becomes(lambda: len(runs) == 2)
    runs[0].gate.set()
    first.join(30)
    assert state.result is None and not runs[0].folder.exists() and runs[1].folder.exists()
    runs[1].gate.set()
    state.running.wait()
    assert isinstance(state.result, Compression) and runs[1].folder.exists()
    state.end()
    assert not runs[1].folder.exists()


def test_a_visit_among_others_compresses_in_one_process_and_in_its_turn(gated, tmp_path, monkeypatch):
    state, runs = gated
    monkeypatch.setattr(module, "spare", lambda _: 4)
    monkeypatch.setattr("widgets.state.app.CompressStore", lambda: state)
    store = Store(tmp_path, Quota(Turns(1, 60.0)))
    state.begin(SESSION)
    assert becomes(lambda: runs and state.running.in_line.trains)
    assert store.busy and runs[0].spec.workers == 1
    runs[0].gate.set()
    state.running.wait()
    assert not store.busy
    store.close()


def test_without_a_model_nothing_begins():
    state = CompressStore()
    state.begin(None)
    assert "There is no trained model yet" in state.trouble
    with pytest.raises(UserError, match="no finished compression yet"):
        state.file("compression.csv")


def test_the_result_comes_as_files(finished):
    assert finished.running.error is None
    rows = list(csv.DictReader(io.StringIO(finished.file("compression.csv").decode())))
    assert [row["pipeline"] for row in rows] == ["uncompressed", *finished.chosen]
    assert b'"details"' in finished.file("compression.json")
    finished.param.shown.objects = list(finished.result.outcomes)
    finished.shown = "head pruning"
    assert len(finished.file(FILE)) == finished.result.outcomes["head pruning"][0].size.file


def test_details_show_the_matrices_of_the_file(finished):
    finished.param.shown.objects = list(finished.result.outcomes)
    finished.shown = "quantization(bits=2)"
    outcome, cells = finished.details()
    assert set(cells) == {matrix.name for matrix in outcome.size.matrices}
    for matrix in outcome.size.matrices:
        shares = [share for line in cells[matrix.name] for share in line]
        assert sum(shares) / len(shares) == pytest.approx(1 - matrix.sparsity, abs=0.05)
    shown = drawn.matrix_maps(outcome.size.matrices, cells)
    assert "2 bits" in shown
    assert "8 bits" in shown
    assert "zeros" in shown


def test_the_frontier_and_the_meters_are_drawn_before_anything_is_timed(finished):
    [*events, last] = room.compress(
        data().base, data().base.words, replace(finished.result.spec, workers=1), task=finished.result.task
    )
    assert [event.done for event in events] == [*range(1, 9)]
    assert [len(event.outcomes) for event in events] == [1, 1, 2, 3, 4, 4, 4, 4]
    assert {len(some) for event in events[2:7] for some in event.outcomes.values()} == {1}, "the same seeds for all"
    facts = events[4].facts("it", "its")
    assert marks(drawn.frontier(facts)) == [(o.pipeline, o.accuracy) for o, *_ in last.outcomes.values()] * 2
    assert drawn.meters(facts).count("<svg") == 3 and drawn.table(facts).count("–") >= 8


def attention(record, name="encoder"):
    """The attention weights of a record, `[heads, queries x keys]` as bytes by layer."""
    weights = record["numbers"]["attention"][name]
    return {
        k: np.frombuffer(b64decode(data), np.uint8).reshape(weights["heads"], -1) for k, data in weights["data"].items()
    }


@pytest.fixture
def both(finished, tmp_path, monkeypatch):
    """A visit whose compression is finished, and what opens a pipeline of it on the Stage page."""
    monkeypatch.setattr("widgets.state.app.CompressStore", lambda: finished)
    store = Store(tmp_path)
    finished.param.shown.objects = list(finished.result.outcomes)

    def show(name):
        finished.shown = name
        store.show_compressed()
        return store.stage.record(whole=True)

    yield store, show
    finished.show_both = lambda: None


def test_both_models_stand_on_the_stage_with_the_same_text(both, finished):
    store, show = both
    store.page = Tab.COMPRESS
    record = show("quantization(bits=2)")
    assert (store.page, store.stage.view, store.stage.objective) == (0, "stage", "MLM")
    outcome = finished.result.outcomes["quantization(bits=2)"][0]
    flips = [*filter(lambda flip: flip.before == flip.right, outcome.flips), *outcome.flips]
    assert store.stage.text == (flips[0].text if flips else store.stage.model.sentence)
    first, second = record["records"]
    assert first["subtitle"] == "Uncompressed, fine-tuned on sentiment."
    assert second["subtitle"] == "quantization(bits=2)."
    assert first["frames"][-1]["lanes"] == second["frames"][-1]["lanes"]
    for each, name in ((first, "uncompressed"), (second, "quantization(bits=2)")):
        model = load(finished.result.outcomes[name][0].folder, finished.result.task).classifier.model
        [weights] = model.attention(store.stage.rebuilt.batch).values()  # [l, b, h, n, m]
        there = attention(each)
        for layer in range(2):
            assert np.array_equal(there[str(layer)], (weights[layer, 0] * 255).round().byte().flatten(1).numpy())
    assert not np.array_equal(attention(first)["1"], attention(second)["1"])


def test_the_second_model_follows_the_text_and_goes_with_a_comparison_or_the_model(both):
    store, show = both
    stage = store.stage
    remove, others = partial(loaded_model.attach, stage, None), lambda: setattr(stage, "compared", ["LM"])
    for leave in (partial(suggestions.compare, stage), others, remove):
        show("quantization(bits=2)")
        stage.text = "the film was good"
        assert [each["text"] for each in stage.record()["records"]] == ["the film was good".split()] * 2
        leave()
        assert all("quantization" not in each.get("subtitle", "") for each in stage.record().get("records", ()))
        stage.compared = []
        assert "records" not in stage.record()


def test_where_an_objective_cannot_read_the_text_the_last_picture_stays_as_it_was(both):
    store, show = both
    show("quantization(bits=2)")
    store.stage.param.update(objective="sentence permutation", text="one sentence")
    assert store.stage.trouble
    assert store.stage.record()["records"][1]["subtitle"] == "quantization(bits=2)."
    store.stage.text = "The film was good. The story was not."
    assert not store.stage.trouble
    assert [each["title"] for each in store.stage.record()["records"]] == ["sentence permutation"] * 2


def test_heads_that_were_cut_are_empty_and_the_others_stand_in_their_places(both, finished):
    _, show = both
    record = show("head pruning")
    cut = finished.result.outcomes["head pruning"][0].curves["heads cut"]
    second = attention(record["records"][1])
    empty = [[layer + 1, head + 1] for layer in range(2) for head in range(4) if not second[str(layer)][head].any()]
    assert empty == cut
    assert record["records"][1]["subtitle"].endswith("count as 0 in the mean of all heads.")


def test_a_student_with_fewer_layers_shows_the_nearest_one_next_to_each(both, finished):
    _, show = both
    first, second = show("small from scratch(text_steps=2, steps=2)")["records"]
    assert second["subtitle"].endswith("Its layers 1, 1 are shown next to layers 1, 2.")
    assert (
        first["numbers"]["attention"]["encoder"]["layers"] == second["numbers"]["attention"]["encoder"]["layers"] == 2
    )
    assert np.array_equal(*attention(second).values())


@pytest.mark.parametrize(
    ("groups", "layers"), [(((1, 2), (3, 4)), (0, 0, 1, 1)), (((4,), (1,)), (1, 1, 0, 0)), ((), (0, 1, 1, 1))]
)
def test_the_nearest_layer_is_that_of_the_map(groups, layers):
    made = Placement.of(groups, ((0, 1), (0, 1)), SimpleNamespace(layers=4, heads=2))
    assert made.layers == layers
    numbers = torch.arange(4).view(2, 2, 1, 1)
    assert made(numbers)[:, 0, 0, 0].tolist() == [int(numbers[k, 0, 0, 0]) for k in layers]


@pytest.mark.parametrize(("changed", "why"), [({"kept_ids": torch.arange(3)}, "knows fewer words"), ({}, "kind lstm")])
def test_a_model_that_cannot_read_the_same_text_says_why(both, finished, monkeypatch, changed, why):
    _, show = both
    plain = module.load

    def loaded(folder, task):
        made = plain(folder, task)
        if "head_pruning" in folder:
            made.classifier.kept_ids = changed.get("kept_ids")
            kind = made.classifier.model.shape.kind if changed else "lstm"
            made.classifier.model.shape = replace(made.classifier.model.shape, kind=kind)
        return made

    monkeypatch.setattr(module, "load", loaded)
    with pytest.raises(UserError, match=f"head pruning cannot be compared with the uncompressed model.*{why}"):
        show("head pruning")


def marks(picture):
    """The name and the score of each mark of a frontier."""
    found = re.findall(r"<title>([^<]*?): ([\d.]+) ±", picture)
    return [(unescape(name), pytest.approx(float(score), abs=5e-4)) for name, score in found]


def test_the_frontier_draws_every_pipeline_by_three_meters_and_dims_what_is_beaten(finished):
    facts = finished.facts()
    names = [*finished.result.outcomes]
    assert [name for name, _ in marks(drawn.frontier(facts))] == names * 3
    beaten = {**facts, "frontier": {"bytes": ["uncompressed"]}}
    shown = drawn.frontier(beaten)
    assert re.findall(r' opacity="([\d.]+)"><title>', shown) == ["1"] + [f"{drawn.FAINT}"] * 3
    taken = drawn.frontier_file(facts)
    assert taken.startswith("<svg") and marks(taken) == marks(drawn.frontier(facts))
    assert all(f">{name}</text>" in taken and f"</svg> {name}<" in shown for name in names)
    places = re.findall(r'<path d="M([\d.]+) [\d.]+V[\d.]+"/><g transform="translate\([\d.]+ ([\d.]+)\)', shown)
    x, y = zip(*(map(float, place) for place in places), strict=True)
    costs = [row["bytes"] for row in facts["pipelines"]]
    assert [(each - drawn.EDGE) / (x[0] - drawn.EDGE) for each in x] == pytest.approx(
        [cost / costs[0] for cost in costs], abs=0.01
    )
    scores = [row["accuracy"]["mean"] for row in facts["pipelines"]]
    assert sorted(range(4), key=lambda k: (-y[k], k)) == sorted(range(4), key=lambda k: (scores[k], k))


def test_the_pictures_hold_the_numbers_of_the_facts(finished):
    facts = finished.facts()
    table, meters = drawn.table(facts), drawn.meters(facts)
    for row in facts["pipelines"]:
        assert f"{row['parameters']:,}" in table
        assert f"{row['accuracy']['mean']:.3f}" in table
    assert meters.count("<svg") == 5
    share = facts["pipelines"][2]["bytes"] / facts["pipelines"][0]["bytes"]
    assert f"{share:.0%}" in meters
    heads = drawn.heads(finished.result.outcomes["head pruning"][0].curves)
    assert heads.count(">cut<") == 4


def test_a_notebook_compresses_too(monkeypatch, tmp_path):
    monkeypatch.setattr(room, "TEST_TEXTS", 20)
    model = notebook.train("RoBERTa", reviews(), steps=3, batch_size=4, seq_len=16, width=16, heads=2)
    made = notebook.compress(model, ["layer dropping(steps=2), int8"], train_size=8, seeds=2, steps=2, out=tmp_path)
    assert [row["name"] for row in made.facts["pipelines"]] == ["uncompressed", "layer dropping(steps=2) + int8"]
    assert made.details("layer dropping(steps=2) + int8").classifier.model.shape.layers == 1
    assert "What changed: layer dropping(steps=2) + int8" in made._repr_html_()
    assert "predictions in held-out text" in made._repr_html_()
    assert (tmp_path / "compression.csv").exists()
    with pytest.raises(UserError, match="There is no pipeline 'int8'"):
        made.details("int8")


def test_lost_words_are_drawn_with_their_counts_and_losses():
    lost = LostWords(14, 2, 1, 30, 20, (LostWord("<film>", 4, 1.0, 5.0, 0.25),))
    shown = drawn.lost_words(lost)
    assert re.findall("<td>(.*?)</td>", shown) == ["&lt;film&gt;", "4", "1.00", "5.00", "+4.00 ± 0.25"]
    assert "Of 14 predictions in held-out text, 2 became wrong and 1 became right." in shown
    assert "Of 30 words that are asked for at least 3 times, the loss of 20 rose" in shown
    assert "<td>" not in drawn.lost_words(LostWords(14))
    without = drawn.lost_words(LostWords(words=(LostWord("film", 4),), note="5 words have no vector any more."))
    assert re.findall("<td>(.*?)</td>", without) == ["film", "4"] and "5 words have no vector" in without


def test_at_each_speed_texts_leave_where_their_head_is_sure():
    texts = [{"text": text, "right": "good", "uncertainty": sure, "answers": ["bad", "good"]}
             for text, sure in (("slow", [0.9, 0.8]), ("fast", [0.2, 0.1]))]  # fmt: skip
    curve = {"speed": 0.5, "speeds": [0.0, 0.5, 1.0], "accuracy": [1.0, 0.5, 0.0], "layers_used": [2.0, 1.5, 1.0],
             "operations": [8.0, 6.0, 4.0], "texts": texts}  # fmt: skip

    def rows(speed=None):
        cells = re.findall("<td>(.*?)</td>", drawn.exits({"speed": curve}, speed))
        return [tuple(cells[k : k + 5]) for k in range(0, len(cells), 5)]

    fast = ("fast", "1", "good", "bad ✗", "0.20")
    assert rows() == [fast, ("slow", "2", "good", "good ✓", "0.90, 0.80")]
    assert rows(1.0) == [("slow", "1", "good", "bad ✗", "0.90"), fast]
    assert [row[1] for row in rows(0.0)] == ["2", "2"]
    shown = drawn.exits({"speed": curve}, 0.52)
    assert "At speed 0.50 the accuracy is 0.500; on average a text uses 1.50 of 2 layers and 75% of" in shown
    assert shown.count("<circle") == 3
    assert drawn.exits({}) == ""


def test_a_matrix_is_named_by_its_place():
    for name, place in {
        "token_embedding.weight": "embedding", "network.embedding_projection.weight": "embedding_projection",
        "network.encoder.blocks.0.mlp.fc1.weight": "layer 1 mlp.fc1",
        "network.decoder.blocks.1.cross_attn.out.weight": "decoder layer 2 cross_attn.out",
        "backward_network.encoder.blocks.0.backward_rnn.weight_ih_l0": "backward layer 1 backward_rnn.weight_ih_l0",
    }.items():  # fmt: skip
        assert f">{place}<" in drawn.matrix_maps([drawn.WeightMatrix(name, (2, 2), 0.0, 32)], {name: [[1.0]]})


def test_layers_planks_and_flips_are_drawn():
    assert drawn.layer_mapping([(1, 2), (3, 4)], 4).count("<path") == 4
    assert "No layer" in drawn.layer_mapping([], 2)
    planks = drawn.planks({"planks": [[False, True], [True, True]], "chance": [0.5, 1.0]})
    heat = planks[planks.index("Modules replaced") :]
    assert re.findall(r'fill-opacity="([\d.]+)"', heat) == ["1.000", "0.000", "1.000", "0.500", "1.000"]
    frames = dict(re.findall(r"@keyframes (\S+?){((?:[^}]*})*?)}", planks))
    assert frames["new-0"] == "0.00%{opacity:0}50.00%{opacity:1}" and frames["old-1"].count("opacity:0") == 2
    assert drawn.planks({}) == ""
    flip = drawn.Flip("<b>bad</b> film", "bad", "bad", "good")
    shown = drawn.flips([flip], 3, ("bad", "good"))
    assert "&lt;b&gt;bad" in shown
    assert "bad ✓" in shown
    assert "good ✗" in shown
    assert "no answer can flip" in drawn.flips([], 0, ())
