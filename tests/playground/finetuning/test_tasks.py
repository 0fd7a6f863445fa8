"""Tasks: labels are true, nothing leaks, rows are packed as said, measures are right, there is something to learn."""

from collections import Counter
from copy import deepcopy
from dataclasses import replace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from playground.corpora import Corpus
from playground.corpora.tinyworld.facts import FACTS, known_facts
from playground.corpora.tinyworld.presets.facts import wordings
from playground.corpora.tinyworld.tasks.tagged import UNTOLD, tells_held_out
from playground.corpora.tinyworld.tasks.translations import as_it_comes
from playground.errors import UserError
from playground.finetuning import find_strategy, find_task, strategies, tasks
from playground.finetuning.comparing.compare import TEST_TEXTS, compare
from playground.finetuning.comparing.spec import ComparisonSpec
from playground.finetuning.data.dataset import Dataset, Item, pack
from playground.finetuning.data.input_format import BERT, GPT, INPUT_FORMATS, LAST, PLAIN, SPECIALS, format_for
from playground.finetuning.data.prompting import Prompt
from playground.finetuning.data.task import Task
from playground.finetuning.data.task_types import (
    CLOSED,
    Abroad,
    Choice,
    Classes,
    KeySentence,
    Marked,
    Mentions,
    Number,
    OfEach,
    Span,
    Tags,
    TagsAbroad,
    Writing,
    ranks,
)
from playground.finetuning.run.base import Base
from playground.finetuning.run.measure import Result
from playground.finetuning.run.trainer import FinetuneConfig
from playground.finetuning.run.tune import StepEvent, tune
from playground.finetuning.strategy.head import TaskHead, infersent_features, new_head
from playground.finetuning.strategy.strategy import texts_for
from playground.models import Architecture
from playground.objectives import find_objective
from playground.tokenizing import of_words
from playground.tokenizing import train as train_tokenizer
from playground.tokenizing.padding import pad_rows
from playground.tokenizing.pieces import Learnt
from playground.tokenizing.tokenizer import of_learnt, unknown_words
from playground.training import Run, train
from playground.training.data import BatchSampler
from playground.training.train_state import TrainState
from playground.zoo import find_entry
from playground.zoo.preset import FAST
from tests.runs import tiny
from tests.texts import small_corpus

NAMES = tuple(tasks())
WRITTEN = tuple(name for name in NAMES if tasks()[name].answer.about == "written")
every_task = pytest.mark.parametrize("name", NAMES)
CPU = torch.device("cpu")
TWO = Classes(("no", "yes"))


@pytest.fixture(scope="module")
def drawn():
    """Examples of every task and split, drawn with two seeds."""
    return {
        (name, split): [item for seed in (0, 1) for item in tasks()[name].items(60, seed, split)]
        for name in NAMES
        for split in ("train", "test")
    }


@pytest.fixture(scope="module")
def tokenizer(drawn):
    """A vocabulary that knows all tasks."""
    items = [item for several in drawn.values() for item in several]
    written = [w for name in WRITTEN for split in ("train", "test") for i in drawn[name, split] for w in i.right]
    return of_words([*(word for item in items for word in item.words), *written])


@pytest.fixture(scope="module")
def bases(tokenizer):
    """Tiny untrained models of each way to read and write."""
    held_out = find_task("sentiment").load(tokenizer, 8, 0, "test").tokens
    made = {name: TrainState.new(tiny(name), tokenizer.words, 0, CPU) for name in ("RoBERTa", "GPT", "BART")}
    return {name: Base(learner, held_out) for name, learner in made.items()}


# the declarations


@every_task
def test_a_task_has_a_card(name):
    task = tasks()[name]
    assert task.idea.endswith(".")
    assert len(task.source) > 20
    assert task.metric == task.answer.metric
    assert all(find_task(alias) is task for alias in task.aliases)


def test_names_and_aliases_of_tasks_are_unique():
    spoken = [n.lower() for t in tasks().values() for n in (t.name, *t.aliases)]
    assert len(spoken) == len(set(spoken))


def test_every_form_of_answer_has_a_task():
    assert {type(t.answer) for t in tasks().values()} == {
        Abroad, Choice, Classes, KeySentence, Marked, Mentions, Number, OfEach, Span, Tags, TagsAbroad, Writing,
    }  # fmt: skip


# what leaks


@pytest.mark.slow
@every_task
def test_no_test_text_is_ever_trained_on(name, drawn):
    learnt, tested = ({item.words for item in drawn[name, split]} for split in ("train", "test"))
    assert len(learnt) > 100
    assert len(tested) > 50
    assert not learnt & tested
    if name == "word in context":
        assert not {tuple(t) for i in drawn[name, "train"] for t in i.texts} & {
            tuple(t) for i in drawn[name, "test"] for t in i.texts
        }


@every_task
def test_no_training_text_tells_a_held_out_fact(name, drawn):
    """Whoever is asked for these facts later cannot have learnt them from a task."""
    untold = {tuple(_spelt(way)) for fact in FACTS if not fact.mentions for way in wordings(fact)}
    for item in drawn[name, "train"]:
        for text in item.texts:
            assert not any(
                tuple(text[k : k + 6]) in untold or tuple(text[k : k + 5]) in untold for k in range(len(text))
            )
            told = [pair for pair in UNTOLD if set(pair) <= set(text)]
            assert not told or "moved" in text, "the passages of the questions say who moved where, not who was born"


