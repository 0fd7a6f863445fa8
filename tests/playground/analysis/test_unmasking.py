"""Unmasking: gaps are filled step by step, by a rule, from what the model says of them."""

import pytest
import torch

from playground.analysis.predictions import read
from playground.analysis.unmasking import RULES, can_unmask, unmask
from playground.answers import total_loss
from playground.batch import Action
from playground.objectives import find_objective
from playground.rng import generator
from playground.trace.model_frames import numbers
from playground.trace.rebuild import rebuild
from playground.trace.unmask_frames import with_unmasking
from playground.training.store.bundled import load

TEXT = "i am happy to join with you today ."


@pytest.fixture(scope="module")
def made():
    return load("masked diffusion")


def steps_of(made, rule, steps=4, seed=0, plan=None, name="masked diffusion"):
    rebuilt = rebuild(find_objective(name), TEXT, tokenizer=made.saved.tokenizer, overrides=plan or {"t": [1.0]})
    model = made.saved.learner.model
    return rebuilt, list(unmask(model, rebuilt.batch, rule, steps, generator(seed)))


@pytest.mark.parametrize("rule", RULES)
def test_every_gap_is_filled_once_with_a_word_and_nothing_else_changes(made, rule):
    rebuilt, steps = steps_of(made, rule, plan={"chosen": [2, 3, 5, 6, 8]})
    before, specials = rebuilt.batch.inputs.ids[0], set(rebuilt.batch.tokens.specials.ids)
    filled = [token for step in steps for token in step.tokens]
    assert sorted(position for position, _, _ in filled) == [1, 2, 4, 5, 7]
    assert [len(step.tokens) for step in steps] == [2, 1, 1, 1], "of nearly equal size"
    assert not specials & {token for _, token, _ in filled} and all(0 < chance <= 1 for _, _, chance in filled)
    for step, was in zip(steps, [rebuilt.batch, *(step.batch for step in steps)], strict=False):
        now, changed = step.batch.inputs.ids[0], [position for position, _, _ in step.tokens]
        assert (now != was.inputs.ids[0]).nonzero()[:, 0].tolist() == changed
    last = steps[-1].batch
    assert torch.equal(last.inputs.ids[0][[0, 3, 6]], before[[0, 3, 6]])
    right = last.inputs.ids[0] == last.tokens.ids[0]
    for position in (1, 2, 4, 5, 7):
        action = Action.SAME_BY_LUCK if right[position] else Action.REPLACED
        assert last.actions[0, position] == action


def test_a_rule_says_which_gaps_come_first(made):
    _, steps = steps_of(made, "left to right", steps=3)
    assert [[position for position, _, _ in step.tokens] for step in steps] == [[0, 1, 2], [3, 4, 5], [6, 7, 8]]
    drawn = [[position for position, _, _ in step.tokens] for step in steps_of(made, "random", 9)[1]]
    assert drawn != sorted(drawn)
    assert steps_of(made, "random", 9)[1][3].tokens == steps_of(made, "random", 9)[1][3].tokens, "the same seed"


def test_with_confidence_the_first_gap_is_the_one_it_is_surest_of(made):
    rebuilt, steps = steps_of(made, "confidence", steps=9)
    [answer] = made.saved.learner.model(rebuilt.batch)
    scores = answer.scores.index_fill(1, torch.tensor([*rebuilt.batch.tokens.specials.ids]), float("-inf"))
    chances = scores.softmax(-1)
    drawn = torch.multinomial(chances, 1, generator=generator(0))
    [(position, token, chance)] = steps[0].tokens
    best = int(chances.gather(1, drawn)[:, 0].argmax())
    assert (position, token) == (int(answer.positions[best]), int(drawn[best]))
    assert chance == pytest.approx(chances.gather(1, drawn)[best, 0].item())


def test_a_step_reads_what_the_steps_before_filled_in(made):
    """At once every word is drawn alone; step by step the last ones know the first."""
    model = made.saved.learner.model
    sure = dict.fromkeys((1, 9), 0.0)
    for steps in sure:
        for seed in range(20):
            _, done = steps_of(made, "left to right", steps, seed)
            batch = done[-1].batch
            [answer] = model(batch)  # how probable each word is between the others, which it cannot see for itself
            sure[steps] += answer.scores.log_softmax(-1).gather(1, batch.inputs.ids[0][:, None]).mean().item() / 20
    assert sure[9] > sure[1] + 0.2


def test_frames_show_each_step_over_masks_with_its_words(made):
    rebuilt, steps = steps_of(made, "left to right", steps=3)
    record = with_unmasking(rebuilt.record(), steps, "left to right")
    frames = [frame for frame in record["frames"] if frame["name"].startswith("unmask")]
    assert [frame["title"] for frame in frames] == ["Unmask 1", "Unmask 2", "Unmask 3"]
    for frame, step in zip(frames, steps, strict=True):
        [cells] = [lane["cells"] for lane in frame["lanes"] if lane["name"] == "inputs"]
        words = [step.batch.tokens.vocabulary[token] for token in step.batch.inputs.ids[0].tolist()]
        assert [cell["text"] for cell in cells] == words == frame["matrices"][0]["rows"]
        for _, token, chance in step.tokens:
            assert f"{step.batch.tokens.vocabulary[token]} ({chance:.0%})" in frame["caption"]


@pytest.mark.parametrize(("name", "plan"), [
    ("masked diffusion", {"t": [0.4], "chosen": [2, 5]}),
    ("block diffusion", {"t": [0.5, 0.8, 0.4], "chosen": [2, 6, 9]}),
])  # fmt: skip
def test_what_is_said_of_the_loss_is_what_is_trained(made, name, plan):
    model = made.saved.learner.model
    rebuilt = rebuild(find_objective(name), TEXT, tokenizer=made.saved.tokenizer, overrides=plan)
    said = numbers(rebuilt.record(), read(model, rebuilt.batch), "it")["captions"]["loss"]
    trained = float(total_loss(model(rebuilt.batch))[0])
    weights = {"masked diffusion": "2.50", "block diffusion": "1.25 to 2.50"}[name]
    assert f"counts 1/t = {weights} times, and the sum is divided by all 9 words: {trained:.2f} nats a word." in said


def test_only_diffusion_is_unmasked():
    assert can_unmask(rebuild("masked diffusion", TEXT).batch)
    assert not can_unmask(rebuild("MLM", TEXT).batch)
