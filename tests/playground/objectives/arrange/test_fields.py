"""Grover: the fields of an article in a drawn order, arrange/fields.py, and what they say of its text."""

from collections import Counter
from dataclasses import replace
from itertools import pairwise

import pytest
import torch

from playground.batch import begin
from playground.errors import UserError
from playground.objectives import find_objective
from playground.objectives.arrange import ArrangeFields
from playground.objectives.catalog.grover import FIELDS
from playground.rng import generator
from playground.zoo import entry_named
from tests.laws import assert_law, assert_share
from tests.texts import SPECIALS, small_corpus, tokens_of

DOMAIN, DATE, AUTHORS, TITLE, ARTICLE = range(5)
OPENS, CLOSES = SPECIALS.sentinels[0:10:2], SPECIALS.sentinels[1:10:2]


def article(rows=1):
    """Two words of a domain, one of an author, and a text that goes on in a second part; no date, no title."""
    first = replace(tokens_of([[40, 41, 42, 43]] * rows), labels={"field": torch.tensor([[0, 0, 2, 4]] * rows)})
    rest = replace(tokens_of([[44, 45]] * rows), labels={"field": torch.tensor([[4, 4]] * rows)})
    return replace(first, neighbours={"next": rest, "other": rest})


@pytest.mark.parametrize(
    ("fields", "written"),
    [
        (FIELDS, [OPENS[0], 40, 41, CLOSES[0], OPENS[2], 42, CLOSES[2], OPENS[4], 43, 44, 45, CLOSES[4]]),
        (("article", "title", "domain"), [OPENS[4], 43, 44, 45, CLOSES[4], OPENS[0], 40, 41, CLOSES[0]]),
        (("article",), [OPENS[4], 43, 44, 45, CLOSES[4]]),
    ],
)
def test_fields_stand_between_their_special_tokens_and_all_of_it_is_predicted(fields, written):
    batch = find_objective("Grover").steps(article(), generator(0), {"fields": list(fields)})[-1].batch
    tokens, target = batch.tokens, batch.targets[0]
    assert tokens.ids[0][tokens.valid[0]].tolist() == written
    assert target.labels[0][target.loss_mask[0]].tolist() == written
    assert batch.inputs.ids[0, : len(written)].tolist() == [SPECIALS.start, *written[:-1]]
    names = {token: k for k in range(5) for token in (OPENS[k], CLOSES[k])} | {40: 0, 41: 0, 42: 2, 43: 4, 44: 4, 45: 4}
    assert tokens.labels["field"][0, : len(written)].tolist() == [names[token] for token in written]
    assert tokens.word_ids[0, : len(written)].tolist() == list(range(len(written)))


def test_orders_and_what_is_left_out_follow_the_released_code():
    """35 % the text first; 15 % all in order; else two sets, and other fields than title and text dropped by 10 %."""
    rows = 20_000
    ranks = ArrangeFields("field", FIELDS).plan(begin(article(rows)), generator(0))
    dropped = ranks == 5
    assert not dropped[:, ARTICLE].any()
    first = ranks[:, ARTICLE] == 0
    assert_share(int(dropped[:, DATE].sum()), rows, 0.1 * 0.85)
    assert_share(int(dropped[:, TITLE].sum()), rows, 0.1 * 0.35)
    alone = 0.5 * (0.1 + 0.9 * 0.5) ** 3 * 0.5  # in the first set, without any other
    assert_share(int(first.sum()), rows, 0.35 + 0.5 * alone)
    for row in ranks[:500].tolist():
        order = [field for _, field in sorted((rank, field) for field, rank in enumerate(row) if rank < 5)]
        assert sorted(rank for rank in row if rank < 5) == list(range(len(order)))
        assert sum(a > b for a, b in pairwise(order)) <= 1, "two sets, each in order"
    sure = ArrangeFields("field", FIELDS, unconditional_prob=0.85, metadata_dropout_prob=1.0)
    kept = Counter(int((row < 5).sum()) for row in sure.plan(begin(article(rows)), generator(1)))
    assert_law(kept, {1: 0.85, 5: 0.15})


def test_fields_that_are_not_there_or_named_twice_are_refused():
    for fields in (["body"], ["date", "date"]):
        with pytest.raises(UserError, match="name each at most once, of: domain, date, authors, title, article"):
            find_objective("Grover").steps(article(), generator(0), {"fields": fields})


def test_a_vocabulary_with_too_few_sentinels_is_refused():
    few = replace(article(), specials=replace(SPECIALS, sentinels=SPECIALS.sentinels[:9]))
    with pytest.raises(UserError, match="5 fields need 10 sentinels; this vocabulary has 9"):
        find_objective("Grover").batch(few, generator(0))


def test_the_fields_of_news_decide_on_the_text():
    """The domain on the topic, the year on the tense, the author on the number of people."""
    news = small_corpus("news", 40_000)
    words, field = news.tokenizer.decode(news.ids.tolist()), news.labels["field"].tolist()
    known = {name: {} for name in ("domain", "date", "authors")}
    met = {}
    for k, number in enumerate(news.document_ids.tolist()):
        met.setdefault(number, {}).setdefault(FIELDS[field[k]] if field[k] >= 0 else "", []).append(k)
    for fields in met.values():
        if len(fields) < 6:
            continue
        text = {words[k] for k in fields["article"]}
        topic = int(news.labels["topic"][fields["article"][0]])
        now = bool(text & {"come", "comes"})
        assert now != ("came" in text)
        for name, said in (("domain", topic), ("date", now), ("authors", words[fields["title"][0]] == "two")):
            known[name].setdefault(words[fields[name][0]], set()).add(said)
    assert all(len(said) == 1 for each in known.values() for said in each.values())
    assert {name: len(each) for name, each in known.items()} == {"domain": 12, "date": 4, "authors": 12}


def test_the_entropy_of_news_is_no_bound_where_fields_are_left_out_and_marked():
    news = small_corpus("news", 40_000)
    assert entry_named("GPT-2").bound(news) == news.entropy_bound
    assert entry_named("Grover").bound(news) is None
