"""Directions, windows, orders and cuts again, one row at a time, in slow and obvious lists (see `oracles`)."""

from dataclasses import replace

from playground.batch import Action
from tests.oracles import stages
from tests.oracles.stages import Asked, Row
from tests.texts import SPECIALS


def arrange_shifted(text, side="left", end=False):
    """What stands beside each answer: the words before it, or in the other direction the words after it."""
    if side == "left":
        row = [(SPECIALS.start, -1), *((token, place) for place, token in enumerate(text))]
    else:
        row = [*((token, place) for place, token in enumerate(text)), (SPECIALS.end, -1)]
    if not end:
        row = row[:-1] if side == "left" else row[1:]
    return Row([token for token, _ in row], [place for _, place in row])


def ask_next(text, side="left", end=False, skip=0):
    said = [(token, place) for place, token in enumerate(text)]
    if end:
        said = [*said, (SPECIALS.end, -1)] if side == "left" else [(SPECIALS.start, -1), *said]
    size = len(said)
    scored = [(k if side == "left" else size - 1 - k) >= skip for k in range(size)]
    return Asked([token for token, _ in said], scored, [place for _, place in said])


def see_beside(readers, side, window=0):
    """Itself and one side, at most `window` positions in all."""

    def sees(i, j):
        away = i - j if side == "left" else j - i
        return away >= 0 and (not window or away < window)

    return [[sees(i, j) for j in range(readers)] for i in range(readers)]


def see_prefix(second):
    """The first part sees itself, the second everything up to itself."""
    size = len(second)
    return [[(not second[j]) or (second[i] and j <= i) for j in range(size)] for i in range(size)]


def see_order(text, row, rank, chosen, context):
    """Content and query, cell by cell as the three published rules say it."""
    allowed = stages.maskable(text)

    def neighbour(position):
        """The place of the word before a special token that was put in, else of the first one behind it."""
        before = [p for p in row.origin[:position] if p >= 0]
        return before[-1] if before else next((p for p in row.origin if p >= 0), -1)

    def step(place, position):
        """When a place comes: -1 if it is known from the start; a special token with a step right after a word."""
        if place < 0:
            near = neighbour(position)
            return rank[near] + 0.5 if near >= 0 and context in ("xlnet", "hf") else -1
        known = {"strict": False, "together": not chosen[place]}.get(context, allowed[place] and not chosen[place])
        return -1 if known else rank[place]

    steps = [step(place, position) for position, place in enumerate(row.origin)]
    shown = [-1 if context == "hf" and not (p >= 0 and chosen[p]) else steps[k] for k, p in enumerate(row.origin)]
    return [[b <= a for b in shown] for a in steps], [[b < a for b in shown] for a in steps]


def _arrange_shifted(stage, plan, story):
    return replace(story, inputs=arrange_shifted(story.text, stage.side, stage.add_eos))


def in_order(rank):
    """The places of the text in the order of their steps."""
    return sorted(range(len(rank)), key=rank.__getitem__)


def _choose_any_order(stage, plan, story):
    return replace(story, rank=plan, chosen=[True] * len(story.text))


def _shift_in_order(stage, plan, story):
    """`wpe` of sigma-GPT: each token is read with its place and with that of the next one; [START] has the place 0."""
    order = in_order(story.rank)
    before = [-1, *order][: len(order)]
    ids = [SPECIALS.start if place < 0 else story.text[place] for place in before]
    places, second = ([place + 1 for place in row] for row in (before, order))
    done = [Action.MOVED if rank != place else Action.KEPT for place, rank in enumerate(story.rank)]
    return replace(story, inputs=Row(ids, before, places, second), done=done)


def _ask_next(stage, plan, story):
    end = len(story.inputs.ids) > len(story.text)
    asked = ask_next(story.text, stage.side, end, stage.context_size)
    if story.rank != list(range(len(story.text))):
        order = in_order(story.rank)
        asked = Asked([story.text[place] for place in order], asked.scored, order)
    return replace(story, asked=[*story.asked, asked], chosen=[True] * len(story.text))