def _spelt(parts):
    return [
        part if isinstance(part, str) else part.word for part in parts if getattr(part, "word", part)[-1] not in "[]"
    ]


def test_the_check_for_held_out_facts_finds_them():
    fact = next(fact for fact in FACTS if not fact.mentions)
    assert tells_held_out(_spelt(wordings(fact)[0]))
    assert _spelt(wordings(fact)[0])[-1] == "."


def test_translations_for_testing_are_not_in_the_corpus_as_it_comes():
    asked = find_task("translation").items(100, 3, "test")
    assert len(as_it_comes()) > 1000
    assert not {item.words for item in asked} & as_it_comes()


@every_task
@pytest.mark.parametrize("count", [16, 23])
def test_so_many_different_examples_are_drawn_and_a_seed_decides_which(name, count):
    task = tasks()[name]
    items = task.items(count, 5, "train")
    assert len(items) == len({item.words for item in items}) == count
    assert items == task.items(count, 5, "train")
    assert items != task.items(count, 6, "train")


@every_task
@pytest.mark.parametrize("seed", range(30))
def test_every_seed_has_the_texts_of_a_comparison(name, seed):
    for split, counts in (("train", (2, 64, 512)), ("test", (2, TEST_TEXTS))):
        for count in counts:
            items = tasks()[name].items(count, seed, split)
            assert len(items) == len({(item.words, str(item.right)) for item in items}) == count


@every_task
def test_labels_are_balanced(name, drawn):
    task, rights = tasks()[name], [item.right for item in drawn[name, "test"]]
    if task.answer.about in ("text", "marked"):
        counts = Counter(rights)
        assert max(counts.values()) <= 1.5 * min(counts.values())
        assert set(counts) == set(range(len(counts)))


# the labels are true


def test_sentences_that_are_wrong_have_no_right_twin(drawn):
    for name in ("acceptability", "agreement"):
        items = drawn[name, "train"] + drawn[name, "test"]
        assert not {i.words for i in items if i.right} & {i.words for i in items if not i.right}


def test_a_marked_word_is_the_same_in_both_sentences(drawn):
    for item in drawn["word in context", "train"]:
        one, other = (text[position] for text, position in zip(item.texts, item.marked, strict=True))
        assert one == other


def test_names_of_two_words_go_on_and_every_word_has_a_tag(drawn):
    answer = find_task("entities").answer
    tags = Counter(answer.names[tag] for item in drawn["entities", "train"] for tag in item.right)
    assert tags["B-city"] > tags["I-city"] > 0
    for name in ("entities", "part of speech"):
        assert all(len(item.right) == len(item.texts[0]) for item in drawn[name, "train"])


def test_a_summary_is_the_event_that_the_story_calls_best(drawn):
    for item in drawn["summary", "train"]:
        [text] = item.texts
        best = text.index("best")
        assert list(text[best + 4 : best + 4 + len(item.right)]) == list(item.right)
        assert list(text[-3:]) == ["in", "short", ":"]


def test_only_one_ending_happens_where_the_story_does(drawn):
    right = [item for item in drawn["story ending", "train"] if item.right == 2]
    assert right
    for item in right:
        assert len(item.choices) == 4
        assert len({tuple(choice) for choice in item.choices}) == 4


def test_text_to_text_asks_what_its_corpus_teaches():
    """T5's prefixes and labels (arXiv:1910.10683, appendix D); the scores 0 to 5 are rounded to a fifth."""
    corpus = small_corpus("text to text")
    said: dict[str, set[str]] = {}
    for item in find_task("text to text").items(400, 0, "train"):
        said.setdefault(item.texts[0][0], set()).update(item.right)
        assert not unknown_words(corpus.tokenizer, [*item.texts[0], *item.right])
    assert said == {
        "sst2": {"negative", "positive"}, "mnli": {"entailment", "neutral", "contradiction"},
        "stsb": {"0.0", "1.2", "2.4", "3.8", "5.0"}, "cola": {"acceptable", "unacceptable"},
    }  # fmt: skip


def test_words_that_a_vocabulary_lacks_are_written_with_spare_signs_and_no_two_alike():
    task, narrow = find_task("text to text"), of_words("neutral positive the was".split())
    spare = task.spare(narrow)
    assert "neutral" not in spare
    assert {"sst2", "2.4", "contradiction"} <= set(spare)
    assert len(set(spare.values())) == len(spare) == len(set(task.added_tokens) - {"neutral", "positive"})
    assert set(spare.values()) <= set(narrow.specials.sentinels)


# packing


SIX = of_words("a b c d e f".split())


def rows_of(packing, *items, answer=TWO, orders=1, tokenizer=SIX):
    made = pack(items, answer, packing, tokenizer, orders)
    words = tokenizer.words
    rows = [[words[i] for i in row[:n]] for row, n in zip(made.tokens.ids.tolist(), made.tokens.lengths, strict=True)]
    return made, [" ".join(row) for row in rows]


PAIR = Item(("a b".split(), ["c"]), 1)


