"""Generation: beams against all sequences of a tiny vocabulary, sampling against softmax, and both with models."""

from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest
import torch

from playground import cli
from playground.analysis.generation import Generation, cannot_write, search, warp, write
from playground.batch import begin, causal_mask, mask_by_level
from playground.errors import UserError
from playground.objectives import find_objective
from playground.tokenizing.padding import pad_rows
from playground.training import train
from playground.training.loop import prepared
from tests import json_keys
from tests.runs import alone, learner_of, reviews, run_of

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


def beams(number, length_penalty=1.0):
    return Generation(num_beams=number, length_penalty=length_penalty, max_new_tokens=LONGEST)


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
    found = search(table(seed), [END], beams(SIZE**LONGEST, length_penalty))
    assert len(found) == len(expected)
    assert [one.score for one in found] == pytest.approx([score for score, _, _ in expected], abs=1e-4)
    assert (found[0].ids, found[0].ended) == (expected[0][1], expected[0][1][-1] == END)
    assert found[0].log_prob == pytest.approx(expected[0][2], abs=1e-4)


@pytest.mark.parametrize("seed", range(8))
def test_a_beam_of_one_is_greedy(seed):
    next_word, ids = table(seed), []
    while len(ids) < LONGEST and END not in ids:
        ids.append(int(next_word(torch.tensor([ids]).long().reshape(1, -1))[0].argmax()))
    [found] = search(next_word, [END], beams(1))
    assert found.ids == tuple(ids)


@pytest.mark.parametrize("how", [beams(4), Generation(do_sample=True, num_return_sequences=4, max_new_tokens=LONGEST)])
def test_each_token_has_its_probability_from_the_one_pass_that_chose_it(how):
    passes = []

    def next_word(written):
        passes.append(written.shape[1])
        return table(0)(written)

    found = search(next_word, [END], how, rng(0))
    assert passes == list(range(max(len(one.ids) for one in found)))
    for one in found:
        for position, token in enumerate(one.tokens):
            chances = table(0)(torch.tensor([one.ids[:position]]).long().reshape(1, -1))[0].exp()
            assert token.probability == pytest.approx(float(chances[token.id]))
            assert [number for number, _ in token.top] == chances.argsort(descending=True)[: len(token.top)].tolist()
            assert [value for _, value in token.top] == pytest.approx(sorted(chances.tolist())[::-1][: len(token.top)])


def test_a_wider_beam_finds_a_likelier_text_where_the_greedy_choice_misleads():
    best = {k: [search(table(seed), [END], beams(k, float(k == 1)))[0].log_prob for seed in range(8)] for k in (1, 8)}
    assert all(wide >= narrow - 1e-6 for narrow, wide in zip(best[1], best[8], strict=True))
    assert any(wide > narrow + 0.1 for narrow, wide in zip(best[1], best[8], strict=True))


def test_a_length_penalty_favours_longer_texts():
    lengths = {p: sum(len(search(table(seed), [END], beams(64, p))[0].ids) for seed in range(6)) for p in (0.0, 2.0)}
    assert lengths[2.0] > lengths[0.0]


# sampling

KNOWN = torch.tensor([[0.4, 0.3, 0.2, 0.1]]).log()
"""The next token of four, whatever was written."""


@pytest.mark.parametrize(
    ("turned", "expected"),
    [
        ({}, [0.4, 0.3, 0.2, 0.1]),
        ({"temperature": 0.5}, [0.16 / 0.3, 0.09 / 0.3, 0.04 / 0.3, 0.01 / 0.3]),
        ({"top_k": 2}, [4 / 7, 3 / 7, 0.0, 0.0]),
        ({"top_k": 9}, [0.4, 0.3, 0.2, 0.1]),
        ({"top_p": 0.39}, [1.0, 0.0, 0.0, 0.0]),
        ({"top_p": 0.41}, [4 / 7, 3 / 7, 0.0, 0.0]),
        ({"top_p": 0.8}, [4 / 9, 3 / 9, 2 / 9, 0.0]),
        ({"top_p": 0.01}, [1.0, 0.0, 0.0, 0.0]),
        ({"top_k": 3, "top_p": 0.5}, [4 / 7, 3 / 7, 0.0, 0.0]),
        ({"temperature": 0.5, "top_p": 0.6}, [16 / 25, 9 / 25, 0.0, 0.0]),
    ],
)
def test_what_is_drawn_from_is_cut_as_in_transformers(turned, expected):
    """By hand: powers of 1/temperature, the k likeliest, the smallest set that reaches p; each renormalised."""
    found = warp(KNOWN, Generation(do_sample=True, **turned)).exp()[0]
    assert found.tolist() == pytest.approx(expected, abs=1e-6)


