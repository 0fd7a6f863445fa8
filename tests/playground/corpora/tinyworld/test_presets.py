"""The presets of TinyWorld: does each hold the property that it was made for?"""

from collections import Counter, defaultdict
from itertools import groupby
from math import sqrt

import pytest

from playground import catalog
from playground.corpora.catalog.domains import make_domains
from playground.corpora.catalog.parallel import make_parallel
from playground.corpora.sources import sources
from playground.corpora.tinyworld import domains, generate
from playground.corpora.tinyworld import lexicon as lex
from playground.corpora.tinyworld.domains import CODES, food_words
from playground.corpora.tinyworld.facts import FACTS, MENTIONS
from playground.corpora.tinyworld.inflection import past
from playground.corpora.tinyworld.preset import Preset
from playground.corpora.tinyworld.presets.affixes import derive, held_out
from playground.corpora.tinyworld.presets.families import CONTRASTS
from playground.corpora.tinyworld.presets.kinds import COLOURS
from playground.corpora.tinyworld.presets.scenes import NOISE, SPOKEN
from playground.corpora.tinyworld.presets.senses import WHEN, WHERE
from playground.corpora.tinyworld.presets.shortcuts import CUES
from playground.corpora.tinyworld.supersenses import supersense
from playground.corpora.tinyworld.world import grammar
from playground.tokenizing.vocabulary import SEPARATOR, UNKNOWN

PRESETS = catalog.find("playground.corpora.tinyworld.presets", Preset)
Z = 5.0
"""So many standard deviations a count may lie from what its law says."""


def near(count, number, share):
    """Whether a count lies as near to its expectation as a law of chance lets expect."""
    return abs(count - number * share) <= Z * sqrt(number * share * (1 - share)) + 1e-9


def words_of(corpus):
    return corpus.tokenizer.decode(corpus.ids.tolist())


def named(corpus, label):
    names = (*corpus.label_names[label], "")
    return [names[number] for number in corpus.labels[label].tolist()]


def documents(corpus, *labels):
    """The tokens of each document as (word, label, ...), without [SEP]."""
    rows = zip(words_of(corpus), *(named(corpus, name) for name in labels), strict=True)
    return [tokens[:-1] for tokens in cut(list(rows), corpus.document_ids.tolist())]


def cut(items, numbers):
    """The items in runs of equal numbers."""
    return [[items[k] for k in run] for _, run in groupby(range(len(items)), key=numbers.__getitem__)]


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_writes_documents_with_labels(name):
    corpus = generate(name, 0, 2000)
    assert len(corpus) >= 2000
    assert corpus.ids[-1] == SEPARATOR
    assert UNKNOWN not in corpus.ids
    assert 0 < (corpus.entropy_bound or 0) < corpus.unigram_entropy
    assert generate(name, 0, 2000).hash == corpus.hash
    assert generate(name, 1, 2000).hash != corpus.hash
    for label, row in corpus.labels.items():
        assert len(row) == len(corpus)
        assert label in ("phrase", "mention", "head") or int(row.max()) < len(corpus.label_names[label])


@pytest.mark.parametrize("name", [name for name in PRESETS if name not in ("symbols", "affixes")])
def test_every_content_word_of_a_preset_has_a_supersense(name):
    content = [form for form in grammar(name).forms if form.pos in ("NOUN", "VERB", "ADJ", "PROPN")]
    assert [form.word for form in content if not supersense(form)] == []


def test_every_preset_is_a_corpus_that_can_be_opened():
    found = sources()
    assert set(PRESETS) | {"domains", "bilingual", "python reference", "inference", "clauses", "text to text"} == set(
        found
    )
    assert all(preset.idea == found[name].idea for name, preset in PRESETS.items())


def test_the_events_of_a_story_stand_in_order_and_each_has_its_words():
    verbs = defaultdict(set)
    for tokens in documents(generate("stories", 0, 20_000), "event", "supersense", "pos"):
        order = [event for event, _ in groupby(event for _, event, _, _ in tokens)]
        assert order == ["", "1", "2", "3", "4"]
        for word, event, _, pos in tokens:
            if pos == "VERB" and event:
                verbs[word].add(event)
    assert all(len(events) == 1 for events in verbs.values())
    assert len(verbs) > 60


def test_a_summary_repeats_the_key_sentence():
    shares = Counter()
    for tokens in documents(generate("summaries", 0, 30_000), "key"):
        if not any(said for _, said in tokens):
            continue
        key, summary = ([word for word, said in tokens if said == kind] for kind in ("sentence", "summary"))
        assert [a if a != "an" else "a" for a in key] == [a if a != "an" else "a" for a in summary]
        text = " ".join(word for word, _ in tokens)
        assert f"best of all , {' '.join(key)} ." in text
        assert text.endswith(f"in short : {' '.join(summary)} .")
        before = text[: text.index("best of all")]
        shares[before.count(".") > 3] += 1
    assert min(shares.values()) > 20, "the key sentence has no fixed place"


