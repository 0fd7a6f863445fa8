"""Corpus page: choose a text, look at its documents with all that is known about them, cut it into pieces."""

from collections.abc import Callable
from html import escape
from typing import Any

import panel as pn
import panel_material_ui as pmui

from playground.corpora import Corpus, Table
from playground.corpora.sources import sources
from playground.errors import Refusal
from playground.rng import next_seed
from playground.tokenizing import KINDS
from playground.tokenizing.words import split_words
from widgets.document.annotated_document import DocumentPane
from widgets.document.annotations import known, sheet
from widgets.pages.corpus_knobs import corpus_knobs
from widgets.pages.layout import Folding, bind, heading, limits, refuse_nothing
from widgets.state.app import Store
from widgets.state.corpus import NO_LABEL, CorpusStore, Cut
from widgets.state.train import LONGEST_PASTE, OWN_FILE, OWN_TEXT
from widgets.static import corpus_uses, tokens
from widgets.theme import figures, html, say

ENCODINGS = {
    "as the file says, else UTF-8": "",
    "cp1252 (Western Windows)": "cp1252",
    "latin-1 (Western Europe)": "latin-1",
    "cp1250 (Central European Windows)": "cp1250",
    "cp1251 (Cyrillic Windows)": "cp1251",
    "koi8-r (Cyrillic)": "koi8-r",
    "shift_jis (Japanese)": "shift_jis",
    "gb18030 (Chinese)": "gb18030",
    "utf-16": "utf-16",
}

MOST_ROWS = 3
"""Texts of a table that are shown before it is used."""

STRETCH = {"sizing_mode": "stretch_width"}
WIDE = {**STRETCH, "margin": (6, 10)}

Renew = Callable[[], None]


def page(store: Store, looking: Callable[[], bool] = lambda: True) -> tuple[Any, Any]:
    """The whole page, and the tick that keeps it alive; nothing is read before somebody is `looking`."""
    corpus = store.corpus
    controls, ask = _controls(store)
    numbers, show = _numbers(corpus)
    document, turn_to = _document(corpus)
    cutter, recut = _cutter(corpus)
    can = html("")
    progress = pmui.LinearProgress(variant="indeterminate", margin=(8, 10), visible=False, **STRETCH)
    trouble = html("")
    seen: dict[str, Any] = {"turn": -1, "opened": None}

    def tick() -> None:
        if corpus.reading.turn == 0 and looking():
            corpus.look()
        _move(progress, corpus)
        recut()
        if corpus.reading.turn == seen["turn"]:
            return
        seen["turn"] = corpus.reading.turn
        corpus.take()
        trouble.object = say(corpus.trouble, "trouble") + say(_still(corpus), "quiet")
        ask()
        if corpus.opened is not seen["opened"]:
            seen["opened"] = corpus.opened
            show()
            turn_to()
            can.object = corpus_uses.markup(corpus.opened.corpus) if corpus.opened else ""

    picture = [progress, trouble, numbers, *document, *cutter, heading("What it can be used for"), can]
    whole = Folding(controls, picture, lambda: corpus.corpus_name)
    corpus.param.watch(whole.say, ["source", "corpus_knobs"])
    return whole.pane, tick


def _still(corpus: CorpusStore) -> str:
    """What stands below although it is not what was asked for last."""
    waits = not corpus.reading.busy and corpus.ready is None
    return f"Below is still {corpus.corpus.name}." if waits and corpus.corpus is not None else ""


def _move(progress: Any, corpus: CorpusStore) -> None:
    """The bar: how much is read where that is known, else that something goes on."""
    work = corpus.reading if corpus.reading.busy else corpus.cutting
    if progress.visible != work.busy:
        progress.visible = work.busy
    share = work.share if work.busy else None
    wanted = {"variant": "indeterminate"} if share is None or share >= 1 else {
        "variant": "determinate", "value": round(100 * share)
    }  # fmt: skip
    if any(getattr(progress, name) != value for name, value in wanted.items()):
        progress.param.update(**wanted)