def _see_left(stage, plan, story):
    return replace(story, sees={"inputs": see_beside(len(story.inputs.ids), "left", stage.sliding_window)})


def _see_right(stage, plan, story):
    return replace(story, sees={"inputs": see_beside(len(story.inputs.ids), "right", stage.sliding_window)})


def _see_order(stage, plan, story):
    content, query = see_order(story.text, story.inputs, story.rank, story.chosen, stage.context)
    return replace(story, sees={"inputs": content, "query": query})


def _choose_split(stage, plan, story):
    return replace(story, chosen=[place >= plan for place in range(len(story.text))])


def _change_to_first_part(stage, plan, story):
    kept = [place for place, gone in enumerate(story.chosen) if not gone]
    done = [Action.DELETED if gone else Action.KEPT for gone in story.chosen]
    return replace(story, inputs=Row([story.text[place] for place in kept], kept), done=done)


def _prepend_mode(stage, plan, story):
    """[NLU], [S2S] and [NLG] are the last three sentinels."""
    token = SPECIALS.sentinels[{"[NLU]": 29, "[S2S]": 30, "[NLG]": 31}[stage.mode]]
    return replace(story, inputs=Row([token, *story.inputs.ids], [-1, *story.inputs.origin]))


def _change_content(stage, plan, story):
    if stage.content == "words":
        return story
    actions = [Action.MASKED] * len(story.text)
    row, done = stages.change_tokens(story.text, story.inputs, story.chosen, actions, story.text)
    return replace(story, inputs=row, done=done)


def fill_in_the_middle(text, start, length, form, end=True):
    """Tokens with their places: prefix, suffix, middle behind <0>, <1>, <2>, or <0>, <1> first (the permutation of
    Megatron's FIM dataset, whose SPM is the second variant of the paper)."""
    pre, suf, mid = ([(token, -1)] for token in SPECIALS.sentinels[:3])
    placed = [(token, place) for place, token in enumerate(text)]
    prefix, middle, suffix = placed[:start], placed[start : start + length], placed[start + length :]
    row = {
        0: placed,
        1: pre + prefix + suf + suffix + mid + middle,
        2: pre + suf + suffix + mid + prefix + middle,
    }[form]
    return row + [(SPECIALS.end, -1)] * end


def causally_masked(text, spans):
    """Tokens with their places: each span becomes its sentinel, and stands behind the text after that sentinel and
    before an end (`causal_masked_dataset.py` of metaseq)."""
    placed, row, free = [(token, place) for place, token in enumerate(text)], [], 0
    for number, (start, length) in enumerate(spans):
        row += [*placed[free:start], (SPECIALS.sentinels[number], -1)]
        free = start + length
    row += placed[free:]
    for number, (start, length) in enumerate(spans):
        row += [(SPECIALS.sentinels[number], -1), *placed[start : start + length], (SPECIALS.end, -1)]
    return row


def blocks(text, spans, order):
    """Tokens with their places and both positions, how many stand in part A, and the answers with their places
    (`make_block_data` of GLM, without its numbered masks and its random positions)."""
    part_a, part_b, answers, at, free = [], [], [], [], 0
    for start, length in spans:
        part_a += [(text[place], place) for place in range(free, start)]
        at.append(len(part_a))
        part_a.append((SPECIALS.mask, -1))
        free = start + length
    part_a += [(text[place], place) for place in range(free, len(text))]
    for number in order:
        start, length = spans[number]
        block = [(SPECIALS.start, -1), *((text[place], place) for place in range(start, start + length))]
        part_b += [(token, place, at[number], inner) for inner, (token, place) in enumerate(block, 1)]
        answers += [*block[1:], (SPECIALS.end, -1)]
    rows = [(token, place, position, 0) for position, (token, place) in enumerate(part_a)] + part_b
    return rows, len(part_a), answers


