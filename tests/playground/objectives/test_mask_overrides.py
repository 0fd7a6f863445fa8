"""A mask that was painted on the stage and is trained with: the rule for every text, its name, and what a leak does."""

import json
from dataclasses import replace

import pytest
import torch

from playground import leaks
from playground.corpora.corpus import pick
from playground.errors import UserError
from playground.objectives import find_objective
from playground.objectives.ask.loss_mask import LossMaskOverride, answerable
from playground.objectives.by_hand import with_overrides
from playground.objectives.choose.order import OrderOverride
from playground.objectives.mask_overrides import carried, describe, from_json, to_json
from playground.objectives.see.painted import AttentionMaskOverride
from playground.objectives.steps import specimens
from playground.rng import generator
from playground.trace.overrides import natural, repainted
from playground.trace.rebuild import DRAW, SENTENCE, rebuild
from playground.training import Evaluated, Run, checkpoint, train
from playground.training.fork import fork, what_changed
from playground.training.parallel.seeds import resumed
from playground.zoo import entry_named
from tests.laws import LAYERS, influences, model_for, watched
from tests.runs import reviews, suited_reviews
from tests.texts import tokens_for

OPENS = (AttentionMaskOverride("encoder", opens=(1,)),)


def overridden(name, *rules):
    return with_overrides(find_objective(name), rules)


def test_painted_cells_become_a_rule_by_how_far_a_reader_looks():
    rules = carried({"query": [(2, 4, True), (0, 2, False), (5, 4, False)], "content": [(3, 3, False)]})
    assert rules == (AttentionMaskOverride("query", (2,), (-1,)), AttentionMaskOverride("content", (), (0,)))
    assert from_json(json.loads(json.dumps(to_json(rules)))) == rules
    assert rules[0].words == (
        "every position of the query stream may also see the one 2 to the right and "
        "no position of the query stream may see the one 1 to the left"
    )


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ({}, "write a list such as"),
        ([1], "write a list such as"),
        ([{"matrix": "encoder", "opens": [1]}], "write a list such as"),
        ([{"kind": "tower"}], "the kinds are attention_mask, loss_mask, order"),
        ([{"kind": "attention_mask", "matrix": "encoder"}], "has matrix, opens, closes, part"),
        ([{"kind": "attention_mask", "matrix": "tower", "opens": [1]}], "The matrices are encoder, content"),
        ([{"kind": "attention_mask", "matrix": "encoder", "opens": ["1"]}], "has matrix"),
        ([{"kind": "attention_mask", "matrix": "encoder", "opens": [1000]}], "up to 999"),
        ([{"kind": "attention_mask", "matrix": "encoder", "opens": [1], "part": -1}], "counted from 1"),
        ([{"kind": "attention_mask", "matrix": "encoder", "opens": [1], "more": 1}], "has matrix"),
        ([{"kind": "loss_mask"}], "has counts, skips, part"),
        ([{"kind": "loss_mask", "skips": [0]}], "counted from 1"),
        ([{"kind": "order"}], "has positions, part"),
        ([{"kind": "order", "positions": [1, 1]}], "each once"),
    ],
)
def test_what_is_no_rule_is_refused_in_a_sentence(said, why):
    with pytest.raises(UserError, match=why):
        from_json(said)


def test_the_name_stays_and_the_rules_are_a_field():
    plain, changed = find_objective("LM"), overridden("LM", *OPENS)
    assert (changed.name, changed.mask_overrides) == ("LM", OPENS) and plain.mask_overrides == ()
    assert changed.idea == f"{plain.idea} With a mask by hand: every position may also see the one 1 to the right."
    entry = entry_named("GPT").with_overrides(OPENS)
    assert (entry.name, entry.mask_overrides, entry.title) == ("GPT", OPENS, "GPT with a mask by hand")
    assert entry_named("LM").with_overrides(()) == entry_named("LM")
    for name in ("LM painted encoder opens +1", "GPT painted encoder opens +1"):
        with pytest.raises(UserError):
            entry_named(name)


