"""Every stage again, one row at a time, in slow and obvious lists: what the batched code must equal.

A text is a list of ids. A row of positions is a `Row`: ids and, for each, the place of the text it comes from
(-1 for none). Who sees whom is a list of rows of booleans, reader x read. Nothing here knows of padding.
"""

from dataclasses import dataclass, field, replace

from playground.batch import Action
from playground.objectives.arrange.segments import ORDERS
from playground.tokenizing.vocabulary import FIRST_WORD
from tests.texts import SPECIALS


@dataclass
class Row:
    """Positions of one stack."""

    ids: list[int]
    origin: list[int]
    position: list[int] = field(default_factory=list)
    second: list[int] | None = None
    """The second positions, where there are any."""

    def __post_init__(self):
        self.position = self.position or list(range(len(self.ids)))


@dataclass
class Asked:
    """One question: what is expected at every position, whether it counts, and where in the text it stands."""

    labels: list[int]
    scored: list[bool]
    origin: list[int]
    reads: list[list[int]] = field(default_factory=list)
    """From which two positions each answer is read, where it is not read from its own."""
    weights: list[float] | None = None
    """What each scored answer counts, where not all count 1."""
    counted: list[bool] | None = None
    """The places that the loss is a mean over, where these are not the scored ones."""


def maskable(text):
    return [token == SPECIALS.unknown or token >= FIRST_WORD for token in text]


def count_half_even(text, rate, specials=2):
    """BERT's count: Python's round over the words and two specials, at least one, at most all."""
    words = sum(maskable(text))
    return min(words, max(1 if rate > 0 else 0, round(rate * (words + specials))))


# arrange


def arrange_text(text, wrap=False):
    row = Row(list(text), list(range(len(text))))
    if not wrap:
        return row
    return Row([SPECIALS.cls, *row.ids, SPECIALS.sep], [-1, *row.origin, -1])


# choose


def choose_tokens(text, positions):
    allowed = maskable(text)
    return [place in positions and allowed[place] for place in range(len(text))]


def choose_spans(text, spans):
    """The spans in pieces wherever a special stands in one, and which tokens lie in a piece; gaps stay."""
    allowed = maskable(text)
    kept = []
    for start, length in spans:
        pieces = [[start, 0]]
        for place in range(start, min(start + length, len(text))):
            if allowed[place]:
                pieces[-1][1] += 1
            else:
                pieces.append([place + 1, 0])
        kept += [(s, n) for s, n in pieces if n or not length]
    chosen = [any(s <= place < s + n for s, n in kept) for place in range(len(text))]
    return kept, chosen


def choose_order(text, rank, predicted):
    allowed = maskable(text)
    return [rank[place] >= len(text) - predicted and allowed[place] for place in range(len(text))]


# change


def change_tokens(text, row, chosen, actions, words):
    done = [actions[p] if chosen[p] else Action.KEPT for p in range(len(text))]
    ids = list(row.ids)
    for position, place in enumerate(row.origin):
        if place >= 0 and done[place] == Action.MASKED:
            ids[position] = SPECIALS.mask
        if place >= 0 and done[place] == Action.RANDOMISED:
            ids[position] = words[place]
    return Row(ids, row.origin, row.position), done


def change_to_markers(text, spans, marker):
    ids, origin, done = [], [], [Action.KEPT] * len(text)
    for place in range(len(text) + 1):
        for number, (start, length) in enumerate(spans):
            if start == place:
                ids.append(SPECIALS.mask if marker == "mask" else SPECIALS.sentinels[min(number, 31)])
                origin.append(start if length else -1)
            if start <= place < start + length:
                done[place] = Action.MASKED if place == start else Action.DELETED
        if place < len(text) and done[place] == Action.KEPT:
            ids.append(text[place])
            origin.append(place)
    return Row(ids, origin), done


# propose


