"""Corpus page: choose a text, read its documents with all annotations, and see it as tokens."""

from collections.abc import Callable
from html import escape
from typing import Any

import panel_material_ui as pmui

from playground.corpora import Corpus, Table
from playground.corpora.sources import sources
from playground.errors import UserError
from playground.rng import next_seed
from playground.tokenizing import KINDS
from playground.tokenizing.words import split_words
from widgets.document.annotated_document import DocumentPane
from widgets.pages.knobs import corpus_knobs
from widgets.pages.layout import FIELD, MAIN, STRETCH, Sidebar, View, button, column, heading, number, row, upload
from widgets.pages.menus import own_first
from widgets.state.app import Store
from widgets.state.corpus import CorpusStore, Cut
from widgets.state.train.choice import LONGEST_PASTE, OWN_FILE, OWN_TEXT
from widgets.state.uploads import NO_COLUMN
from widgets.static import corpus_uses, tokens
from widgets.static.annotations import known, sheet
from widgets.theme import figures, html, say

MOST_ROWS = 3  # texts of a table that are shown before it is used


class CorpusPage(View):
    """Where a corpus comes from, and what is in it; nothing is read before it is on screen (`looking`)."""

    def __init__(self, store: Store, looking: Callable[[], bool] = lambda: True) -> None:
        self.store, self.corpus, self.looking = store, store.corpus, looking
        self.opened = None
        corpus = store.corpus
        source = pmui.Select.from_param(corpus.param.source, groups=own_first([OWN_TEXT, OWN_FILE], sources()), **FIELD)
        self.files = Files(corpus)
        self.train = button(
            "Train on it", store.train_on_opened, "play_arrow", size="medium", color="primary", margin=(6, 10)
        )
        self.progress = pmui.LinearProgress(variant="indeterminate", margin=(8, 10), visible=False, **STRETCH)
        self.trouble, self.numbers, self.uses = html(""), html(""), html("")
        self.document, self.tokens = Document(corpus), Tokens(corpus)
        controls = [heading("Data"), source, corpus_knobs(corpus), _typed(corpus), self.files, self.train]
        picture = [
            self.progress, self.trouble, self.numbers, self.document, self.tokens,
            heading("What it can be used for"), self.uses,
        ]  # fmt: skip
        sidebar = Sidebar(controls, picture, lambda: corpus.corpus_name)
        corpus.param.watch(sidebar.label, ["source", "corpus_knobs"])
        corpus.param.watch(self._offer, ["source", "files"])
        self._offer()
        super().__init__(sidebar.layout)

    def _offer(self, *_: object) -> None:
        """Offer what the chosen source needs, and to train on what is open."""
        ready = self.corpus.ready
        self.train.param.update(disabled=ready is None, label=f"Train on {ready.name[:24] if ready else 'it'}")
        self.files.offer()

    def poll(self) -> None:
        corpus = self.corpus
        if corpus.reading.turn == 0 and self.looking():
            corpus.look()
        self._move_progress()
        self.tokens.poll()
        if not self.is_new(corpus.reading.turn):
            return
        corpus.take()
        waits = not corpus.reading.busy and corpus.ready is None and corpus.corpus is not None
        still = f"Still showing {corpus.corpus.name}." if waits and corpus.corpus else ""
        self.trouble.object = say(corpus.trouble, "trouble") + say(still, "quiet")
        self._offer()
        if corpus.opened is not self.opened and corpus.opened is not None:
            self.opened = corpus.opened
            self.numbers.object = describe(corpus.opened.corpus)
            self.document.draw()
            self.uses.object = corpus_uses.markup(corpus.opened.corpus)

    def _move_progress(self) -> None:
        work = self.corpus.reading if self.corpus.reading.busy else self.corpus.cutting
        share = work.share if work.busy else None
        how: dict[str, Any] = {"variant": "indeterminate"}
        if share is not None and share < 1:
            how = {"variant": "determinate", "value": round(100 * share)}
        self.progress.param.update(visible=work.busy, **how)


def _typed(corpus: CorpusStore) -> Any:
    area = pmui.TextAreaInput.from_param(corpus.param.pasted, onkeyup=True, rows=8, max_length=LONGEST_PASTE, **FIELD)
    return column(
        area,
        button("Load the text", corpus.use, "visibility", margin=(4, 10)),
        visible=corpus.param.source.rx() == OWN_TEXT,
    )


