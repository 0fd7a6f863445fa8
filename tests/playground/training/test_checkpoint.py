"""Checkpoints: whole or not at all, without code in them, and every way to go wrong is a sentence."""

import ctypes
import errno
import gc
import json
import random
from dataclasses import replace

import pytest
import torch
from safetensors.torch import load_file, save_file

from playground.corpora import from_pasted
from playground.errors import UserError
from playground.objectives import objectives
from playground.training import checkpoint, train
from playground.training.data import BatchSampler
from playground.training.fork import fork
from tests.playground.test_slicing import assert_same
from tests.runs import alone, each_kind, held_out, losses, reviews, run_of, suited_reviews, tiny

FILE = "checkpoint.safetensors"


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """The folder of a run of four steps."""
    folder = tmp_path_factory.mktemp("run")
    list(train(run_of(steps=4, out=folder)))
    return folder


@pytest.fixture
def saved(trained, tmp_path):
    """A copy of its checkpoint, to be spoiled."""
    copy = tmp_path / FILE
    copy.write_bytes((trained / FILE).read_bytes())
    return copy


def rewrite(path, tensors=None, **changed):
    """The same checkpoint with another header, or other tensors."""
    about, old = checkpoint.read(path)
    save_file(old if tensors is None else tensors, path, metadata={"playground": json.dumps(about | changed)})


def refused(path):
    """The sentence with which a checkpoint is refused."""
    with pytest.raises(UserError) as caught:
        checkpoint.load(path)
    said = str(caught.value)
    assert "\n" not in said
    assert said.endswith(".")
    return said


# what is in it


def test_it_is_a_safetensors_file_and_nothing_else(trained):
    content = (trained / FILE).read_bytes()
    length = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + length])
    about = json.loads(header.pop("__metadata__")["playground"])
    assert max(part["data_offsets"][1] for part in header.values()) == len(content) - 8 - length
    assert {name.split(".")[0] for name in header} == {"model", "optimiser", "held_out"}
    assert (about["format"], about["entry"], about["step"]) == (checkpoint.FORMAT, "RoBERTa", 4)
    assert {"version", "architecture", "recipe", "knobs", "seed", "corpus"} <= set(about)
    assert [p.name for p in trained.iterdir()] == [FILE], "nothing is left beside it"


def test_another_program_can_read_its_weights(trained):
    weights = load_file(trained / FILE)
    model = checkpoint.load(trained).learner.model
    assert all(torch.equal(weights[f"model.{name}"], value) for name, value in model.state_dict().items())


@each_kind
def test_everything_about_a_learner_comes_back(name, tmp_path):
    run = run_of(name, steps=3, seed=7, out=tmp_path)
    first, *_ = train(run)
    back = checkpoint.load(tmp_path).learner
    assert (back.step, back.tokens, back.seed) == (3, 3 * 8 * 16, 7)
    assert back.seconds == first.learner.seconds > 0
    assert (back.entry.model, back.entry.recipe) == (run.entry.model, run.entry.recipe)
    assert back.entry.objective == run.entry.objective
    for one, other in zip(back.optimisers, first.learner.optimisers, strict=True):
        assert type(one) is type(other)
        assert one.param_groups[0]["full_rate"] == other.param_groups[0]["full_rate"]
        ours, theirs = one.state_dict()["state"], other.state_dict()["state"]
        assert ours.keys() == theirs.keys()
        for index in ours:
            assert ours[index].keys() == theirs[index].keys()
            assert all(torch.equal(ours[index][k], theirs[index][k]) for k in ours[index])


def test_knobs_of_the_objective_come_back(tmp_path):
    entry = tiny("ELECTRA")
    knobs = {"mask_ratio": 0.45, "weight": 7.0}
    list(train(run_of(entry=replace(entry, objective=entry.objective.turn(knobs)), steps=1, out=tmp_path)))
    back = checkpoint.load(tmp_path).learner.entry.objective.knobs
    assert {name: back[name].default for name in knobs} == knobs


def learned(tied):
    """ELECTRA with learned positions, whose generator has so much in common with the detector."""
    return tiny("ELECTRA", {"positions": "learned", "generator_ratio": 1.0, "tie_generator": tied})


