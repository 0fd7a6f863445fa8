"""What can be done with a corpus, and what cannot because it does not know enough about its words."""

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape

import torch

from playground.corpora import Corpus
from widgets.static.annotations import known

GENERATED = "the corpora of our own grammar know it"


@dataclass(frozen=True)
class Use:
    """Something that needs certain labels, and where a person finds a corpus that has them."""

    name: str
    needs: tuple[str, ...]
    found: str = GENERATED


USES = (
    Use("probing for parts of speech", ("pos",), "a treebank (.conllu) or a generated corpus knows them"),
    Use("comparing attention with dependency trees", ("head",), "a treebank (.conllu) or a generated corpus has them"),
    Use("masking gold phrases", ("phrase",)),
    Use("masking whole named entities, and entity types", ("mention", "entity_type")),
    Use("word senses", ("sense",), "“senses” and “world” have them"),
    Use("subject-verb agreement across attractors", ("attractors",), "“agreement” and “world” have them"),
    Use("semantic roles: who does what to whom", ("role",), "“roles” reverses them"),
    Use("supersenses", ("supersense",)),
    Use("coreference: chains of mentions", ("chain",), "“stories” and “world” have them"),
    Use("event order", ("event",), "“stories” and “world” have it"),
    Use("sentiment of texts", ("polarity",), "“reviews” and “world” know them"),
    Use("topics", ("topic",), "“stories” and “world” know them"),
    Use("discourse relations between clauses", ("connective",), "“arguments” has them"),
    Use("question answering", ("answer",), "“questions” has them"),
    Use("summarisation", ("key",), "“summaries” has them"),
    Use("how often each fact occurs", ("fact",), "“facts” counts them"),
    Use("domain shift: two domains", ("domain",), "“domains” has them"),
    Use("polarity of single words", ("word_polarity",), "“reviews” has them"),
    Use("fields of an article", ("field",), "“news” has them"),
    Use("aspect-based sentiment", ("feeling",), "“reviews” and “world” know them"),
    Use("tense: past and present", ("tense",)),
    Use("morphology: stems with prefixes and suffixes", ("stem", "affix"), "“affixes” has them"),
    Use("shortcuts: cues that mislead", ("shortcut",), "“shortcuts” has them"),
    Use("disfluencies: slips of speech", ("slip",), "“speech” has them"),
    Use("multimodal data: pictures and sounds as symbols", ("modality",), "“scenes” has them"),
    Use("dependencies at an exact distance", ("gap",), "“gaps” has them"),
    Use("commonsense: what everybody knows and few say", ("report",), "“kinds” has them"),
    Use("word alignment", ("aligned",), "“parallel” has it; two files of your own are aligned by lines only"),
)

TASKED = ("pos", "relation", "head", "language")
"""Labels that a file of one's own may have beside the one label of a table."""


def verdicts(corpus: Corpus) -> list[tuple[str, bool, str]]:
    """Every use, whether the corpus can feed it, and why or why not."""
    labels = set(known(corpus))
    texts = [("predicting tokens: LM, MLM, PLM, spans, replaced tokens", True, "any text will do"), *_order(corpus)]
    own = [
        (f"classifying texts by “{name}”", True, f"{len(names)} values")
        for name, names in corpus.label_names.items()
        if name in labels and corpus.entropy_bound is None and name not in TASKED
    ]
    uses = [(use.name, *_verdict(use, labels)) for use in USES]
    bound = (
        "entropy bound: the best possible loss",
        corpus.entropy_bound is not None,
        "known only for generated corpora",
    )
    return [*texts, *own, *uses, bound]


def _verdict(use: Use, labels: set[str]) -> tuple[bool, str]:
    if missing := [name.replace("_", " ") for name in use.needs if name not in labels]:
        return False, f"no labels for {' or '.join(missing)}; {use.found}"
    return True, f"labels: {', '.join(use.needs)}".replace("_", " ")


def _order(corpus: Corpus) -> Iterator[tuple[str, bool, str]]:
    """Next sentences, their order, and translations."""
    several = "language" in corpus.labels and int(corpus.labels["language"].max()) > 0
    documents = int(corpus.document_ids[-1]) + 1
    sentences = int((torch.diff(corpus.sentence_ids) != 0).sum()) + 1
    pairs = not several and sentences > documents > 1 and bool((corpus.ids == corpus.tokenizer.specials.sep).any())
    lacking = "it needs several documents, some of two sentences"
    why = "each document is a sentence and its translation" if several else lacking
    yield "next sentence and sentence order: NSP, SOP", pairs, "documents of several sentences" if pairs else why
    yield "translation: TLM", several, "two languages" if several else "it needs two languages: see “parallel”"


def markup(corpus: Corpus) -> str:
    """A list; what cannot be done is grey and says why."""
    rows = "".join(_row(*verdict) for verdict in sorted(verdicts(corpus), key=lambda verdict: not verdict[1]))
    return f'<ul style="list-style:none;padding:0;margin:0;columns:2 300px;column-gap:26px">{rows}</ul>'


def _row(name: str, can: bool, why: str) -> str:
    mark, style, no = ("✓", "", "") if can else ("–", "opacity:.55", "not here: ")
    return (
        f'<li style="break-inside:avoid;padding:2px 0;{style}"><span aria-hidden="true" '
        f'style="display:inline-block;width:18px">{mark}</span>{escape(name)}'
        f'<span class="quiet" style="display:block;margin-left:18px">{no}{escape(why)}</span></li>'
    )
