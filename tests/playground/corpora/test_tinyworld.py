"""TinyWorld: is the truth that the grammar tells about its tokens true?"""

from collections import Counter, defaultdict
from functools import cache
from itertools import groupby, pairwise
from math import log, sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.corpora import open_corpus
from playground.corpora.catalog.parallel import make_parallel
from playground.corpora.tinyworld import generate, supersenses
from playground.corpora.tinyworld import lexicon as lex
from playground.corpora.tinyworld.facts import known_facts
from playground.corpora.tinyworld.grammar import Form, build, read_rules
from playground.corpora.tinyworld.inflection import participle, past, plural, takes_an, with_s
from playground.corpora.tinyworld.lexicon import ENTITIES
from playground.corpora.tinyworld.tasks.polarity import polarity_sentences
from playground.corpora.tinyworld.tasks.similarity import paraphrase_pairs
from playground.corpora.tinyworld.translate import FILLER, FROM, INTO, Language, dictionary, encipher
from playground.errors import UserError
from playground.tokenizing.vocabulary import FIRST_WORD, SEPARATOR, UNKNOWN


@cache
def world():
    return generate("world", 0, 120_000)


@cache
def reviews():
    return generate("reviews", 0, 20_000)


@cache
def parallel():
    return make_parallel(0, 20_000)


@cache
def world_words():
    return world().tokenizer.decode(world().ids.tolist())


def named(corpus, label):
    """A label of every token as a word, "" where there is none."""
    names = (*corpus.label_names[label], "")
    return [names[number] for number in corpus.labels[label].tolist()]


def sentences(corpus=None):
    """The tokens of each sentence as (word, pos, number, attractors, sense)."""
    corpus = corpus or world()
    words = corpus.tokenizer.decode(corpus.ids.tolist())
    columns = zip(words, *(named(corpus, n) for n in ("pos", "number", "attractors", "sense")), strict=True)
    found = defaultdict(list)
    for number, token in zip(corpus.sentence_ids.tolist(), columns, strict=True):
        found[number].append(token)
    return list(found.values())


def test_the_vocabulary_does_not_depend_on_the_seed():
    assert generate("world", 1, 2000).tokenizer == world().tokenizer


def test_there_are_enough_words_and_none_is_unknown():
    assert 600 <= len(world().ids.unique()) <= len(world().tokenizer) <= 1500
    assert 150 <= len(reviews().ids.unique()) <= 250
    assert UNKNOWN not in world().ids


def test_all_corpora_share_a_vocabulary_and_some_add_words_of_their_own():
    assert reviews().tokenizer == world().tokenizer == generate("agreement", 0, 2000).tokenizer
    for name in ("parallel", "affixes", "symbols", "clauses", "text to text"):
        words = open_corpus(name, tokens=3000).tokenizer.words
        assert words[: len(world().tokenizer)] == world().tokenizer.words
        assert (len(words) > len(world().tokenizer)) == (name in ("parallel", "affixes", "symbols"))


@pytest.mark.parametrize(
    "sentence",
    [
        "I am happy to join with you today.",
        "How are you?",
        "The cat sat on the mat.",
        "My name is Anna.",
        "Hello, my friend.",
    ],
)
def test_everyday_sentences_are_known(sentence):
    assert UNKNOWN not in world().tokenizer.encode(sentence).ids
    assert set(world().tokenizer.encode(sentence).ids) <= set(world().ids.tolist()), "and they were read in training"


@pytest.mark.parametrize("made", [world, reviews, parallel])
def test_labels_are_as_long_as_the_text_and_have_names(made):
    corpus = made()
    numbers = {"phrase", "mention", "head", *(["aligned"] if made is parallel else [])}
    assert set(corpus.labels) == {*corpus.label_names, *numbers}
    for name, row in corpus.labels.items():
        assert len(row) == len(corpus)
        assert -1 <= int(row.min()) <= int(row.max()) < len(corpus.label_names.get(name, row))


def test_every_word_has_a_part_of_speech_and_separators_have_no_label():
    ends = world().ids == SEPARATOR
    assert ((world().labels["pos"] < 0) == ends).all()
    assert all((row[ends] == -1).all() for name, row in world().labels.items() if name != "language")
    assert (world().labels["language"] == 0).all()


def test_documents_and_sentences_end_where_they_should():
    assert world().ids[-1] == SEPARATOR
    for sentence in sentences():
        words = [w for w, *_ in sentence if w != "[SEP]"]
        assert [w for w in words if w in (".", "?")] == words[-1:]