def _spans_to_blanks(stage, plan, story):
    steps = plan[: len(story.spans)]
    rows, _, answers = blocks(story.text, story.spans, sorted(range(len(steps)), key=steps.__getitem__))
    ids, origin, position, second = map(list, zip(*rows, strict=True)) if rows else ([], [], [], [])
    done = [Action.MOVED if gone else kept for gone, kept in zip(story.chosen, story.done, strict=True)]
    return replace(story, inputs=Row(ids, origin, position, second), done=done, answers=answers)


def _ask_blanks(stage, plan, story):
    known = len(story.inputs.ids) - len(story.answers)
    labels, origin = ([SPECIALS.pad] * known, [-1] * known) if known else ([], [])
    labels, origin = labels + [token for token, _ in story.answers], origin + [place for _, place in story.answers]
    return replace(story, asked=[*story.asked, Asked(labels, [k >= known for k in range(len(labels))], origin)])


def _cut(stage, plan, story):
    spans = [(s, n) for s, n in zip(plan["start"], plan["length"], strict=True) if n >= 0]
    chosen = [any(s <= place < s + n for s, n in spans) for place in range(len(story.text))]
    return replace(story, spans=spans, chosen=chosen)


def _rearranged(story, row, moved):
    done = [Action.MOVED if gone and moved else kept for gone, kept in zip(story.chosen, story.done, strict=True)]
    return replace(story, inputs=Row([token for token, _ in row], [place for _, place in row]), done=done)


def _move_middle(stage, plan, story):
    [(start, length)] = story.spans
    form = plan if story.text else 0
    return _rearranged(story, fill_in_the_middle(story.text, start, length, form, stage.add_eos), form > 0)


def _move_spans(stage, plan, story):
    return _rearranged(story, causally_masked(story.text, story.spans), True)


def _ask_further(stage, plan, story):
    """The targets of the next word, each so many positions earlier; the last positions have none."""
    first, ahead = story.asked[0], stage.ahead
    last = [len(first.labels) - ahead > k for k in range(len(first.labels))]
    labels = [first.labels[k + ahead] if there else SPECIALS.pad for k, there in enumerate(last)]
    scored = [there and first.scored[k + ahead] for k, there in enumerate(last)]
    origin = [first.origin[k + ahead] if there else -1 for k, there in enumerate(last)]
    return replace(story, asked=[*story.asked, Asked(labels, scored, origin)])


def _ask_input(stage, plan, story):
    row = story.inputs
    pairs = zip(row.ids, row.origin, strict=True)
    scored = [stage.score_sentinels or place >= 0 or token not in SPECIALS.sentinels for token, place in pairs]
    asked = Asked(row.ids, scored, row.origin)
    read = Row([SPECIALS.start, *row.ids][: len(row.ids)], [-1, *row.origin][: len(row.ids)])
    return replace(story, inputs=read, asked=[*story.asked, asked], chosen=[True] * len(story.text))


ACTS = {
    "ChooseMiddle": _cut,
    "ChooseCausalSpans": _cut,
    "MoveMiddle": _move_middle,
    "MoveSpans": _move_spans,
    "SpansToBlanks": _spans_to_blanks,
    "AskBlanks": _ask_blanks,
    "AskInput": _ask_input,
    "AskFurther": _ask_further,
    "ShiftRight": _arrange_shifted,
    "AskNext": _ask_next,
    "ChooseAnyOrder": _choose_any_order,
    "ShiftInOrder": _shift_in_order,
    "SeeLeft": _see_left,
    "SeeRight": _see_right,
    "SeePermutation": _see_order,
    "ChooseSplit": _choose_split,
    "PrependModeToken": _prepend_mode,
    "DropTarget": _change_to_first_part,
    "MaskContentStream": _change_content,
}