def _controls(store: Store) -> tuple[list[Any], Renew]:
    corpus = store.corpus
    names = [*sources(), OWN_TEXT, OWN_FILE]
    source = pmui.Select(label="text", options=names, value=corpus.source, **WIDE)
    bind(source, corpus, "source")
    typed = _typed(corpus)
    chosen, ask_file = _chosen(corpus)
    go = pmui.Button(label="Train on it", icon="play_arrow", color="primary", variant="outlined", margin=(6, 10))
    go.on_click(lambda _: store.train_on_opened())

    def ask() -> None:
        typed.visible, chosen.visible = corpus.source == OWN_TEXT, corpus.source == OWN_FILE
        made = corpus.ready
        go.param.update(disabled=made is None, label=f"Train on {made.name[:24]}" if made else "Train on it")
        ask_file()

    corpus.param.watch(lambda *_: ask(), ["source", "files"])
    ask()
    return [heading("Text"), source, corpus_knobs(corpus), typed, chosen, go], ask


def _typed(corpus: CorpusStore) -> Any:
    """Where a text is typed or pasted."""
    area = pmui.TextAreaInput(
        label="paste text here", rows=8, max_length=LONGEST_PASTE, value=corpus.pasted, **WIDE,
        description="Blank lines separate documents.",
    )  # fmt: skip
    area.param.watch(lambda event: setattr(corpus, "pasted", event.new), "value_input")
    use = pmui.Button(label="Load the text", icon="visibility", variant="outlined", size="small", margin=(4, 10))
    use.on_click(lambda _: corpus.use())
    return pmui.Column(area, use, margin=0, visible=False, **STRETCH)


def _chosen(corpus: CorpusStore) -> tuple[Any, Renew]:
    """Where files are chosen, and what must be known to read them: the encoding, the columns."""
    upload = pmui.FileInput(label="choose a file, or two translations", multiple=True, margin=(6, 10))
    upload.param.watch(lambda _: _keep(corpus, upload), "value")
    refuse_nothing(upload, lambda said: corpus.reading.forget(Refusal(said)))
    hint = html(say("Text, .csv, .tsv, .jsonl or .conllu; two files that say the same line by line.", "quiet"))
    encoding = pmui.Select(label="encoding", options=ENCODINGS, value="", visible=False, **WIDE)
    bind(encoding, corpus, "encoding")
    columns, ask_columns = _columns(corpus)

    def ask() -> None:
        encoding.visible = corpus.unreadable or bool(corpus.encoding)
        ask_columns()

    return pmui.Column(upload, hint, encoding, columns, margin=0, visible=False, **STRETCH), ask


def _keep(corpus: CorpusStore, upload: Any) -> None:
    contents, names = upload.value, upload.filename
    if contents:
        several = isinstance(contents, list)
        corpus.keep(zip(names, contents, strict=True) if several else [(str(names), contents)])


def _columns(corpus: CorpusStore) -> tuple[Any, Renew]:
    """The columns of a table as they were guessed, to be changed before it is used."""
    text = pmui.Select(label="column with the text", **WIDE)
    label = pmui.Select(label="column with the label", **WIDE)
    sample = html("")
    use = pmui.Button(label="Use this table", icon="check", color="primary", variant="contained", margin=(4, 10))
    use.on_click(lambda _: corpus.use())
    box = pmui.Column(text, label, sample, use, margin=0, visible=False, **STRETCH)

    def ask() -> None:
        table = corpus.table
        box.visible = table is not None
        use.disabled = corpus.reading.busy or bool(corpus.trouble)
        if table is None:
            return
        text.param.update(options=list(table.columns), value=corpus.text_column or table.text_column)
        kept = corpus.label_column or table.label_column or NO_LABEL
        label.param.update(options=[*table.columns, NO_LABEL], value=kept)
        sample.object = say(table.notice, "notice") + _sample(table, kept != NO_LABEL)

    def other(event: Any, name: str, guessed: str) -> None:
        asked = getattr(corpus, name) or (getattr(corpus.table, guessed) if corpus.table else "") or NO_LABEL
        if event.new and event.new != asked:
            corpus.param.update(**{name: event.new})

    text.param.watch(lambda event: other(event, "text_column", "text_column"), "value")
    label.param.watch(lambda event: other(event, "label_column", "label_column"), "value")
    return box, ask