class Files(View):
    """Where files are chosen, and what must be known to read them: the encoding, the columns of a table."""

    def __init__(self, corpus: CorpusStore) -> None:
        self.corpus = corpus
        file = upload(
            "choose a file, or two translations", corpus.keep, lambda why: corpus.reading.forget(UserError(why)),
            multiple=True,
        )  # fmt: skip
        hint = say("Text, .csv, .tsv, .jsonl or .conllu; or two line-aligned translations.", "quiet")
        self.encoding = pmui.Select.from_param(corpus.param.encoding, visible=False, **FIELD)
        self.text, self.label = self._column("text", "text"), self._column("label", "label")
        self.second = self._column("second", "second text")
        self.sample, self.use = html(""), button("Use this table", corpus.use, "check", margin=(4, 10), **MAIN)
        self.table = column(self.text, self.second, self.label, self.sample, self.use, visible=False)
        visible = corpus.param.source.rx() == OWN_FILE
        super().__init__(column(file, html(hint), self.encoding, self.table, visible=visible))

    def _column(self, kind: str, what: str) -> pmui.Select:
        select, name, corpus = pmui.Select(label=f"column with the {what}", **FIELD), f"{kind}_column", self.corpus

        def choose(event: Any) -> None:
            guessed = getattr(corpus.table, name) if corpus.table else ""
            if event.new and event.new != (getattr(corpus, name) or guessed or NO_COLUMN):
                corpus.param.update(**{name: event.new})

        select.param.watch(choose, "value")
        return select

    def offer(self) -> None:
        corpus, table = self.corpus, self.corpus.table
        self.encoding.visible = corpus.unreadable or bool(corpus.encoding)
        self.use.disabled = corpus.reading.busy or bool(corpus.trouble)
        if table is not None:
            self.text.param.update(options=list(table.columns), value=corpus.text_column or table.text_column)
            label = corpus.label_column or table.label_column or NO_COLUMN
            self.label.param.update(options=[*table.columns, NO_COLUMN], value=label)
            second = corpus.second_column or table.second_column or NO_COLUMN
            self.second.param.update(options=[*table.columns, NO_COLUMN], value=second)
            self.sample.object = say(table.notice, "notice") + sample(table, label != NO_COLUMN)
        self.table.visible = table is not None


def sample(table: Table, labelled: bool) -> str:
    """The first texts of a table with their labels."""
    texts = zip(*filter(None, (table.texts[:MOST_ROWS], table.seconds[:MOST_ROWS])), strict=True)
    lines = [" / ".join(f"“{text[:70]}{'…' if len(text) > 70 else ''}”" for text in some) for some in texts]
    if labelled and table.labels:
        lines = [f"{line} – {table.label_names[k]}" for line, k in zip(lines, table.labels, strict=False)]
    what = "pairs of texts" if table.seconds else "texts"
    return "".join(say(line, "quiet") for line in (f"{len(table.texts):,} {what}, such as:", *lines))


def describe(corpus: Corpus) -> str:
    """What a corpus is, how large it is, and how predictable."""
    bound = "not known" if corpus.entropy_bound is None else f"≤ {corpus.entropy_bound:.3f}"
    named = {
        "tokens": f"{len(corpus):,}",
        "documents": f"{int(corpus.document_ids[-1]) + 1:,}",
        "sentences": f"{1 + int((corpus.sentence_ids.diff() != 0).sum()):,}",
        "types in use": f"{int((corpus.ids.bincount() > 0).sum()):,}",
        "entropy of one token (nats)": f"{corpus.unigram_entropy:.3f}",
        "true entropy (nats per token)": bound,
        "held out": f"{1 - corpus.held_out_from / len(corpus):.0%}",
    }
    return f"<p><b>{escape(corpus.name)}</b></p>" + say(corpus.description) + figures(named)


class Document(View):
    """One document with its annotations, and the way to the next."""

    def __init__(self, corpus: CorpusStore) -> None:
        self.corpus, self.pane = corpus, DocumentPane(on=corpus.layers, margin=(6, 10), **STRETCH)
        self.where, self.whole = html("", margin=(4, 6), styles={"flex": "1 1 200px"}, sizing_mode=None), html("")
        steps = row(
            button("Previous", lambda: corpus.step(-1), "chevron_left", margin=(4, 3, 4, 10)),
            button("Next", lambda: corpus.step(1), "chevron_right", margin=(4, 3)),
            button("Random", lambda: corpus.param.update(seed=next_seed(corpus.seed)), "casino", margin=(4, 3)),
            number(corpus.param.seed, size="small", width=100, margin=(4, 3)),
            self.where, **STRETCH,
        )  # fmt: skip
        self.pane.link(corpus, on="layers")
        corpus.param.watch(self.draw, "sheet_number")
        super().__init__(column(heading("One document"), steps, self.whole, self.pane))

    def draw(self, *_: object) -> None:
        """Show the sheet that was turned to."""
        opened = self.corpus.opened
        if opened is None:
            return
        shown = sheet(opened.corpus, *self.corpus.span)
        record = shown.record()
        self.pane.param.update(record=record, layers=[layer["name"] for layer in record["layers"]])
        self.where.object = say(where(self.corpus), "quiet")
        self.whole.object = "".join(
            f"<p><span class='quiet'>{escape(name.replace('_', ' '))}:</span> {escape(value)}</p>"
            for name, value in shown.whole.items()
        ) + ("" if known(opened.corpus) else say("This corpus has no annotations.", "quiet"))


