"""`playground import`: a folder that the transformers library wrote as a model of ours."""  # noqa: N999

import argparse
import os
from pathlib import Path
from typing import NotRequired, TypedDict

from playground.cli.options import Parser, common_options, list_of_runs, path, refuse_unused, say
from playground.interop import OpenedFolder, open_folder
from playground.interop.run import save_run
from playground.knob import written
from playground.models import Architecture
from playground.models.model import NO_LM_HEAD
from playground.tokenizing import Tokenizer
from playground.tokenizing.vocabulary import ROLES
from playground.training.store.runs import Runs


class ImportFacts(TypedDict):
    """A folder of transformers as a model of ours."""

    family: str
    """The family of models, such as RoBERTa."""
    architecture: Architecture
    """Every knob of the model."""
    parameters: int
    vocabulary: int
    """Entries of the vocabulary."""
    tokenizer: str
    """How words are split."""
    left_out: list[str]
    """Parts of the folder that our models lack."""
    special_tokens: dict[str, str]
    """The special tokens by their roles."""
    absent: list[str]
    """Roles of special tokens that the folder lacks."""
    out: NotRequired[str]
    """The folder of the run (`--save`)."""
    notice: str
    """What the model cannot do, or what is doubtful, in a sentence; empty where nothing is."""


FACTS = (ImportFacts,)


def add(command: Parser) -> None:
    """The options of the command."""
    common_options(command, show_folder, seeded=False)
    option = command.add_argument
    option("folder", metavar="DIR", help="a folder with config.json and model.safetensors")
    option("--numbered", action="store_true", help="read words as token ids, without the tokenizer")
    option(
        "--add-special-tokens", default="", metavar="ROLE,...",
        help="new rows for special tokens that the folder lacks, such as mask for GPT-2",
    )  # fmt: skip
    option("--save", type=path, metavar="DIR", help="folder for a checkpoint that the other commands and pages open")
    list_of_runs(command)
    option("--corpus", default="world", metavar="C", help="save held-out text of this corpus with it; world by default")


def show_folder(given: argparse.Namespace) -> int:
    """Open the folder, print its card, and save it where that is asked for."""
    if not given.save:
        refuse_unused(given, "nothing is saved; name a folder with --save DIR", "runs", "corpus")
    added = tuple(filter(None, (role.strip() for role in given.add_special_tokens.split(","))))
    opened = open_folder(given.folder, given.numbered, added)
    facts = _facts(opened)
    lines = [
        f"{opened.family.name} ({opened.family.source})",
        f"parameters  {facts['parameters']:,}",
        f"vocabulary  {len(opened.tokenizer):,} entries ({opened.tokenizer.kind}), with the ids of the folder",
        f"special     {spelt(opened.tokenizer)}",
        f"unlike our  {written(opened.model.shape, ', ', Architecture())}",
    ]
    if moses := imitates_moses(Path(given.folder), opened.tokenizer):
        lines.append(f"words       {moses}")
    lines += [f"left out    {', '.join(opened.left_out)}, which our models lack"] if opened.left_out else []
    if given.save:
        out, doubt = save_run(opened, given.save, given.corpus, Runs(given.runs))
        facts["out"], facts["notice"] = str(out), facts["notice"] or doubt
        lines.append(f"saved       {out}")
    return say(given, facts, [*lines, facts["notice"]] if facts["notice"] else lines)


def _facts(opened: OpenedFolder) -> ImportFacts:
    roles = opened.tokenizer.specials.roles
    return {
        "family": opened.family.name,
        "architecture": opened.model.shape,
        "parameters": sum(weight.numel() for weight in opened.model.parameters()),
        "vocabulary": len(opened.tokenizer),
        "tokenizer": opened.tokenizer.kind,
        "left_out": list(opened.left_out),
        "special_tokens": {role: opened.tokenizer.words[number] for role, number in roles.items()},
        "absent": [role for role in ROLES if role not in roles],
        "notice": "" if opened.model.shape.lm_head else NO_LM_HEAD,
    }


def imitates_moses(folder: Path, tokenizer: Tokenizer) -> str:
    """A sentence where a vocabulary of XLM has no tokenizer.json, which says how text is split before it."""
    if not tokenizer.suffix or os.path.isfile(folder / "tokenizer.json"):
        return ""
    return "split at spaces and punctuation as BERT's code does; XLM's own tokenizer uses the rules of Moses"


def spelt(tokenizer: Tokenizer) -> str:
    """The special tokens by their roles, and the roles that nothing has."""
    roles = tokenizer.specials.roles
    has = ", ".join(f"{role} {tokenizer.words[roles[role]]}" for role in ROLES if role in roles)
    lacks = ",".join(role for role in ROLES if role not in roles and role != "unknown")
    return f"{has}; none for {lacks} (--add-special-tokens {lacks} gives rows)" if lacks else has