def _sample(table: Table, labelled: bool) -> str:
    """The first texts with their labels."""
    said = [f"“{text[:70]}{'…' if len(text) > 70 else ''}”" for text in table.texts[:MOST_ROWS]]
    marks = [f" – {table.label_names[k]}" for k in table.labels[:MOST_ROWS]] if labelled and table.labels else [""] * 3
    return say(f"{len(table.texts):,} texts, such as:", "quiet") + "".join(
        say(text + mark, "quiet") for text, mark in zip(said, marks, strict=False)
    )


def _numbers(corpus: CorpusStore) -> tuple[Any, Renew]:
    pane = html("")

    def show() -> None:
        pane.object = describe(corpus.corpus) if corpus.corpus is not None else ""

    return pane, show


def describe(corpus: Corpus) -> str:
    """What a corpus is, how large it is, and how predictable."""
    used = int((corpus.ids.bincount() > 0).sum())
    bound = "not known" if corpus.entropy_bound is None else f"≤ {corpus.entropy_bound:.3f}"
    named = {
        "tokens": f"{len(corpus):,}",
        "documents": f"{int(corpus.document_ids[-1]) + 1:,}",
        "sentences": f"{1 + int((corpus.sentence_ids.diff() != 0).sum()):,}",
        "types in use": f"{used:,}",
        "entropy of one token (nats)": f"{corpus.unigram_entropy:.3f}",
        "true entropy (nats per token)": bound,
        "held out": f"{1 - corpus.held_out_from / len(corpus):.0%}",
    }
    title = f"<p><b>{escape(corpus.name)}</b></p>"
    return title + say(corpus.description) + figures(named)


def _document(corpus: CorpusStore) -> tuple[list[Any], Renew]:
    """One document with its layers, and the way to the next."""
    pane = DocumentPane(on=_spaced(corpus.layers), margin=(6, 10), **STRETCH)
    where, whole = html("", margin=(4, 6), styles={"flex": "1 1 200px"}, sizing_mode=None), html("")
    make = {"size": "small", "variant": "outlined", "margin": (4, 3)}
    back = pmui.Button(label="Previous", icon="chevron_left", **{**make, "margin": (4, 3, 4, 10)})
    ahead = pmui.Button(label="Next", icon="chevron_right", **make)
    dice = pmui.Button(label="Random", icon="casino", **make)
    back.on_click(lambda _: corpus.step(-1))
    ahead.on_click(lambda _: corpus.step(1))
    dice.on_click(lambda _: corpus.param.update(seed=next_seed(corpus.seed)))
    seed = pmui.IntInput(
        label="seed", value=corpus.seed, **limits(corpus, "seed"), size="small", width=100, margin=(4, 3)
    )
    bind(seed, corpus, "seed")
    row = pn.FlexBox(back, ahead, dice, seed, where, align_items="center", **STRETCH)

    def turn_to(*_: Any) -> None:
        if corpus.opened is None:
            return
        shown = sheet(corpus.opened.corpus, *corpus.span)
        names = [layer.name for layer in shown.layers]
        pane.param.update(record=shown.record(), layers=_spaced(names))
        where.object = say(_where(corpus), "quiet")
        whole.object = "".join(
            f"<p><span class='quiet'>{escape(name.replace('_', ' '))}:</span> {escape(value)}</p>"
            for name, value in shown.whole.items()
        ) + ("" if known(corpus.opened.corpus) else say("This text has no annotations.", "quiet"))

    def layers(event: Any) -> None:
        corpus.layers = [name.replace(" ", "_") for name in event.new]

    pane.param.watch(layers, "on")
    corpus.param.watch(turn_to, "place")
    return [heading("One document"), row, whole, pane], turn_to


def _spaced(names: list[str]) -> list[str]:
    return [name.replace("_", " ") for name in names]


def _where(corpus: CorpusStore) -> str:
    """Which document is on screen, which part of it, and whether training may see it."""
    opened = corpus.opened
    assert opened is not None
    of_sheets = opened.corpus.document_ids[opened.sheets[:, 0]]
    number = int(of_sheets[corpus.place])
    parts = (of_sheets == number).nonzero()[:, 0].tolist()
    part = f", part {parts.index(corpus.place) + 1} of {len(parts)}" if len(parts) > 1 else ""
    held = " · held out" if corpus.span[0] >= opened.corpus.held_out_from else ""
    return f"document {number + 1:,} of {int(of_sheets[-1]) + 1:,}{part}{held}"


