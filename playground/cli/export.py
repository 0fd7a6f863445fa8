"""`playground export`: a trained model as a folder that the transformers library reads."""

import argparse
import os
from typing import TypedDict

from playground.catalog import choose
from playground.cli.options import Parser, common_options, path, say
from playground.errors import UserError
from playground.folders import run_folder
from playground.interop import Family, export
from playground.models import Architecture
from playground.training import checkpoint

_Class = TypedDict("_Class", {"class": str})


class ExportFacts(_Class):
    """The folder that was written; `class` is the class of transformers that reads it."""

    family: str
    """The family of models, such as RoBERTa."""
    vocabulary: int
    """Words and special tokens."""
    out: str
    """The folder."""


FACTS = (ExportFacts,)


def add(command: Parser) -> None:
    """The options of the command."""
    common_options(command, write_folder, seeded=False)
    option = command.add_argument
    option("base", type=run_folder, metavar="RUN", help="a run by its name or folder, or its checkpoint")
    option("folder", metavar="DIR", type=path, help="a new folder: config.json, model.safetensors, tokenizer.json")
    option("--family", default="", metavar="NAME", help="which family to write if several fit, such as RoBERTa")


def _family_named(name: str, shape: Architecture) -> str:
    """The family that was asked for, which the model must be of."""
    family = choose("playground.interop.families", Family, name)
    if differences := family.differences(shape):
        raise UserError(f"This model is not a {family.name} as transformers has it: {'; '.join(differences)}.")
    return family.name


def write_folder(given: argparse.Namespace) -> int:
    """Write the folder and print its family."""
    if not os.path.exists(given.base):
        raise UserError(f"There is no run in {given.base}; train one: playground train BERT --recipe paper.")
    saved = checkpoint.load(given.base)
    name = _family_named(given.family, saved.learner.model.shape) if given.family else ""
    family = export(saved.learner, saved.tokenizer, given.folder, name)
    kind = family.class_of(saved.learner.model.shape)
    facts: ExportFacts = {
        "family": family.name,
        "class": kind,
        "vocabulary": len(saved.tokenizer),
        "out": str(given.folder),
    }
    lines = [
        f"{family.name} with {len(saved.tokenizer):,} words and special tokens, written to {given.folder}.",
        f"transformers.{kind}.from_pretrained({str(given.folder)!r})",
    ]
    return say(given, facts, lines)