@pytest.mark.parametrize("tied", ["none", "table", "embeddings", "gradient-disentangled", "all"])
def test_what_generator_and_detector_share_is_saved_once_and_goes_on_exactly(tied, tmp_path):
    entry = learned(tied)
    whole = list(train(run_of(entry=entry, steps=6)))
    list(train(run_of(entry=entry, steps=3, out=tmp_path)))
    names = load_file(tmp_path / FILE)
    assert ("model.generator.position_embedding.weight" in names) is (tied not in ("embeddings", "all"))
    assert ("model.token_embedding.delta" in names) is (tied == "gradient-disentangled")
    assert any(name.startswith("model.generator.") for name in names) is (tied != "all")
    rest = list(train(run_of(entry=entry, steps=6), checkpoint.load(tmp_path).learner))
    assert losses(rest) == losses(whole)[3:]


def test_a_fork_of_gradient_disentangled_tables_goes_on_exactly():
    run = run_of(entry=learned("gradient-disentangled"), steps=6)
    whole = list(train(run))
    started, *_ = train(replace(run, steps=3))
    forked = fork(run, started.learner)
    assert forked.step == 3 and bool(forked.learner.model.token_embedding.delta.any())
    assert losses(train(forked.run, forked.learner)) == losses(whole)[3:]


WORDS = 'naïve “quotes” 我们 😀 <script>alert(1)</script> [MASK] \\ don\'t "so" end. '


@pytest.mark.parametrize("kind", ["word", "bpe"])
def test_the_tokenizer_comes_back(kind, tmp_path):
    corpus = from_pasted(WORDS * 40, kind=kind, size=200)
    list(train(run_of(entry=tiny(seq_len=8, batch_size=2), corpus=corpus, steps=1, out=tmp_path)))
    back = checkpoint.load(tmp_path).tokenizer
    assert back == corpus.tokenizer
    assert back.encode(WORDS) == corpus.tokenizer.encode(WORDS)


def test_the_corpus_is_remembered_with_its_held_out_rows(trained):
    corpus, studied = reviews(), checkpoint.load(trained).corpus
    assert (studied.name, studied.hash, studied.unigram_entropy) == (corpus.name, corpus.hash, corpus.unigram_entropy)
    rows = BatchSampler.of(corpus, 16, 8, 0, torch.device("cpu")).evaluation()
    for name in checkpoint.HELD_OUT:
        assert torch.equal(getattr(studied.held_out, name), getattr(rows, name))
    assert studied.held_out.vocabulary == corpus.tokenizer.words


def test_forgetting_can_be_measured_from_the_file_alone(trained):
    saved = checkpoint.load(trained)
    here = held_out(train(run_of(steps=4)))[-1][1]
    assert next(iter(saved.learner.evaluate(saved.corpus.held_out).values())) == here


@pytest.mark.parametrize("name", ["NSP", "SOP", "TLM"])
def test_second_texts_and_labels_of_the_held_out_rows_come_back(name, tmp_path):
    objective = objectives()[name]
    entry, corpus = alone(objective), suited_reviews(objective)
    here = held_out(train(run_of(entry=entry, corpus=corpus, steps=2, out=tmp_path)))[-1][1]
    saved = checkpoint.load(tmp_path)
    rows = BatchSampler.of(corpus, 16, 8, 0, torch.device("cpu"), objective.needs).evaluation()
    assert_same(saved.corpus.held_out, rows)
    assert next(iter(saved.learner.evaluate(saved.corpus.held_out).values())) == here


def test_a_folder_or_a_file_may_be_named(trained):
    assert checkpoint.load(trained).learner.step == checkpoint.load(str(trained / FILE)).learner.step == 4


# what can be wrong with it


@pytest.mark.parametrize("path", ["nowhere", f"nowhere/{FILE}", "", "a" * 5000, "**", "a\0b"])
def test_a_missing_checkpoint_is_a_sentence(path, tmp_path):
    (tmp_path / "other").mkdir()
    assert "There is no checkpoint at" in refused(tmp_path / path)