def _cutter(corpus: CorpusStore) -> tuple[list[Any], Renew]:
    """The document in the pieces of a vocabulary that was learnt from this corpus."""
    kind = pmui.Select(
        label="pieces", options={way.title: name for name, way in KINDS.items()}, value=corpus.kind, width=170,
        margin=(6, 4, 6, 10),
    )  # fmt: skip
    bind(kind, corpus, "kind")
    size = pmui.IntInput(
        label="entries", value=corpus.size, **limits(corpus, "size"), step=100, width=120, margin=(6, 4)
    )
    bind(size, corpus, "size")
    across = pmui.Switch(
        label="merge across categories", value=corpus.across, margin=(16, 6), disabled=corpus.kind != "bytes",
        description="Letters, digits and marks may come together in one piece; GPT-2 forbids it. Byte-level BPE only.",
    )  # fmt: skip
    bind(across, corpus, "across")
    trouble, numbers, drawn = html(""), html(""), html("")
    stepper, step_to = _stepper(corpus)
    seen: dict[str, Any] = {"turn": -1, "wish": None}

    def recut() -> None:
        wish = (corpus.opened, corpus.place, corpus.kind, corpus.size, corpus.across)
        if corpus.opened is not None and wish != seen["wish"]:
            seen["wish"] = wish
            across.disabled = corpus.kind != "bytes"
            corpus.cut()
        if corpus.cutting.busy or corpus.cutting.turn == seen["turn"]:
            return
        seen["turn"] = corpus.cutting.turn
        trouble.object = say(str(corpus.cutting.error or ""), "trouble")
        made: Cut | None = corpus.cutting.result
        if made is not None and not corpus.cutting.error:
            found, unknown = tokens.cut(made.tokenizer, made.text)
            numbers.object = tokens.numbers(made.tokenizer, found, unknown, len(split_words(made.text)))
            drawn.object = tokens.markup(made.text, found, unknown=unknown) + say(
                f"Out of vocabulary: {KINDS[made.tokenizer.kind].unknown}.", "quiet"
            )
        step_to()

    row = pn.FlexBox(kind, size, across, **STRETCH)
    return [heading("The same document in pieces"), row, trouble, drawn, numbers, stepper], recut


def _stepper(corpus: CorpusStore) -> tuple[Any, Renew]:
    """The merges of BPE one after the other."""
    slider = pmui.IntSlider(label="merge", start=0, end=1, value=0, **WIDE)
    back = pmui.Button(label="Before", icon="chevron_left", size="small", variant="outlined", margin=(4, 3, 4, 10))
    ahead = pmui.Button(label="After", icon="chevron_right", size="small", variant="outlined", margin=(4, 3))
    drawn, said = html(""), html("")
    parts = [heading("BPE merges, step by step"), pmui.Row(back, ahead, margin=0), slider, said, drawn]
    box = pmui.Column(margin=0, visible=False, **STRETCH)
    back.on_click(lambda _: slider.param.update(value=max(0, slider.value - 1)))
    ahead.on_click(lambda _: slider.param.update(value=min(slider.end, slider.value + 1)))

    def show(*_: Any) -> None:
        made: Cut | None = corpus.cutting.result
        if made is None or not made.merges:
            return
        at = min(slider.value, len(made.merges) - 1)
        state = made.merges[at]
        found = [(piece, first, last) for piece, first, last, _ in state["pieces"]]
        drawn.object = tokens.markup(made.beginning, found, state["joined"] if at else ())
        said.object = tokens.told(made.merges, at)

    def step_to() -> None:
        made: Cut | None = corpus.cutting.result
        there = made is not None and bool(made.merges)
        if made is not None and there:
            last = max(1, len(made.merges) - 1)
            slider.param.update(end=last, value=min(slider.value, last))
            show()
            if not box.objects:
                box.objects = parts  # only now, else a key that comes before the slider is drawn again goes to no end
        box.visible = there and not corpus.cutting.error

    slider.param.watch(show, "value")
    return box, step_to
