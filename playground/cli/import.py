"""`playground import`: a folder that the transformers library wrote as a model of ours."""  # noqa: N999

import argparse
from dataclasses import asdict

from playground.cli.options import Parser, common_options, list_of_runs, path, refuse_unused, say
from playground.interop import Opened, open_folder
from playground.interop.run import save_run
from playground.knob import written
from playground.models import Architecture
from playground.training.store.runs import Runs


def add(command: Parser) -> None:
    """The options of the command."""
    common_options(command, show_folder, seeded=False)
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
    if not given.save:
        refuse_unused(given, "nothing is saved; name a folder with --save DIR", "runs", "corpus")
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
    if given.save:
        facts["out"] = str(save_run(opened, given.save, given.corpus, Runs(given.runs)))
        lines.append(f"saved       {facts['out']}")
    return say(given, facts, lines)


def _facts(opened: Opened) -> dict[str, object]:
    vocabulary = opened.vocabulary
    return {
        "family": opened.family.name,
        "architecture": asdict(opened.model.shape),
        "parameters": sum(weight.numel() for weight in opened.model.parameters()),
        "vocabulary": len(opened.tokenizer),
        "tokenizer": opened.tokenizer.kind,
        "absent": sum(row < 0 for row in vocabulary.rows),
        "words": vocabulary.words,
        "unlike": vocabulary.unlike,
    }