def test_a_folder_of_several_seeds_names_the_runs_in_it(tmp_path):
    for seed in (1, 0):
        (tmp_path / f"PLM-world-seed{seed}").mkdir()
        (tmp_path / f"PLM-world-seed{seed}" / FILE).touch()
    names = f"{tmp_path}/PLM-world-seed0, {tmp_path}/PLM-world-seed1"
    assert f"name one of the runs in it: {names}, as printed" in refused(tmp_path)


@pytest.mark.parametrize("kept", [0, 1, 7, 8, 9, 200, 0.5, 0.99, -1])
def test_a_checkpoint_cut_short_is_a_sentence(kept, saved):
    content = saved.read_bytes()
    saved.write_bytes(content[: int(kept * len(content)) if isinstance(kept, float) else kept])
    assert f"{saved} is damaged or cut short" in refused(saved)


@pytest.mark.parametrize("content", [b"hello", b"\0" * 4096, b'{"a": 1}', random.Random(0).randbytes(10_000)])
def test_garbage_is_a_sentence(content, saved):
    saved.write_bytes(content)
    assert "is damaged or cut short" in refused(saved)


@pytest.mark.parametrize("metadata", ["[1, 2]", '"text"', "3", "null", "[" * 100_000, '{"a":' * 2_000])
def test_metadata_that_is_no_object_is_a_sentence(metadata, saved):
    save_file(checkpoint.read(saved)[1], saved, metadata={"playground": metadata})
    assert "is damaged or cut short" in refused(saved)


def test_weights_of_another_program_are_a_sentence(saved):
    save_file({"weight": torch.zeros(3)}, saved)
    assert "has format none" in refused(saved)


OTHER_FORMAT = f"this version reads format {checkpoint.FORMAT}; train again."
HEADERS = [
    *(({"format": other}, f"has format {other}; {OTHER_FORMAT}") for other in (0, 1, 2, 99, "1", None)),
    ({"entry": "Nobody"}, "no entry named 'Nobody'"),
    ({"architecture": {"layers": 1, "invented": 3}}, ""),
    ({"recipe": {"steps": 5, "invented": 3}}, ""),
    ({"knobs": {"invented": 3}}, ""),
    ({"tokenizer": {}}, ""),
    ({"corpus": []}, ""),
    ({"step": [4]}, "step is [4]"),
    ({"step": -1}, "step is -1"),
    ({"step": 2**62}, "step is 4611686018427387904"),
    ({"tokens": "many"}, "tokens is 'many'"),
    ({"scored": {}}, "scored is {}"),
    ({"seconds": float("nan")}, "seconds is nan"),
    ({"seed": 1.5}, "seed is 1.5"),
    ({"corpus": ["a", "b", "c"]}, "unigram entropy is 'c'"),
    ({"corpus": ["a", "../b", 1.0]}, "the hash of its corpus is '../b'"),
]


@pytest.mark.parametrize(("changed", "named"), HEADERS)
def test_a_header_with_a_wrong_value_is_a_sentence_that_names_it(changed, named, saved):
    rewrite(saved, **changed)
    assert named in refused(saved)


@pytest.mark.parametrize(
    ("part", "knob", "value"),
    [
        ("architecture", "width", 10**9), ("architecture", "layers", 10**9), ("architecture", "mlp_ratio", 10**9),
        ("architecture", "width", "16"), ("architecture", "heads", True), ("architecture", "kind", "huge"),
        ("recipe", "batch_size", [8]), ("recipe", "lr", float("nan")), ("recipe", "seq_len", 0),
        ("recipe", "steps", -1),
    ],
)  # fmt: skip
def test_a_shape_or_a_recipe_that_cannot_be_is_refused_before_memory_is_asked_for(part, knob, value, saved):
    about, _ = checkpoint.read(saved)
    rewrite(saved, **{part: about[part] | {knob: value}})
    said = refused(saved)
    assert f"{knob} is {value!r}" in said or "weights or more, the file" in said


def filled(first):
    """The same tensor with a number out of range."""

    def fill(tensor):
        tensor.flatten()[0], tensor.flatten()[-1] = first, 0
        return tensor

    return fill


