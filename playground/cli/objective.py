"""`playground objective`: show one objective on one text."""

import argparse
import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import torch

from playground.cli.options import Parser, common_options, pairs, read_plan, refuse_unused, say, warn, whole
from playground.corpora import open_corpus, pick
from playground.corpora.readers.text import read_whole
from playground.errors import UserError
from playground.objectives import find_objective
from playground.objectives.objective import Printed
from playground.trace import frames
from playground.trace.inputs import reads_two
from playground.trace.json_schema import Lane, Masks, ObjectiveFacts
from playground.trace.rebuild import SENTENCE, Rebuilt, rebuild, rebuild_row

FACTS = (ObjectiveFacts,)

ROW = 32
"""Tokens of a row of a corpus, as in training by default."""


def add(command: Parser) -> None:
    """The options of the command."""
    common_options(command, show_objective)
    option = command.add_argument
    option("name", help="LM, MLM, PLM, span mask, T5 spans, BART infilling, RTD ..., or a sum such as 'MLM + 0.5 SOP'")
    text_options(command)
    option("--corpus", metavar="NAME|FILE", help="a held-out row of a corpus instead of a text")
    option("--row", type=whole, metavar="N", help="which row of the corpus, from 0; with --corpus")
    option("--set", action="append", default=[], metavar="KNOB=VALUE", help="set a knob")
    option("--plan", nargs="+", action="extend", default=[], metavar="KEY=VALUE", help="a plan set by hand, or @FILE")


def text_options(command: Parser) -> None:
    """The options that choose the text."""
    one = command.add_mutually_exclusive_group()
    one.add_argument("--text", help=f"default: {SENTENCE!r}")
    one.add_argument("--file", help="read the text from a file")
    command.add_argument("--pair", default="", metavar="T2", help="the second text of NSP, SOP, TLM ...")


def given_text(given: argparse.Namespace) -> str:
    """The text that was typed or read from a file."""
    if given.file is not None:
        return read_whole(Path(given.file))
    return SENTENCE if given.text is None else given.text


def show_objective(given: argparse.Namespace) -> int:
    """Rebuild the text, or a row of a corpus, and print it."""
    if given.corpus is not None:
        refuse_unused(given, "a row of a corpus is a text already; leave it out, or --corpus", "text", "file", "pair")
    else:
        refuse_unused(given, "rows are those of a corpus; name one with --corpus", "row")
    rebuilt = _of_row(given) if given.corpus is not None else _of_text(given)
    facts, lanes = rebuilt.facts(), {lane["name"]: lane for lane in frames.lanes(rebuilt.batch, 0)}
    lines = [
        f"{facts['objective']}: {rebuilt.objective.idea}",
        f"  inputs   {' '.join(facts['inputs'])}",
        *_ids(lanes.get("inputs")),
        *([f"  decoder  {' '.join(facts['decoder_inputs'])}"] if facts["decoder_inputs"] else []),
        *_ids(lanes.get("decoder")),
        *_targets(facts["survey"]["targets"], lanes.values()),
        f"  scored   {sum(facts['scored'])} of {len(facts['scored'])} positions",
        f"  plan     {json.dumps(facts['plan'], ensure_ascii=False)}   (seed {given.seed})",
        *_matrices(facts["attention_mask"]),
        f"  leak     {facts['leak_detail']['sentence']}",
    ]
    return say(given, facts, [*lines, *([f"  note     {facts['notice']}"] if facts["notice"] else [])])


def _of_row(given: argparse.Namespace) -> Rebuilt:
    """A held-out row of a corpus, with the labels and the second texts that the objective needs."""
    from playground.objectives.bind import with_corpus
    from playground.training.data import BatchSampler  # half a second that a typed text need not wait for

    objective = find_objective(given.name)
    objective = objective.turn(pairs(given.set, "The setting"))
    corpus, number = open_corpus(given.corpus), given.row or 0
    warn(corpus.notice)
    objective = with_corpus(objective, corpus)
    rows = BatchSampler.of(corpus, ROW, 1, 0, torch.device("cpu"), objective.needs).held_out
    if not 0 <= number < len(rows.ids):
        raise UserError(f"The row is {number}; {corpus.name} holds out {len(rows.ids)} rows, counted from 0.")
    row = pick(rows, torch.tensor([number]))
    text = corpus.tokenizer.join(row.ids[0][row.valid[0]].tolist())
    return rebuild_row(objective, row, text, given.seed, read_plan(given.plan))


def _of_text(given: argparse.Namespace) -> Rebuilt:
    """A typed text, or where none is typed, that of the survey's table."""
    objective, plan = find_objective(given.name), read_plan(given.plan)
    settings = pairs(given.set, "The setting")
    as_printed = given.text is None and given.file is None and not given.pair
    printed = objective.printed if as_printed else Printed()
    text, pair = printed.text or given_text(given), given.pair or printed.pair
    plan = plan if printed.text == "" or objective.row else {**printed.plan, **plan}
    rebuilt = rebuild(objective, text, pair=pair, seed=given.seed, settings=settings, overrides=plan)
    if given.pair.strip() and not reads_two(rebuilt.objective):
        left_out = f"{rebuilt.objective.name} reads one text, so --pair does not apply."
        return replace(rebuilt, notice=" ".join(filter(None, (rebuilt.notice, left_out))))
    return rebuilt


def _ids(lane: Lane | None) -> Iterator[str]:
    """What is read with the tokens of a stream, as the stage draws it."""
    for ids in lane.get("ids", ()) if lane else ():
        words = [ids["words"][value] or "-" if ids["words"] else str(value) for value in ids["values"]]
        yield f"  {ids['title'].removesuffix(':'):<8} {' '.join(words if len({*words}) > 1 else words[:1])}"


def _targets(survey: str, lanes: Iterable[Lane]) -> Iterator[str]:
    """The targets as the survey prints them; those of each distance on a line where a position has several."""
    several = [(lane["target"], lane["cells"]) for lane in lanes if "target" in lane]
    if not several:
        yield f"  targets  {survey}"
    for name, cells in several:
        yield f"  targets  {' '.join(cell['text'] for cell in cells if cell['scored'])}   ({name})"


def _matrices(attention_mask: Masks) -> list[str]:
    """The attention masks, a line for each query position; the first one begins with the name of the stack."""
    return [
        f"  {'' if number else name:<8}{''.join(' ■' if cell else ' ·' for cell in row)}"
        for name, rows in attention_mask.items()
        for number, row in enumerate(rows)
    ]
