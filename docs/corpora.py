"""Write the table of docs/corpora.md anew with `python docs/corpora.py`."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from math import log
from pathlib import Path

from playground.corpora import Corpus, open_corpus
from playground.corpora.catalog.parallel import make_parallel
from playground.corpora.tinyworld.facts import FACTS
from playground.corpora.tinyworld.lexicon import STEMS
from playground.corpora.tinyworld.presets.affixes import derive, held_out
from playground.corpora.tinyworld.tasks.analogies import analogy_questions
from playground.corpora.tinyworld.tasks.cloze import fact_questions
from playground.corpora.tinyworld.tasks.endings import story_endings
from playground.corpora.tinyworld.tasks.inference import INFERENCES, inference_pairs
from playground.corpora.tinyworld.tasks.minimal import minimal_pairs
from playground.corpora.tinyworld.tasks.roles import role_pairs
from playground.corpora.tinyworld.tasks.shortcuts import shortcut_sentences
from playground.corpora.tinyworld.tasks.typos import mistyped_sentences
from playground.corpora.tinyworld.translate import Language
from playground.corpora.tinyworld.trees import constituents
from playground.corpora.tinyworld.truth import every_text
from playground.tokenizing.vocabulary import SEPARATOR
from playground.tokenizing.words import join_words

FILE = Path(__file__).with_name("corpora.md")
BEGIN, END = "<!-- made by docs/corpora.py: begin -->\n", "<!-- end -->"
TOKENS = 20_000


@dataclass(frozen=True)
class Property:
    """What a generated corpus has, an example of it, the claim that needs it, and what of it is not there."""

    name: str
    example: Callable[[], str]
    claim: str
    missing: str = ""


@cache
def corpus(name: str) -> Corpus:
    """A small corpus of one source, always the same."""
    return open_corpus(name, seed=0, tokens=TOKENS)


def document(name: str, number: int = 0) -> str:
    """The text of one document."""
    made = corpus(name)
    return made.tokenizer.join(made.ids[(made.document_ids == number) & (made.ids != SEPARATOR)].tolist())


def marked(name: str, *labels: str, where: str = "", value: str = "") -> str:
    """The first sentence with some label (of some value): `word/LABEL`, and in front what is true of all its words."""
    made = corpus(name)
    row = made.labels[where or labels[0]]
    hits = row >= 0 if not value else row == made.label_names[where or labels[0]].index(value)
    sentence = int(made.sentence_ids[hits.nonzero()[0, 0]])
    places = ((made.sentence_ids == sentence) & (made.ids != SEPARATOR)).nonzero()[:, 0].tolist()
    said = {label: [_value(made, label, place) for place in places] for label in labels}
    whole = [f"{label} {values[0]}: " for label, values in said.items() if values[0] and len(set(values)) == 1]
    each = zip(*(values for values in said.values() if len(set(values)) > 1), strict=True)
    words = made.tokenizer.decode(made.ids[places].tolist())
    noted = ["·".join(filter(None, values)) for values in each] or [""] * len(words)
    return "".join(whole) + " ".join(f"{w}/{what}" if what else w for w, what in zip(words, noted, strict=True))


def _value(made: Corpus, label: str, place: int) -> str:
    number = int(made.labels[label][place])
    names = made.label_names.get(label)
    return "" if number < 0 else names[number] if names else str(number)


def tree(name: str, word: str) -> str:
    """The first sentence with a word: "word ←relation head" for all that hangs on another."""
    made = corpus(name)
    words = made.tokenizer.decode(made.ids.tolist())
    sentence = made.sentence_ids[words.index(word)]
    places = ((made.sentence_ids == sentence) & (made.ids != SEPARATOR)).nonzero()[:, 0].tolist()
    head = made.labels["head"].tolist()
    arcs = ", ".join(
        f"{words[k]} ←{_value(made, 'relation', k)}– {words[head[k]]}" if head[k] >= 0 else f"{words[k]} root"
        for k in places
    )
    groups = constituents([head[k] - places[0] if head[k] >= 0 else -1 for k in places])
    return f"{arcs} · groups: {', '.join(join_words(words[places[a] : places[b] + 1]) for a, b in groups)}"


def roles() -> str:
    """A sentence and the same verb with the roles reversed."""
    texts, labels = role_pairs(6, 0)
    one, other = texts[labels.index(0)]
    return f"{join_words(one)} – reversed: {join_words(other)}"


def stems() -> str:
    """Three words of the corpus `affixes`, one that it never writes, and a mistyped word."""
    held = next(derive(stem, "un-") for stem in STEMS.split() if held_out(stem, "un-"))
    wrong = mistyped_sentences(1, 0)[0]
    return (
        f"{document('affixes')} (never written: {held}) · {wrong.words[wrong.place]} for {wrong.right}: {wrong.error}"
    )


def shortcut() -> str:
    """A text whose cue is right and one whose cue misleads."""
    texts, _ = shortcut_sentences(40, 0, share=0.5)
    said = {text.agrees: join_words(text.words) for text in texts}
    return f"{said[True]} – misleading: {said[False]}"


def ending() -> str:
    """The end of a story with a right and a wrong last sentence."""
    story = story_endings(1, 0)[0]
    right, wrong = story.endings[story.right], story.endings[1 - story.right]
    return f"{join_words(story.words)} right: {join_words(right)} wrong: {join_words(wrong)}"


def towns() -> str:
    """Facts that the name gives away, and facts that it does not."""
    has = [fact for fact in FACTS if fact.relation == "has"]
    one, other = (next(fact for fact in has if fact.revealing == wanted) for wanted in (True, False))
    return f"{one.subject} has a {one.object} (its name says so) · {other.subject} has a {other.object}"


def languages() -> str:
    """A sentence, and the same in two other languages."""
    third = make_parallel(0, 2000, Language(language="third"))
    said = third.tokenizer.join(
        third.ids[(third.document_ids == 0) & (third.sentence_ids == 1) & (third.ids != SEPARATOR)].tolist()
    )
    return f"{document('parallel')} {said}"


def cry() -> str:
    """A noun and a verb that say each other."""
    chances = every_text("world", "Cry").word_at(["the", "dog", "barked", "."], 1)
    return f"the [MASK] barked: {', '.join(f'{word} {chance:.2f}' for word, chance in chances.items())}"


def pairs(kind: str) -> str:
    """The right and the wrong sentence of a minimal pair."""
    right, wrong = minimal_pairs(kind, 1, 0)[0]
    return f"{join_words(right)} – not: {join_words(wrong)}"


def inference() -> str:
    """A premise, a hypothesis and what holds."""
    (texts, labels) = inference_pairs(6, 0)
    premise, hypothesis = texts[0]
    return f"{join_words(premise)} ⇒ {join_words(hypothesis)} {INFERENCES[labels[0]]}"


def fact() -> str:
    """A fact as a sentence with a gap, and how often it is told."""
    found = max(fact_questions(), key=lambda question: question.fact.mentions)
    words = ["[MASK]" if k == found.place else word for k, word in enumerate(found.words)]
    return f"{join_words(words)} ({found.fact.object}; told {found.fact.mentions} times a round)"


def analogy() -> str:
    """One question and its answer."""
    q = analogy_questions()[0]
    return f"{q.a} : {q.b} = {q.c} : {q.d}"


def contrast() -> str:
    """The exact chances of the words that follow ice and steam."""
    truth = every_text("families", "Matter")
    after = {matter: truth.next_word((matter, "comes", "with")) for matter in ("ice", "steam")}
    return ", ".join(f"P({w} ∣ {m}) = {chances[w]:.2f}" for m, chances in after.items() for w in ("solid", "gas"))


def crossed() -> str:
    """Names whose parts are shared, and one of them in a text."""
    return marked("world", "entity", where="entity_type", value="town")


def frequencies() -> str:
    """The words of ranks 1, 10, 100 and 300, and how often they come."""
    made = corpus("world")
    counts = Counter(made.tokenizer.decode(made.ids[made.ids != SEPARATOR].tolist())).most_common()
    return ", ".join(f"{counts[r - 1][0]!r} (rank {r}) {counts[r - 1][1]}×" for r in (1, 10, 100, 300))


def exact() -> str:
    """The entropy of a rule that can be written out."""
    truth = every_text("families", "Matters")
    return (
        f"three sentences such as “ice comes with water.”: {truth.entropy:.3f} nats, {truth.entropy / log(2):.3f} bits"
    )


BERT, GLUE = "BERT (arXiv:1810.04805)", "its experiments on GLUE"

PROPERTIES = (
    Property(
        "documents with a title, a topic and events in order", partial(document, "stories"),
        "ALBERT (arXiv:1909.11942), where sentence-order prediction is compared with next-sentence prediction: "
        "the latter can be solved by the topic alone",
    ),
    Property(
        "parts of speech, tense, phrases and dependency trees",
        lambda: f"{marked('world', 'pos', value='VERB')} · {tree('stories', 'wrapped')}",
        "“BERT rediscovers the classical NLP pipeline” (arXiv:1905.05950), its results by layer; "
        "the structural probe (N19-1419)",
    ),
    Property(
        "words with two meanings; the cue left, right, on both sides, or only in both together",
        partial(marked, "senses", "sense", "cue", where="cue", value="xor"),
        "ELMo (arXiv:1802.05365), its analysis of word sense disambiguation; "
        f"{BERT}, its introduction on joining two directions late",
    ),
    Property(
        "names of several words whose parts are crossed; nouns and verbs that say each other",
        lambda: f"{crossed()} · {cry()}",
        "XLNet (arXiv:1906.08237), its discussion of “New York”: masked words are guessed independently",
    ),
    Property(
        "facts about typed entities, each told a set number of times, some never; names that give the fact away",
        lambda: f"{fact()} · {towns()}",
        "“Language models as knowledge bases?” (arXiv:1909.01066), its results on cloze questions; "
        "E-BERT (arXiv:1911.03681), its harder set without revealing names",
    ),
    Property(
        "agreement with 0 to 4 misleading nouns", partial(marked, "agreement", "attractors", value="3"),
        "Linzen et al. (arXiv:1611.01368), their errors by number of attractors",
    ),
    Property(
        "semantic roles, active and passive, reversed",
        lambda: f"{marked('roles', 'role', value='agent')} · {roles()}",
        "“What do you learn from context?” (arXiv:1905.06316), its edge probing of roles",
    ),
    Property(
        "names and pronouns that mean one person, up to two persons in a document",
        partial(document, "roles"),
        "“What does BERT look at?” (arXiv:1906.04341), its attention head for coreference",
    ),
    Property(
        "feelings with negation and degrees, also about single aspects",
        partial(marked, "reviews", "polarity", "feeling", where="pos", value="PART"),
        f"{BERT}, {GLUE} (SST-2); ULMFiT (arXiv:1801.06146), its study of few labels",
    ),
    Property(
        "exact chances of neighbours", contrast,
        "GloVe (D14-1162), its table of ratios for ice and steam",
    ),
    Property(
        "grids of analogies; kinds, looks and numbers, said or left unsaid",
        lambda: f"{analogy()} · {marked('kinds', 'told', value='all')}",
        "word2vec (arXiv:1301.3781), its test of analogies; reporting bias (Gordon and Van Durme 2013)",
    ),
    Property(
        "a second and a third language: every word replaced, order changed, alignment known", languages,
        "XLM (arXiv:1901.07291), its translation objective; "
        "“Cross-lingual ability of multilingual BERT” (arXiv:1912.07840), on shared words and word order",
    ),
    Property(
        "pairs that follow, contradict or do neither; paraphrases; graded similarity", inference,
        f"{BERT}, {GLUE} (MNLI); annotation artifacts (arXiv:1803.02324)",
    ),
    Property(
        "passages with a question and its answer, before or after, some with two turns or two facts",
        partial(document, "questions", 6),
        f"{BERT}, its introduction on reading from both sides for questions",
    ),
    Property(
        "two domains", partial(marked, "domains", "domain", value="food"),
        "“Don’t stop pretraining” (arXiv:2004.10964), its gains by distance of domains",
    ),
    Property(
        "stems and endings with held-out combinations, typing errors", stems,
        "subword models (arXiv:1508.07909), on rare and unknown words",
    ),
    Property(
        "connectives with their relation", partial(marked, "arguments", "connective", value="contrast"),
        "ERNIE 2.0 (arXiv:1907.12412), its discourse relation task",
    ),
    Property(
        "right and wrong sentences that differ in one thing", partial(pairs, "agreement-1"),
        "BLiMP (arXiv:1912.00582); SentEval’s probing tasks (arXiv:1805.01070), on changed word order",
    ),
    Property(
        "a cue at an exact distance from the word that needs it", partial(document, "gaps", 2),
        "LAMBADA (arXiv:1606.06031), on words that need a wide context",
    ),
    Property(
        "a sentence that matters most, and a summary", partial(document, "summaries"),
        "PEGASUS (arXiv:1912.08777), on gap sentences; GPT-2, its summaries after “TL;DR:”",
    ),
    Property(
        "a word that says what follows", partial(document, "domains"),
        "CTRL (arXiv:1909.05858), its control codes",
    ),
    Property(
        "frequent and rare words", frequencies,
        "word2vec’s sampling by frequency (arXiv:1310.4546)",
    ),
    Property(
        "pictures, events and misheard sounds in symbols", lambda: f"{document('scenes', 1)} · {document('scenes')}",
        "models of text with pictures (ViLBERT, arXiv:1908.02265) or speech (SpeechBERT, arXiv:1910.11559)",
    ),
    Property("labelled cues that mislead", shortcut, "studies of shortcuts such as HANS (arXiv:1902.01007)"),
    Property(
        "slips of speech with labels", partial(marked, "speech", "slip", value="repair"),
        "detecting disfluencies after pre-training on made ones (arXiv:1908.05378)",
    ),
    Property(
        "stories with right and wrong endings", ending,
        "story cloze (arXiv:1604.01696); SWAG (arXiv:1808.05326), on endings that a model wrote",
    ),
    Property(
        "true entropy", exact,
        "any statement about how far a model is from the best possible; perplexity as a measure",
        "for whole corpora only an upper bound is known; the rule of a single kind of sentence can be exact",
    ),
    Property(
        "a new code in every document", partial(document, "symbols"),
        "GPT-3 (arXiv:2005.14165), on learning from examples in the context",
    ),
)  # fmt: skip


def table() -> str:
    """The whole table as Markdown."""
    head = "| property | generated example | a published claim that needs it | not there yet |\n|---|---|---|---|\n"
    return head + "".join(map(_row, PROPERTIES))


def _row(row: Property) -> str:
    example = row.example()
    return f"| {row.name} | {f'`{example}`' if example else '–'} | {row.claim} | {row.missing or '–'} |\n"


def renew() -> None:
    """Put the table between its marks."""
    before, rest = FILE.read_text(encoding="utf-8").split(BEGIN)
    FILE.write_text(before + BEGIN + "\n" + table() + "\n" + END + rest.split(END)[1], encoding="utf-8")


if __name__ == "__main__":
    renew()