def test_the_documents_are_reviews_to_two_fifths():
    share = float((world().labels["polarity"] >= 0).float().mean())
    assert 0.35 < share < 0.45


def test_a_or_an_follows_the_next_word():
    pairs = {(one, two) for one, two in pairwise(world_words()) if one in ("a", "an")}
    assert {("an", "honest"), ("an", "awful"), ("a", "good")} <= pairs
    assert all((one == "an") == takes_an(two) for one, two in pairs)


@pytest.mark.parametrize(
    ("rule", "word", "form"),
    [
        (plural, "leaf", "leaves"),
        (plural, "child", "children"),
        (plural, "berry", "berries"),
        (plural, "essay", "essays"),
        (plural, "dish", "dishes"),
        (plural, "potato", "potatoes"),
        (plural, "quiz", "quizzes"),
        (past, "weave", "wove"),
        (past, "fry", "fried"),
        (past, "spray", "sprayed"),
        (past, "chop", "chopped"),
        (past, "offer", "offered"),
        (past, "dye", "dyed"),
        (past, "catch", "caught"),
        (with_s, "wash", "washes"),
        (with_s, "study", "studies"),
        (with_s, "buy", "buys"),
    ],
)
def test_words_are_inflected_as_in_english(rule, word, form):
    assert rule(word) == form


def test_subjects_and_verbs_agree_whatever_stands_between():
    seen = Counter()
    for words in sentences():
        verbs = [k for k, (_, _, _, attractors, _) in enumerate(words) if attractors]
        for position in verbs:
            nouns = [number for _, pos, number, *_ in words[:position] if pos == "NOUN"]
            _, _, number, attractors, _ = words[position]
            assert nouns[0] == number
            assert sum(other != number for other in nouns[1:]) == int(attractors)
            seen[number, attractors] += 1
    assert min(seen[n, a] for n in ("sg", "pl") for a in "012") > 50


def test_determiners_agree_with_their_nouns():
    fitting = {"a": "sg", "an": "sg", "this": "sg", "these": "pl", "two": "pl", "many": "pl"}
    for words in sentences():
        for k, (word, *_) in enumerate(words):
            if word in fitting:
                noun = next(token for token in words[k:] if token[1] == "NOUN")
                assert noun[2] == fitting[word], words


def test_a_verb_in_s_is_singular():
    for words in sentences():
        for word, pos, number, *_ in words:
            if pos == "VERB" and number:
                assert (number == "sg") == word.endswith("s") or word in ("pass", "passes")


def test_homographs_are_nouns_as_often_as_verbs():
    counts = defaultdict(Counter)
    for word, pos in zip(world_words(), named(world(), "pos"), strict=True):
        counts[word][pos] += 1
    words = lex.HOMOGRAPHS.split()
    assert len(words) >= 20
    nouns = sum(counts[w]["NOUN"] for word in words for w in (word, with_s(word)))
    verbs = sum(counts[w]["VERB"] for word in words for w in (word, with_s(word)))
    assert nouns + verbs == sum(counts[w].total() for word in words for w in (word, with_s(word)))
    assert 0.45 < nouns / (nouns + verbs) < 0.55


def test_the_meanings_of_a_word_are_equally_frequent_and_given_away_by_its_neighbours():
    cues = {f"{w}.{m}": set(c.split()) for w, both in lex.SENSES.items() for m, c in both}
    counts, told = Counter(), Counter()
    for words in sentences():
        for word, *_, sense in words:
            if sense:
                counts[sense] += 1
                assert sense.startswith(word + ".")
                told[bool(cues[sense] & {w for w, *_ in words})] += 1
    for word, ((one, _), (other, _)) in lex.SENSES.items():
        both = counts[f"{word}.{one}"] + counts[f"{word}.{other}"]
        assert abs(counts[f"{word}.{one}"] - both / 2) < 5 * sqrt(both / 4)
    assert 0.8 < told[True] / told.total() < 0.95, "some are told only by the sentences around"


def test_a_word_without_a_cue_in_its_sentence_stands_among_words_of_its_field():
    fields, bare = defaultdict(set), set()
    by_document = defaultdict(list)
    document = dict(zip(world().sentence_ids.tolist(), world().document_ids.tolist(), strict=True))
    for number, words in zip(document, sentences(), strict=True):
        by_document[document[number]].append(words)
    for number, texts in by_document.items():
        for words in texts:
            cues = {field for field, of in lex.FIELDS.items() if set(of.split()) & {w for w, *_ in words}}
            senses = {lex.FIELD[sense] for *_, sense in words if sense}
            fields[number] |= cues | senses
            bare |= {number} if senses - cues else set()
    assert len(bare) > 100
    assert all(len(fields[number]) == 1 for number in bare)
    assert min(Counter(lex.FIELD.values()).values()) >= 3, "a slot near a cue fits several words"