def test_verbs_agree_over_up_to_four_attractors_equally_often():
    corpus = generate("agreement", 0, 60_000)
    rows = zip(named(corpus, "pos"), named(corpus, "number"), named(corpus, "attractors"), strict=True)
    counts = Counter()
    for tokens in cut(list(rows), corpus.sentence_ids.tolist()):
        numbers = [number for pos, number, _ in tokens if pos == "NOUN"]
        (verb,) = [token for token in tokens if token[2]]
        assert verb[1] == numbers[0]
        assert sum(number != numbers[0] for number in numbers[1:]) == int(verb[2])
        counts[verb[2]] += 1
    row_share = 4 / 6
    assert set(counts) == set("01234")
    assert near(counts["4"] + counts["3"], counts.total(), 0.4 * row_share)


def test_cues_stand_where_their_label_says():
    cues = {f"{w}.{m}": set(c.split()) for w, both in lex.SENSES.items() for m, c in both}
    counts = Counter()
    corpus = generate("senses", 0, 40_000)
    rows = zip(words_of(corpus), *(named(corpus, label) for label in ("sense", "cue", "distance")), strict=True)
    for tokens in cut(list(rows), corpus.sentence_ids.tolist()):
        words = [word for word, *_ in tokens]
        if not tokens[0][2]:
            continue
        position = next(k for k, token in enumerate(tokens) if token[1])
        sense, cue, distance = tokens[position][1:]
        sides = {("left", "right")[k > position] for k, word in enumerate(words) if word in cues[sense]}
        assert sides == {"left": {"left"}, "right": {"right"}, "both": {"left", "right"}, "xor": set()}[cue]
        if distance:
            nearest = min(abs(k - position) for k, word in enumerate(words) if word in cues[sense])
            assert (nearest <= 4) == (distance == "near")
        if cue == "xor":
            when, where = (next(k for k, w in enumerate(both) if w in words) for both in (WHEN, WHERE))
            first = f"{words[position]}.{lex.SENSES[words[position]][0][0]}"
            assert (when == where) == (sense == first)
            counts["when", when, sense == first] += 1
            counts["where", where, sense == first] += 1
        counts[cue] += 1
    for side in ("when", "where"):
        for k in (0, 1):
            both = counts[side, k, True] + counts[side, k, False]
            assert near(counts[side, k, True], both, 0.5), "one side alone says nothing"
    told = sum(counts[cue] for cue in ("left", "right", "both", "xor"))
    assert near(counts["xor"], told, 2 / 7)


def test_facts_are_told_exactly_as_often_as_they_should():
    deck = sum(fact.mentions for fact in FACTS)
    corpus = generate("facts", 0, 30_000)
    told = Counter(tokens[0][1] for tokens in documents(corpus, "fact"))
    rounds, rest = divmod(told.total(), deck)
    assert rounds >= 2
    assert set(Counter(fact.mentions for fact in FACTS)) == set(MENTIONS)
    for fact in FACTS:
        assert rounds * fact.mentions <= told[fact.name] <= (rounds + (rest > 0)) * fact.mentions
    held_out = [fact for fact in FACTS if fact.mentions == 0]
    assert len(held_out) >= 20
    told_of = [fact for fact in FACTS if fact.mentions]
    assert {fact.subject for fact in held_out if fact.relation != "has"} <= {fact.subject for fact in told_of}
    assert Counter(fact.revealing for fact in FACTS if fact.relation == "has") == {True: 4, False: 4}
    assert not any(fact.revealing for fact in FACTS if fact.relation != "has")
    assert {fact.object for fact in held_out} <= {fact.object for fact in told_of}


def test_a_fact_is_told_with_its_subject_and_its_object():
    facts = {fact.name: fact for fact in FACTS}
    for tokens in documents(generate("facts", 1, 5000), "fact"):
        words, fact = {word for word, _ in tokens}, facts[tokens[0][1]]
        assert {*fact.subject.split(), fact.object} <= words


