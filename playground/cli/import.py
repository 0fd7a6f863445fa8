"""`playground import`: a folder that the transformers library wrote as a model of ours."""  # noqa: N999

import argparse
from dataclasses import asdict

from playground.cli.options import Parser, common_options, list_of_runs, path, say
from playground.interop import Opened, open_folder
from playground.interop.run import save_run
from playground.knob import written
from playground.models import Architecture
from playground.models.model import NO_LM_HEAD
from playground.training.store.runs import Runs


def add(command: Parser) -> None:
    """The options of the command."""
    common_options(command, show_folder)
    option = command.add_argument
    option("folder", metavar="DIR", help="a folder with config.json and model.safetensors")
    option("--numbered", action="store_true", help="take words as numbers and do not read the tokenizer")
    option("--save", type=path, metavar="DIR", help="folder for a checkpoint that the other commands and pages open")
    list_of_runs(command)
    option(
        "--corpus", default="world", metavar="C", help="its held-out text is saved beside the model; world by default"
    )


def show_folder(given: argparse.Namespace) -> int:
    """Open the folder, print its card, and save it where that is asked for."""
    opened = open_folder(given.folder, given.numbered)
    facts = _facts(opened)
    lines = [
        f"{opened.family.name} ({opened.family.source})",
        f"parameters  {facts['parameters']:,}",
        f"vocabulary  {len(opened.tokenizer):,} entries ({opened.tokenizer.kind}); it lacks {facts['absent']} of our "
        "special tokens",
        f"words       {facts['unlike']:,} of {facts['words']:,} words of the vocabulary get other ids in the "
        "tokenizers library",
        f"unlike our  {written(opened.model.shape, ', ', Architecture())}",
    ]
    lines += [f"left out    {', '.join(opened.left_out)}, which our models lack"] if opened.left_out else []
    notice = "" if opened.model.shape.lm_head else NO_LM_HEAD
    if given.save:
        out, doubt = save_run(opened, given.save, given.corpus, Runs(given.runs))
        facts["out"], notice = str(out), notice or doubt
        lines.append(f"saved       {out}")
    return say(given, facts | {"notice": notice}, [*lines, notice] if notice else lines)


def _facts(opened: Opened) -> dict[str, object]:
    vocabulary = opened.vocabulary
    return {
        "family": opened.family.name,
        "architecture": asdict(opened.model.shape),
        "parameters": sum(weight.numel() for weight in opened.model.parameters()),
        "vocabulary": len(opened.tokenizer),
        "tokenizer": opened.tokenizer.kind,
        "left_out": list(opened.left_out),
        "absent": sum(row < 0 for row in vocabulary.rows),
        "words": vocabulary.words,
        "unlike": vocabulary.unlike,
    }