@pytest.mark.parametrize(
    ("name", "matrix", "leak"),
    [("LM", "encoder", True), ("PLM", "query", False), ("BART infilling", "decoder", True), ("MLM", "encoder", False)],
)
def test_every_text_is_read_by_the_rule_and_padding_stays_hidden(name, matrix, leak):
    """Cell by cell: what lies one place to the right is open, two to the left closed, everything else as it was."""
    plain, changed = find_objective(name), overridden(name, AttentionMaskOverride(matrix, (1,), (-2,)))
    whole = pick(rebuild(plain, "we walk home together in the evening rain").tokens, torch.tensor([0, 0]))
    tokens = replace(whole, lengths=torch.tensor([3, 8]))
    before, after = (o.batch(tokens, generator(0)) for o in (plain, changed))
    streams = {
        "encoder": ("inputs", "attn_mask"),
        "query": ("inputs", "query_attn_mask"),
        "decoder": ("decoder", "attn_mask"),
    }
    part, field = streams[matrix]
    old, new = (getattr(getattr(e, part), field).dense().expand(2, -1, -1) for e in (before, after))
    real = getattr(before, part).valid
    away = torch.arange(old.shape[2]) - torch.arange(old.shape[1])[:, None]
    overrides = (old & (away != -2)) | ((away == 1) & real[:, :, None] & real[:, None, :])
    assert torch.equal(new, overrides)
    assert leaks.check(after, row=1).leak == leak


@pytest.mark.slow
def test_a_leak_lets_the_loss_fall_below_what_the_text_allows():
    """Training that may look at the next word copies it; without, nothing beats the chance that made the text."""
    honest, copied = held_out("LM"), held_out("LM", OPENS)
    assert copied < reviews().entropy_bound < honest


@pytest.mark.parametrize("name", ["PLM", "PLM as in transformers", "MLM + PLM"])
def test_words_by_hand_share_their_drawn_steps_in_that_order_in_every_text(name):
    fixed = overridden(name, OrderOverride((12, 3, 99, 1)))
    assert "words 12, 3, 99 and 1 come in this order" in fixed.idea
    rows = reviews().windows(24)
    both = (objective.batch(rows, generator(0)).with_auxiliary for objective in (find_objective(name), fixed))
    plain, made = (next(e for e in examples if e.inputs.query_attn_mask is not None) for examples in both)
    drawn, there = plain.prediction_order, made.prediction_order
    assert torch.equal(plain.selected.sum(1), made.selected.sum(1)), "as many are predicted"
    assert not torch.equal(drawn, there)
    for row in range(len(drawn)):
        word, able = rows.word_ids[row], rows.maskable[row]
        listed = [int(k) for w in (12, 3, 99, 1) for k in ((word == w - 1) & able).nonzero().flatten()]
        assert there[row][listed].tolist() == sorted(drawn[row][listed].tolist())
        others = [k for k in range(len(word)) if k not in listed]
        assert torch.equal(there[row][others], drawn[row][others])


def test_a_run_with_a_painted_mask_comes_back_from_its_checkpoint(tmp_path):
    held_out("LM", OPENS, steps=2, out=tmp_path)
    saved = checkpoint.load(tmp_path).learner
    assert (saved.entry.name, saved.entry.mask_overrides) == ("LM", OPENS)
    assert saved.objective.stages == overridden("LM", *OPENS).stages
    run = Run(saved.entry, reviews())
    forked = fork(run, saved, {"lr": 0.001})
    assert forked.run.entry.mask_overrides == OPENS and "mask_overrides" not in forked.changed
    assert "mask_overrides none → With a mask by hand" in what_changed(entry_named("LM"), saved.entry)
    assert resumed(replace(run, out=tmp_path)).entry.mask_overrides == OPENS
    with pytest.raises(UserError, match=r"other mask overrides \(With a mask by hand: every position may also see"):
        resumed(replace(run, entry=entry_named("LM"), out=tmp_path))