@pytest.mark.parametrize(
    ("packing", "said"),
    [
        (PLAIN, "a b [SEP] c"),
        (LAST, "[START] a b [SEP] c"),
        (BERT, "[CLS] a b [SEP] c [SEP]"),
        (GPT, "[START] a b [SEP] c [END]"),
    ],
)
def test_a_pair_is_packed_as_published(packing, said):
    made, rows = rows_of(packing, PAIR, Item((["a"], ["b"]), 0))
    assert rows[0] == said
    assert made.labels.tolist() == [1, 0]
    assert (made.sides is None) == (packing in (BERT, GPT))


def test_segments_tell_the_texts_of_a_pair_apart():
    """BERT, arXiv:1810.04805, fig. 2: the first [SEP] belongs to the first text."""
    made, _ = rows_of(BERT, PAIR)
    assert made.tokens.labels["segment"].tolist() == [[0, 0, 0, 0, 1, 1]]


def test_similarity_is_read_in_both_orders_and_choices_one_by_one():
    """GPT, fig. 1: the texts in both orders for similarity, the context with each candidate for multiple choice."""
    both, rows = rows_of(GPT, PAIR, orders=2)
    assert rows == ["[START] a b [SEP] c [END]", "[START] c [SEP] a b [END]"]
    assert (both.rows_each, both.labels.tolist()) == (2, [1])
    chosen, rows = rows_of(GPT, Item((["a"],), 1, choices=(["b"], ["c", "d"])), answer=Choice(2))
    assert rows == ["[START] a [SEP] b [END]", "[START] a [SEP] c d [END]"]
    assert (chosen.rows_each, chosen.labels.tolist()) == (2, [1])
    assert chosen.pick(torch.tensor([0, 0])).tokens.ids.shape[0] == 4


def test_tags_stand_at_the_first_piece_of_every_word():
    letters = of_learnt("character", Learnt(("a", "b", "##b")))
    made, rows = rows_of(BERT, Item((["ab", "b"],), [1, 0]), answer=Tags(("x", "y")), tokenizer=letters)
    assert rows == ["[CLS] a ##b b [SEP]"]
    assert made.labels.tolist() == [[-1, 1, -1, 0, -1]]


def test_an_answer_span_stands_where_its_words_do_and_only_the_passage_is_open():
    made, rows = rows_of(BERT, Item((["a"], "b c d".split()), (1, 2)), answer=Span())
    assert rows == ["[CLS] a [SEP] b c d [SEP]"]
    assert made.labels.tolist() == [[4, 5]]
    assert made.positions.tolist() == [[3, 5]]


def test_what_is_to_be_written_follows_in_the_row_or_goes_to_the_decoder():
    item = Item(("a b".split(),), ["c", "d"])
    row, rows = rows_of(replace(GPT, writes="row"), item, answer=Writing())
    assert rows == ["[START] a b [SEP] c d"]
    words = [SIX.words[i] if i >= 0 else "" for i in row.labels[0].tolist()]
    assert words == ["", "", "", "c", "d", "[END]"]
    there, rows = rows_of(replace(PLAIN, writes="decoder"), item, answer=Writing())
    assert rows == ["a b"]
    assert [SIX.words[i] for i in there.decoder_input[0].tolist()] == ["[START]", "c", "d"]
    assert [SIX.words[i] for i in there.labels[0].tolist()] == ["c", "d", "[END]"]


def test_the_packing_suits_the_model_unless_another_is_named():
    left, both = Architecture(attention="left to right"), Architecture()
    assert format_for(left) == replace(LAST, writes="row")
    assert format_for(both) == PLAIN
    assert format_for(Architecture(segments=2)) == BERT
    assert format_for(both, "bert", 60) == replace(BERT, max_length=60)
    learned = replace(both, positions="learned")
    assert format_for(learned) == replace(PLAIN, max_length=learned.max_position_embeddings - SPECIALS)
    with pytest.raises(UserError, match=r"max_length is 200; this model reads rows with at most 120 tokens of text\."):
        format_for(learned, max_length=200)
    assert format_for(Architecture(decoder_layers=1)).writes == "decoder"
    assert format_for(left, "gpt") == replace(GPT, writes="row")
    with pytest.raises(
        UserError, match="no input format named 'nope'; choose one of: plain, last, first, ends, BERT, GPT"
    ):
        format_for(both, "nope")
    assert all(packing.source for packing in INPUT_FORMATS.values())


LETTERS = train_tokenizer(["abc"], "character", 60)

SIZES, FORMS = st.integers(1, 40), st.sampled_from(["text", "pair", "choice", "write"])


@given(
    one=SIZES,
    two=SIZES,
    three=SIZES,
    most=st.integers(4, 30),
    form=st.sampled_from(["text", "pair", "choice", "write"]),
)
@settings(max_examples=60, deadline=None)
@pytest.mark.parametrize("packing", [*INPUT_FORMATS.values(), replace(PLAIN, writes="decoder")], ids=str)
def test_no_text_of_a_row_is_empty_and_only_what_does_not_fit_is_cut(packing, one, two, three, most, form):
    """A law of every input format: each text is one word, so a word is cut inside; what is cut is counted."""
    texts = ["a" * one], ["b" * two], ["c" * three]
    item = {
        "text": Item(texts[:1], 1), "pair": Item(texts[:2], 1), "choice": Item(texts[:1], 0, texts[1:]),
        "write": Item(texts[:1], texts[1]),
    }[form]  # fmt: skip
    answer = {"choice": Choice(2), "write": Writing()}.get(form, TWO)
    packing = replace(packing, writes=packing.writes or "row", max_length=most)
    made, rows = rows_of(packing, item, answer=answer, tokenizer=LETTERS)
    read = [[sum(part.count(letter) for part in row.split()) for letter in "abc"] for row in rows]
    if form == "write":
        target = int((made.labels >= 0).sum()) - 1
        read = [[row[0], target, 0] for row in read]
    asked = {"text": [[one, 0, 0]], "choice": [[one, two, 0], [one, 0, three]]}.get(form, [[one, two, 0]])
    longest = max(map(sum, asked))
    assert made.cut == (longest > most)
    for got, wanted in zip(read, asked, strict=True):
        assert all(g > 0 for g, w in zip(got, wanted, strict=True) if w) and sum(got) <= most
        share = max(got)
        assert longest > most or got == wanted
        assert form == "choice" or got == [min(w, share) for w in wanted], "the longest is truncated first"


