"""Small batches for the tests: ragged rows, repeated words, specials in the middle of the text."""

import os
from dataclasses import fields, replace
from functools import cache
from random import Random

import pytest
import torch
from hypothesis import strategies as st

from playground import leaks
from playground.batch import Tokens, begin
from playground.corpora import open_corpus
from playground.corpora.corpus import pick
from playground.objectives import find_objective, plan_overrides
from playground.objectives.change.tokens import Corruption
from playground.rng import generator
from playground.tokenizing.vocabulary import FIRST_WORD, SPECIAL_TOKENS, specials
from playground.trace.rebuild import DRAW, Rebuilt

TWO_SENTENCES = "I am happy to join with you today . We walk here now ."
WORDS = 61
SPECIALS = specials(len(SPECIAL_TOKENS) + WORDS)
FIRST = FIRST_WORD
INSIDE = (SPECIALS.sep, SPECIALS.mask, SPECIALS.cls, SPECIALS.sentinels[0], SPECIALS.sentinels[1])


def tokens_of(rows, word=None, sentence=None, *, extra=0, padded=True):
    """A batch of rows of ids; `extra` columns of padding; without `word` every token is a word."""
    width = max((len(r) for r in rows), default=0) + extra
    word = word or [range(len(r)) for r in rows]
    sentence = sentence or [[0] * len(r) for r in rows]

    def fill(values):
        return torch.tensor([[*v, *[0] * (width - len(v))] for v in values], dtype=torch.long).reshape(len(rows), width)

    return Tokens(
        ids=fill(rows),
        lengths=torch.tensor([len(r) for r in rows], dtype=torch.long),
        word_ids=fill(word),
        sentence_ids=fill(sentence),
        specials=SPECIALS,
        padded=padded,
    )


def row_of(plan, row, width):
    """One row of `width` places of a batched plan: its values by name, or those of its only tensor."""
    if isinstance(plan, torch.Tensor):
        return plan[row].tolist()
    if isinstance(plan, Corruption):
        return dict(zip(("action", "words"), map(torch.Tensor.tolist, plan.row(row, width)), strict=True))
    return {f.name: getattr(plan, f.name)[row].tolist() for f in fields(plan) if f.compare}


def plan_of_one(plan, row, width):
    """The batched plan of that row alone; the order in which a whole batch was drawn is not its own."""
    if plan is None:
        return None
    if isinstance(plan, torch.Tensor):
        return plan[row : row + 1]
    if not isinstance(plan, Corruption):
        return replace(
            plan, **{f.name: getattr(plan, f.name)[row : row + 1] if f.compare else None for f in fields(plan)}
        )
    action, words = plan.row(row, width)
    positions = action.nonzero()[:, 0]
    return Corruption(positions, action[positions], words[positions])


def plain_rows(rows, length):
    """Many rows of the same distinct words, without padding: what the laws are counted on."""
    return tokens_of([[FIRST_WORD + k for k in range(length)]] * rows, padded=False)


def visited(tokens, visit):
    """The rows at a later visit of a run, numbered."""
    return replace(tokens, example_ids=torch.arange(len(tokens.ids)), epoch=torch.full((len(tokens.ids),), visit))


def tokens_of_words(text):
    """One row of a text whose words stand between spaces; a full stop ends a sentence."""
    words = text.split()
    known = list(dict.fromkeys(words))
    ids = [FIRST_WORD + known.index(w) for w in words]
    sentence = [words[:k].count(".") for k in range(len(words))]
    spare = [f"w{k}" for k in range(WORDS - len(known))]
    return Tokens(
        ids=torch.tensor([ids]),
        lengths=torch.tensor([len(ids)]),
        word_ids=torch.arange(len(ids))[None],
        sentence_ids=torch.tensor([sentence]),
        specials=SPECIALS,
        vocabulary=(*SPECIAL_TOKENS, *known, *spare),
        padded=False,
    )


PAIR = "Nous sommes ici maintenant ."
STRANGER = "The moon is far away ."


def tokens_for(objective, text=TWO_SENTENCES):
    """The same, with the second texts and the labels that an objective needs."""
    tokens = tokens_of_words(f"{text} {PAIR} {STRANGER}")
    count = len(text.split())
    after = count + len(PAIR.split())
    whole = cut(tokens, 0, count)
    whole = replace(whole, labels={**whole.labels, **labels_for(objective, whole.word_ids)})
    if "translation" in objective.needs:
        near, far = cut(tokens, count, after), cut(tokens, after, int(tokens.lengths[0]))
        return replace(spoken(whole, 0), neighbours={"translation": spoken(near, 1), "other": spoken(far, 1)})
    if "distance" in objective.needs:
        near, far, alone = (cut(tokens, a, b) for a, b in ((9, count), (count, after), (after, after + 6)))
        first = whole if "sentences" in objective.needs else cut(whole, 0, 9)
        return replace(first, neighbours={"next": near, "apart": far, "other": alone})
    if "pair" in objective.needs:
        first = whole.ids[0].tolist().index(whole.vocabulary.index(".")) + 1
        near, far = cut(whole, first, count), cut(tokens, after, int(tokens.lengths[0]))
        return replace(cut(whole, 0, first), neighbours={"next": near, "other": far})
    return whole


