"""The noises and gap sentences again, one row at a time, in slow and obvious lists."""

from collections import Counter
from dataclasses import replace

from playground.batch import Action
from tests.oracles import stages
from tests.oracles.stages import Row
from tests.texts import SPECIALS

# choose


def _choose_share(stage, plan, story):
    allowed = stages.maskable(story.text)
    chosen = [
        overrides and allowed[p] and story.done[p] == Action.KEPT for p, overrides in enumerate(plan["positions"])
    ]
    return replace(story, chosen=chosen)


def _choose_runs(stage, plan, story):
    spans, place = [], 0
    while place < len(story.text):
        stop = place
        while stop < len(story.text) and story.chosen[stop]:
            stop += 1
        if stop > place and len(spans) < len(SPECIALS.sentinels):
            spans.append((place, stop - place))
        place = max(stop, place + 1)
    chosen = [any(s <= p < s + n for s, n in spans) for p in range(len(story.text))]
    return replace(story, spans=spans, chosen=chosen)


def _choose_gap_sentences(stage, plan, story):
    allowed, drawn = stages.maskable(story.text), []
    for number, taken in enumerate(plan):
        places = [p for p, s in enumerate(story.sentence) if s == number and allowed[p]]
        if taken and places:
            drawn.append((places[0], places[-1] + 1 - places[0]))
    spans, chosen = stages.choose_spans(story.text, drawn)
    return replace(story, spans=spans, chosen=chosen)


def rouge(text, sentence):
    """ROUGE-1 F1 of every sentence that has a word against all other words, by its number."""
    allowed = stages.maskable(text)
    bags = {}
    for token, number, is_word in zip(text, sentence, allowed, strict=True):
        if is_word:
            bags.setdefault(number, Counter())[token] += 1
    scores = {}
    for number, bag in bags.items():
        rest = sum((other for k, other in bags.items() if k != number), Counter())
        shared = sum((bag & rest).values())
        precision, recall = shared / bag.total(), shared / rest.total() if rest else 0.0
        scores[number] = 2 * precision * recall / (precision + recall) if shared else 0.0
    return scores


def shared(text, sentence):
    """How many words of every sentence the others have too, repeats counted."""
    bags = {k: Counter(t for t, s in zip(text, sentence, strict=True) if s == k) for k in set(sentence)}
    return {k: (bag & sum((b for o, b in bags.items() if o != k), Counter())).total() for k, bag in bags.items()}


def gap_sentences(text, sentence, ratio):
    """The numbers of the sentences with the highest scores, of equal ones the later."""
    scores = rouge(text, sentence)
    if len(scores) < 2:
        return []
    count = max(1, int(len(scores) * ratio + 1e-9))
    return sorted(sorted(scores, key=lambda k: (round(scores[k], 12), k), reverse=True)[:count])


# change


def _change_to_markers(stage, plan, story):
    row, done = stages.change_to_markers(story.inputs.ids, story.spans, stage.marker)
    kept = [d if d != Action.KEPT else before for d, before in zip(done, story.done, strict=True)]
    return replace(story, inputs=row, done=kept)


def _change_to_nothing(stage, plan, story):
    left = [p for p, place in enumerate(story.inputs.origin) if place < 0 or not story.chosen[place]]
    row = Row([story.inputs.ids[p] for p in left], [story.inputs.origin[p] for p in left])
    done = [Action.DELETED if c else d for c, d in zip(story.chosen, story.done, strict=True)]
    return replace(story, inputs=row, done=done)


def homes(row):
    """The place of the text that each position goes with: its own, else the next one's, else the last one's."""
    found = []
    for position in range(len(row.origin)):
        later = [place for place in row.origin[position:] if place >= 0]
        earlier = [place for place in row.origin[:position] if place >= 0]
        found.append(later[0] if later else earlier[-1] if earlier else 0)
    return found


def _moved(story, source):
    """The positions of the input sorted by where their home stands in the new order of the text."""
    rank = [source.index(place) for place in range(len(source))]
    home = homes(story.inputs)
    order = sorted(range(len(home)), key=lambda p: rank[home[p]])
    row = Row([story.inputs.ids[p] for p in order], [story.inputs.origin[p] for p in order])
    done = [Action.MOVED if d == Action.KEPT and rank[place] != place else d for place, d in enumerate(story.done)]
    chosen = story.chosen if any(story.chosen) else [True] * len(rank)
    return replace(story, inputs=row, done=done, rank=rank, chosen=chosen)


def _change_order(stage, plan, story):
    return _moved(story, plan)


def _change_start(stage, plan, story):
    now = sorted(range(len(story.rank)), key=lambda place: story.rank[place])
    first = story.rank[plan] if now else 0
    return _moved(story, now[first:] + now[:first])


# ask


def _ask_to_write(stage, plan, story):
    if not (stage.final_sentinel and stage.target == "sentinels"):
        decoder, asked = stages.ask_to_write(story.text, story.spans, story.chosen, stage.target, stage.add_eos)
        return replace(story, decoder=decoder, asked=[*story.asked, asked])
    _, asked = stages.ask_to_write(story.text, story.spans, story.chosen, "sentinels")
    asked.labels.append(SPECIALS.sentinels[min(len(story.spans), 31)])
    asked.origin.append(-1)
    if stage.add_eos:
        asked.labels.append(SPECIALS.end)
        asked.origin.append(-1)
    asked.scored = [True] * len(asked.labels)
    decoder = Row([SPECIALS.start, *asked.labels[:-1]], [-1, *asked.origin[:-1]])
    return replace(story, decoder=decoder, asked=[*story.asked, asked])


ACTS = {
    "ChooseRatio": _choose_share,
    "ChooseForDeletion": _choose_share,
    "MergeAdjacent": _choose_runs,
    "ChooseGapSentences": _choose_gap_sentences,
    "SpansToSentinels": _change_to_markers,
    "DeleteTokens": _change_to_nothing,
    "ChangeWordOrder": _change_order,
    "ChangeSentenceOrder": _change_order,
    "RotateDocument": _change_start,
    "AskDecoder": _ask_to_write,
}
