"""The texts of the Stage page: which fit the objective and the model, and which are read."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from playground.objectives import find_objective
from playground.tokenizing.tokenizer import unknown_words
from playground.tokenizing.words import clean, split_words
from widgets.state.stage.samples import listed, offered, texts_for

if TYPE_CHECKING:
    from widgets.state.stage.store import StageStore

LONGEST_TEXT = 2_000  # characters of a sentence on the stage

WORDS_OF_PLANS = ("replace", "wrong", "marks")  # the keys of a plan whose values are words

LETTERS = "a b c d e f g h"  # the words where there is no text


def fitting(stage: "StageStore", stay: bool = False) -> dict[str, str]:
    """The texts that fit the objective: what a person typed stays, one of ours is replaced by the right one.

    Where they `stay`, only the sample of an earlier model is replaced. Of those, one of ours with words that the
    model does not know is replaced by a sample of the model's own corpus, and `gave_way` says so.
    """
    right = texts_for(stage.objective)
    ours = {name: stage.samples[name] | offered(name) for name in right}
    old = stage.samples if stay else ours
    texts = {n: words if getattr(stage, n).strip() in old[n] else getattr(stage, n) for n, words in right.items()}
    mine = {n: words for n, words in texts.items() if words.strip() in ours[n]}
    read = [words for name, words in mine.items() if name == "text" or stage.paired]
    model, new = stage.model, unknown(stage, split_words(clean(" ".join(read))))
    sample = model.sample(find_objective(stage.objective)) if model is not None and new else None
    stage.gave_way = ""
    if model is None or sample is None:
        return texts
    samples = {name: words for name, words in zip(right, sample, strict=True) if name in mine}
    for name, words in samples.items():
        stage.samples[name].add(words)
    stage.gave_way = (
        f"{model.name} does not know {listed(new)}, so a held-out text of {model.corpus_name} replaces the "
        "one that was here."
    )
    return texts | samples


def unknown(stage: "StageStore", words: Sequence[str]) -> list[str]:
    """The words that the model on the stage does not know."""
    return [] if stage.model is None else unknown_words(stage.model.tokenizer, words)


def opening_plan(stage: "StageStore", texts: Mapping[str, str]) -> str:
    """The printed plan where the text is ours and the model on the stage knows the words of the plan, else none."""
    if texts["text"].strip() not in offered("text"):
        return ""
    printed = find_objective(stage.objective).printed.plan
    new = unknown(stage, [word for key in WORDS_OF_PLANS for word in printed.get(key, ())])
    if new and stage.model is not None:
        why = f"{stage.model.name} does not know {listed(new)} of the printed plan, so it is sampled."
        stage.gave_way = f"{stage.gave_way} {why}".strip()
    return "" if new else stage.printed_plan


def read_texts(stage: "StageStore") -> tuple[str, str]:
    """The text and the second text that are rebuilt."""
    text = stage.text[:LONGEST_TEXT] if stage.text.strip() else LETTERS
    return text, stage.pair[:LONGEST_TEXT] if stage.paired else ""