def test_connectives_fit_the_feelings_of_their_clauses():
    sign = dict.fromkeys(f"{lex.GOOD} {lex.LIKED}".split(), 1) | dict.fromkeys(f"{lex.BAD} {lex.DISLIKED}".split(), 0)
    words = {"addition": "and", "contrast": "but", "cause": "because", "result": "so"}
    corpus, counts = generate("arguments", 0, 30_000), Counter()
    rows = zip(words_of(corpus), named(corpus, "connective"), strict=True)
    for tokens in cut(list(rows), corpus.sentence_ids.tolist()):
        relation = tokens[0][1]
        if not relation:
            continue
        assert words[relation] in [word for word, _ in tokens]
        one, two = (sign[word] for word, _ in tokens if word in sign)
        assert (one != two) == (relation == "contrast")
        counts[relation] += 1
    assert all(near(count, counts.total(), 0.25) for count in counts.values())


def test_the_answer_to_a_question_is_the_name_that_the_passage_marks():
    kinds = Counter()
    for tokens in documents(generate("questions", 0, 20_000), "answer", "entity"):
        told, reply = ([word for word, said, _ in tokens if said == kind] for kind in ("passage", "reply"))
        assert told == reply
        words = [word for word, *_ in tokens]
        who = words[words.index("?") - 1]
        answer = next(k for k, (_, said, _) in enumerate(tokens) if said == "passage")
        where = words[answer - 3 : answer]
        followed = " ".join(words).find(f"{who} followed {where[0]} .") >= 0
        assert where[1:] == ["moved", "to"]
        assert (where[0] == who) != followed
        kinds["before" if words[0] == "where" else "both facts" if followed else words.count("?")] += 1
    assert near(kinds["before"], kinds.total(), 3 / 8)
    assert near(kinds["both facts"], kinds.total(), 1 / 8)
    assert near(kinds[2], kinds.total(), 1 / 8)


def test_a_code_is_the_same_within_a_document_and_another_in_the_next():
    meanings = defaultdict(set)
    for tokens in documents(generate("symbols", 0, 20_000)):
        words = [word for (word,) in tokens]
        pairs = list(zip(words[::4], words[2::4], strict=True))
        assert len(pairs) == 7
        assert len({key for key, _ in pairs}) == len(set(pairs)) == 3
        for key, value in pairs:
            meanings[key].add(value)
    assert all(len(values) == 4 for values in meanings.values())


def test_ice_and_steam_go_with_each_word_as_often_as_the_table_says():
    words, counts = words_of(generate("families", 0, 60_000)), Counter()
    for k, word in enumerate(words):
        if word in CONTRASTS:
            counts[word, words[k + 3]] += 1
    for one, row in CONTRASTS.items():
        total = sum(counts[one, other] for other in row)
        assert all(near(counts[one, other], total, share) for other, share in row.items())


def test_words_of_an_open_class_follow_zipfs_law():
    words = Counter(words_of(generate("reviews", 0, 60_000)))
    aspects = lex.ASPECTS.split()
    weights = [1 / rank**0.8 for rank in range(1, len(aspects) + 1)]
    total = sum(words[word] for word in aspects)
    assert all(near(words[w], total, weight / sum(weights)) for w, weight in zip(aspects, weights, strict=True))


def test_two_domains_differ_as_much_as_the_shares_say(monkeypatch):
    for name, share in {"VOCABULARY": 1.0, "STYLE": 0.25, "SHARE": 0.3}.items():
        monkeypatch.setattr(domains, name, share)
    corpus = make_domains(0, 20_000)
    instead, ends, kinds = food_words(), Counter(), Counter()
    assert len(instead) == len(set(instead.values())) == sum(len(words.split()) for words in lex.FOOD.values())
    assert not set(instead) & set(instead.values())
    for tokens in documents(corpus, "domain"):
        words, (domain,) = [word for word, _ in tokens], {domain for _, domain in tokens}
        kinds[domain] += 1
        assert words[0] == CODES[domain == "food"]
        assert not set(words) & set(instead if domain == "food" else instead.values())
        if domain == "food":
            ends.update(word for word in words if word in ".!")
        else:
            assert "!" not in words
    assert near(ends["!"], ends.total(), 0.25)
    assert near(kinds["food"], kinds.total(), 0.3)


def test_labels_stay_with_their_words_in_both_domains(monkeypatch):
    monkeypatch.setattr(domains, "VOCABULARY", 1.0)
    corpus = make_domains(0, 10_000)
    pairs = set(zip(words_of(corpus), named(corpus, "pos"), named(corpus, "supersense"), strict=True))
    assert {
        ("films", "", ""),
        ("soup", "NOUN", "food"),
        ("delicious", "ADJ", "judgement"),
        ("music", "NOUN", "speech"),
    } <= pairs
    assert {("devoured", "VERB", "feeling"), ("!", "PUNCT", "")} <= pairs
    starts = [tokens[0] for tokens in documents(corpus, "polarity")]
    assert {word for word, _ in starts} == set(CODES)
    assert all(len(set(cut_)) == 1 for cut_ in cut(corpus.document_ids.tolist(), corpus.sentence_ids.tolist()))