def suited(objective, tokens):
    """Any batch with what the objective needs beside: each row's second texts are those of the next rows."""
    tokens = replace(tokens, labels={**tokens.labels, **labels_for(objective, tokens.word_ids)})
    near, far = (pick(tokens, torch.arange(len(tokens.ids)).roll(-k)) for k in (1, 2))
    if "translation" in objective.needs:
        streams = {"stream": spoken(far, 0), "translation stream": spoken(tokens, 1)}
        neighbours = {"translation": spoken(near, 1), "other": spoken(far, 1)}
        return replace(spoken(tokens, 0), neighbours=neighbours | (streams if "stream" in objective.needs else {}))
    if "distance" in objective.needs:
        alone = pick(tokens, torch.arange(len(tokens.ids)).roll(-3))
        return replace(tokens, neighbours={"next": near, "apart": alone, "other": far})
    return replace(tokens, neighbours={"next": near, "other": far}) if "pair" in objective.needs else tokens


def built(stage, tokens, seed):
    """What one stage makes of the texts."""
    batch = begin(tokens)
    return stage.build(batch, stage.plan(batch, generator(seed)))


@cache
def small_corpus(name, tokens=20_000):
    """A default corpus, small and generated again."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", os.devnull)
        return open_corpus(name, tokens=tokens)


def labels_for(objective, word):
    """The labels that an objective needs: phrases and names of two words, texts of ten, gaps between, else 0 to 2."""
    names = [need.removeprefix("label:") for need in objective.needs if need.startswith("label:")]
    return {name: made_label(name, word) for name in names}


def made_label(name, word):
    if name == "phrase":
        return (word // 2).where(word % 6 < 4, -1)
    if name in ("mention", "entity", "entity_type"):
        number = {"mention": word // 4, "entity": word // 4 % 3, "entity_type": word // 24}[name]
        return number.where(word % 4 >= 2, -1)
    if name == "field":
        return word // 3 % 5
    if name in ("capitalized", "recurring"):
        return word % 2
    if name in ("topic", "polarity"):
        return (word // 12 % 2).where(word % 12 >= 2, -1)
    return word % 3


def cut(tokens, first, last):
    """A part of the only row."""
    word, sentence = (row[:, first:last] - row[:, first : first + 1] for row in (tokens.word_ids, tokens.sentence_ids))
    lengths = torch.tensor([last - first])
    labels = {name: row[:, first:last] for name, row in tokens.labels.items()}
    return replace(
        tokens, ids=tokens.ids[:, first:last], lengths=lengths, word_ids=word, sentence_ids=sentence, labels=labels
    )


def spoken(tokens, language):
    return replace(tokens, labels={**tokens.labels, "language": torch.full_like(tokens.ids, language)})


def story(name, text=TWO_SENTENCES, *, seed=0, settings=None, overrides=None):
    """What `rebuild` makes of a text, for objectives with second texts and labels too."""
    objective = find_objective(name).turn(settings or {})
    overrides = {key: plan_overrides.read(key, value) for key, value in (overrides or {}).items()}
    tokens = tokens_for(objective, text)
    steps = objective.steps(tokens, generator(seed, DRAW), overrides)
    return Rebuilt(objective, tokens, text, seed, steps, leaks.check(steps[-1].batch))


@st.composite
def batches(draw, *, special=True, rows=4, longest=64):
    """A ragged batch; the seed decides the words, so that hypothesis shrinks lengths and not words."""
    lengths = draw(st.lists(st.one_of(st.integers(0, 3), st.integers(0, longest)), min_size=1, max_size=rows))
    random = Random(draw(st.integers(0, 999)))
    share = draw(st.sampled_from((0.0, 0.15, 0.5))) if special else 0.0
    pieces = draw(st.sampled_from((True, True, False)))
    texts = [[_token(random, share) for _ in range(n)] for n in lengths]
    word = [_running(random, n, 0.6 if pieces else 1.0) for n in lengths]
    sentence = [_running(random, n, 0.2) for n in lengths]
    even = len(set(lengths)) == 1 and draw(st.booleans())
    extra = 0 if even and lengths[0] else draw(st.integers(1, 2))
    return tokens_of(texts, word, sentence, extra=extra, padded=bool(extra))


def _token(random, share):
    if random.random() < share:
        return random.choice(INSIDE)
    return random.choice((SPECIALS.unknown, *range(FIRST_WORD, FIRST_WORD + 12)))


def _running(random, length, step):
    """Numbers from 0 that go up by one now and then."""
    numbers = [0] if length else []
    while len(numbers) < length:
        numbers.append(numbers[-1] + (random.random() < step))
    return numbers


seeds = st.integers(0, 10_000)


def hiding(objective, share):
    """The settings that hide so much of a text, where an objective has a knob for it."""
    return {knob: share for knob in ("mask_ratio", "noise_density") if knob in objective.knobs}
