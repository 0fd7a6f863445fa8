"""Write the table of docs/corpora.md anew with `python docs/corpora.py`."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from math import log
from pathlib import Path

from playground.corpora import Corpus, open_corpus
from playground.corpora.tinyworld import tasks
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
    return made.tokenizer.join(made.ids[(made.document == number) & (made.ids != SEPARATOR)].tolist())


def marked(name: str, *labels: str, where: str = "", value: str = "") -> str:
    """The first sentence with some label (of some value): `word/LABEL`, and in front what is true of all its words."""
    made = corpus(name)
    row = made.labels[where or labels[0]]
    hits = row >= 0 if not value else row == made.label_names[where or labels[0]].index(value)
    sentence = int(made.sentence[hits.nonzero()[0, 0]])
    places = ((made.sentence == sentence) & (made.ids != SEPARATOR)).nonzero()[:, 0].tolist()
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


def pairs(kind: str) -> str:
    """The right and the wrong sentence of a minimal pair."""
    right, wrong = tasks.minimal_pairs(kind, 1, 0)[0]
    return f"{join_words(right)} – not: {join_words(wrong)}"


def inference() -> str:
    """A premise, a hypothesis and what holds."""
    (texts, labels) = tasks.inference_pairs(6, 0)
    premise, hypothesis = texts[0]
    return f"{join_words(premise)} ⇒ {join_words(hypothesis)} {tasks.INFERENCES[labels[0]]}"


def fact() -> str:
    """A fact as a sentence with a gap, and how often it is told."""
    found = max(tasks.fact_questions(), key=lambda question: question.fact.mentions)
    words = ["[MASK]" if k == found.place else word for k, word in enumerate(found.words)]
    return f"{join_words(words)} ({found.fact.object}; told {found.fact.mentions} times a round)"


def analogy() -> str:
    """One question and its answer."""
    q = tasks.analogy_questions()[0]
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
        "the number of topics cannot be turned",
    ),
    Property(
        "parts of speech and phrases", partial(marked, "world", "pos", value="VERB"),
        "“BERT rediscovers the classical NLP pipeline” (arXiv:1905.05950), its results by layer",
        "dependency and constituency trees (a treebank of your own brings heads), tense as a label",
    ),
    Property(
        "words with two meanings; the cue left, right, on both sides, or only in both together",
        partial(marked, "senses", "sense", "cue", where="cue", value="xor"),
        "ELMo (arXiv:1802.05365), its analysis of word sense disambiguation; "
        f"{BERT}, its introduction on joining two directions late",
    ),
    Property(
        "names of several words whose parts are crossed", crossed,
        "XLNet (arXiv:1906.08237), its discussion of “New York”: masked words are guessed independently",
        "crossed pairs of noun and verb",
    ),
    Property(
        "facts about typed entities, each told a set number of times, some never", fact,
        "“Language models as knowledge bases?” (arXiv:1909.01066), its results on cloze questions",
        "names that give the fact away beside names that do not",
    ),
    Property(
        "agreement with 0 to 4 misleading nouns", partial(marked, "agreement", "attractors", value="3"),
        "Linzen et al. (arXiv:1611.01368), their errors by number of attractors",
    ),
    Property(
        "semantic roles", partial(marked, "world", "role", value="agent"),
        "“What do you learn from context?” (arXiv:1905.06316), its edge probing of roles",
        "passives and reversed roles, so that order alone tells who did what",
    ),
    Property(
        "names and pronouns that mean one person", partial(marked, "stories", "chain"),
        "“What does BERT look at?” (arXiv:1906.04341), its attention head for coreference",
        "more than one chain in a document",
    ),
    Property(
        "feelings with negation and degrees", partial(marked, "reviews", "polarity", where="pos", value="PART"),
        f"{BERT}, {GLUE} (SST-2); ULMFiT (arXiv:1801.06146), its study of few labels",
        "feelings about single aspects as labels",
    ),
    Property(
        "exact chances of neighbours", contrast,
        "GloVe (D14-1162), its table of ratios for ice and steam",
    ),
    Property(
        "grids of analogies", analogy,
        "word2vec (arXiv:1301.3781), its test of analogies",
        "a taxonomy, attributes that may be left unsaid, numbers as attributes",
    ),
    Property(
        "a second language: every word replaced, order changed, alignment known", partial(document, "parallel"),
        "XLM (arXiv:1901.07291), its translation objective; "
        "“Cross-lingual ability of multilingual BERT” (arXiv:1912.07840), on shared words and word order",
        "a third language",
    ),
    Property(
        "pairs that follow, contradict or do neither; paraphrases; graded similarity", inference,
        f"{BERT}, {GLUE} (MNLI); annotation artifacts (arXiv:1803.02324)",
    ),
    Property(
        "passages with a question and its answer", partial(document, "questions"),
        f"{BERT}, its introduction on reading from both sides for questions",
        "questions before the passage, several turns, two facts together",
    ),
    Property(
        "two domains", partial(marked, "domains", "domain", value="food"),
        "“Don’t stop pretraining” (arXiv:2004.10964), its gains by distance of domains",
    ),
    Property(
        "stems and endings with held-out combinations, typing errors", str,
        "subword models (arXiv:1508.07909), on rare and unknown words",
        "all of it",
    ),
    Property(
        "connectives with their relation", partial(marked, "arguments", "relation", value="contrast"),
        "ERNIE 2.0 (arXiv:1907.12412), its discourse relation task",
    ),
    Property(
        "right and wrong sentences that differ in one thing", partial(pairs, "agreement-1"),
        "BLiMP (arXiv:1912.00582); SentEval’s probing tasks (arXiv:1805.01070), on changed word order",
    ),
    Property(
        "a cue far from the word that needs it",
        partial(marked, "senses", "distance", "sense", where="distance", value="far"),
        "LAMBADA (arXiv:1606.06031), on words that need a wide context",
        "cues more than a few words away; only near and far are told apart",
    ),
    Property(
        "a sentence that matters most, and a summary", partial(document, "summaries"),
        "PEGASUS (arXiv:1912.08777), on gap sentences; GPT-2, its summaries after “TL;DR:”",
        "how often the summary stands there cannot be turned",
    ),
    Property(
        "a word that says what follows", partial(document, "domains"),
        "CTRL (arXiv:1909.05858), its control codes",
    ),
    Property(
        "frequent and rare words", frequencies,
        "word2vec’s sampling by frequency (arXiv:1310.4546)",
        "how steep the frequencies fall cannot be turned",
    ),
    Property("scenes, sounds and images in symbols", str, "models of text with speech or pictures", "all of it"),
    Property("labelled cues that mislead", str, "studies of shortcuts such as arXiv:1902.01007 (HANS)", "all of it"),
    Property("slips of speech with labels", str, "pre-training for disfluency detection", "all of it"),
    Property("stories with right and wrong endings", str, "story cloze (arXiv:1604.01696)", "all of it"),
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