def propose_words(text, row, chosen, words):
    ids, done = [], []
    for place, token in enumerate(text):
        lucky = words[place] == token
        done.append((Action.SAME_BY_LUCK if lucky else Action.REPLACED) if chosen[place] else Action.KEPT)
    for position, place in enumerate(row.origin):
        if place < 0:
            ids.append(row.ids[position])
        else:
            ids.append(words[place] if chosen[place] else text[place])
    return Row(ids, row.origin), done


# see


def see_all(readers, read=None):
    return [[True] * (readers if read is None else read) for _ in range(readers)]


def see_left(readers):
    return [[j <= i for j in range(readers)] for i in range(readers)]


def see_encoder_decoder(row, decoder, done, hide_masked=False):
    shown = [not (hide_masked and place >= 0 and done[place] == Action.MASKED) for place in row.origin]
    return see_all(len(row.ids)), see_left(len(decoder.ids)), [shown for _ in decoder.ids]


# ask


def ask_in_place(text, row, chosen):
    return Asked(
        [text[place] if place >= 0 else SPECIALS.pad for place in row.origin],
        [place >= 0 and chosen[place] for place in row.origin],
        list(row.origin),
    )


def ask_ahead(text, row, chosen):
    """Every position answers for the one behind it; the last one for none."""
    asked = ask_in_place(text, row, chosen)
    return Asked([*asked.labels[1:], SPECIALS.pad], [*asked.scored[1:], False], [*asked.origin[1:], -1])


def ask_replaced(row, done):
    replaced = [int(place >= 0 and done[place] == Action.REPLACED) for place in row.origin]
    return Asked(replaced, [True] * len(replaced), [-1] * len(replaced))


def ask_to_write(text, spans, chosen, target, end=False):
    """The decoder's row and its question."""
    if target == "text":
        said = list(enumerate(text))
    elif target == "sentinels":
        said = [
            item
            for number, (start, length) in enumerate(spans)
            for item in [
                (-1, SPECIALS.sentinels[min(number, 31)]),
                *((p, text[p]) for p in range(start, start + length)),
            ]
        ]
    else:
        said = [(p, text[p]) for p in range(len(text)) if chosen[p]]
    if end and said:
        said.append((-1, SPECIALS.end))
    origin, targets = [p for p, _ in said], [t for _, t in said]
    if target == "fragment":
        before = [p - 1 if p >= 0 else last for p, last in zip(origin, [-1, *origin], strict=False)]
        decoder = Row(
            [text[p] if p >= 0 else SPECIALS.start for p in before], before, [p + (before[0] < 0) for p in before]
        )
    else:
        decoder = Row([SPECIALS.start, *targets][: len(targets)], [-1, *origin][: len(targets)])
    return decoder, Asked(targets, [True] * len(targets), origin)


# one whole objective, row by row


@dataclass
class Story:
    """What the stages have made of one row so far."""

    text: list[int]
    inputs: Row
    chosen: list[bool]
    done: list[int]
    rank: list[int]
    spans: list[tuple[int, int]] = field(default_factory=list)
    sees: dict[str, list[list[bool]]] = field(default_factory=dict)
    decoder: Row | None = None
    asked: list[Asked] = field(default_factory=list)
    generator: "Story | None" = None
    teacher: "Story | None" = None
    sentence: list[int] = field(default_factory=list)
    labels: dict[str, list[int]] = field(default_factory=dict)
    read: dict[str, list[int]] = field(default_factory=dict)
    time: list[float] = field(default_factory=list)
    block: list[int] = field(default_factory=list)
    halves: list[int] = field(default_factory=list)
    answers: list[tuple[int, int]] = field(default_factory=list)
    """The words that fill the blanks, with their places."""


def begin(text, sentence=(), labels=None):
    size = len(text)
    started = Story(list(text), arrange_text(text), [False] * size, [0] * size, list(range(size)))
    return replace(started, sentence=list(sentence), labels=labels or {})


def _arrange_text(stage, plan, story):
    return replace(story, inputs=arrange_text(story.text, stage.add_special_tokens))


