"""Pipelines over seeds: resumed, in processes, on the frontier, and as files."""

import csv
import io
import json
from dataclasses import asdict, replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from playground.compression import compare as room
from playground.compression import read_pipeline
from playground.compression.classifier import fine_tuned, score_all
from playground.compression.compare import Compression, CompressionSpec, Outcome, compress, read_outcome
from playground.compression.grids import round_activations
from playground.compression.lost_words import LostWord, LostWords
from playground.compression.meters import Latency, Size, WeightMatrix, operations
from playground.compression.report import FILES, CompressionReport
from playground.compression.storage import FILE, WORDS, export_folder, load, not_in_a_folder, pack
from playground.errors import UserError
from playground.finetuning import find_task
from playground.finetuning.tasks.sentiment import SENTIMENT
from playground.tokenizing import tokenizer_json
from tests import json_keys
from tests.compressing import compressed, data, quick, teacher
from tests.runs import learner_of

SPEC = CompressionSpec(
    pipelines=("head pruning, int8", "quantization(bits=1)"), seeds=2, train_size=12, steps=3,
)  # fmt: skip


@pytest.fixture(autouse=True)
def _few_texts(monkeypatch):
    monkeypatch.setattr(room, "TEST_TEXTS", 40)


def run(folder=None, spec=SPEC, resume=False):
    known = data()
    return list(compress(known.base, known.base.words, spec, task=known.task, folder=folder, resume=resume))


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    """One comparison with its files."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(room, "TEST_TEXTS", 40)
        folder = tmp_path_factory.mktemp("compressed")
        return folder, run(folder)[-1]


def test_a_pipeline_says_where_it_reads_fewer_further_texts_than_it_asks_for():
    known = data()
    task = replace(known.task, name="few", examples=20)
    spec = CompressionSpec(pipelines=("distillation(unlabelled=32, steps=2)",), seeds=1, train_size=12, steps=2)
    *_, last = compress(known.base, known.base.words, spec, task=task)
    [line] = [line for line in last.facts("RoBERTa", "reviews")["notices"] if "additional" in line]
    assert line.endswith("): 20 additional texts are read, as there are fewer than the 32 asked for.")


def test_the_uncompressed_model_comes_first_and_keeps_everything(result):
    facts = result[1].facts("RoBERTa", "reviews")
    assert [row["name"] for row in facts["pipelines"]] == [
        "uncompressed",
        "head pruning + int8",
        "quantization(bits=1)",
    ]
    first = facts["pipelines"][0]
    assert first["flipped"]["values"] == [0.0, 0.0]
    assert facts["chance"] == pytest.approx(0.5, abs=0.2)
    for row in facts["pipelines"]:
        assert len(row["accuracy"]["values"]) == 2
        assert set(row["latency"]) == {"1", "32"}
        for each in row["latency"].values():
            assert 0 < each["low"] <= each["median"] <= each["high"]
    pairs = [(gap["name"], gap["against"]) for gap in facts["against_uncompressed"]]
    assert pairs == [("head pruning + int8", "uncompressed"), ("quantization(bits=1)", "uncompressed")]


def test_the_meters_say_what_shrinks(result):
    whole, cut, rounded = result[1].facts("RoBERTa", "reviews")["pipelines"]
    assert rounded["bytes"] < whole["bytes"]
    assert rounded["operations"] == whole["operations"]
    assert rounded["parameters"] == whole["parameters"]
    assert cut["operations"] < whole["operations"]
    assert cut["parameters"] < whole["parameters"]


def test_every_model_can_be_taken_away_and_scores_as_was_said(result):
    _, made = result
    for name, some in made.outcomes.items():
        back = load(some[0].folder, made.task)
        assert " + ".join(back.methods) == ("" if name == "uncompressed" else name)
        test = find_task("sentiment").load(data().base.words, 40, 0, "test")
        assert test.answer.measure(score_all(back.classifier, test), test.labels)["accuracy"] == some[0].accuracy
        text = (Path(some[0].folder) / WORDS).read_text(encoding="utf-8")
        assert tokenizer_json.from_json(text).words == data().base.words.words


def test_a_run_that_was_killed_goes_on_where_it_was(result, monkeypatch):
    folder, made = result
    lines = (folder / room.PipelineRecord.file).read_text(encoding="utf-8").splitlines()
    (folder / room.PipelineRecord.file).write_text("\n".join([*lines[:-1], lines[-1][:40]]), encoding="utf-8")
    fresh = []
    monkeypatch.setattr(room, "trial", lambda *job, trial=room.trial: fresh.append(job[1]) or trial(*job))
    again = run(folder, resume=True)[-1]
    assert len(fresh) == 1
    for name, some in made.outcomes.items():
        for one, other in zip(some, again.outcomes[name], strict=True):
            assert replace(other, seconds=one.seconds, layers=one.layers, curves=one.curves) == one


def test_an_outcome_is_read_as_it_was_written(result):
    lost = LostWords(14, 2, 1, 3, 2, (LostWord("film", 4, 1.0, 5.0, 0.5), LostWord("bad", 3)), "two words")
    outcome = replace(result[1].outcomes["head pruning + int8"][0], curves={}, lost_words=lost)
    assert read_outcome(json.loads(json.dumps(asdict(outcome)))) == outcome


def test_trials_are_run_again_where_their_labels_changed_or_their_files_were_overwritten(tmp_path, monkeypatch):
    fresh, spec = [], replace(SPEC, pipelines=("head pruning",), seeds=1, steps=1)
    monkeypatch.setattr(room, "trial", lambda *job, trial=room.trial: fresh.append(job[1][0].name) or trial(*job))

    def again(**changed):
        fresh.clear()
        run(tmp_path, replace(spec, **changed), resume=True)
        return list(fresh)

    assert len(again()) == 2 and not again()
    assert len(again(steps=2)) == 2 and len(again()) == 2
    given = data().task.load(data().base.words, 12, 0, "train")
    other = replace(given, labels=1 - given.labels)
    monkeypatch.setattr(room, "texts_for", lambda *_: lambda *_: other)
    assert len(again()) == 2
    monkeypatch.setattr(room, "texts_for", lambda *_: lambda *_: given)
    assert len(again()) == 2


def test_flipped_answers_are_told_in_words(result):
    _, made = result
    for some in made.outcomes.values():
        for outcome in some:
            assert len(outcome.flips) <= outcome.flipped
            assert all(flip.before != flip.after and flip.text for flip in outcome.flips)
            assert {flip.right for flip in outcome.flips} <= {"good", "bad"}


def test_the_files_hold_the_facts(result):
    _, made = result
    facts = made.facts("RoBERTa", "reviews")
    rows = list(csv.DictReader(io.StringIO(FILES["compression.csv"](made, facts).decode())))
    assert [row["pipeline"] for row in rows] == list(made.outcomes)
    assert float(rows[1]["bytes"]) == facts["pipelines"][1]["bytes"]
    report = json_keys.check(FILES["compression.json"](made, facts).decode(), CompressionReport)
    assert {m["bits"] for m in report["details"]["quantization(bits=1)"]["matrices"]} == {1, 8}


def outcome(name, accuracies, weight, parameters=10):
    """Outcomes with such scores and bytes."""
    held = Size(parameters, parameters, weight, weight, (WeightMatrix("a", (1, 1), 0.0, 32),))
    rest = (1.0, held, float(weight), 2.0, 0, (), LostWords(), (), {}, 1.0, "")
    return tuple(
        Outcome(name, seed, accuracy, {"accuracy": accuracy}, *rest) for seed, accuracy in enumerate(accuracies)
    )


def comparison(**named):
    """A comparison of made-up outcomes: accuracies and bytes."""
    outcomes = {name: outcome(name, *values) for name, values in named.items()}
    latency = Latency(median=1.0, low=0.9, high=1.1, share=1.0, share_low=1.0, share_high=1.0)
    seconds = {name: {1: latency, 32: latency} for name in outcomes}
    return Compression(SPEC, SENTIMENT, outcomes, seconds, 0.5, 500, 500, 1.0)


def test_nothing_inside_the_noise_is_pushed_off_the_frontier():
    good, alike, bad = [0.90, 0.91, 0.92, 0.90], [0.91, 0.90, 0.91, 0.92], [0.70, 0.71, 0.73, 0.71]
    made = comparison(uncompressed=(good, 100), int8=(alike, 25), pruning=(bad, 50), Theseus=(bad, 10))
    assert made.frontier("bytes") == ["uncompressed", "int8", "Theseus"]
    assert set(made.frontier("seconds")) == {"uncompressed", "int8"}


def test_what_is_kept_is_paired_by_seed():
    made = comparison(uncompressed=([0.9, 0.7], 100), int8=([0.8, 0.65], 25))
    kept = made.kept("int8")
    assert kept["mean"] == pytest.approx(0.75)
    assert kept["low"] == pytest.approx(kept["high"]) == pytest.approx(0.75)
    noisy = comparison(uncompressed=([0.9, 0.7], 100), int8=([0.9, 0.6], 25)).kept("int8")
    assert noisy["mean"] == pytest.approx(5 / 6)
    assert noisy["low"] == pytest.approx(5 / 6 - 12.706 * 2 / 9, abs=1e-3)


def test_nothing_is_kept_of_a_model_that_guesses():
    """Two of 500 texts above chance are noise, and so is a share of them; a seed below chance is not left out."""
    for guessing in ([0.5], [0.504, 0.504], [0.4, 0.604]):
        made = comparison(uncompressed=(guessing, 100), int8=([0.53] * len(guessing), 25))
        assert made.kept("int8") == {"mean": None, "low": None, "high": None}
    some = comparison(uncompressed=([0.9, 0.48], 100), int8=([0.7, 0.5], 25)).kept("int8")
    assert some["mean"] == pytest.approx(0.2 / 0.38)


def test_a_measure_without_a_chance_level_has_none_that_guesses():
    made = comparison(uncompressed=([0.0, 0.0, 0.0], 100), int8=([0.0, 0.0, 0.0], 25))
    made = replace(made, task=find_task("similarity"), chance=0.0)
    verdict = made.facts("RoBERTa", "reviews")["verdict"]
    assert made.judged["int8", "uncompressed"]["at_chance"] is None and "guessing" not in verdict


def test_a_compressed_model_is_held_against_a_small_one_of_its_size():
    high, low = [0.90, 0.91, 0.92, 0.90], [0.70, 0.71, 0.73, 0.71]
    made = comparison(
        uncompressed=(high, 100, 100), **{"small from scratch": (low, 50, 50), "DistilBERT": (high, 50, 50)}
    )
    [gap] = made.facts("RoBERTa", "reviews")["against_baselines"]
    assert (gap["name"], gap["against"], gap["said"]) == ("DistilBERT", "small from scratch", "better")


def test_what_cannot_be_compared_is_refused():
    for wrong, sentence in (
        ({"pipelines": ()}, "No pipeline is named"), ({"train_size": 1}, "train_size is 1; it must lie between 2 and"),
        ({"steps": 0}, "steps is 0"), ({"seeds": 0}, "seeds is 0"), ({"workers": -1}, "workers is -1"),
        ({"pipelines": tuple(f"quantization(bits={b})" for b in range(1, 15))}, "14 pipelines are named"),
    ):  # fmt: skip
        with pytest.raises(UserError, match=sentence):
            run(spec=replace(SPEC, **wrong))
    assert replace(SPEC, pipelines=()).power == "", "nothing can be found where nothing is compared"
    with pytest.raises(UserError, match="asks for a text to be written"):
        list(compress(data().base, data().base.words, SPEC, task=find_task("summary")))


def test_a_file_that_is_damaged_or_of_another_task_is_refused(result, tmp_path):
    _, made = result
    position = made.outcomes["uncompressed"][0].folder
    with pytest.raises(UserError, match="There is no compressed model at"):
        load(tmp_path, made.task)
    with pytest.raises(UserError, match="gives 2 scores, and 'topic' needs"):
        load(position, find_task("topic"))
    (tmp_path / FILE).write_bytes((Path(position) / FILE).read_bytes()[:-9])
    with pytest.raises(UserError, match="is damaged"):
        load(tmp_path, made.task)
    tensors, header = pack(compressed("low rank"))
    lacking = next(name for name in tensors if name.endswith("up.bias"))
    tensors = {name: value for name, value in tensors.items() if name != lacking}
    save_file(tensors, tmp_path / FILE, metadata={"compressed": json.dumps(header)})
    with pytest.raises(UserError, match="is damaged"):
        load(tmp_path, made.task)


def test_operations_are_counted_as_products():
    """The matrix products of one layer by hand: projections, scores, values, MLP, and the task's head."""
    known, made = data(), compressed("layer dropping").classifier
    texts = known.test.pick(torch.arange(4))
    length, width = texts.tokens.ids.shape[1], 16
    layer = 2 * length * width * width * 4 + 2 * 2 * length * length * width + 2 * length * width * 4 * width * 2
    assert operations(made, texts) == layer + 2 * width * 2
    assert operations(teacher(), texts) == 2 * layer + 2 * width * 2