def drawn(seed=0, **turned):
    how = Generation(**{"do_sample": True, "num_return_sequences": 1000, "max_new_tokens": 1, **turned})
    return search(lambda written: KNOWN.expand(len(written), -1), [END], how, rng(seed))


@pytest.mark.parametrize("turned", [{}, {"temperature": 2.0}, {"top_k": 3}, {"top_p": 0.6}])
def test_tokens_come_as_often_as_their_probability_says(turned):
    """Within four standard deviations; the log-probability is the model's own, whatever was cut."""
    expected, found = warp(KNOWN, Generation(do_sample=True, **turned)).exp()[0], drawn(**turned)
    for token, share in enumerate(expected.tolist()):
        count = sum(one.ids == (token,) for one in found)
        assert abs(count - 1000 * share) <= 4 * (1000 * share * (1 - share)) ** 0.5
    assert all(one.log_prob == pytest.approx(float(KNOWN[0, one.ids[0]])) for one in found)


def test_the_same_seed_draws_the_same_texts_and_each_ends_with_the_end():
    turned = {"max_new_tokens": 4, "num_return_sequences": 20}
    assert drawn(1, **turned) == drawn(1, **turned) != drawn(2, **turned)
    for one in drawn(1, **turned):
        assert END not in one.ids[:-1] and one.ended == (one.ids[-1] == END)
        assert one.ended or len(one.ids) == 4


@pytest.mark.parametrize(
    ("turned", "said"),
    [
        ({"temperature": 0.5}, "temperature is 0.5, but only sampling draws"),
        ({"top_k": 3}, "top_k is 3"),
        ({"seed": 3}, "seed is 3"),
        ({"length_penalty": 2.0}, "length_penalty is 2, but only beams"),
        ({"do_sample": True, "num_beams": 3}, "num_beams is 3, but do_sample"),
    ],
)
def test_what_has_no_part_is_refused(turned, said):
    with pytest.raises(UserError, match=said):
        Generation(**turned)


# models


def text_and_specials():
    return reviews().ids[:6].tolist(), reviews().tokenizer.specials


def written_by(name, **turned):
    learner, (text, specials) = learner_of(name), text_and_specials()
    return learner, write(learner.model, learner.entry.objective, text, specials, Generation(**turned))


def next_of(model, stream, at):
    """Log-probabilities of a word at a position of a stream, without the special tokens that are never written."""
    _, specials = text_and_specials()
    with torch.no_grad():
        hidden = model.network(stream, model.token_embedding.weight)[:, at]
        scores = model.score(hidden, "vocabulary", model.network)
    scores[:, [specials.pad, specials.start, specials.mask, specials.cls]] = float("-inf")
    return scores.log_softmax(-1)


@pytest.mark.parametrize("name", ["GPT", "GPT-3", "Transformer-XL", "ELMo", "NNLM", "BART", "MASS"])
def test_what_a_model_writes_has_the_probability_that_the_model_gives_it(name):
    """Each text is scored again as a whole: as the end of a row of text, or by the decoder."""
    learner, found = written_by(name, num_beams=3, max_new_tokens=5)
    model, (text, specials) = learner.model.eval(), text_and_specials()
    never = [specials.pad, specials.start, specials.mask, specials.cls]
    assert len(found) == 3
    for one in found:
        with torch.no_grad():
            if model.shape.decoder_layers:
                source = pad_rows([text], specials, ())
                begun = torch.tensor([[specials.start, *one.ids[:-1]]])
                scores = model.score(
                    model.decode(model.features(source), source, begun)[0], "vocabulary", model.network
                )
            else:
                stages = learner.objective.stages
                chain = replace(find_objective("LM"), stages=stages)
                [answer] = model(chain.batch(pad_rows([[*text, *one.ids]], specials, ()), rng()))
                scores = answer.scores[len(text) :]
        scores[:, never] = float("-inf")
        each = scores.log_softmax(-1)[torch.arange(len(one.ids)), torch.tensor(one.ids)]
        assert one.log_prob == pytest.approx(float(each.sum()), abs=1e-4)
        assert one.score == pytest.approx(one.log_prob / len(one.ids), abs=1e-5)
        assert [token.probability for token in one.tokens] == pytest.approx(each.exp().tolist(), abs=1e-5)
        assert [token.id for token in one.tokens] == [*one.ids]
        best = scores.log_softmax(-1).topk(3)
        assert [[number for number, _ in token.top] for token in one.tokens] == best.indices.tolist()


