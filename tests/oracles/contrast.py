"""Windows, pairs, cells, n-grams and views again, one row at a time, in slow and obvious lists."""

from collections import defaultdict
from dataclasses import replace

from playground.batch import Action
from playground.tokenizing.vocabulary import FIRST_WORD
from tests.oracles import stages
from tests.oracles.stages import Asked, Row, maskable, see_all, see_left
from tests.texts import SPECIALS


def is_word(token):
    return token == SPECIALS.unknown or token >= FIRST_WORD


def drop(text, kept):
    """The text without the words that are not kept; special tokens stay."""
    chosen = [k and is_word(token) for k, token in zip(kept, text, strict=True)]
    places = [p for p, token in enumerate(text) if chosen[p] or not is_word(token)]
    done = [Action.DELETED if is_word(token) and not chosen[p] else Action.KEPT for p, token in enumerate(text)]
    return Row([text[p] for p in places], places), chosen, done


def near(ids, centre, radius):
    """The positions of the words around a word, up to a special token or an end, itself left out."""
    found = []
    for step in (-1, 1):
        at = centre + step
        while 0 <= at < len(ids) and is_word(ids[at]) and is_word(ids[centre]) and abs(at - centre) <= radius:
            found.append(at)
            at += step
    return sorted(found)


def see_near(row, radii):
    """A bag: words by themselves, and queries that see the words near them."""
    seen = [near(row.ids, p, radii[place]) for p, place in enumerate(row.origin)]
    cells = [[q in seen[p] for q in range(len(row.ids))] for p in range(len(row.ids))]
    return {"inputs": see_itself(len(row.ids)), "query": cells}


def see_itself(number):
    return [[p == q for q in range(number)] for p in range(number)]


def pairs(row, radii):
    """The positions of each centre and of each word near it, in their order."""
    return [(p, q) for p, place in enumerate(row.origin) for q in near(row.ids, p, radii[place])]


def cells_of(texts, window):
    """For every text the cells that it has first: word, other, place of each, and how often the batch has them."""
    seen, first = defaultdict(float), {}
    for number, text in enumerate(texts):
        places = [p for p, token in enumerate(text) if token != SPECIALS.unknown]
        ids = [text[p] for p in places]
        for left in range(len(ids)):
            for right in range(left + 1, min(left + window + 1, len(ids))):
                if all(is_word(token) for token in ids[left : right + 1]):
                    for a, b in ((left, right), (right, left)):
                        seen[ids[a], ids[b]] += 1 / (right - left)
                        first.setdefault((ids[a], ids[b]), (number, places[a], places[b]))
    rows = [[] for _ in texts]
    for (word, other), (number, place, near_by) in first.items():
        rows[number].append((word, other, place, near_by, seen[word, other]))
    return rows


# one stage, one row


def _choose_rarer(stage, plan, story):
    row, chosen, done = drop(story.text, plan["positions"])
    return replace(story, inputs=row, chosen=chosen, done=done)


def _see_window(stage, plan, story):
    return replace(story, sees=see_near(story.inputs, plan))


def _see_others(stage, plan, story):
    return replace(story, sees=see_near(story.inputs, [len(story.text)] * len(story.text)))


def _see_alone(stage, plan, story):
    return replace(story, sees={"inputs": see_itself(len(story.inputs.ids))})


def _arrange_windows(stage, plan, story):
    found, row = pairs(story.inputs, plan), story.inputs
    named = [(row.origin[q], 1) for _, q in found]
    centres = [p for p, _ in found]
    inputs = Row([row.ids[p] for p in centres], [row.origin[p] for p in centres], centres)
    return replace(story, inputs=inputs, spans=named)


def _ask_centre(stage, plan, story):
    asked = stages.ask_in_place(story.text, story.inputs, story.chosen)
    scored = [g and any(seen) for g, seen in zip(asked.scored, story.sees["query"], strict=True)]
    return replace(story, asked=[Asked(asked.labels, scored, asked.origin)])


def _ask_neighbour(stage, plan, story):
    places = [place for place, _ in story.spans]
    return replace(story, asked=[Asked([story.text[p] for p in places], [True] * len(places), places)])


def _propose_wrong(stage, plan, story):
    return story


def _change_to_masks(stage, plan, story):
    hidden = [place >= 0 and story.chosen[place] for place in story.inputs.origin]
    ids = [SPECIALS.mask if h else token for h, token in zip(hidden, story.inputs.ids, strict=True)]
    done = [Action.MASKED if c else Action.KEPT for c in story.chosen]
    return replace(story, inputs=Row(ids, story.inputs.origin), done=done)


def _ask_match(stage, plan, story):
    """`plan` is the number that the missing words have among those of the batch."""
    rest = len(story.inputs.ids) - 1
    there = any(story.chosen)
    asked = Asked([plan if there else 0, *[0] * rest], [there, *[False] * rest], [-1] * (rest + 1))
    return replace(story, asked=[asked])


def missing(story):
    """The words of the n-gram behind a special token of their own."""
    return [SPECIALS.cls, *(token for token, c in zip(story.text, story.chosen, strict=True) if c)]


def _choose_labelled(stage, plan, story):
    return replace(story, chosen=[plan and allowed for allowed in maskable(story.text)])


def _see_views(stage, plan, story):
    return replace(story, sees={"inputs": see_all(len(story.inputs.ids))})


def _ask_views(stage, plan, story):
    labels = story.labels[stage.label]
    known = [c and 0 <= label < len(stage.classes) for c, label in zip(story.chosen, labels, strict=True)]
    targets = [label if k else 0 for k, label in zip(known, labels, strict=True)]
    return replace(story, asked=[Asked(targets, known, [-1] * len(known))])


def views(story, unlabelled_only):
    """Of both halves who sees whom, and of each view (name, what it answers for at each position or None)."""
    size = len(story.text)
    asked = [a and not (unlabelled_only and any(story.chosen)) for a in maskable(story.text)]

    def answers(ahead):
        return [p + ahead if 0 <= p + ahead < size and asked[p + ahead] else None for p in range(size)]

    left, right = see_left(size), [[q >= p for q in range(size)] for p in range(size)]
    forwards = {"forwards": answers(0), "future": answers(1)}
    return ((left, forwards), (right, {"backwards": answers(0), "past": answers(-1)}))


ACTS = {
    "SubsampleFrequent": _choose_rarer,
    "ChooseNgram": stages.ACTS["ChooseSpans"],
    "ChooseSupervised": _choose_labelled,
    "SeeWindow": _see_window,
    "SeeAllButSelf": _see_others,
    "SeeSelf": _see_alone,
    "SeeViews": _see_views,
    "ArrangeWindows": _arrange_windows,
    "AskCentre": _ask_centre,
    "AskNeighbour": _ask_neighbour,
    "AskInBatchContrast": _ask_match,
    "AskCrossView": _ask_views,
    "ReplaceWithMask": _change_to_masks,
    "SampleNegatives": _propose_wrong,
}