def test_a_model_whose_parts_were_cut_is_no_hugging_face_folder(tmp_path):
    with pytest.raises(UserError, match="was cut or factorised"):
        export_folder(compressed("head pruning"), data().base.words, tmp_path / "hf")
    with pytest.raises(UserError, match="some were left out"):
        export_folder(compressed("smaller vocabulary"), data().base.words, tmp_path / "hf")


def test_a_student_in_the_published_form_is_a_hugging_face_folder(tmp_path):
    learner = learner_of("RoBERTa", model={"layers": 2, "heads": 2})
    known = replace(data(), base=replace(data().base, learner=learner))
    whole = fine_tuned(known.base, known.train, 2, 4, 0)
    made = quick("soft targets").apply(whole, known)
    family = export_folder(made, known.base.words, tmp_path / "hf", "RoBERTa")
    assert family.name == "RoBERTa"
    assert json.loads((tmp_path / "hf" / "config.json").read_text(encoding="utf-8"))["num_hidden_layers"] == 1


def test_what_a_hugging_face_folder_leaves_out_is_said():
    assert not_in_a_folder(compressed("layer dropping").classifier) == ""
    assert not_in_a_folder(compressed("int8").classifier) == "the rounding of activations to 8 bits"
    made = compressed("early exit").classifier
    round_activations(made, 4)
    exits = len(made.exits)
    assert not_in_a_folder(made) == f"the rounding of activations to 4 bits and its {exits} early exits"


@pytest.mark.slow
@pytest.mark.parametrize("gone", [False, True])
def test_processes_threads_and_company_leave_the_numbers(gone):
    known = data()
    base = replace(known.base, rehearsal=None if gone else lambda: known.base.held_out, memory={})

    def numbers(*lines, workers):
        spec = replace(SPEC, pipelines=lines, workers=workers)
        *_, last = compress(base, base.words, spec, task=known.task)
        return {(name, o.seed): (o.accuracy, o.pretraining_loss) for name, some in last.outcomes.items() for o in some}

    alone = numbers(*SPEC.pipelines, workers=1)
    torch.set_num_threads(2)
    try:
        assert numbers(*SPEC.pipelines[::-1], "int8", workers=2).items() >= alone.items()
        assert torch.get_num_threads() == 2, "as it was"
    finally:
        torch.set_num_threads(1)


def test_a_pipeline_has_one_name_however_it_is_written():
    assert read_pipeline("DQ(granularity=tensor)").name == read_pipeline("int8( granularity = tensor )").name