def test_two_domains_are_the_same_for_the_same_seed():
    assert make_domains(0, 3000).hash == make_domains(0, 3000).hash


def test_a_chain_calls_one_person_throughout_a_document():
    pronouns = {"she": "f", "her": "f", "he": "m"}
    gender = {name: g for g, names in lex.NAMES.items() for name in names.split()} | lex.GENDER
    kinds = Counter()
    for tokens in documents(generate("world", 0, 60_000), "chain", "entity"):
        small = ("a", "an", "the", "two")
        heroes = [(word, entity) for word, chain, entity in tokens if chain == "hero" and word not in small]
        if not heroes:
            continue
        nouns = {word for word, _ in heroes} - {*pronouns, "they"}
        said = {pronouns.get(word, "") for word, _ in heroes} - {""}
        assert len(nouns) == 1
        assert len({entity for _, entity in heroes if entity}) <= 1
        assert said <= {gender.get(*nouns, *said)} if said else True
        kinds["named" if heroes[0][1] else "unnamed"] += 1
    assert min(kinds["named"], kinds["unnamed"]) > 50


def test_roles_are_those_of_whole_phrases():
    corpus = generate("stories", 0, 20_000)
    rows = zip(words_of(corpus), *(named(corpus, name) for name in ("role", "pos", "supersense")), strict=True)
    seen = defaultdict(set)
    for tokens in cut(list(rows), corpus.labels["phrase"].tolist()):
        roles = {role for _, role, pos, _ in tokens if pos not in ("PUNCT", "CONJ", "ADV", "")}
        assert len(roles) <= 1
        seen[tokens[0][1]] |= {(tokens[0][0], tokens[0][2])}
    assert {pos for _, pos in seen["action"]} == {"VERB", "AUX"}
    assert {word for word, _ in seen["goal"]} == {"to"}
    assert {word for word, _ in seen["place"]} <= {"near", "in", "at"}
    assert {pos for _, pos in seen["agent"]} <= {"DET", "PROPN", "PRON", "NUM", "ADP"}
    assert {word for word, pos in seen["agent"] if pos == "ADP"} == {"by"}
    assert {pos for _, pos in seen["patient"]} <= {"DET", "NUM"}


def test_the_same_word_comes_again_after_exactly_so_many_others():
    counts = Counter()
    for tokens in documents(generate("gaps", 0, 20_000), "gap"):
        ((position, number),) = [(k, said) for k, (_, said) in enumerate(tokens) if said]
        words = [word for word, _ in tokens]
        first = words.index(words[position])
        assert position - first - 1 == int(number)
        assert words.count(words[position]) == 2
        counts[number] += 1
    assert all(near(count, counts.total(), 1 / 6) for count in counts.values())


def test_held_out_combinations_are_never_written_but_their_parts_are():
    corpus = generate("affixes", 0, 40_000)
    seen = {(stem, affix) for stem, affix in zip(named(corpus, "stem"), named(corpus, "affix"), strict=True) if affix}
    every = {(stem, affix) for stem in lex.STEMS.split() for affix in lex.AFFIXES}
    assert seen == {pair for pair in every if not held_out(*pair)}
    assert len(every - seen) == len(every) / 4
    assert {stem for stem, _ in seen} == set(lex.STEMS.split())
    assert {affix for _, affix in seen} == set(lex.AFFIXES)
    written = set(words_of(corpus))
    assert not {derive(*pair) for pair in every - seen} & written
    assert (derive("blick", "re-"), derive("blick", "-er")) == ("reblick", "blicker")


def test_the_cue_of_a_shortcut_misleads_once_in_twenty():
    days, counts = {word: p for p, word in CUES.items()}, Counter()
    for tokens in documents(generate("shortcuts", 0, 60_000), "shortcut", "polarity"):
        day = next(word for word, *_ in tokens if word in days)
        _, said, polarity = tokens[0]
        assert (days[day] == polarity) == (said == "agrees")
        counts[said] += 1
    assert near(counts["misleads"], counts.total(), 0.05)


