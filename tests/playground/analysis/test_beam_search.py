"""Beam search: against all sequences of a tiny vocabulary, against greedy decoding, and with models."""

import json
from itertools import product
from pathlib import Path

import pytest
import torch

from playground import cli
from playground.analysis.beam_search import Generation, beam_search, write
from playground.errors import UserError
from playground.objectives import find_objective
from playground.tokenizing.padding import batch
from playground.training import train
from tests.runs import learner_of, reviews, run_of

END, SIZE, LONGEST = 0, 4, 4


def rng(seed=0):
    return torch.Generator().manual_seed(seed)


def table(seed):
    """A language of its own: log-probabilities of the next of four tokens, another for each history."""
    known = {}
    drawn = rng(seed)
    for length in range(LONGEST):
        for history in product(range(SIZE), repeat=length):
            known[history] = torch.randn(SIZE, generator=drawn).mul(1.5).log_softmax(0)
    return lambda written: torch.stack([known[tuple(row)] for row in written.tolist()])


def all_texts(next_word, length_penalty):
    """Every text that ends or is as long as it may be, with its log-probability and score, the best first."""
    found = []
    for length in range(1, LONGEST + 1):
        for ids in product(range(SIZE), repeat=length):
            if END in ids[:-1] or (ids[-1] != END and length < LONGEST):
                continue
            log_prob = sum(
                float(next_word(torch.tensor([ids[:k]]).long().reshape(1, k))[0, ids[k]]) for k in range(length)
            )
            found.append((log_prob / length**length_penalty, ids, log_prob))
    return sorted(found, reverse=True)


@pytest.mark.parametrize("length_penalty", [0.0, 0.7, 1.0, 2.0, -1.0])
@pytest.mark.parametrize("seed", range(3))
def test_a_beam_of_all_texts_finds_what_looking_at_all_of_them_finds(seed, length_penalty):
    expected = all_texts(table(seed), length_penalty)
    found = beam_search(table(seed), [END], Generation(SIZE**LONGEST, length_penalty, LONGEST))
    assert len(found) == len(expected)
    assert [one.score for one in found] == pytest.approx([score for score, _, _ in expected], abs=1e-4)
    assert (found[0].ids, found[0].ended) == (expected[0][1], expected[0][1][-1] == END)
    assert found[0].log_prob == pytest.approx(expected[0][2], abs=1e-4)


@pytest.mark.parametrize("seed", range(8))
def test_a_beam_of_one_is_greedy(seed):
    next_word, ids = table(seed), []
    while len(ids) < LONGEST and END not in ids:
        ids.append(int(next_word(torch.tensor([ids]).long().reshape(1, -1))[0].argmax()))
    [found] = beam_search(next_word, [END], Generation(1, 1.0, LONGEST))
    assert found.ids == tuple(ids)


def test_a_wider_beam_finds_a_likelier_text_where_the_greedy_choice_misleads():
    best = {
        k: [beam_search(table(seed), [END], Generation(k, 0.0, LONGEST))[0].score for seed in range(8)] for k in (1, 8)
    }
    assert all(wide >= narrow - 1e-6 for narrow, wide in zip(best[1], best[8], strict=True))
    assert any(wide > narrow + 0.1 for narrow, wide in zip(best[1], best[8], strict=True))


def test_a_length_penalty_favours_longer_texts():
    lengths = {
        p: sum(len(beam_search(table(seed), [END], Generation(64, p, LONGEST))[0].ids) for seed in range(6))
        for p in (0.0, 2.0)
    }
    assert lengths[2.0] > lengths[0.0]


@pytest.mark.parametrize("name", ["GPT", "Transformer-XL", "BART", "MASS"])
def test_what_a_model_writes_has_the_probability_that_the_model_gives_it(name):
    """Each text is scored again as a whole: as the end of a row of text, or by the decoder."""
    model, specials = learner_of(name).model.eval(), reviews().tokenizer.specials
    text = reviews().ids[:6].tolist()
    never = [specials.pad, specials.start, specials.mask, specials.cls]
    for one in write(model, text, specials, Generation(3, 1.0, 5)):
        with torch.no_grad():
            if model.shape.decoder_layers:
                source = batch([text], specials, ())
                begun = torch.tensor([[specials.start, *one.ids[:-1]]])
                scores = model.score(
                    model.decode(model.features(source), source, begun)[0], "vocabulary", model.network
                )
            else:
                [answer] = model(find_objective("LM").example(batch([[*text, *one.ids]], specials, ()), rng()))
                scores = answer.scores[len(text) :]
        scores[:, never] = float("-inf")
        each = scores.log_softmax(-1)[torch.arange(len(one.ids)), torch.tensor(one.ids)]
        assert one.log_prob == pytest.approx(float(each.sum()), abs=1e-4)
        assert one.score == pytest.approx(one.log_prob / len(one.ids), abs=1e-5)


@pytest.mark.parametrize("name", ["BERT", "word2vec", "ELMo"])
def test_a_model_that_cannot_write_says_which_can(name):
    with pytest.raises(UserError, match="take GPT-2 or BART"):
        write(learner_of(name).model, [9, 10], reviews().tokenizer.specials, Generation())


def test_a_decoder_needs_something_to_write_about():
    with pytest.raises(UserError, match="type a text"):
        write(learner_of("BART").model, [], reviews().tokenizer.specials, Generation())


def test_the_command_line_writes_with_a_kept_run(tmp_path, capsys):
    list(train(run_of("GPT", steps=2, out=tmp_path)))
    assert (
        cli.main(
            ["generate", str(tmp_path), "--text", "the film", "--num-beams", "3", "--max-new-tokens", "4", "--json"]
        )
        == 0
    )
    said = json.loads(capsys.readouterr().out)
    assert (said["num_beams"], len(said["texts"])) == (3, 3)
    scores = [one["score"] for one in said["texts"]]
    assert scores == sorted(scores, reverse=True)
    assert cli.main(["generate", str(tmp_path), "--num-beams", "1", "--max-new-tokens", "3"]) == 0
    assert "nats)" in capsys.readouterr().out
    assert cli.main(["generate", str(Path(tmp_path, "nowhere"))]) == 2