MIXTURE, LOOKING_ON = "UniLM", (AttentionMaskOverride("encoder", opens=(1,), part=3),)


def test_a_mask_in_one_part_of_a_mixture_leaves_the_others_as_they_were():
    plain, changed = find_objective(MIXTURE), overridden(MIXTURE, *LOOKING_ON)
    assert "in part 3 every position may also see the one 1 to the right" in changed.idea
    assert [a == b for a, b in zip(plain.parts, changed.parts, strict=True)] == [True, True, False, True]
    everywhere = overridden(MIXTURE, AttentionMaskOverride("encoder", (1,), (-1,)))
    assert all(a != b for a, b in zip(plain.parts, everywhere.parts, strict=True))


@pytest.mark.parametrize(("part", "leaking"), [(1, [True, False]), (2, [False, True]), (0, [True, True])])
def test_the_leak_check_finds_the_part_of_a_mixture_that_was_painted(part, leaking):
    """A decoder that looks one place ahead sees its answer, in the part that it was painted in and in no other."""
    objective = overridden("T5 multi-task", AttentionMaskOverride("decoder", opens=(1,), part=part))
    text = "we walk home together in the evening rain"
    made = [rebuild(objective, text, pair="no", overrides={"part": number}) for number in (1, 2)]
    assert [each.verdict.leak for each in made] == leaking


