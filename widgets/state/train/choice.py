"""What is chosen for a run: the corpus, the entry with its knobs, and how often a run is measured."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from playground.corpora import Corpus, from_pasted, open_corpus
from playground.corpora.readers.decode import WrongEncoding
from playground.corpora.sources import name_with_tokenizer, own_text
from playground.errors import UserError
from playground.knob import turn
from playground.training import Run
from playground.training.data import longest_window
from playground.zoo import Entry, entry_named
from playground.zoo.preset import find_preset
from widgets.state.quota import Quota
from widgets.state.uploads import OR_CHOOSE

if TYPE_CHECKING:
    from widgets.state.train.store import TrainStore

FEWEST_IN_ROW = 4  # tokens of the shortest row that a recipe allows
LONGEST_PASTE = 2_000_000  # characters of a pasted corpus, of which a box holds no more

OWN_TEXT, OWN_FILE, OPENED = "my own text", "my own file", "the corpus on the Corpus page"

AS_DECLARED = "as published"  # the network that the entry itself declares, with our optimiser

EVALUATE_EVERY, SIZES_EVERY = 25, 20
"""Steps between evaluations and between measurements of the layers."""


def read_pasted(text: str, **options: Any) -> Corpus:
    """A pasted text as a corpus; one that fills its box may have been longer, which is said."""
    corpus = from_pasted(text[:LONGEST_PASTE], **options)
    if len(text) < LONGEST_PASTE:
        return corpus
    cut = f"Of a pasted text the first {LONGEST_PASTE:,} characters are read; upload a longer one as a file."
    return replace(corpus, warning=f"{corpus.warning} {cut}".strip(), description=f"{corpus.description} {cut}")


def load_corpus(train: "TrainStore") -> Corpus:
    """The corpus that is chosen, or a refusal in a sentence."""
    turned = train.corpus_knobs.get(train.corpus, {})
    if train.corpus == OWN_TEXT:
        return own_text(partial(read_pasted, train.pasted), turned)
    if train.corpus == OWN_FILE:
        if train.upload is None:
            raise UserError("No file is chosen yet; choose a text, a table or a treebank first.")
        turned = turned | ({"encoding": train.encoding} if train.encoding else {})
        try:
            return open_corpus(name_with_tokenizer(str(train.upload), turned))
        except WrongEncoding as wrong:
            train.unreadable = True
            raise UserError(f"{wrong}{OR_CHOOSE * (not wrong.named)}") from wrong
    if train.corpus == OPENED:
        if train.opened is None:
            raise UserError("Nothing is open on the Corpus page yet; open it and choose a corpus there.")
        return train.opened
    return open_corpus(train.corpus_name)


def declared(train: "TrainStore") -> Entry:
    """The chosen entry in the chosen recipe."""
    entry = entry_named(train.entry).with_overrides(train.mask_overrides)
    entry = replace(entry, objective=entry.objective.turn(train.brought.get(train.entry, {})))
    return entry if train.preset == AS_DECLARED else find_preset(train.preset)(entry)


def shaped(train: "TrainStore") -> Entry:
    """The same with the knobs of its model as they are turned."""
    entry = declared(train)
    return replace(entry, model=turn(entry.model, train.shapes.get(train.entry, {})))


def about_to_train(train: "TrainStore") -> tuple[Entry, str, int] | None:
    """Entry, corpus and seed of the run that begins next: the one on screen until it has begun."""
    if (session := train.session) is not None:
        return (session.run.entry, session.run.corpus.name, session.run.seed)
    with suppress(UserError):
        return (train.chosen, train.corpus_name, train.seed)
    return None


def with_rows_that_fit(entry: Entry, corpus: Corpus) -> tuple[Entry, str]:
    """The entry with rows as long as a short text allows, and a sentence if they are shorter than asked for."""
    asked = entry.recipe.seq_len
    fits = min(asked, max(FEWEST_IN_ROW, longest_window(corpus, asked, entry.needs)))
    if fits == asked:
        return entry, ""
    parts = (corpus.held_out_from, len(corpus) - corpus.held_out_from)
    short = (
        f"The corpus is short: {parts[0]:,} tokens to train on and {parts[1]:,} held out, so a row has {fits} "
        f"tokens instead of {asked}."
    )
    return turned(entry, {"seq_len": fits}), short


def scheduled(run: Run, quota: Quota) -> Run:
    """The run with its steps, and how often it is evaluated, measured and saved."""
    steps = run.entry.recipe.steps
    save = max(EVALUATE_EVERY, steps // quota.checkpoints)
    return replace(run, steps=steps, evaluate_every=EVALUATE_EVERY, sizes_every=SIZES_EVERY, save_every=save)


def turned(entry: Entry, settings: Mapping[str, Any]) -> Entry:
    """The entry with knobs of its recipe turned."""
    return replace(entry, recipe=turn(entry.recipe, settings))
