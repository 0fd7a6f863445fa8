"""The stages of masking again, one row at a time: units, runs, trigrams, names, and what is asked of them."""

from dataclasses import replace

from playground.batch import Action
from tests.oracles import stages
from tests.oracles.stages import Asked, Row, maskable
from tests.texts import SPECIALS

MASK64 = 2**64 - 1


def splitmix(number):
    """The finished state of a counter, in plain integers."""
    number = (number + 0x9E3779B97F4A7C15) & MASK64
    number = ((number ^ (number >> 30)) * 0xBF58476D1CE4E5B9) & MASK64
    number = ((number ^ (number >> 27)) * 0x94D049BB133111EB) & MASK64
    return number ^ (number >> 31)


def fixed_noise(row, copy, width, salt):
    key = splitmix((splitmix((splitmix(row) + copy) & MASK64) + salt) & MASK64)
    return [((splitmix((key + place) & MASK64) >> 40) & 0xFFFFFF) / 2**24 for place in range(width)]


def runs(marked, number=None):
    """The longest runs of marked places, as lists of places; a new number opens a new run."""
    found = []
    for place, yes in enumerate(marked):
        if not yes:
            continue
        goes_on = place > 0 and marked[place - 1] and (number is None or number[place] == number[place - 1])
        if goes_on:
            found[-1].append(place)
        else:
            found.append([place])
    return found


def units(text, number):
    allowed = maskable(text)
    return runs([allowed[p] and number[p] >= 0 for p in range(len(text))], number)


def take_units(found, order, budget, min_one=False):
    """BERT with whole words: those that do not fit are skipped."""
    hidden = set()
    for number in order:
        if len(hidden) + len(found[number]) <= budget:
            hidden |= set(found[number])
    if min_one and not hidden and order:
        hidden = set(found[order[0]][:budget])
    return hidden


def take_ngrams(text, words, order, lengths, budget):
    """ALBERT: shorter runs are tried until one fits; runs that meet a hidden word are dropped."""
    allowed, hidden = maskable(text), set()
    for begin_ in order:
        run = words[begin_ : begin_ + lengths[begin_]]
        while run and len(hidden) + sum(map(len, run)) > budget:
            run = run[:-1]
        places = [p for word in run for p in word]
        if not places or hidden & set(places):
            continue
        assert all(allowed[places[0] : places[-1] + 1]), "no run leaves its text"
        hidden |= set(places)
    return hidden


def take_spans(text, words, dice, lengths, budget):
    """SpanBERT: from the word of a free place on, whole words until the share is full; hidden ones are passed over."""
    allowed, hidden = maskable(text), set()
    for overrides in lengths:
        if len(hidden) >= budget:
            break
        free = min((p for p in range(len(text)) if allowed[p] and p not in hidden), key=lambda p: dice[p])
        first = next(k for k, word in enumerate(words) if free in word)
        for word in words[first : first + overrides]:
            if not all(allowed[words[first][0] : word[-1] + 1]):
                break
            for place in word:
                if len(hidden) < budget:
                    hidden.add(place)
    return hidden


def take_trigrams(free, dice, overrides):
    taken = []
    for _ in range(overrides):
        starts = [
            s for s in range(len(free) - 2) if all(free[s : s + 3]) and all(abs(s - other) >= 3 for other in taken)
        ]
        if starts:
            taken.append(min(starts, key=lambda s: dice[s]))
    return sorted(taken)


def take_in_order(found, order, budget):
    """Units one after the other until the share is full; the last one is cut."""
    hidden = []
    for number in order:
        hidden += found[number][: budget - len(hidden)]
    return set(hidden)


# stages


def _arrange_document(stage, plan, story):
    """The first stretch of one label; a row without the label as it stands."""
    first, last = document(story.labels[stage.label])
    labels = {name: row[first:last] for name, row in story.labels.items()}
    return stages.begin(story.text[first:last], story.sentence[first:last], labels)


def document(row):
    """Where the first stretch of one label begins, and the place after its end; of a row without the label, all."""
    known = [place for place, number in enumerate(row) if number >= 0]
    if not known:
        return 0, len(row)
    first = last = known[0]
    while last < len(row) and row[last] == row[first]:
        last += 1
    return first, last


def _arrange_signed(stage, plan, story):
    return replace(story, inputs=stages.arrange_text(story.text, True))


def _arrange_code(stage, plan, story):
    """A marker for the special token in front."""
    said = [number for number in story.labels[stage.label] if number >= 0]
    ids = list(story.inputs.ids)
    if said and story.inputs.origin[0] < 0:
        ids[0] = SPECIALS.sentinels[said[0]]
    return replace(story, inputs=Row(ids, story.inputs.origin))