def test_texts_that_are_cut_and_words_that_are_unknown_are_counted(tokenizer):
    task, most = find_task("entailment"), 8
    short = task.load(tokenizer, 40, 0, "train", replace(PLAIN, max_length=most))
    cut = sum(len(item.words) > most for item in task.items(40, 0, "train"))
    assert short.notices == (f"{cut} of the 40 texts to learn from are longer than 8 tokens; their ends are left out.",)
    assert task.load(tokenizer, 40, 0, "test", PLAIN).notices == ()
    words = find_task("sentiment").items(30, 0, "test")
    lacking = of_words([word for item in words for word in item.words if word != "the"])
    [sentence] = find_task("sentiment").load(lacking, 30, 0, "test").notices
    number = sum(item.words.count("the") for item in words)
    assert f"{number} of the {sum(len(item.words) for item in words):,} tokens of the 30 texts" in sentence


def test_an_empty_answer_is_never_exactly_right():
    labels = torch.tensor([[5, -1], [3, 5]])
    scores = torch.nn.functional.one_hot(labels[labels >= 0], 8).float()
    assert Writing().measure(scores, labels) == {"accuracy": 1.0, "exact match": 0.5}


# heads


def test_a_text_is_the_mean_the_first_or_the_last_of_its_positions():
    hidden, real = torch.arange(24.0).view(2, 4, 3), torch.tensor([[True] * 4, [True, True, False, False]])
    head = TaskHead(find_strategy("full").head, (1,), 1, 3, TWO)
    assert head._pooled(hidden, real, "first").tolist() == [[0, 1, 2], [12, 13, 14]]
    assert head._pooled(hidden, real, "last").tolist() == [[9, 10, 11], [15, 16, 17]]
    assert head._pooled(hidden, real, "mean").tolist() == [[4.5, 5.5, 6.5], [13.5, 14.5, 15.5]]


def test_two_vectors_are_compared_by_distance_and_product():
    made = infersent_features(torch.tensor([[1.0, 2.0]]), torch.tensor([[3.0, -1.0]]))
    assert made.tolist() == [[1, 2, 3, -1, 2, 3, 3, -2]]


def test_a_span_outside_the_passage_is_closed(tokenizer, bases):
    texts = find_task("question answering").load(tokenizer, 4, 0, "train")
    model = bases["RoBERTa"].learner.model
    scores = new_head(model, texts.answer, 0)({model.top_hidden_state: model.features(texts.tokens)}, texts)
    for row, (first, last) in zip(scores, texts.positions.tolist(), strict=True):
        assert bool((row[:first] == CLOSED).all())
        assert bool((row[last + 1 :] == CLOSED).all())
        assert bool((row[first : last + 1] > CLOSED).all())


@pytest.mark.parametrize("entry", ["GPT", "BART"])
def test_a_writing_head_starts_as_the_models_own_output_layer(entry, tokenizer, bases):
    """What it scores first is what the model itself would say; BART's own training is the witness."""
    model = bases[entry].learner.model
    texts = find_task("summary").load(tokenizer, 4, 0, "train", format_for(model.shape))
    known = {model.top_hidden_state: model.features(texts.tokens)}
    scores = new_head(model, texts.answer, 0)(known, texts)
    hidden = known[model.top_hidden_state]
    if texts.decoder_input is not None:
        hidden = model.decode(hidden, texts.tokens, texts.decoder_input)
    assert torch.equal(scores, model.lm_head(hidden[texts.labels >= 0], model.token_embedding.weight))


@torch.no_grad()
@pytest.mark.parametrize("entry", ["GPT", "BART"])
def test_a_writing_head_serves_another_state_of_the_model(entry, tokenizer, bases):
    model = bases[entry].learner.model
    head, other = new_head(model, Writing(), 0), deepcopy(model)
    other.token_embedding.weight.mul_(1.5)
    texts = find_task("summary").load(tokenizer, 4, 0, "train", format_for(model.shape))
    hidden = other.features(texts.tokens)
    written = hidden if texts.decoder_input is None else other.decode(hidden, texts.tokens, texts.decoder_input)
    scores = head.on(other)({model.top_hidden_state: hidden}, texts)
    assert torch.equal(scores, other.lm_head(written[texts.labels >= 0], other.token_embedding.weight))
    assert head.on(other).bias is head.bias


