"""`playground objective`: one objective on one text."""

import argparse
import json
from typing import Any

from playground.cli.options import command, given_text, pairs, read_plan, say, text_options


def add(commands: Any) -> None:
    """The options of the command."""
    objective = command(commands, "objective", "one objective on one text", show_objective)
    objective.add_argument(
        "name", help="LM, MLM, PLM, span mask, T5 spans, BART infilling, RTD ..., or a sum such as 'MLM + 0.5 SOP'"
    )
    text_options(objective)
    objective.add_argument("--set", action="append", default=[], metavar="KNOB=VALUE", help="turn a knob")
    objective.add_argument(
        "--plan", nargs="+", action="extend", default=[], metavar="KEY=VALUE", help="a plan by hand, or @FILE"
    )


def show_objective(given: argparse.Namespace) -> int:
    """Rebuild the text and print it."""
    from playground.objectives.objective import Printed, find_objective
    from playground.objectives.reading import reads_two
    from playground.objectives.rebuild import rebuild

    settings, plan = pairs(given.set, "The setting"), read_plan(given.plan)
    as_printed = given.text is None and given.file is None and not given.pair
    own = find_objective(given.name).printed if as_printed else Printed()
    text, pair = own.text or given_text(given), given.pair or own.pair
    plan = plan if own.text == "" or find_objective(given.name).row else {**own.plan, **plan}
    rebuilt = rebuild(given.name, text, pair=pair, seed=given.seed, settings=settings, wanted=plan)
    facts = rebuilt.facts()
    if given.pair.strip() and not reads_two(rebuilt.objective):
        left_out = f"{rebuilt.objective.name} reads one text, so --pair has no part in it."
        facts["notice"] = " ".join(filter(None, (facts["notice"], left_out)))
    lines = [
        f"{facts['objective']}: {rebuilt.objective.idea}",
        f"  inputs   {' '.join(facts['inputs'])}",
        *([f"  decoder  {' '.join(facts['decoder_inputs'])}"] if facts["decoder_inputs"] else []),
        f"  targets  {facts['survey']['targets']}",
        f"  graded   {sum(facts['graded'])} of {len(facts['graded'])} positions",
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