def test_slips_are_what_their_label_says():
    corpus, counts = generate("speech", 0, 20_000), Counter()
    for tokens in cut(list(zip(words_of(corpus), named(corpus, "slip"), strict=True)), corpus.sentence_ids.tolist()):
        tokens = [token for token in tokens if token[0] != "[SEP]"]
        slips = {said for _, said in tokens if said}
        assert len(slips) <= 1
        spoken = [word for word, said in tokens if said in ("", "gap")]
        assert len(spoken) == 6 - ("gap" in slips)
        for slip in slips:
            words = [word for word, said in tokens if said == slip]
            assert {"filler": words[0] in ("uh", "um"), "repeat": words == ["the"], "repair": words[-1] == "no"}.get(
                slip, words[0] != "the"
            )
        counts[slips.pop() if slips else ""] += 1
    assert near(counts[""], counts.total(), 0.75)
    assert all(near(counts[slip], counts.total(), 1 / 16) for slip in ("filler", "repeat", "repair", "gap"))


def test_symbols_say_the_same_as_the_sentence_after_them():
    misheard = Counter()
    for tokens in documents(generate("scenes", 0, 30_000), "modality"):
        kind = tokens[0][1]
        seen = [word for word, said in tokens if said == kind][:-1]
        text = " ".join(word for word, said in tokens if said == "text")
        if kind == "picture":
            (_, colour, shape), (_, other, form) = (symbol.split(":") for symbol in seen)
            assert text == f"a {colour} {shape} is near a {other} {form} ."
        elif kind == "events":
            order = [text.index(past(symbol.removeprefix("see:"))) for symbol in seen]
            assert order == sorted(order)
        else:
            letters = [symbol.strip("/") for symbol in seen]
            word = text.split()[-2]
            assert len(letters) == len(word)
            misheard.update(a != b for a, b in zip(letters, word, strict=True))
    sounds = len({letter for word in SPOKEN for letter in word})
    assert near(misheard[True], misheard.total(), NOISE * (1 - 1 / sounds))


def test_brief_writers_leave_out_what_everybody_knows():
    colours = {"all": Counter(), "the unusual": Counter()}
    for tokens in documents(generate("kinds", 0, 40_000), "report"):
        words = " ".join(word for word, _ in tokens).split(" . ")
        for sentence in words:
            if " was " in sentence:
                _, thing, _, colour = sentence.removesuffix(" .").split()
                colours[tokens[0][1]][COLOURS[thing] == colour] += 1
    assert near(colours["all"][False], colours["all"].total(), 0.1)
    assert colours["the unusual"][True] == 0 < colours["the unusual"][False]


def test_who_acts_is_told_by_the_order_and_the_passive_alone():
    kinds = Counter()
    corpus = generate("roles", 0, 20_000)
    columns = zip(words_of(corpus), *(named(corpus, name) for name in ("role", "relation")), strict=True)
    for tokens in cut(list(columns), corpus.sentence_ids.tolist()):
        words = [word for word, *_ in tokens]
        agent = [k for k, (_, role, _) in enumerate(tokens) if role == "agent"]
        patient = [k for k, (_, role, _) in enumerate(tokens) if role == "patient"]
        assert (agent < patient) == ("was" not in words)
        assert (tokens[agent[0]][0] == "by") == ("was" in words)
        kinds["was" in words] += 1
    assert min(kinds.values()) > 200


@pytest.mark.parametrize("seed", [0, 1])
def test_held_out_sentences_of_two_languages_are_new(seed):
    corpus = make_parallel(seed, 60_000)
    rows = cut(corpus.ids.tolist(), corpus.document_ids.tolist())
    first = int(corpus.document_ids[corpus.held_out_from])
    assert corpus.ids[corpus.held_out_from - 1] == SEPARATOR
    assert not {tuple(row) for row in rows[:first]} & {tuple(row) for row in rows[first:]}
    assert 0.05 < 1 - corpus.held_out_from / len(corpus) < 0.2


def test_nine_of_ten_stories_have_a_summary():
    texts = [[word for (word,) in tokens] for tokens in documents(generate("summaries", 0, 60_000))]
    assert near(sum("short" in words and ":" in words for words in texts), len(texts), 0.9)


def test_a_word_of_a_review_has_the_polarity_that_it_has_alone():
    """As in a lexicon: a praised aspect is neutral, and so is "not", whatever the sentence says."""
    reviews = generate("reviews", 0, 20_000)
    kept = set(zip(words_of(reviews), named(reviews, "word_polarity"), strict=True))
    known = dict(kept)
    assert len(known) == len(kept), "one word, one polarity"
    some = {"good": "positive", "loved": "positive", "awful": "negative", "hated": "negative", "bad": "negative"}
    some |= dict.fromkeys(("acting", "not", "was", "."), "neutral")
    assert {word: known[word] for word in some} == some
    assert all((known[word] == "positive") == (word in f"good {lex.GOOD} {lex.LIKED}".split()) for word in known)
    assert "word_polarity" not in generate("world", 0, 2_000).labels