@torch.no_grad()
@pytest.mark.parametrize("entry", ["GPT", "BART"])
def test_an_exact_match_is_what_greedy_decoding_would_write(entry, tokenizer, bases):
    """A text is written one word at a time, and made the right one; then every given-words guess must be right."""
    model = bases[entry].learner.model
    packing = format_for(model.shape)
    source, right = find_task("summary").items(1, 0, "train")[0].texts[0], []
    for _ in range(4):
        texts = pack([Item((source,), [*right, "the"])], Writing(), packing, tokenizer)
        scores = new_head(model, texts.answer, 0)({model.top_hidden_state: model.features(texts.tokens)}, texts)
        right.append(tokenizer.words[int(scores[len(right)].argmax())])
    texts = pack([Item((source,), right)], Writing(), packing, tokenizer)
    scores = new_head(model, texts.answer, 0)({model.top_hidden_state: model.features(texts.tokens)}, texts)
    assert [tokenizer.words[i] for i in scores.argmax(1).tolist()][:4] == right


def untrained(name, number, shots, tokenizer, learner):
    """The first examples of a task, as they are and as texts, and what a model says of them without training."""
    task = find_task(name)
    texts = task.load(tokenizer, number, 0, "train", format_for(learner.model.shape))
    return (
        task.items(number, 0, "train"),
        texts,
        texts.answer.prompted(learner.model, Prompt(shots=shots), texts, texts),
    )


def going_on(rows, tokenizer, learner):
    """What a model says of every coming word of whole rows, asked in its own way."""
    tokens = pad_rows(rows, tokenizer.specials, tokenizer.words)
    [answer] = learner.model(learner.objective.batch(tokens, torch.Generator()))
    return answer


@pytest.mark.parametrize("name", ["sentiment", "translation", "story ending", "question answering"])
def test_a_prompt_shows_all_labelled_texts_where_there_are_fewer_than_it_asks_for(name, tokenizer, bases):
    learner = bases["RoBERTa" if name == "sentiment" else "GPT"].learner
    few, many = (untrained(name, 3, shots, tokenizer, learner)[2] for shots in (3, 16))
    assert torch.equal(few, many)


@torch.no_grad()
@pytest.mark.parametrize("shots", [0, 2])
def test_a_text_is_written_untrained_as_the_model_would_go_on(shots, tokenizer, bases):
    """The scores of every coming word are those of the model's own question about the whole text behind one another."""
    learner, sep = bases["GPT"].learner, tokenizer.specials.sep
    items, texts, scores = untrained("translation", 6, shots, tokenizer, learner)
    said = [(*item.texts[0], *item.right, "[SEP]") for item in items]
    whole = [[*tokenizer.encode_words(words[:-1]), sep] for words in said]
    before = [number for row in whole[:shots] for number in row]
    answer = going_on([[*before, *row] for row in whole], tokenizer, learner)
    position = 0
    for number, item in enumerate(items):
        own = answer.scores[answer.rows == number].log_softmax(-1)[-len(item.right) - 1 :]
        mine = scores[position : position + len(own)]
        assert torch.allclose(mine[:, sep], own[:, tokenizer.specials.end], atol=1e-5)
        assert torch.allclose(mine[:, sep + 1 :], own[:, sep + 1 :], atol=1e-5)
        position += len(own)
    assert position == len(scores) == int((texts.labels >= 0).sum())


@torch.no_grad()
@pytest.mark.parametrize("shots", [0, 1])
def test_a_choice_is_as_likely_as_its_words_behind_the_story(shots, tokenizer, bases):
    learner, sep = bases["GPT"].learner, tokenizer.specials.sep
    items, _, scores = untrained("story ending", 5, shots, tokenizer, learner)
    assert scores.shape == (5, 4)
    encode, first = tokenizer.encode_words, items[0]
    shown = [*encode(first.texts[0]), *encode(first.choices[first.right]), sep] if shots else []
    choice = encode(items[3].choices[2])
    answer = going_on([[*shown, *encode(items[3].texts[0]), *choice, sep]], tokenizer, learner)
    own = answer.scores.log_softmax(-1).gather(1, answer.labels[:, None])[-len(choice) - 1 :]
    assert float(scores[3, 2]) == pytest.approx(float(own.mean()), abs=1e-4)


@torch.no_grad()
@pytest.mark.parametrize("shots", [0, 1])
def test_the_words_that_are_marked_untrained_are_the_likeliest_behind_text_and_question(shots, tokenizer, bases):
    """Every span is read on its own, with the stop behind it; the likeliest one must be the one that is marked."""
    learner = bases["GPT"].learner
    items, texts, scores = untrained("question answering", 3, shots, tokenizer, learner)
    assert scores.shape == (*texts.tokens.ids.shape, 2)
    encode, sep = tokenizer.encode_words, tokenizer.specials.sep
    asked = [[*encode(item.texts[1]), *encode(item.texts[0])] for item in items]
    one = items[0]
    right = one.texts[1][one.right[0] : sum(one.right)]
    shown = [*asked[0], *encode(right), *encode(["."]), sep] if shots else []
    for number, item in enumerate(items):
        words = encode(item.texts[1])
        spans = [(a, b) for a in range(len(words)) for b in range(a, min(a + texts.answer.longest, len(words)))]
        rows = [[*shown, *asked[number], *words[a : b + 1], *encode(["."])] for a, b in spans]
        answer = going_on(rows, tokenizer, learner)
        each = answer.scores.log_softmax(-1).gather(1, answer.labels[:, None])[:, 0]
        likely = [float(each[answer.rows == row][-(b - a + 2) :].sum()) for row, (a, b) in enumerate(spans)]
        best = spans[max(range(len(spans)), key=lambda k: likely[k])]
        first = int(texts.positions[number, 0])
        assert texts.answer.best(scores)[number].tolist() == [first + best[0], first + best[1]]