@pytest.mark.parametrize("part", [1, 2, 3, 4])
def test_gradients_of_a_painted_mixture_flow_as_its_cells_say(part, monkeypatch):
    objective = overridden(MIXTURE, AttentionMaskOverride("encoder", (1,), (-1,), part))
    batch = specimens(objective, tokens_for(objective), generator(0))[part - 1]
    model, embedded = model_for(objective), watched(monkeypatch)
    answers = model(batch)[0]
    reach, _ = leaks.answering(batch, answers.target, LAYERS)
    assert torch.equal(influences(answers, embedded[id(batch.inputs)]), reach[answers.positions])
    position = int((batch.inputs.valid[0].sum()) // 2)
    seen = batch.inputs.attn_mask.dense()[0, position]
    assert seen[position + 1] and not seen[position - 1]


def test_a_part_that_is_not_there_is_refused_by_its_number():
    with pytest.raises(UserError, match="no part 5 to paint in; its parts are 1 to 4"):
        overridden(MIXTURE, replace(OPENS[0], part=5))
    with pytest.raises(UserError, match="LM has no part 1 to paint in; it is not a mixture"):
        overridden("LM", replace(OPENS[0], part=1))


def test_a_painted_mixture_trains():
    """A few steps on pairs, one part for each batch."""
    entry = entry_named(MIXTURE).with_overrides(LOOKING_ON)
    small = replace(entry.model, width=16, heads=2, layers=1)
    entry = replace(entry, model=small, recipe=replace(entry.recipe, seq_len=16, batch_size=8, steps=6))
    events = list(train(Run(entry, suited_reviews(entry.objective), steps=6, evaluate_every=6)))
    assert [event.step for event in events if isinstance(event, Evaluated)][-1] == 6


def held_out(name, rules=(), steps=80, out=None):
    """The last held-out loss of a tiny run."""
    entry = entry_named(name).with_overrides(rules)
    shape = replace(entry.model, width=32, heads=2, layers=2)
    entry = replace(entry, model=shape, recipe=replace(entry.recipe, seq_len=16, batch_size=16, steps=steps))
    events = train(Run(entry, reviews(), steps=steps, evaluate_every=steps, out=out))
    return [event.held_out for event in events if isinstance(event, Evaluated)][-1]


def test_which_answers_count_is_chosen_by_hand_and_the_leak_check_sees_it():
    made = rebuild("MLM", SENTENCE)
    counts = natural(made.batch)["scored"][0]
    hidden, shown = counts.index(1), counts.index(0)
    less = repainted(made, {"scored": [(0, hidden, False)]})
    assert less.batch.targets[0].loss_mask[0].tolist() == [bool(c) and k != hidden for k, c in enumerate(counts)]
    assert not less.verdict.leak and less.signal["scored"] == made.signal["scored"] - 1
    more = repainted(made, {"scored": [(0, shown, True)]})
    cell = more.record()["frames"][-1]["lanes"][-1]["cells"][shown]
    assert cell["scored"] and cell["text"] == SENTENCE.split()[shown]
    assert more.verdict.leak, "a word that the model sees is no riddle"
    with pytest.raises(UserError, match="There is no answer 99"):
        repainted(made, {"scored": [(0, 98, True)]})
    with pytest.raises(UserError, match="Nothing is asked at position 3"):
        repainted(rebuild("NSP", SENTENCE, pair="we walk home"), {"scored": [(0, 2, True)]})


def test_answers_by_hand_become_a_rule_by_their_position():
    chosen = {"scored": [(0, 6, False), (0, 1, True), (0, 5, False), (0, 8, False)]}
    rules = carried(chosen, part=2)
    assert rules == (LossMaskOverride((2,), (6, 7, 9), 2),)
    assert to_json(rules) == [{"kind": "loss_mask", "counts": [2], "skips": [6, 7, 9], "part": 2}]
    assert rules[0].words == (
        "part 2: the answer at position 2 counts, the answers at positions 6 to 7 and 9 do not count"
    )
    both = carried({"encoder": [(1, 2, True)], **chosen})
    assert from_json(to_json(both)) == both
    assert describe(both).startswith("With a mask by hand: ")
    assert ". With answers by hand: the answer at position 2 counts" in describe(both)


@pytest.mark.parametrize("name", ["LM", "MLM", "PLM", "BART infilling", "T5 spans", "RTD", "SOP", "BiLM"])
def test_in_every_text_the_answers_at_these_positions_are_scored_and_no_others_change(name):
    """Row by row, padding left out, as the lane of the stage counts its places."""
    plain, changed = find_objective(name), overridden(name, LossMaskOverride((2, 3), (1, 4, 5)))
    texts = tokens_for(plain)
    before, after = (o.batch(texts, generator(0)) for o in (plain, changed))
    for row in range(len(texts.ids)):
        old, new = (natural(e, row)["scored"][0] for e in (before, after))
        able = [[bool(answerable(before, target)[row, p]) for target in before.targets] for p in positions(before, row)]
        overrides = [0 if n in (1, 4, 5) else int(any(able[n - 1])) if n in (2, 3) else c for n, c in enumerate(old, 1)]
        assert new == overrides
    assert torch.equal(before.inputs.ids, after.inputs.ids)


def positions(batch, row):
    return batch.answering.valid[row].nonzero().flatten().tolist()


def test_the_stage_and_training_agree_on_which_answers_count():
    """What a click does to the text on the stage is what its rule does to that text in training."""
    made = rebuild("MLM", SENTENCE)
    cells = {"scored": [(0, 2, False), (0, 4, True)]}
    trained = overridden("MLM", *carried(cells)).batch(made.tokens, generator(0, DRAW))
    assert torch.equal(trained.targets[0].loss_mask, repainted(made, cells).batch.targets[0].loss_mask)


@pytest.mark.slow
def test_an_answer_that_is_shown_is_copied_in_training(tmp_path):
    """With every place scored a masked language model mostly copies; the run comes back from its checkpoint."""
    rules = (LossMaskOverride(tuple(range(1, 61))),)
    assert held_out("MLM", rules, 40) < held_out("MLM", steps=40)
    held_out("MLM", rules, steps=2, out=tmp_path)
    assert checkpoint.load(tmp_path).learner.objective.stages == overridden("MLM", *rules).stages
