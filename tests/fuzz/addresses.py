"""Odd addresses of the app: the query that a link carries, and the messages that a changed page sends to the stage."""

import json
from pathlib import Path
from random import Random
from typing import Any
from urllib.parse import quote, urlencode

from playground.analysis.instrument import instruments
from playground.knob import knobs
from playground.objectives import objectives
from playground.trace.plan_edits import DO
from tests.fuzz import odd
from tests.fuzz.law import Case, Kind, no_sentence
from tests.fuzz.plans import plan_line
from widgets.animation.record import typeset
from widgets.app import main
from widgets.pages.knobs import corpus_knobs
from widgets.pages.stage import StagePage
from widgets.state.app import Store
from widgets.state.stage.store import StageStore

NAMES = tuple(objectives())
KNOBS = {name: tuple(o.knobs) for name, o in objectives().items()}
DEEDS = (
    *DO, "paint", "unpaint", "set", "roll", "undo", "redo", "reset", "objective", "look", "fork", "compare", "nothing",
)  # fmt: skip
INSTRUMENTS = tuple(instruments())
INSIDE = tuple({knob.name for each in instruments().values() for knob in knobs(each.settings)})
MATRICES = ("encoder", "decoder", "cross", "content", "query", "scored", "nothing")


def draw(random: Random, folder: Path) -> Case:
    """A link with some of the state in it, most of it right, some of it odd."""
    address = _address(random)
    again = random.random() < 0.3
    return Case(address, lambda: _opened(address, again, folder))


def _address(random: Random) -> str:
    if random.random() < 0.05:
        return "?" + odd.mutated(random, odd.value(random))
    name = odd.among(random, NAMES, 0.15)
    keys = random.sample(tuple(FIELDS), random.randint(1, 4))
    fields = [(_key(random, key, name), FIELDS[key](random, name)) for key in keys]
    fields += [("objective", name)] * (random.random() < 0.8)
    query = "&".join(f"{quote(key, errors='replace')}={quote(said, errors='replace')}" for key, said in fields)
    return "?" + (odd.mutated(random, query) if random.random() < 0.1 else query)[:60_000]


def _key(random: Random, key: str, name: str) -> str:
    """The name of a field; knobs and matrices stand behind a dot."""
    if key == "inside.set":
        return f"inside.set.{odd.among(random, INSIDE, 0.1)}"
    if key == "set":
        return f"set.{odd.among(random, KNOBS.get(name, ()), 0.1)}"
    return f"paint.{odd.among(random, MATRICES, 0.1)}" if key == "paint" else odd.among(random, [key], 0.03)


def _knob(random: Random, name: str) -> str:
    if random.random() < 0.2:
        return odd.nested(random, random.choice((90, 2_000, 20_000)))
    if random.random() < 0.3:
        return json.dumps(odd.plain(random))
    return odd.value(random)


def _cells(random: Random, name: str) -> str:
    cell = lambda: f"{odd.among(random, ['1', '2', '5'], 0.2)}.{random.randint(0, 9)}{random.choice('+- ')}"  # noqa: E731
    return ",".join(cell() for _ in range(random.randint(0, 4)))