def _arrange_first(stage, plan, story):
    """What comes before the next sentence, or before the first [SEP]."""
    text, sentence = story.text, story.sentence
    ends = [p for p, token in enumerate(text) if token == SPECIALS.sep]
    if stage.unit == "sentence":
        ends = [p for p, number in enumerate(sentence) if number != sentence[0]]
    end = ends[0] if ends else len(text)
    return begin(text[:end], sentence[:end], {name: row[:end] for name, row in story.labels.items()})


def _arrange_segments(stage, plan, story):
    """[CLS], and the segments in their new order with [SEP] behind each."""
    order, ids, origin = ORDERS[int(plan["order"])], [SPECIALS.cls], [-1]
    for segment in order:
        own = [p for p, number in enumerate(plan["segment"]) if number == segment]
        ids += [*(story.text[p] for p in own), SPECIALS.sep]
        origin += [*own, -1]
    labels = {**story.labels, "order": [int(plan["order"])] * len(story.text)}
    return replace(begin(story.text, story.sentence, labels), inputs=Row(ids, origin))


def _arrange_fields(stage, plan, story):
    """The fields by their ranks, each with its sentinels around it, as a text of its own."""
    words = story.labels[stage.label] + plan["second labels"]
    text = story.text + plan["second"]
    ranks = enumerate(plan["ranks"])
    written = [(rank, number) for number, rank in ranks if rank < len(stage.fields) and number in words]
    new = []
    for _, name in sorted(written):
        own = [token for token, number in zip(text, words, strict=True) if number == name]
        new += [SPECIALS.sentinels[2 * name], *own, SPECIALS.sentinels[2 * name + 1]]
    return begin(new, [0] * len(new))


def _choose_spans(stage, plan, story):
    drawn = [(s, n) for s, n in zip(plan["start"], plan["length"], strict=True) if n >= 0]
    spans, chosen = choose_spans(story.text, drawn)
    return replace(story, spans=spans, chosen=chosen)


def _choose_order(stage, plan, story):
    return replace(story, chosen=choose_order(story.text, plan["rank"], plan["predicted"]), rank=plan["rank"])


def _change_tokens(stage, plan, story):
    row, done = change_tokens(story.text, story.inputs, story.chosen, plan["action"], plan["words"])
    return replace(story, inputs=row, done=done)


def _propose_words(stage, plan, story):
    row, done = propose_words(story.text, story.inputs, story.chosen, plan)
    return replace(story, inputs=row, done=done, generator=story, asked=[])


def _see_all(stage, plan, story):
    return replace(story, sees={"inputs": see_all(len(story.inputs.ids))})


def _see_encoder_decoder(stage, plan, story):
    own, left, cross = see_encoder_decoder(story.inputs, story.decoder, story.done, stage.hide_masked)
    return replace(story, sees={"inputs": own, "decoder": left, "cross": cross})


def _ask_in_place(stage, plan, story):
    return replace(story, asked=[*story.asked, ask_in_place(story.text, story.inputs, story.chosen)])


def _ask_ahead(stage, plan, story):
    return replace(story, asked=[*story.asked, ask_ahead(story.text, story.inputs, story.chosen)])


ACTS = {
    "ArrangeText": _arrange_text,
    "ArrangeFields": _arrange_fields,
    "ArrangeFirst": _arrange_first,
    "ArrangeSegments": _arrange_segments,
    "Reweight": lambda stage, plan, story: story,  # names and weights, which a story does not have
    "ChooseMassSpan": _choose_spans,
    "ChooseSpans": _choose_spans,
    "ChoosePoissonSpans": _choose_spans,
    "ChooseOrder": _choose_order,
    "ChangeTokens": _change_tokens,
    "SampleFromGenerator": _propose_words,
    "SeeAll": _see_all,
    "SeeEncoderDecoder": _see_encoder_decoder,
    "AskMasked": _ask_in_place,
    "AskMaskedNext": _ask_ahead,
    "AskQueryStream": _ask_in_place,
}