def test_phases_and_topics_share_no_verb():
    verbs = [verb for topic in lex.TOPICS for phase in topic.phases for verb in phase.split()]
    assert len(verbs) == len(set(verbs))
    assert len(lex.TOPICS) == 6


def test_events_of_a_story_come_in_order():
    phase = {}
    for topic in lex.TOPICS:
        for k, step in enumerate(topic.phases):
            phase |= {form: k for verb in step.split() for form in (verb, past(verb), with_s(verb), participle(verb))}
    by_document = defaultdict(list)
    columns = (world().document_ids.tolist(), world_words(), named(world(), "pos"), named(world(), "topic"))
    for document, word, pos, topic in zip(*columns, strict=True):
        if topic and pos == "VERB" and word in phase:
            by_document[document].append(phase[word])
    stories = [order for order in by_document.values() if len(order) >= 4]
    assert len(stories) > 100
    assert all(order == sorted(order) and set(order) == {0, 1, 2, 3} for order in stories)


def test_nearly_all_sentences_of_a_review_have_its_polarity():
    sign = dict.fromkeys(f"{lex.GOOD} {lex.LIKED} good".split(), 1)
    sign |= dict.fromkeys(f"{lex.BAD} {lex.DISLIKED} bad".split(), 0)
    agree = []
    polarity = {}
    for number, label in zip(reviews().sentence_ids.tolist(), reviews().labels["polarity"].tolist(), strict=True):
        polarity[number] = max(label, polarity.get(number, -1))
    for number, words in zip(sorted(polarity), sentences(reviews()), strict=True):
        texts = [w for w, *_ in words]
        first = next(w for w in texts if w in sign)
        said = sign[first] != (texts[texts.index(first) - 1] == "not")
        agree.append(said == bool(polarity[number]))
    assert 0.94 < sum(agree) / len(agree) < 0.98


def test_feelings_are_equally_frequent_and_polarities_balanced():
    counts = Counter(reviews().tokenizer.decode(reviews().ids.tolist()))
    often = [counts[word] for word in f"{lex.GOOD} {lex.BAD}".split()]
    share = sum(often) / len(often)
    assert all(abs(count - share) < 5 * sqrt(share) for count in often)
    assert len(often) == 140
    assert 0.45 < float((reviews().labels["polarity"] == 1).sum() / (reviews().labels["polarity"] >= 0).sum()) < 0.55


def test_facts_are_the_same_wherever_they_are_told():
    facts = known_facts()
    born = [k for k, word in enumerate(world_words()) if word == "born"]
    assert len(facts) == 40
    assert len(born) > 40
    assert all(world_words()[k + 2] == facts[world_words()[k - 2]]["Birthplace"].word for k in born)


def test_crossed_names_have_halves_that_occur_nowhere_else():
    halves = {tuple(name.split()) for name in lex.CROSSED}
    first = {one for one, _ in halves}
    second = {two for _, two in halves}
    assert len(first) == len(second) == len(lex.CROSSED)
    pairs = [pair for pair in pairwise(world_words()) if pair[0] in first or pair[1] in second]
    assert pairs
    assert set(pairs) <= halves


def runs(label, corpus=None):
    """The places of the tokens with each number of a running label."""
    corpus = corpus or world()
    found = defaultdict(list)
    for position, number in enumerate(corpus.labels[label].tolist()):
        if number >= 0:
            found[number].append(position)
    return found


@pytest.mark.parametrize("label", ["phrase", "mention"])
@pytest.mark.parametrize("made", [world, parallel])
def test_running_numbers_are_those_of_unbroken_runs_within_a_sentence(label, made):
    corpus = made()
    found = runs(label, corpus)
    assert list(found) == list(range(len(found)))
    for positions in found.values():
        assert positions == list(range(positions[0], positions[-1] + 1))
        assert corpus.sentence_ids[positions[0]] == corpus.sentence_ids[positions[-1]]