TENSORS = [
    ("model.token_embedding.weight", None),
    ("held_out.ids", None),
    ("model.token_embedding.weight", lambda t: torch.zeros(2, 2)),
    ("held_out.ids", filled(2**62)),
    ("held_out.ids", filled(-1)),
    ("held_out.word_ids", filled(2**62)),
    ("held_out.sentence_ids", filled(-5)),
    ("held_out.lengths", filled(17)),
    ("held_out.word_counts", filled(-1)),
    ("held_out.ids", lambda t: t.float()),
    ("held_out.ids", lambda t: t[:0]),
    ("held_out.lengths", lambda t: t[:1]),
    ("held_out.word_ids", lambda t: t.int()),
    ("held_out.word_counts", lambda t: t[:3]),
    ("optimiser.0.0.momentum_buffer", lambda t: t.flatten()),
    ("optimiser.1.0.step", lambda t: t.expand(3).clone()),
    ("optimiser.1.0.exp_avg", lambda t: t.long()),
]


@pytest.mark.parametrize(("name", "change"), TENSORS)
def test_a_tensor_that_is_missing_or_cannot_be_is_a_sentence(name, change, saved):
    _, tensors = checkpoint.read(saved)
    old = tensors.pop(name)
    rewrite(saved, tensors if change is None else tensors | {name: change(old).contiguous()})
    unfit = change is None or name.startswith("model.")
    assert ("does not fit version" if unfit else name.split(".")[-1]) in refused(saved)


# where it cannot be written


def keep(folder, steps=4):
    return list(train(run_of(steps=steps, save_every=2, out=folder)))


def test_a_folder_that_cannot_be_is_a_sentence(tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(UserError, match=r"The checkpoint could not be written to .*file.*: Not a directory\."):
        keep(tmp_path / "file" / "run")


@pytest.mark.parametrize("name", [FILE, "checkpoint.writing"])
def test_a_folder_in_the_way_of_the_file_is_a_sentence(name, tmp_path):
    (tmp_path / name / "inside").mkdir(parents=True)
    with pytest.raises(UserError, match="could not be written"):
        keep(tmp_path)


def test_a_full_disk_is_a_sentence_and_leaves_the_old_checkpoint(monkeypatch, tmp_path):
    keep(tmp_path)
    old = (tmp_path / FILE).read_bytes()

    def full(tensors, path, metadata):
        path.write_bytes(b"half of it")
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(checkpoint, "save_file", full)
    with pytest.raises(UserError, match="No space left on device"):
        keep(tmp_path, steps=6)
    assert (tmp_path / FILE).read_bytes() == old


@pytest.mark.parametrize("ending", [KeyboardInterrupt, SystemExit, MemoryError])
@pytest.mark.parametrize("moment", ["save_file", "os.replace"])
def test_an_interrupted_write_leaves_the_old_checkpoint(monkeypatch, tmp_path, ending, moment):
    keep(tmp_path)
    old = (tmp_path / FILE).read_bytes()

    def interrupted(*_, **__):
        raise ending

    with monkeypatch.context() as patch:
        patch.setattr(f"playground.training.checkpoint.{moment}", interrupted)
        with pytest.raises(ending):
            keep(tmp_path, steps=6)
    assert (tmp_path / FILE).read_bytes() == old
    assert checkpoint.load(tmp_path).learner.step == 4
    keep(tmp_path, steps=6)
    assert checkpoint.load(tmp_path).learner.step == 6, "what is left of the interrupted write is in nobody's way"


def test_a_file_leaves_nothing_behind_in_the_process(tmp_path):
    def kept():
        gc.collect()
        return sum(issubclass(each, ctypes._Pointer) for each in gc.get_objects() if isinstance(each, type))

    write = lambda size: checkpoint.write_whole(tmp_path / "a.safetensors", {"a": torch.arange(size)}, {})  # noqa: E731
    write(4)
    before = kept()
    for size in range(10_001, 10_009):
        write(size)
    assert kept() == before, "the types of arrays, one for each size of a weight, stay for ever"
    assert torch.equal(load_file(tmp_path / "a.safetensors")["a"], torch.arange(10_008))