FIELDS = {
    "text": lambda random, name: odd.among(random, ["How are you today", "Tom sold it. Then she left.", "a"], 0.6),
    "pair": lambda random, name: odd.among(random, ["Comment vas-tu", "We walk home"], 0.5),
    "seed": lambda random, name: odd.number(random),
    "plan": lambda random, name: plan_line(random, name),
    "frame": lambda random, name: odd.among(random, ["visibility", "loss", "forward", "3"]),
    "tokens": lambda random, name: odd.among(random, ["65", "65-128", "1-4"]),
    "view": lambda random, name: odd.among(random, ["table", "stage"]),
    "compare": lambda random, name: ",".join(odd.among(random, NAMES, 0.3) for _ in range(random.randint(0, 4))),
    "same_plan": lambda random, name: odd.among(random, ["True", "False"]),
    "page": lambda random, name: odd.among(random, ["1", "2", "3", "4"]),
    "zoo.view": lambda random, name: odd.among(random, ["timeline", "qiu"], 0.3),
    "zoo.entry": lambda random, name: odd.among(random, ["BERT", "C&W"], 0.3),
    "inside.instrument": lambda random, name: odd.among(random, INSTRUMENTS, 0.2),
    "inside.subject": lambda random, name: odd.among(random, ["session", "kept 1"], 0.5),
    "inside.others": lambda random, name: odd.among(random, ["", "session", "session|kept 1"], 0.5),
    "inside.over": lambda random, name: odd.among(random, ["models", "steps", "seeds"], 0.2),
    "inside.set": _knob,
    "post.chosen": lambda random, name: odd.among(random, ["DPO", "GRPO(loss_type=grpo)|best of n"], 0.4),
    "post.beta": lambda random, name: odd.number(random),
    "post.steps": lambda random, name: odd.number(random),
    "post.shortcut": lambda random, name: odd.among(random, ["True", "False"], 0.3),
    "post.reward": lambda random, name: odd.among(random, ["positive", "consistent"], 0.3),
    "corpus": lambda random, name: odd.mutated(random, odd.among(random, ["bilingual(shared=0.5)", "parallel"], 0.2)),
    "set": lambda random, name: _knob(random, name),
    "paint": lambda random, name: _cells(random, name),
}


def _opened(address: str, again: bool, folder: Path) -> None:
    """Open the address as the app does, make the page, and bring the address of what is then on screen back."""
    store = Store(folder)
    main._open(store, address)
    _whole(store.stage)
    StagePage(store.stage)
    for chosen in (store.train, store.corpus):
        corpus_knobs(chosen)
    assert not (said := store.train.trouble) or not no_sentence(said), no_sentence(said)
    assert not (said := store.posttraining.trouble) or not no_sentence(said), no_sentence(said)
    shared = main._address(store)
    if again:
        before = store.inside.query(), store.posttraining.query()
        main._open(store, shared)
        _whole(store.stage)
        assert (store.inside.query(), store.posttraining.query()) == before, "the address brings back what is chosen"


def _whole(stage: StageStore) -> None:
    """The stage has its picture, the picture can travel, and whatever is wrong is a sentence."""
    assert stage.rebuilt is not None or stage.trouble, "there is no picture and no word why"
    json.dumps(typeset(stage.record())).encode()
    urlencode(stage.query())
    for said in (stage.trouble, stage.silent):
        assert not said or not no_sentence(said), no_sentence(said)


def _message(random: Random, _: Path) -> Case:
    """What a changed page may send to the stage, one message after another."""
    name = random.choice(NAMES)
    messages = [_edit(random, name) for _ in range(random.randint(1, 3))]
    return Case(f"{name}: {json.dumps(messages)}", lambda: _edited(name, messages))


def _edit(random: Random, name: str) -> dict[str, Any]:
    """An edit with all parts that an edit may have, some of them odd."""
    right = {
        "do": random.choice(DEEDS), "word": 3, "to": 2, "from": 1, "with": "walked", "acts": True, "old": "2:1",
        "matrix": random.choice(MATRICES), "cells": [[0, 1, True]], "knob": random.choice((*KNOBS[name], "mask_ratio")),
        "layer": 1, "number": 2,
    }  # fmt: skip
    for part in random.sample(tuple(right), random.randint(0, 2)):
        right[part] = odd.plain(random) if random.random() < 0.7 else odd.value(random)
    return right


def _edited(name: str, messages: list[dict[str, Any]]) -> None:
    stage = StageStore(objective=name)
    for message in messages:
        stage.edit(message)
        _whole(stage)


MESSAGES = Kind("messages", 150, _message)
ADDRESSES = Kind("addresses", 500, draw)