def test_only_who_reads_left_to_right_goes_on_writing_untrained(tokenizer, bases):
    for name in ("summary", "question answering"):
        for entry in ("RoBERTa", "BART"):
            with pytest.raises(UserError, match=f"'{name}' asks for that. Choose a base such as GPT"):
                find_task(name).check_prompt(bases[entry].learner.model, tokenizer)


# measures


def test_a_classifier_of_its_own_for_each_thing_answers_for_that_thing():
    answer = OfEach(("bad", "good"), ("songs", "actors"))
    scores = torch.tensor([[2.0, 1.0, 0.0, 9.0], [2.0, 1.0, 0.0, 9.0], [0.0, 5.0, 3.0, 1.0]])
    labels = torch.tensor([0, 3, 3])
    assert answer.scores == 4
    assert answer.measure(scores, labels) == {"accuracy": pytest.approx(2 / 3)}
    nudged = scores.clone()
    nudged[0, 2:] += 7.0
    assert answer.loss(nudged, labels) == answer.loss(scores, labels), "what is said of the other thing is not scored"
    assert answer.guess(torch.tensor([1, 3, 0]), labels) == pytest.approx(2 / 3)


def test_the_key_sentence_is_the_one_with_the_best_score():
    answer = KeySentence(("other", "key"))
    labels = torch.tensor([[0, -1, 1, -1, 0], [1, -1, 0, 0, -1]])
    scores = torch.tensor([[0.0, 1.0], [0.0, 3.0], [0.0, 2.0], [0.0, -2.0], [0.0, -1.0], [0.0, -3.0]])
    measured = answer.measure(scores, labels)
    assert measured["accuracy"] == 0.5
    assert measured["accuracy per sentence"] == 0.5
    assert answer.guess(torch.tensor([[-1, 1, 0]]), labels) == 0.5


def test_every_sentence_of_a_story_has_a_sign_of_its_own_and_one_is_the_key(drawn, tokenizer):
    texts = find_task("key sentence").load(tokenizer, 12, 0, "train")
    asked = texts.labels >= 0
    assert torch.equal(asked, texts.tokens.ids == tokenizer.specials.cls)
    assert (texts.labels == 1).sum(1).tolist() == [1] * 12
    for item in drawn["key sentence", "train"]:
        [words] = item.texts
        assert words[item.right.index(1) + 1] == "best"
        assert ":" not in words


