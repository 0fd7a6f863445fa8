"""`playground objective`: one objective on one text."""

import argparse
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from playground.cli.options import command, given_text, pairs, read_plan, say, text_options, whole

if TYPE_CHECKING:
    from playground.trace.rebuild import Rebuilt

ROW = 32
"""Tokens of a row of a corpus, as in training by default."""


def add(commands: Any) -> None:
    """The options of the command."""
    objective = command(commands, "objective", "one objective on one text", show_objective)
    objective.add_argument(
        "name", help="LM, MLM, PLM, span mask, T5 spans, BART infilling, RTD ..., or a sum such as 'MLM + 0.5 SOP'"
    )
    text_options(objective)
    objective.add_argument("--corpus", metavar="NAME|FILE", help="instead of a text a held-out row of a corpus")
    objective.add_argument("--row", type=whole, metavar="N", help="which row of the corpus, from 0; with --corpus")
    objective.add_argument("--set", action="append", default=[], metavar="KNOB=VALUE", help="turn a knob")
    objective.add_argument(
        "--plan", nargs="+", action="extend", default=[], metavar="KEY=VALUE", help="a plan by hand, or @FILE"
    )


def show_objective(given: argparse.Namespace) -> int:
    """Rebuild the text, or a row of a corpus, and print it."""
    return _shown(given, _of_row(given) if given.corpus is not None else _of_text(given))


def _of_row(given: argparse.Namespace) -> "Rebuilt":
    """A held-out row of a corpus, with the labels and the second texts that the objective needs."""
    import torch

    from playground.corpora import open_corpus, pick
    from playground.errors import Refusal
    from playground.objectives import find_objective
    from playground.trace.rebuild import rebuild_row
    from playground.training.data import BatchSampler
    from playground.training.loop import informed

    if given.text is not None or given.file is not None or given.pair:
        raise Refusal("A row of a corpus is a text already; leave --text, --file and --pair out, or --corpus.")
    objective = find_objective(given.name).turn(pairs(given.set, "The setting"))
    corpus, number = open_corpus(given.corpus), given.row or 0
    objective = informed(objective, corpus)
    rows = BatchSampler.of(corpus, ROW, 1, 0, torch.device("cpu"), objective.needs).held_out
    if not 0 <= number < len(rows.ids):
        raise Refusal(f"The row is {number}; {corpus.name} holds out {len(rows.ids)} rows, counted from 0.")
    row = pick(rows, torch.tensor([number]))
    text = corpus.tokenizer.join(row.ids[0][row.valid[0]].tolist())
    return rebuild_row(objective, row, text, given.seed, read_plan(given.plan))


def _of_text(given: argparse.Namespace) -> "Rebuilt":
    """A typed text."""
    from playground.errors import Refusal
    from playground.objectives.find import find_objective
    from playground.objectives.objective import Printed
    from playground.trace.inputs import reads_two
    from playground.trace.rebuild import rebuild

    settings, plan = pairs(given.set, "The setting"), read_plan(given.plan)
    as_printed = given.text is None and given.file is None and not given.pair
    own = find_objective(given.name).printed if as_printed else Printed()
    text, pair = own.text or given_text(given), given.pair or own.pair
    plan = plan if own.text == "" or find_objective(given.name).row else {**own.plan, **plan}
    if given.row is not None:
        raise Refusal(f"The row is {given.row}, and rows are those of a corpus; name one with --corpus.")
    rebuilt = rebuild(given.name, text, pair=pair, seed=given.seed, settings=settings, wanted=plan)
    if given.pair.strip() and not reads_two(rebuilt.objective):
        left_out = f"{rebuilt.objective.name} reads one text, so --pair has no part in it."
        return replace(rebuilt, notice=" ".join(filter(None, (rebuilt.notice, left_out))))
    return rebuilt


def _shown(given: argparse.Namespace, rebuilt: "Rebuilt") -> int:
    """What was rebuilt, for people or as JSON."""
    facts = rebuilt.facts()
    lines = [
        f"{facts['objective']}: {rebuilt.objective.idea}",
        f"  inputs   {' '.join(facts['inputs'])}",
        *([f"  decoder  {' '.join(facts['decoder_inputs'])}"] if facts["decoder_inputs"] else []),
        f"  targets  {facts['survey']['targets']}",
        f"  scored   {sum(facts['graded'])} of {len(facts['graded'])} positions",
        f"  plan     {json.dumps(facts['plan'], ensure_ascii=False)}   (seed {given.seed})",
        *_drawn(facts["visible"]),
        f"  leak     {facts['leak_detail']['sentence']}",
    ]
    return say(given, facts, [*lines, *([f"  note     {facts['notice']}"] if facts["notice"] else [])])


def _drawn(visible: dict[str, list[list[int]]]) -> list[str]:
    lines = []
    for name, rows in visible.items():
        drawn = ["".join(" ■" if cell else " ·" for cell in row) for row in rows]
        lines += [f"  {name if i == 0 else '':<8}{line}" for i, line in enumerate(drawn)]
    return lines