def test_phrases_begin_as_their_kind_says_and_leave_out_stops():
    pos, kinds = named(world(), "pos"), named(world(), "phrase_type")
    begins = defaultdict(set)
    for positions in runs("phrase").values():
        assert len({kinds[k] for k in positions}) == 1
        begins[kinds[positions[0]]].add(pos[positions[0]])
    assert begins == {
        "NP": {"DET", "NUM", "PRON", "NOUN", "PROPN", "ADJ"},
        "VP": {"VERB", "AUX", "ADP"},
        "PP": {"ADP"},
        "AP": {"ADJ", "ADV", "PART"},
    }
    outside = {tag for tag, kind in zip(pos, kinds, strict=True) if not kind}
    assert outside == {"PUNCT", "CONJ", "ADV", "INTJ", ""}


def test_the_tokens_of_a_mention_spell_the_name_of_its_entity():
    entity, kind = named(world(), "entity"), named(world(), "entity_type")
    mentioned = set()
    for positions in runs("mention").values():
        name = " ".join(world_words()[k] for k in positions)
        assert {entity[k] for k in positions} == {name}
        assert {kind[k] for k in positions} == {ENTITIES[name]}
        mentioned.add(name)
    assert mentioned == set(ENTITIES)
    names = (world().labels["pos"] == world().label_names["pos"].index("PROPN")).tolist()
    assert [number >= 0 for number in world().labels["mention"].tolist()] == names


def test_towns_share_the_parts_of_their_names_but_not_every_pair_is_a_town():
    pairs = Counter(tuple(name.split()) for name in lex.TOWNS)
    first, second = Counter(one for one, _ in pairs), Counter(two for _, two in pairs)
    assert set(first.values()) == set(second.values()) == {2}
    assert 2 * len(pairs) == len(first) * len(second)
    assert {pair for pair in pairwise(world_words()) if pair[0] in first and pair[1] in second} == set(pairs)


def test_content_words_have_one_supersense_and_small_words_none():
    lemmas = {word: meaning for meaning, words in supersenses.NOUNS.items() for word in words.split()}
    meanings = defaultdict(set)
    for word, pos, said in zip(world_words(), named(world(), "pos"), named(world(), "supersense"), strict=True):
        assert bool(said) == (pos in ("NOUN", "VERB", "ADJ", "PROPN"))
        meanings[word, pos].add(said)
    several = {word for (word, _), said in meanings.items() if len(said) > 1}
    assert several <= set(lex.SENSES)
    assert meanings["whale", "NOUN"] == {"animal"}
    assert meanings["rosa", "PROPN"] == {"person"}
    assert meanings["talk", "NOUN"] == {"speech"}
    assert all(meanings[plural(w), "NOUN"] <= {lemmas[w]} for w in lemmas)


def test_no_word_stands_in_two_classes_of_meaning():
    for table in (supersenses.NOUNS, supersenses.VERBS, supersenses.ADJECTIVES):
        words = [word for words in table.values() for word in words.split()]
        assert len(words) == len(set(words))


@given(st.text("abcdefghijklmnopqrstuvwxyz", min_size=1))
def test_the_ciphers_can_be_undone(word):
    for language, into in INTO.items():
        back = encipher(word, language).replace(FILLER[language], "").translate(str.maketrans(into, FROM))
        assert back == word


@pytest.mark.parametrize("language", INTO)
def test_no_word_is_by_accident_in_both_languages(language):
    words = world().tokenizer.words[FIRST_WORD:]
    pairs = dictionary(words, 0.0, language)
    assert not set(pairs) & set(pairs.values())
    assert len(set(pairs.values())) == len(words) - 1, "a and an are one word"


def test_the_third_language_is_another_than_the_second():
    assert (encipher("film"), encipher("film", "third")) == ("zevulu", "lümidi")
    second, third = make_parallel(0, 3000), make_parallel(0, 3000, Language(language="third"))
    assert third.label_names["language"] == ("first", "third")
    assert second.labels["aligned"].tolist() == third.labels["aligned"].tolist()
    with pytest.raises(UserError, match="language is 'fourth'; choose one of second, third"):
        open_corpus("parallel(language=fourth)", tokens=2000)


@pytest.mark.parametrize("shared", [0.0, 0.1, 0.5, 1.0])
def test_so_many_words_are_the_same_in_both_languages(shared):
    words = world().tokenizer.words[FIRST_WORD:]
    same = [here for here, there in dictionary(words, shared).items() if here == there]
    assert len(same) == round(shared * len(words))
    early = {word for name in ENTITIES for word in name.split()} | {".", ","}
    assert set(same) <= early or early & set(words) <= set(same), "stops and names come first"