def where(corpus: CorpusStore) -> str:
    """Which document is on screen, which part of it, and whether it is held out."""
    opened = corpus.opened
    assert opened is not None
    of_sheets = opened.corpus.document_ids[opened.sheets[:, 0]]
    document = int(of_sheets[corpus.sheet_number])
    parts = (of_sheets == document).nonzero()[:, 0].tolist()
    part = f", part {parts.index(corpus.sheet_number) + 1} of {len(parts)}" if len(parts) > 1 else ""
    held = " · held out" if corpus.span[0] >= opened.corpus.held_out_from else ""
    return f"document {document + 1:,} of {int(of_sheets[-1]) + 1:,}{part}{held}"


class Tokens(View):
    """The document in the tokens of a vocabulary that was learnt from this corpus."""

    def __init__(self, corpus: CorpusStore) -> None:
        self.corpus = corpus
        kind = pmui.Select.from_param(corpus.param.kind, width=170, margin=(6, 4, 6, 10))
        size = number(corpus.param.size, width=120, margin=(6, 4))
        self.across = pmui.Switch.from_param(corpus.param.across, margin=(16, 6), disabled=corpus.kind != "bytes")
        self.trouble, self.numbers, self.drawn = html(""), html(""), html("")
        self.merges = Merges(corpus)
        chosen = row(kind, size, self.across, **STRETCH)
        title = heading("The same document as tokens")
        super().__init__(column(title, chosen, self.trouble, self.drawn, self.numbers, self.merges))

    def poll(self) -> None:
        corpus, cutting = self.corpus, self.corpus.cutting
        shown = (corpus.opened, corpus.sheet_number, corpus.kind, corpus.size, corpus.across)
        if corpus.opened is not None and self.is_new(shown, "text"):
            self.across.disabled = corpus.kind != "bytes"
            corpus.cut()
        if cutting.busy or not self.is_new(cutting.turn):
            return
        self.trouble.object = say(str(cutting.error or ""), "trouble")
        made: Cut | None = cutting.result
        if made is not None and not cutting.error:
            found, unknown = tokens.cut(made.tokenizer, made.text)
            named = tokens.numbers(made.tokenizer, found, unknown, len(split_words(made.text)))
            self.numbers.object = figures(named)
            self.drawn.object = tokens.markup(made.text, found, unknown=unknown) + say(
                f"Out of vocabulary: {KINDS[made.tokenizer.kind].unknown}.", "quiet"
            )
        self.merges.offer()


class Merges(View):
    """The merges of BPE one after the other."""

    def __init__(self, corpus: CorpusStore) -> None:
        self.corpus, self.drawn, self.text = corpus, html(""), html("")
        self.slider = pmui.IntSlider(label="merge", start=0, end=1, value=0, **FIELD)
        self.slider.param.watch(self._draw, "value")
        back = button("Previous merge", lambda: self._step(-1), "chevron_left", margin=(4, 3, 4, 10))
        ahead = button("Next merge", lambda: self._step(1), "chevron_right", margin=(4, 3))
        title = heading("BPE merges, step by step")  # hidden until the slider has its end, which a key would go to
        super().__init__(column(title, row(back, ahead), self.slider, self.text, self.drawn, visible=False))

    def _step(self, by: int) -> None:
        self.slider.value = min(self.slider.end, max(0, self.slider.value + by))

    def _draw(self, *_: object) -> None:
        made: Cut | None = self.corpus.cutting.result
        if made is None or not made.merges:
            return
        at = min(self.slider.value, len(made.merges) - 1)
        state = made.merges[at]
        found = [(piece, first, last) for piece, first, last, _ in state["pieces"]]
        self.drawn.object = tokens.markup(made.beginning, found, state["joined"] if at else ())
        self.text.object = tokens.describe_merge(made.merges, at)

    def offer(self) -> None:
        made: Cut | None = self.corpus.cutting.result
        there = made is not None and bool(made.merges)
        if made is not None and there:
            last = max(1, len(made.merges) - 1)
            self.slider.param.update(end=last, value=min(self.slider.value, last))
            self._draw()
        self.layout.visible = there and not self.corpus.cutting.error
