"""What is said of an attention mask is what its cells are."""

import re

import pytest

from playground.errors import UserError
from playground.objectives import objectives
from playground.trace import frames
from playground.trace.mask_words import MARKED, masks_in_words
from playground.trace.rebuild import rebuild

TEXT = "Rosa baked a round loaf of bread this morning . Then her brother sold it in the market ."
PAIR = "Rosa a cuit un pain rond ce matin ."

CLAIMS = {
    r"at every word( of the encoder)?": lambda i, j: True,
    r"only at itself": lambda i, j: j == i,
    r"only at itself and the words before it": lambda i, j: j <= i,
    r"only at itself and the words after it": lambda i, j: j >= i,
    r"only at itself and the 3 words before it": lambda i, j: i - 3 <= j <= i,
    r"at every word but itself": lambda i, j: j != i,
    r"at the first 12 words, at itself and at the words before it": lambda i, j: j < 12 or j <= i,
}
"""What each sentence claims of a query i and a key j."""


def said_of(objective):
    """The masks of an objective on our text, or its own where it has one, and what is said of each."""
    own = objective.printed
    pair = PAIR if "translation" in objective.needs else ""
    made = rebuild(objective, own.text or TEXT, pair=own.pair or pair, overrides=own.plan if own.text else None)
    shown = frames.attention_mask(made.batch)
    return shown, re.findall(r"[^.]+\.", masks_in_words(shown)), made.batch


@pytest.mark.parametrize("objective", objectives().values(), ids=lambda objective: objective.name)
def test_what_is_said_of_a_mask_is_true_of_every_cell(objective):
    try:
        shown, sentences, batch = said_of(objective)
    except UserError:
        return  # a typed text lacks its labels
    assert len(sentences) == len(shown)
    for cells, sentence in zip(shown.values(), sentences, strict=True):
        allowed, there = map(int, re.search(r"\((\d+) of (\d+)(?: query-key pairs)?\)", sentence).groups())
        assert (allowed, there) == (sum(map(sum, cells)), sum(map(len, cells)))
        claim = re.search(r"(?:may look|stream:|layer:) ((?:only )?at .*) \(", sentence)[1]
        for words, allows in CLAIMS.items():
            if re.fullmatch(words, claim):
                assert all(bool(cell) == allows(i, j) for i, row in enumerate(cells) for j, cell in enumerate(row))
        if "in the order" in claim:
            order, origin = batch.prediction_order[0].tolist(), batch.inputs.origin[0].tolist()
            first = iter(range(origin.count(-1)))  # special tokens are given before all words
            rank = [next(first) if position < 0 else order[position] + origin.count(-1) for position in origin]
            seen = [{rank[j] for j, cell in enumerate(row) if cell} - {rank[i]} for i, row in enumerate(cells)]
            given = int((re.search(r"the (\d+) given words", claim) or [0, 0])[1])
            assert all(ranks <= set(range(max(rank[i], given))) for i, ranks in enumerate(seen))
            late = [i for i in range(len(cells)) if batch.targets[0].loss_mask[0, i]]
            assert all(seen[i] == set(range(rank[i])) for i in late)


@pytest.mark.parametrize(("name", "sentence"), [
    ("MLM", "Every word may look at every word (64 of 64 query-key pairs)."),
    ("LM", "Each word may look only at itself and the words before it (36 of 64 query-key pairs)."),
    ("backward LM", "Each word may look only at itself and the words after it"),
    ("PLM", "Query stream: only at the words before it in the order"),
    ("span mask", "Cross-attention: every word of the decoder may look at 4 of the 8 words of the encoder"),
    ("seq2seq LM", "Each word may look at the first"),
])  # fmt: skip
def test_the_masks_of_the_field_are_said_in_plain_words(name, sentence):
    made = rebuild(name)
    captions = {frame["name"]: frame["caption"] for frame in made.record()["frames"]}
    assert sentence in captions["visibility"]


def test_a_mask_of_no_known_form_is_said_to_be_read_in_the_matrix():
    assert MARKED in masks_in_words({"encoder": [[1, 1, 0], [1, 1, 1], [1, 1, 1]]}), "opened by hand, not an order"
    assert MARKED in masks_in_words({"encoder": [[1, 1, 0], [0, 1, 1], [1, 0, 1]]})
    assert "at the first 2 words, at itself" in masks_in_words(
        {"encoder": [[1, 1, 0, 0], [1, 1, 0, 0], [1] * 3 + [0], [1] * 4]}
    )
    assert "the one word before it" in masks_in_words({"encoder": [[1, 0, 0], [1, 1, 0], [0, 1, 1]]})