@pytest.mark.parametrize("knobs", [{}, {"adjective_after": True}, {"verb_last": False, "shared": 0.5}])
def test_the_alignment_points_both_ways_to_the_same_meaning(knobs):
    corpus = make_parallel(1, 4000, Language(**knobs))
    words, aligned = corpus.tokenizer.decode(corpus.ids.tolist()), corpus.labels["aligned"].tolist()
    pairs = dictionary(generate("parallel", 0, 1000).tokenizer.words[FIRST_WORD:], knobs.get("shared", 0.1))
    sides = list(runs_of(corpus.sentence_ids.tolist()))
    assert corpus.labels["language"][[side[0] for side in sides]].tolist() == [0, 1] * (len(sides) // 2)
    for one, two in zip(sides[::2], sides[1::2], strict=True):
        two = two[:-1]
        assert words[two[-1] + 1] == "[SEP]"
        assert len(one) == len(two)
        for k, position in enumerate(one):
            twin = two[aligned[position]]
            assert aligned[twin] == k
            assert pairs[words[position]] == words[twin]
            assert corpus.labels["pos"][position] == corpus.labels["pos"][twin]


def runs_of(numbers):
    """The places of each run of equal numbers."""
    for _, run in groupby(range(len(numbers)), key=numbers.__getitem__):
        yield list(run)


def test_the_order_of_words_is_that_of_the_knobs():
    def order(**knobs):
        corpus = make_parallel(0, 30_000, Language(shared=1.0, **knobs))
        words = corpus.tokenizer.decode(corpus.ids.tolist())
        sides = [" ".join(words[k] for k in run) for run in runs_of(corpus.sentence_ids.tolist())]
        return dict(zip(sides[::2], sides[1::2], strict=True))

    plain = order(verb_last=False)
    assert all(f"{here} [SEP]" == there for here, there in plain.items())
    last = order()
    behind = order(verb_last=False, adjective_after=True)
    film = next(here for here in behind if here.startswith("it was a ") and here.endswith("film ."))
    adjectives = film.removeprefix("it was a ").removesuffix(" film .")
    assert behind[film] == f"it was a film {adjectives} . [SEP]"
    assert last[film] == f"it a {adjectives} film was . [SEP]"
    seen = next(here for here in last if here.startswith("near the") and "we saw the" in here)
    assert last[seen] == seen.replace(" saw", "").replace(" .", " saw . [SEP]")


def test_a_senseless_overlap_is_refused():
    with pytest.raises(UserError, match=r"shared is 1\.5"):
        open_corpus("parallel(shared=1.5)", tokens=2000)


def test_the_bound_lies_below_what_frequencies_alone_reach():
    for corpus in (world(), reviews()):
        assert 0.5 < corpus.entropy_bound < corpus.unigram_entropy / 2


def test_the_bound_is_exact_for_a_grammar_that_can_be_counted():
    ways = read_rules("S = 3: x | 1: y T\nT = z | w", {}, {})
    grammar = build(ways, "S", lambda word: Form(word, "X"))
    written: list[int] = []
    for random, nats in ((0.5, -log(0.75)), (0.8, -log(0.25) - log(0.5))):
        assert grammar.write(grammar.names["S"], lambda r=random: r, written) == pytest.approx(nats)
    assert [grammar.forms[number].word for number in written] == ["x", "y", "w"]


def test_a_remembered_choice_is_repeated():
    ways = read_rules("S = It := T $It $It $It\nT = a | b | c", {}, {})
    grammar = build(ways, "S", lambda word: Form(word, "X"))
    chances = iter([0.9, 0.1])
    for _ in range(2):
        written: list[int] = []
        assert grammar.write(grammar.names["S"], lambda: next(chances), written) == pytest.approx(log(3))
        assert len(written) == 3
        assert len(set(written)) == 1


def test_negation_is_a_minority_and_turns_the_polarity():
    good = set(lex.GOOD.split())
    sentences_, labels = polarity_sentences(600, 1)
    negated = [(s, label) for s, label in zip(sentences_, labels, strict=True) if "not" in s]
    assert 0.05 < len(negated) / 600 < 0.3
    for words, label in negated:
        after = words[words.index("not") + 1]
        assert (after in good) != bool(label)


def test_more_sentences_than_there_are_is_refused():
    with pytest.raises(UserError, match="ask for fewer"):
        polarity_sentences(60_000, 0)
    with pytest.raises(
        UserError, match=r"There are only about .* such examples in the split train, not 20000; ask for"
    ):
        paraphrase_pairs(20_000, 0)
    with pytest.raises(UserError, match="split is 'dev'"):
        polarity_sentences(10, 0, "dev")  # type: ignore[arg-type]