def test_unilm_writes_at_a_mask_behind_the_text_that_sees_its_left():
    """[CLS], the text, what is written and a mask, in UniLM's segment for texts that are read from the left."""
    learner, [found] = written_by("UniLM", max_new_tokens=3)
    text, specials = text_and_specials()
    for length, token in enumerate(found.tokens):
        row = [specials.cls, *text, *found.ids[:length], specials.mask]
        tokens = pad_rows([row], specials, ())
        inputs = replace(begin(tokens).inputs, segment_ids=torch.full((1, len(row)), 2))
        inputs = replace(inputs, attn_mask=causal_mask(inputs.valid, padded=True))
        expected = next_of(learner.model.eval(), inputs, len(row) - 1)
        assert token.probability == pytest.approx(float(expected[0, token.id].exp()), abs=1e-5)
        assert token.id == int(expected.argmax())


@pytest.mark.parametrize("name", ["any-order LM", "GLM"])
def test_words_with_a_second_position_are_written_in_the_order_of_the_text_or_as_one_blank(name):
    objective = find_objective(name)
    model = prepared(run_of(entry=alone(objective))).learner.model.eval()
    text, specials = text_and_specials()
    [found] = write(model, objective, text, specials, Generation(max_new_tokens=3))
    for length, token in enumerate(found.tokens):
        begun, size = [*text, *found.ids[:length]], len(text) + length
        if name == "GLM":
            row = [*text, specials.mask, specials.start, *begun[len(text) :]]
            first = [*range(len(text) + 1), *[len(text)] * (length + 1)]
            second = [*[0] * (len(text) + 1), *range(1, length + 2)]
        else:
            row, first, second = [specials.start, *begun], list(range(size + 1)), list(range(1, size + 2))
        inputs = begin(pad_rows([row], specials, ())).inputs
        levels = torch.tensor([[n if number else 0 for n, number in enumerate(second)]])
        inputs = replace(
            inputs,
            attn_mask=mask_by_level(levels, levels, inputs.valid),
            position_ids=torch.tensor([first]),
            second_position_ids=torch.tensor([second]),
        )
        expected = next_of(model, inputs, len(row) - 1)
        assert token.probability == pytest.approx(float(expected[0, token.id].exp()), abs=1e-5)


def test_xlnet_writes_at_the_next_position_of_its_query_stream():
    """The query has the position and no token: another word there changes nothing."""
    learner, [found] = written_by("XLNet", max_new_tokens=3)
    model, (text, specials) = learner.model.eval(), text_and_specials()
    for length, token in enumerate(found.tokens):
        for last in (specials.mask, text[0]):
            tokens = pad_rows([[*text, *found.ids[:length], last]], specials, ())
            inputs, width = begin(tokens).inputs, len(text) + length + 1
            level = (torch.arange(width) == width - 1).long()[None] - 1  # all context but the last
            content = mask_by_level(level, level, inputs.valid)
            query = replace(content, query_level=content.query_level - 1)
            inputs = replace(inputs, attn_mask=content, query_attn_mask=query)
            with torch.no_grad():
                hidden = model.network.query_stream(inputs, torch.tensor([[width - 1]]), model.token_embedding.weight)
                scores = model.score(hidden[:, 0], "vocabulary", model.network)
            scores[:, [specials.pad, specials.start, specials.mask, specials.cls]] = float("-inf")
            assert token.probability == pytest.approx(float(scores.softmax(-1)[0, token.id]), abs=1e-5)


