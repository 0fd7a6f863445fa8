"""Sums of objectives by their names: the picker is a mixer with weights (inventory, O97)."""

import json
import os

import pytest
import torch

from playground import cli
from playground.errors import UserError
from playground.models import Architecture, make_model, total_loss, with_required_parts
from playground.objectives import find_objective, objectives
from playground.objectives.mixture import mixed
from playground.rng import generator
from playground.trace.rebuild import rebuild
from playground.zoo import entry_named
from tests.texts import SPECIALS, suited, tokens_for
from widgets.state.stage import StageStore

TEXT, PAIR = "Rosa baked the bread .", "Then her brother sold it ."


@pytest.mark.parametrize("said", ["MLM + 0.5*SOP", "mlm+0.5*sop", " MLM  +  .5 × SOP ", "MLM + 5e-1*SOP"])
def test_a_sum_is_read_however_it_is_spelt(said):
    found = find_objective(said)
    assert found == find_objective("MLM + 0.5 SOP")
    assert found.name == "MLM + 0.5 SOP"
    assert (found.stages, found.beside) == (objectives()["MLM"].stages, ((0.5, objectives()["SOP"]),))
    assert (found.needs, found.group) == (("pair",), "In combination")
    assert find_objective(found.name) == found


def test_names_that_hold_a_plus_sign_mean_what_they_meant():
    for name, objective in objectives().items():
        for said in (name, *objective.aliases):
            assert find_objective(said) is objective
    whole = find_objective("MLM + NSP + 50*RTD")
    assert whole.stages == objectives()["MLM + NSP"].stages
    assert [(weight, part.name) for weight, part in whole.beside] == [(50.0, "RTD")]
    assert [part.name for _, part in find_objective("2*MLM + NSP").beside] == ["NSP"]


@pytest.mark.parametrize(
    ("said", "refusal"),
    [
        ("MLM + 0*SOP", "The weight of SOP is 0; it must be a number above 0."),
        ("MLM + -1*SOP", "The weight of SOP is -1; it must be"),
        ("0 MLM + SOP", "The weight of MLM is 0; it must be"),
        ("MLM + 1e400*SOP", "The weight of SOP is inf; it must be"),
        ("MLM + nope", "There is no objective named 'nope'"),
        ("MLM + 2*nope", "There is no objective named 'nope'"),
        ("MLM + nan*SOP", r"There is no objective named 'nan\*SOP'"),
        ("MLM + 3*MLM", "MLM stands twice in 'MLM . 3.MLM'; name it once, with one weight."),
        ("+", "There is no objective named ''"),
    ],
)
def test_what_is_no_sum_is_refused_in_one_sentence(said, refusal):
    with pytest.raises(UserError, match=refusal):
        find_objective(said)
    with pytest.raises(UserError, match=refusal):
        entry_named(said)


def loss(objective, model=None):
    example = objective.example(suited(objective, tokens_for(objective)), generator(1))
    model = model or make_model(
        with_required_parts(Architecture(layers=1, width=8, heads=2), example), SPECIALS.size, generator(0)
    )
    total, terms = total_loss(model.eval()(example))
    return float(total.detach()), {name: float(value.detach()) for name, value in terms.items()}, model


@pytest.mark.parametrize(("said", "weights"), [
    ("MLM + 0.5*SOP", {"hidden words": 1.0, "pair": 0.5}),
    ("2*MLM + 3*LM", {"hidden words": 2.0, "next word": 3.0}),
])  # fmt: skip
def test_the_loss_is_the_weighted_sum(said, weights):
    total, terms, _ = loss(find_objective(said))
    assert terms.keys() == weights.keys()
    assert total == pytest.approx(sum(weight * terms[name] for name, weight in weights.items()), rel=1e-5)


def test_a_sum_by_name_is_the_one_that_mixed_makes():
    parts = ((1.0, objectives()["MLM"]), (50.0, objectives()["RTD"]))
    named, made = find_objective("MLM + 50 RTD"), mixed("", parts, idea="", loss="", source="")
    assert (named.stages, named.beside, named.terms) == (made.stages, made.beside, made.terms)
    assert {"hidden words", "RTD: hidden words"} <= {term.question for term in named.terms}


def test_knobs_masks_by_hand_and_the_stage_take_a_sum():
    assert find_objective("MLM + 0.5 LM").turn({"mask_ratio": 0.3}).knobs["mask_ratio"].default == 0.3
    assert find_objective("MLM + 0.5 LM painted encoder opens +1").name == "MLM + 0.5 LM painted encoder opens +1"
    made = rebuild("MLM + 0.5 SOP", TEXT, pair=PAIR)
    assert not made.verdict.leak
    assert {each["question"]: each["weight"] for each in made.facts()["terms"]} == {"hidden words": 1.0, "pair": 0.5}
    json.dumps(made.record())


@pytest.fixture
def call(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", os.devnull)

    def run(*arguments):
        try:
            status = cli.main(arguments)
        except SystemExit as stop:
            status = stop.code
        said = capsys.readouterr()
        return status, said.out, said.err

    return run


def test_the_command_line_shows_a_sum(call):
    status, out, _ = call("objective", "MLM + 0.5 SOP", "--text", TEXT, "--pair", PAIR, "--json")
    assert (status, json.loads(out)["objective"]) == (0, "MLM + 0.5 SOP")
    assert call("objective", "MLM + 0 SOP")[::2] == (2, "The weight of SOP is 0; it must be a number above 0.\n")
    assert "MLM + 0.5 SOP" in call("objective", "--help")[1]


@pytest.mark.slow
def test_the_command_line_trains_a_sum_and_goes_on_with_it(call):
    text = " . ".join(f"{TEXT[:-2]} {PAIR[:-2]} {k}" for k in range(300))
    with open("text.txt", "w", encoding="utf-8") as file:
        file.write(text)
    tiny = [a for knob in ("width=16", "heads=2", "layers=1", "seq_len=16", "batch_size=4") for a in ("--set", knob)]
    train = ("train", "MLM + 50 RTD", "--corpus", "text.txt", "--out", "run", "--json", *tiny)
    for steps, more in ((2, ()), (4, ("--resume",))):
        status, out, err = call(*train, "--steps", str(steps), *more)
        assert status == 0, err
        told = json.loads(out)
        assert (told["entry"], told["steps"]) == ("MLM + 50 RTD", steps)
        assert torch.isfinite(torch.tensor(told["loss"]["held_out"]))


def test_a_link_carries_a_sum_and_the_list_takes_it_as_it_is_typed():
    store = StageStore()
    store.objective = "mlm + .5*lm"
    assert store.objective == "MLM + 0.5 LM"
    assert store.rebuilt.objective.name == "MLM + 0.5 LM"
    other = StageStore()
    other.open(store.query())
    assert (other.objective, other.trouble) == ("MLM + 0.5 LM", "")
    store.objective = "MLM + 0 LM"
    assert (store.objective, store.trouble) == ("MLM", "The weight of LM is 0; it must be a number above 0.")
