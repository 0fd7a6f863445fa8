"""`playground compress`: a fine-tuned model made smaller in several ways, with three meters side by side."""

import argparse
import sys
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import NotRequired, TypedDict

from tqdm import tqdm

from playground.cli.options import Parser, common_options, path, refuse_unused, say, warn, whole
from playground.cli.prepare import open_task
from playground.compression import methods
from playground.compression.compare import Compression, CompressionFacts, CompressionSpec, compress
from playground.compression.report import FILES, kept_in_words, write
from playground.compression.storage import export_folder, load, not_in_a_folder
from playground.errors import UserError
from playground.finetuning.run.base import from_checkpoint
from playground.folders import run_folder
from playground.method import MethodFacts, method_facts
from playground.training import checkpoint
from playground.training.checkpoint import Checkpoint


class FolderFacts(TypedDict):
    """A Hugging Face folder of a compressed model."""

    folder: str | None
    """The folder; null where no family of transformers fits the model."""

    note: str
    """What the folder leaves out, or why there is none; empty where nothing is to be said."""


class WrittenCompressionFacts(CompressionFacts):
    """A fine-tuned model made smaller in several ways, and where its files are."""

    out: NotRequired[str]
    """The folder of the result, with `--out`."""

    files: NotRequired[list[str]]
    """The names of the files of the result, with `--out`."""

    hf: NotRequired[dict[str, FolderFacts]]
    """The Hugging Face folders by pipeline, with `--hf`."""


class CompressionMethodFacts(MethodFacts):
    """A method of compression."""

    family: str
    rows: tuple[str, ...]
    """Its rows in the inventory of the surveys."""


class MethodsFacts(TypedDict):
    """The methods that `--methods` lists."""

    methods: list[CompressionMethodFacts]


FACTS = (WrittenCompressionFacts, MethodsFacts)


def add(command: Parser) -> None:
    """The options of the command."""
    common_options(command, compress_run)
    option = command.add_argument
    option("base", nargs="?", type=run_folder, default="", metavar="RUN", help="a run by its name or folder")
    option(
        "--with", dest="pipelines", action="append", metavar="a,b", default=None,
        help="methods in sequence, such as DistilBERT,int8; repeat the option for each pipeline to compare",
    )  # fmt: skip
    option("--methods", action="store_true", help="list the methods with their knobs, and do nothing else")
    option("--task", default="sentiment", metavar="TASK", help="a task, or your own labelled file")
    option("--train-size", type=whole, default=64, metavar="N", help="labelled texts to learn from")
    option("--seeds", type=whole, default=CompressionSpec.seeds, metavar="K")
    option("--tuning-steps", type=whole, default=80, metavar="N", help="steps of the uncompressed model")
    option("--workers", type=whole, default=1, metavar="N", help="parallel processes")
    option("--resume", action="store_true", help="make only the models that are not in --out yet")
    option("--out", type=path, metavar="DIR", help="folder for the models, the table and the record")
    option("--hf", action="store_true", help="also write Hugging Face folders of the first seed, where a family fits")


def compress_run(given: argparse.Namespace) -> int:
    """Check the request, run the trials, print the table and write the files."""
    if given.methods:
        refuse_unused(
            given, "--methods lists the methods and does nothing else", *given.typed.keys() - {"methods", "json"}
        )
        return say(given, catalogue(), _listed())
    spec = CompressionSpec(
        given.base, given.task, tuple(given.pipelines or CompressionSpec.pipelines), given.seeds, given.seed,
        given.train_size, given.tuning_steps, given.workers,
    )  # fmt: skip
    spec.check()
    if given.out is None:
        refuse_unused(given, "the models are not saved; name a folder with --out DIR", "hf", "resume")
    task, saved, folder = open_task(spec.task), checkpoint.load(spec.base), given.out and Path(given.out)
    base = from_checkpoint(saved)
    events = compress(base, saved.tokenizer, spec, task=task, folder=folder, resume=given.resume)
    *_, last = _with_bar(events, spec)
    facts: WrittenCompressionFacts = {**last.facts(base.learner.entry.name, saved.corpus.name)}
    if folder is not None:
        write(last, facts, folder)
        facts["out"], facts["files"] = str(folder), list(FILES)
        if given.hf:
            facts["hf"] = _export(last, saved, folder)
    return say(given, facts, table(facts))


