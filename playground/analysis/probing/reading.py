"""What probes of a subject read: different sentences, its states of them, and those of a random encoder."""

from dataclasses import replace

from torch import Tensor

from playground.analysis.probing.classifier import random_encoder
from playground.analysis.probing.items import FEWEST, Texts
from playground.analysis.probing.task import Made, ProbingTask
from playground.analysis.probing.texts import different
from playground.analysis.subject import SENTENCES, Subject
from playground.batch import Tokens


def probing_texts(subject: Subject, count: int) -> Texts:
    """Different held-out sentences of a subject's corpus, the same for all probes."""
    names = subject.corpus.label_names
    texts = subject.once(("probing texts", count), lambda: Texts(different(subject.sentences(count)), names))
    subject.count(len(texts.tokens.ids), f"different {SENTENCES}", count)
    return texts


def make_items(subject: Subject, task: ProbingTask, texts: Texts) -> Made:
    """What a task makes of the texts; the finding will say how many items of rare classes are left out."""
    read, items = task.make(texts, subject.seed)
    subject.count(len(items), f"items of {task.name}")
    if items.rare:
        left_out = f"{items.rare:,} of {items.rare + len(items):,} items are left out"
        subject.lacking.append(f"{task.name}: {left_out}, as their classes have fewer than {FEWEST}.")
    return read, items


def untrained(subject: Subject) -> Subject:
    """The same subject with a random encoder in place of its model."""

    def made() -> Subject:
        model = random_encoder(subject.model, subject.seed, subject.tokenizer.words)
        return replace(subject, model=model, known={})

    return subject.once("random encoder", made)


def both_states(subject: Subject, tokens: Tokens) -> tuple[list[Tensor], list[Tensor]]:
    """The states `[r, t, d]` of all levels, of the model and of the random encoder, on the CPU."""
    own, other = subject.states(tokens), untrained(subject).states(tokens)
    return [level.cpu() for level in own], [level.cpu() for level in other]