def test_xlm_is_told_in_which_language_it_writes():
    learner, found = written_by("XLM", max_new_tokens=3)
    _, other = written_by("XLM", max_new_tokens=3, target_language=1)
    assert learner.model.shape.languages == 2
    assert found[0].log_prob != pytest.approx(other[0].log_prob, abs=1e-6)
    with pytest.raises(UserError, match="target_language is 2, but this model knows 2"):
        written_by("XLM", target_language=2)


def test_a_control_code_takes_the_place_of_the_first_special_token():
    learner, [found] = written_by("CTRL", max_new_tokens=1, control_code=3)
    text, specials = text_and_specials()
    tokens = pad_rows([[specials.sentinels[2], *text]], specials, ())
    inputs = replace(begin(tokens).inputs, attn_mask=causal_mask(tokens.valid, padded=True))
    expected = next_of(learner.model.eval(), inputs, len(text))
    assert found.log_prob == pytest.approx(float(expected.max()), abs=1e-5)
    with pytest.raises(UserError, match="has learned no code"):
        written_by("GPT", control_code=3)


def test_writing_leaves_a_run_that_trains_as_it_was():
    learner, (text, specials) = learner_of("GPT"), text_and_specials()
    learner.model.train()
    before = torch.get_rng_state()
    write(learner.model, learner.objective, text, specials, Generation(do_sample=True, max_new_tokens=3))
    assert learner.model.training and torch.equal(torch.get_rng_state(), before)


def test_a_part_of_an_objective_may_be_what_writes():
    """A language model beside hidden words, and a text that is written behind a first one."""
    shape = learner_of("GPT").model.shape
    assert not cannot_write(shape, find_objective("MLM + LM"))
    assert not cannot_write(shape, find_objective("seq2seq LM"))
    assert not cannot_write(shape, find_objective("UniLM seq2seq"))
    assert "right to left" in cannot_write(shape, find_objective("backward LM"))
    assert cannot_write(shape, find_objective("PLM").turn({"streams": "one that sees itself"}))


@pytest.mark.parametrize("name", ["BERT", "word2vec"])
def test_a_model_that_cannot_write_says_which_can(name):
    with pytest.raises(UserError, match="Take GPT-2 or BART"):
        written_by(name)


@pytest.mark.parametrize("name", ["BART", "XLNet"])
def test_some_models_need_something_to_write_about(name):
    learner = learner_of(name)
    with pytest.raises(UserError, match="type a text"):
        write(learner.model, learner.objective, [], reviews().tokenizer.specials, Generation())


@pytest.mark.parametrize("name", ["FIM", "causal masking"])
def test_a_model_whose_texts_were_rearranged_continues_a_text_as_a_language_model_does(name):
    learner, ids = learner_of("GPT"), reviews().ids[:4].tolist()
    how = Generation(num_beams=3, max_new_tokens=4)
    found, wanted = (
        write(learner.model, find_objective(each), ids, reviews().tokenizer.specials, how) for each in (name, "LM")
    )
    assert found == wanted


def test_the_command_line_writes_with_a_kept_run(tmp_path, capsys):
    list(train(run_of("GPT", steps=2, out=tmp_path)))
    assert (
        cli.main(
            ["generate", str(tmp_path), "--text", "the film", "--num-beams", "3", "--max-new-tokens", "4", "--json"]
        )
        == 0
    )
    said = json_keys.read("generate", capsys.readouterr().out)
    assert (said["num_beams"], len(said["texts"])) == (3, 3)
    scores = [one["score"] for one in said["texts"]]
    assert scores == sorted(scores, reverse=True)
    assert cli.main(["generate", str(tmp_path), "--num-beams", "1", "--max-new-tokens", "3"]) == 0
    assert "nats)" in capsys.readouterr().out
    sampled = ["generate", str(tmp_path), "--do-sample", "--top-k", "5", "--seed", "3", "--json"]
    assert cli.main(sampled) == 0
    first = capsys.readouterr().out
    assert cli.main(sampled) == 0 and capsys.readouterr().out == first
    [text] = json_keys.read("generate", first)["texts"]
    assert all(len(token["top"]) == 3 and 0 < token["probability"] <= 1 for token in text["tokens"])
    assert cli.main(["generate", str(tmp_path), "--temperature", "0.5"]) == 2
    assert "temperature is 0.5" in capsys.readouterr().err
    assert cli.main(["generate", str(Path(tmp_path, "nowhere"))]) == 2