def _export(result: Compression, saved: Checkpoint, folder: Path) -> dict[str, FolderFacts]:
    """The Hugging Face folders by pipeline, with a note of what they leave out, or why there is none."""
    exported: dict[str, FolderFacts] = {}
    for name, [first, *_] in result.outcomes.items():
        try:
            target = folder / "huggingface" / Path(first.folder).parent.name
            made = load(first.folder, result.task)
            export_folder(made, saved.tokenizer, target, saved.learner.entry.name)
            left = not_in_a_folder(made.classifier)
            exported[name] = {"folder": str(target), "note": f"Without {left}." if left else ""}
        except UserError as refusal:
            exported[name] = {"folder": None, "note": str(refusal)}
    return exported


def _with_bar(events: Iterator[Compression], spec: CompressionSpec) -> Iterator[Compression]:
    first = next(events)
    warn(spec.power)
    total = len(spec.chosen) * spec.seeds
    with tqdm(total=total, desc="compressing", unit="model", file=sys.stderr, mininterval=0.2) as bar:
        for event in chain([first], events):
            if event.latest is not None:
                bar.set_postfix_str(f"{event.latest.pipeline}, seed {event.latest.seed}", refresh=False)
                bar.update()
            yield event


def table(facts: WrittenCompressionFacts) -> list[str]:
    """The three meters and what is kept, a line for each pipeline, then the verdicts and the frontier."""
    rows, metric = facts["pipelines"], facts["metric"]
    wide = max(14, *(len(row["name"]) for row in rows))
    lines = [
        f"{facts['task']}, {facts['labels']} labels, {facts['seeds']} seeds, from {facts['base']} on {facts['corpus']}",
        f"{'pipeline':<{wide}} {'accuracy':>15} {'kept (95 %)':>18} {'parameters':>10} {'bytes':>9} {'operations':>10}"
        f" {'ms at 1':>8} {'ms at 32':>8} {'flipped':>7}",
    ]
    for row in rows:
        accuracy, latency = row["accuracy"], row["latency"]
        lines.append(
            f"{row['name']:<{wide}} {accuracy['mean']:>7.3f} ± {accuracy['sd']:.3f} {kept_in_words(row['kept']):>18}"
            f" {row['parameters']:>10,} {row['bytes']:>9,.0f} {row['operations']:>10,.0f}"
            f" {latency['1']['median'] * 1e3:>8.2f} {latency['32']['median'] * 1e3:>8.2f}"
            f" {row['flipped']['mean']:>7.1f}"
        )
    lines += [] if metric == "accuracy" else [f"The column accuracy holds the task's own metric: {metric}."]
    against = [*facts["against_uncompressed"], *facts["against_baselines"]]
    lines += [f"{gap['name']} against {gap['against']}: {gap['difference']:+.3f}, {gap['said']}." for gap in against]
    frontier = "; by ".join(f"{meter}: {', '.join(names)}" for meter, names in facts["frontier"].items())
    folders = [
        f"Hugging Face folder of {name}: {' '.join(filter(None, (made['folder'], made['note'])))}"
        for name, made in facts.get("hf", {}).items()
    ]
    lines.append(f"Pareto frontier, without leads inside the noise, by {frontier}.")
    return [*lines, facts["verdict"], *facts["notices"], *folders]


def catalogue() -> MethodsFacts:
    """The methods with their knobs as plain data."""
    return {"methods": [{**method_facts(m), "family": m.family, "rows": m.rows} for m in methods().values()]}


def _listed() -> list[str]:
    lines = []
    for method in methods().values():
        knobs = ", ".join(f"{k.name}={k.default}" for k in method.knobs)
        lines += [f"{method.name} ({method.family}): {method.idea}", f"    {knobs}"]
    return lines