def _choose_tokens(stage, plan, story):
    allowed = choosable(story.text, stage.special_tokens)
    return replace(story, chosen=[a and b for a, b in zip(allowed, plan["positions"], strict=True)])


def _choose_diffused(stage, plan, story):
    cells = zip(plan["noise"], plan["time"], maskable(story.text), strict=True)
    size = getattr(stage, "block_size", 0)
    if size:
        assert all(len({*plan["time"][k : k + size]}) == 1 for k in range(0, len(story.text), size))
    else:
        assert len({*plan["time"]}) <= 1
    hidden = [noise < time and word for noise, time, word in cells]
    return replace(
        story, chosen=hidden, time=plan["time"], block=[k // size for k in range(len(story.text) * (size > 0))]
    )


def _append_clean(stage, plan, story):
    row, size = story.inputs, len(story.inputs.ids)
    clean = [story.text[place] if place >= 0 else token for token, place in zip(row.ids, row.origin, strict=True)]
    both = Row([*row.ids, *clean], [*row.origin, *row.origin], [*row.position, *row.position])
    return replace(story, inputs=both, halves=[0] * size + [1] * size)


def _see_blocks(stage, plan, story):
    """The three parts of the mask as the paper names them."""
    blocks = [story.block[place] if place >= 0 else 0 for place in story.inputs.origin]
    cells = list(zip(blocks, story.halves, strict=True))
    sees = [
        [
            (b == k and not clean and not read)  # block diagonal
            or (b > k and not clean and read)  # offset block causal
            or (b >= k and clean and read)  # block causal
            for k, read in cells
        ]
        for b, clean in cells
    ]
    return replace(story, sees={"inputs": [[bool(cell) for cell in row] for row in sees]})


def _ask_diffused(stage, plan, story):
    asked, origin = stages.ask_in_place(story.text, story.inputs, story.chosen), story.inputs.origin
    halves = story.halves or [0] * len(origin)
    asked.scored = [scored and not half for scored, half in zip(asked.scored, halves, strict=True)]
    if stage.loss_weight == "1/t":
        asked.weights = [1 / story.time[p] if scored else 0.0 for scored, p in zip(asked.scored, origin, strict=True)]
        words = maskable(story.text)
        asked.counted = [p >= 0 and words[p] and not half for p, half in zip(origin, halves, strict=True)]
    return replace(story, asked=[*story.asked, asked])


def choosable(text, special_tokens):
    """Words and, if they may be, special tokens of the text: all of them, or all but a first one."""
    able = {SPECIALS.start, SPECIALS.end, SPECIALS.cls, SPECIALS.sep} if special_tokens != "protected" else set()
    return [
        word or (token in able and (place > 0 or special_tokens == "roberta"))
        for place, (token, word) in enumerate(zip(text, maskable(text), strict=True))
    ]


def _positions(stage, plan, story):
    places = [place for place, overrides in enumerate(plan["positions"]) if overrides]
    return replace(story, chosen=stages.choose_tokens(story.text, places))


def _spans(stage, plan, story):
    drawn = [(s, n) for s, n in zip(plan["start"], plan["length"], strict=True) if n >= 0]
    spans, chosen = stages.choose_spans(story.text, drawn)
    return replace(story, spans=spans, chosen=chosen)


def _trigrams(stage, plan, story):
    new = _spans(stage, plan, story)
    return replace(new, chosen=[a or b for a, b in zip(new.chosen, story.chosen, strict=True)])


def _change_trigrams(stage, plan, story):
    source = plan
    ids, origin, done = list(story.inputs.ids), list(story.inputs.origin), list(story.done)
    for position, place in enumerate(story.inputs.origin):
        if place >= 0 and source[place] != place:
            ids[position], origin[position] = story.text[source[place]], source[place]
    done = [Action.MOVED if source[place] != place else was for place, was in enumerate(done)]
    return replace(story, inputs=Row(ids, origin), done=done, rank=[source.index(p) for p in range(len(source))])


def _names(story):
    return units(story.text, story.labels["mention"])


def _change_entities(stage, plan, story):
    words, new = plan, set()
    for name in _names(story):
        if any(words[p] != story.text[p] for p in name):
            new |= set(name)
    shown = [words[p] if p in new else token for token, p in zip(story.inputs.ids, story.inputs.origin, strict=True)]
    return replace(
        story,
        inputs=Row(shown, story.inputs.origin),
        chosen=[was or p in new for p, was in enumerate(story.chosen)],
        done=[Action.REPLACED if p in new else was for p, was in enumerate(story.done)],
    )


def _ask_boundary(stage, plan, story):
    size, allowed = len(story.text), maskable(story.text)
    asked = stages.ask_in_place(story.text, story.inputs, story.chosen)
    scored, reads = [False] * len(asked.labels), [[0, 0] for _ in asked.labels]
    at = {place: position for position, place in enumerate(story.inputs.origin) if place >= 0}
    for run in runs(story.chosen):
        left, right = run[0] - 1, run[-1] + 1
        if left < 0 or right >= size or not allowed[left] or not allowed[right]:
            continue
        for place in run[: stage.sbo_max_length]:
            scored[at[place]] = True
            reads[at[place]] = [at[left], at[right]]
    return replace(story, asked=[*story.asked, Asked(asked.labels, scored, asked.origin, reads)])


def _ask_label(stage, plan, story):
    values = story.labels[stage.label]
    if stage.where == "text":
        return replace(story, asked=[*story.asked, _ask_of_text(story, max(values, default=-1))])
    named = [number >= 0 for number in story.labels.get("mention", values)]
    where = {"chosen": story.chosen, "everywhere": [True] * len(values), "mentions": named}[stage.where]
    scored = [p >= 0 and values[p] >= 0 and where[p] for p in story.inputs.origin]
    targets = [values[p] if yes else 0 for p, yes in zip(story.inputs.origin, scored, strict=True)]
    return replace(story, asked=[*story.asked, Asked(targets, scored, [-1] * len(targets))])


def _ask_of_text(story, number):
    """Once, at the special token in front, if anything is known."""
    scored = [position == 0 and number >= 0 for position in range(len(story.inputs.ids))]
    return Asked([number if yes else 0 for yes in scored], scored, [-1] * len(scored))


def _see_labels(stage, plan, story):
    """Classes count from 1 and 0 is unknown: at special tokens, and of hidden words where a label is of words."""
    left = (Action.KEPT, Action.SCORED_AS_IS)
    known = [
        story.labels[stage.label][p] + 1 if p >= 0 and (stage.of == "text" or story.done[p] in left) else 0
        for p in story.inputs.origin
    ]
    return replace(story, read={**story.read, stage.label: known})


def _see_task(stage, plan, story):
    """The number of the task, from 1 on, at every position."""
    return replace(story, read={**story.read, "task": [stage.tasks.index(stage.task) + 1] * len(story.inputs.ids)})


def _ask_moved(stage, plan, story):
    slots = [story.rank[p] if p >= 0 else -1 for p in story.inputs.origin]
    spans = {p for s, n in story.spans for p in range(s, s + n)}
    movable = [p for p in spans if story.done[p] in (Action.KEPT, Action.MOVED) and maskable(story.text)[p]]
    targets = [story.text[p] if p >= 0 else SPECIALS.pad for p in slots]
    return replace(story, asked=[*story.asked, Asked(targets, [p in movable for p in story.inputs.origin], slots)])


def _ask_replaced(stage, plan, story):
    asked = stages.ask_replaced(story.inputs, story.done)
    if stage.where == "mentions":
        first = {name[0] for name in _names(story)}
        asked = replace(asked, scored=[place in first for place in story.inputs.origin])
    return replace(story, asked=[*story.asked, asked])


def _read_with_teacher(stage, plan, story):
    ids = [story.text[p] if p >= 0 else i for i, p in zip(story.inputs.ids, story.inputs.origin, strict=True)]
    return replace(story, teacher=replace(story, inputs=Row(ids, story.inputs.origin)))


def _ask_teacher(stage, plan, story):
    words = stages.ask_in_place(story.text, story.inputs, story.chosen)
    masked = [token == SPECIALS.mask for token in story.inputs.ids]
    scored = [yes and hidden for yes, hidden in zip(words.scored, masked, strict=True)]
    return replace(story, asked=[*story.asked, Asked(words.labels, scored, words.origin)])


ACTS = {
    "ReadWithTeacher": _read_with_teacher,
    "AskTeacherState": _ask_teacher,
    "ArrangeDocument": _arrange_document,
    "WrapSpecials": _arrange_signed,
    "ControlCode": _arrange_code,
    "ChooseTokens": _choose_tokens,
    "ChooseDiffused": _choose_diffused,
    "ChooseDiffusedBlocks": _choose_diffused,
    "AppendCleanCopy": _append_clean,
    "SeeBlocks": _see_blocks,
    "AskDiffused": _ask_diffused,
    "ChooseWholeUnits": _positions,
    "ChooseNgrams": _positions,
    "ChooseGeometricSpans": _spans,
    "ChooseTrigrams": _trigrams,
    "ChangeTrigrams": _change_trigrams,
    "ChangeEntities": _change_entities,
    "AskSpanBoundary": _ask_boundary,
    "AskLabel": _ask_label,
    "SeeLabels": _see_labels,
    "SeeTask": _see_task,
    "AskMoved": _ask_moved,
    "AskReplaced": _ask_replaced,
}