def test_what_is_asked_of_an_aspect_is_the_same_alone_and_as_a_pair():
    alone, pairs = (find_task(name).items(40, 0, "test") for name in ("aspect", "aspect as a pair"))
    names = find_task("aspect").answer.things
    for one, pair in zip(alone, pairs, strict=True):
        assert one.texts[0] == pair.texts[0]
        assert (one.right % 3, names[one.right // 3]) == (pair.right, pair.texts[1][1])
        assert (pair.right == 0) == (pair.texts[1][1] not in one.texts[0])


def test_nobody_who_is_asked_about_is_in_both_splits_and_every_seed_asks_about_others():
    """Names cannot be learnt by heart: what the tested people speak is told by nothing but knowledge.

    Three seeds ask about all 24 people, so that the spread between seeds holds the luck of who is asked.
    """
    task, tested = find_task("known people"), []
    for seed in range(3):
        asked = {split: {item.texts[0][2] for item in task.items(300, seed, split)} for split in ("train", "test")}
        assert not asked["train"] & asked["test"]
        assert len(asked["train"]) == 16
        tested += asked["test"]
        for item in task.items(60, seed, "test"):
            assert known_facts()[item.texts[0][2]]["Language"].word == task.answer.names[item.right]
    assert len(tested) == len(set(tested)) == 24


def test_correlations_are_those_of_the_textbook():
    scores, labels = torch.tensor([[1.0], [2.0], [4.0], [3.0]]), torch.tensor([0.0, 1.0, 2.0, 4.0])
    measured = Number(4.0).measure(scores, labels)
    assert measured["Pearson"] == pytest.approx(torch.corrcoef(torch.stack([scores[:, 0], labels]))[0, 1].item())
    assert measured["Spearman"] == pytest.approx(0.8)
    assert Number(4.0).measure(-scores, labels)["accuracy"] == 0.0
    assert Number(4.0).measure(torch.ones(4, 1), labels)["Pearson"] == 0.0
    assert ranks(torch.tensor([5.0, 1.0, 5.0])).tolist() == [2.5, 1.0, 2.5]


def test_a_mention_counts_only_whole_and_of_its_kind():
    answer = Mentions(("O", "B-x", "I-x", "B-y", "I-y"))
    labels = torch.tensor([[1, 2, 0, 3, -1], [0, 0, 3, 0, -1]])
    said = torch.tensor([1, 2, 0, 1, 0, 0, 3, 0])
    measured = answer.measure(torch.nn.functional.one_hot(said, 5).float(), labels)
    assert measured["accuracy"] == pytest.approx(2 * 2 / (3 + 3))
    assert measured["accuracy per word"] == pytest.approx(7 / 8)


def test_the_best_span_is_in_order_and_short_and_f1_counts_what_is_common():
    scores = torch.zeros(1, 6, 2)
    scores[0, 4, 0], scores[0, 1, 1] = 9.0, 8.0
    scores[0, 3, 0], scores[0, 5, 1] = 7.0, 3.0
    assert Span().best(scores).tolist() == [[4, 5]]
    measured = Span().measure(scores, torch.tensor([[3, 4]]))
    assert measured == {"accuracy": 0.0, "exact match": 0.0, "F1": pytest.approx(0.5)}
    assert Span(longest=1).best(scores).tolist() == [[4, 4]]


def test_a_text_counts_as_written_only_if_every_word_is_right():
    labels = torch.tensor([[-1, 2, 1], [-1, 0, 2]])
    measured = Writing().measure(torch.nn.functional.one_hot(torch.tensor([2, 1, 0, 1]), 3).float(), labels)
    assert measured == {"accuracy": 0.75, "exact match": 0.5}


@every_task
def test_a_guess_is_what_always_saying_the_same_gets(name, tokenizer):
    task = tasks()[name]
    learnt, tested = (task.load(tokenizer, 60, 0, split) for split in ("train", "test"))
    assert 0.0 <= task.answer.guess(learnt.labels, tested.labels) < 0.6


# every strategy and every task


def tuned(base, tokenizer, task, strategy, seed=0, steps=2):
    texts = texts_for(base.learner, task, [strategy], tokenizer)
    base = replace(base, tokenizer=tokenizer, task=task)
    return list(tune(base, strategy, texts(16, seed, "train"), texts(20, 0, "test"), FinetuneConfig(steps, 4), seed))


ANSWERED = ("similarity", "entities", "question answering", "story ending", "word in context", "translation")


def unsuitable(strategy, task):
    """Why a strategy cannot be used for a task, nothing where it can."""
    if strategy.prompt is not None and task in ("story ending", "question answering"):
        return f"Only a model that reads left to right can continue a text untrained, so '{task}' cannot"
    if strategy.prompt is not None and task != "translation":
        return f"Prompting needs one word .* the task '{task}' does not have that"
    if strategy.fresh in ("encoder", "decoder"):
        return "needs a model with an encoder and a decoder, and this one has one stack"
    kinds = {term.name for term in (*strategy.aux_losses, *strategy.extra_features)}
    if kinds & {"own answers", "cross views", "rewritten texts", "cloze answers"}:
        return f"need classes of texts, and the task '{task}' asks for something else"
    if strategy.name == "R-Drop" and task == "similarity":
        return f"compares probabilities of answers, and the task '{task}' asks for a number"
    if "facts" in kinds and tasks()[task].answer.about != "text":
        return f"they are for whole texts; '{task}' asks about single words"
    if "vectors of other models" in kinds and task == "translation":
        return "so it could not write"
    writes = strategy.head.reads not in ("all", "joined") and not strategy.head.recurrent
    return "" if task != "translation" or writes else "does not suit the task 'translation'"


@pytest.mark.parametrize("strategy", tuple(strategies()))
@pytest.mark.parametrize("name", ANSWERED)
def test_every_strategy_can_be_used_for_every_form_of_answer_or_says_why_not(name, strategy, bases, tokenizer):
    chosen, task = strategies()[strategy], tasks()[name]
    base = bases["GPT" if name == "translation" else "RoBERTa"]
    if reason := unsuitable(chosen, name):
        with pytest.raises(UserError, match=reason):
            tuned(base, tokenizer, task, chosen)
        return
    *steps, outcome = tuned(base, tokenizer, task, chosen)
    assert isinstance(outcome, Result)
    assert 0.0 <= outcome.accuracy == outcome.measured["accuracy"] <= 1.0
    assert all(isinstance(e, StepEvent) and 0.0 < e.loss < 20.0 for e in steps)
    assert (outcome.trainable > 0) == (chosen.prompt is None)


@every_task
@pytest.mark.parametrize("strategy", ["full", "feature-based", "adapters"])
def test_every_task_can_be_learnt_by_whoever_can_answer_it(name, strategy, bases, tokenizer):
    base = bases["BART" if name in WRITTEN else "RoBERTa"]
    before = {k: v.clone() for k, v in base.learner.model.state_dict().items()}
    *_, outcome = tuned(base, tokenizer, tasks()[name], find_strategy(strategy))
    assert (outcome.forgetting == 0.0) == (strategy != "full")
    assert all(torch.equal(v, before[k]) for k, v in base.learner.model.state_dict().items())
    assert any(group.startswith("decoder") for group in outcome.groups) == (name in WRITTEN)


@pytest.mark.parametrize("name", ["similarity", "story ending", "part of speech", "translation"])
def test_what_is_kept_changes_nothing_but_the_time(name, bases, tokenizer):
    """The same run without kept activations is the witness, for rows of several ways and for writing."""
    task, strategy, base = tasks()[name], find_strategy("gradual unfreezing"), bases["GPT"]
    texts = texts_for(base.learner, task, [strategy], tokenizer)
    train_texts, test_texts = texts(16, 0, "train"), texts(20, 0, "test")
    runs = []
    for keeps in (True, False):
        fresh = replace(base, memory={})
        runs.append(list(tune(fresh, strategy, train_texts, test_texts, FinetuneConfig(6, 4, keeps), 0)))
    (*one, first), (*other, second) = runs
    assert [e.loss for e in one] == pytest.approx([e.loss for e in other], abs=2e-5)
    assert first.measured == pytest.approx(second.measured, abs=0.05)


def test_strategies_put_together_serve_other_tasks_too(bases, tokenizer):
    joined = find_strategy("gradual unfreezing + discriminative rates + L2-SP + self-ensemble")
    *_, outcome = tuned(bases["BART"], tokenizer, find_task("translation"), joined, steps=7)
    assert torch.equal(outcome.rates, joined.rate * outcome.plan)
    assert "decoder layer 1" in outcome.groups


def test_writing_is_refused_where_nothing_can_write(bases, tokenizer):
    with pytest.raises(UserError, match=r"'translation' asks for a text to be written.*such as GPT.*such as BART"):
        tuned(bases["RoBERTa"], tokenizer, find_task("translation"), find_strategy("full"))
    with pytest.raises(UserError, match=r"layer mix does not suit the task 'summary'.*because the decoder writes"):
        tuned(bases["BART"], tokenizer, find_task("summary"), find_strategy("layer mix"))
    *_, outcome = tuned(bases["GPT"], tokenizer, find_task("summary"), find_strategy("layer mix"))
    assert len(outcome.shares) == 2


@pytest.mark.parametrize(("objective", "lacks"), [("NSP", "a second text"), ("SenseBERT", "the label 'supersense'")])
def test_a_question_that_a_tasks_texts_cannot_be_asked_is_refused(objective, lacks, tokenizer):
    learner = replace(TrainState.new(tiny("RoBERTa"), tokenizer.words, 0, CPU), objective=find_objective(objective))
    chosen = [find_strategy("full"), find_strategy("further pre-training")]
    with pytest.raises(UserError, match=f"needs {lacks}.* which the texts of a task do not have"):
        texts_for(learner, find_task("sentiment"), chosen, tokenizer)


def test_labels_that_pre_training_needs_are_rehearsed_too(bases):
    base = bases["RoBERTa"]
    known = replace(base.held_out, labels={"supersense": base.held_out.ids, "pos": base.held_out.ids})
    learner = replace(base.learner, objective=find_objective("SenseBERT"))
    assert set(Base(learner, known).rehearse().labels) == {"supersense"}
    assert set(Base(base.learner, known).rehearse().labels) == set()


def test_a_comparison_refuses_before_anything_is_trained(bases, tokenizer):
    chosen = [find_strategy("full"), find_strategy("single layer")]
    spec = ComparisonSpec(task="summary", train_sizes=(8,), seeds=1)
    events = compare(bases["BART"], tokenizer, spec, chosen=chosen)
    with pytest.raises(UserError, match="single layer does not suit"):
        next(events)


def test_a_comparison_names_its_measure_and_gives_all_of_them(bases, tokenizer):
    chosen = [find_strategy("full")]
    spec = ComparisonSpec(task="QA", train_sizes=(8,), seeds=2, steps=2, input_format="GPT")
    *_, last = compare(bases["RoBERTa"], tokenizer, spec, chosen=chosen, batch_size=4)
    facts = last.facts()
    assert facts["metric"] == "exact match"
    [said] = facts["strategies"]
    assert said["accuracy"] == said["measured"]["exact match"]
    assert len(said["measured"]["F1"]["values"]) == 2


@every_task
def test_a_vocabulary_that_does_not_know_a_task_is_told_what_to_read(name):
    strange = of_words("the quick brown fox jumps over a lazy dog .".split())
    task = tasks()[name]
    with pytest.raises(UserError, match=f"'{name}'; train it on the corpus '{task.corpora[0]}'"):
        task.load(strange, 16, 0, "train")


# there is something to learn


@pytest.fixture(scope="module")
def world():
    """A small base that has read the world for a few seconds."""
    from playground.corpora.tinyworld import generate

    corpus: Corpus = generate("world", 0, 60_000)
    entry = FAST(find_entry("RoBERTa"))
    entry = replace(entry, model=replace(entry.model, width=32, layers=1), recipe=replace(entry.recipe, batch_size=32))
    started, *_ = train(Run(entry, corpus, steps=250))
    held_out = BatchSampler.of(corpus, entry.recipe.seq_len, 8, 0, CPU).evaluation()
    return Base(started.learner, held_out), corpus.tokenizer


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "labels", "more"),
    [("sentiment", 64, 0.15), ("topic", 64, 0.3), ("part of speech", 32, 0.5), ("entities", 64, 0.3)],
)
def test_a_pre_trained_base_learns_much_more_than_a_guess(name, labels, more, world):
    base, words = world
    texts = texts_for(base.learner, tasks()[name], [], words)
    learnt, tested = texts(labels, 0, "train"), texts(200, 0, "test")
    *_, outcome = tune(base, find_strategy("full"), learnt, tested, FinetuneConfig(80, 16), 0)
    assert outcome.accuracy > learnt.answer.guess(learnt.labels, tested.labels) + more


def test_an_item_knows_all_its_words_and_a_task_can_be_made_by_hand(tokenizer):
    item = Item((["the", "film"],), 1, choices=(["was"], ["."]))
    assert item.words == ("the", "film", "was", ".")
    made = Task("mine", "Say it.", "here", TWO, lambda count, seed, split: [Item((["the"],), 1)] * count)
    assert isinstance(made.load(tokenizer, 3, 0, "train"), Dataset)
