"""Seed plausible faults into the objectives, one at a time, and see that the tests catch every one.

    python tests/mutants.py [--only WORD] [--all]

Each fault is one replaced line in a copy of the project; the copy's own tests run until the first failure, with
`--all` all of them, else the sample of `make test`. A fault that no test notices is a hole in the tests, and the exit
status says so. There is a fault for each mechanism; what a contract over the catalogue says of all is not repeated.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from queue import Queue

HOME = Path(__file__).parents[1]
NEEDED = ("playground", "tests", "pyproject.toml", "README.md", "Makefile", "constraints.txt", "benchmarks")
STAGES = "playground/objectives"


SUITES = (
    "tests/papers",
    *(
        f"tests/playground/{part}"
        for part in ("objectives", "models", "trace", "corpora/test_corpora.py", "test_leaks.py")
    ),
    "tests/contracts/test_objectives.py",
)
"""What must notice a fault in the objectives: the tests of objectives, leaks and models."""


@dataclass(frozen=True)
class Mutant:
    """A fault: in `file`, the text `old` (which occurs there once) becomes `new`."""

    fault: str
    file: str
    old: str
    new: str


MUTANTS = (
    Mutant(
        "<= for <: a query sees its own word",
        f"{STAGES}/see/order.py",
        "replace(content, query_level=content.query_level - 1)",
        "replace(content)",
    ),
    Mutant(
        "< for <=: nobody sees himself",
        "playground/batch.py",
        "(self.query_level.short() + 1)[:, :, None]",
        "self.query_level.short()[:, :, None]",
    ),
    Mutant(
        "padding can be read",
        "playground/batch.py",
        "masked_fill(~real, MASKED_LEVEL)",
        "masked_fill(~real, -MASKED_LEVEL)",
    ),
    Mutant(
        "one too many is chosen",
        f"{STAGES}/ops/sampling.py",
        "arange_rows(order) < count[:, None]) & candidates",
        "arange_rows(order) <= count[:, None]) & candidates",
    ),
    Mutant(
        "the k-th candidate is taken for the k-th place",
        f"{STAGES}/ops/sampling.py",
        "positions if is_all_true(candidates) else",
        "positions if True else",
    ),
    Mutant(
        "a whole word runs into the next",
        f"{STAGES}/ops/marked_spans.py",
        "goes_on & (number[:, 1:] == number[:, :-1])",
        "goes_on",
    ),
    Mutant(
        "targets come before what they are predicted from",
        f"{STAGES}/choose/order.py",
        "sampling.orders(tokens.lengths - number, number, rng)",
        "sampling.orders(number - number, number, rng)",
    ),
    Mutant(
        "random and unchanged are drawn independently",
        f"{STAGES}/change/tokens.py",
        "+ (noise >= self.mask_replace_prob + self.random_replace_prob)",
        "+ (noise >= self.mask_replace_prob).long() * (noise >= self.random_replace_prob)",
    ),
    Mutant(
        "argmax instead of a sample",
        f"{STAGES}/propose/words.py",
        "(scores - (-noise.log()).log()).argmax(dim=-1)",
        "scores.argmax(dim=-1)",
    ),
    Mutant(
        "off-by-one shift of the prefix LM",
        f"{STAGES}/ask/words.py",
        "ahead(asked_for, 1, False)",
        "asked_for",
    ),
    Mutant(
        "macro for micro mean",
        "playground/answers.py",
        "return losses.mean() if over is None else",
        "return torch.stack([losses[self.rows == r].mean() for r in self.rows.unique()]).mean() if over is None else",
    ),
    Mutant(
        "MASS: the decoder sees the encoder's masks",
        f"{STAGES}/see/encoder_decoder.py",
        "inputs.valid & ~masked",
        "inputs.valid",
    ),
    Mutant(
        "a run ends for good where a sign stands in it",
        f"{STAGES}/choose/spans.py",
        "length = torch.cat([first, behind.where(behind > 0, -1)], dim=1)",
        "length = torch.cat([first, behind.clamp(max=-1)], dim=1)",
    ),
    Mutant(
        "a text that is not turned is turned to what is left of it",
        f"{STAGES}/change/order.py",
        "position.where(rotates, inverse(batch.prediction_order)[:, 0])",
        "position.where(rotates, anchors(inputs)[:, 0])",
    ),
    Mutant(
        "T5: one sentinel for all gaps",
        f"{STAGES}/change/markers.py",
        "sentinels.take(number.clamp(0, len(sentinels) - 1))",
        "sentinels.take(number * 0)",
    ),
    Mutant(
        "a stranger is called the next sentence",
        f"{STAGES}/arrange/pair.py",
        'either(number == self._number("other")',
        'either(number != self._number("other")',
    ),
    Mutant(
        "the leak check forgets the residual",
        "playground/leaks.py",
        "step = attn_mask | own",
        "step = attn_mask",
    ),
    Mutant(
        "the leak check sees one target only",
        "playground/leaks.py",
        "for e in batch.with_auxiliary for target in e.targets]",
        "for e in batch.with_auxiliary for target in e.targets[-1:]]",
    ),
    Mutant(
        "span lengths are clipped and not renormalised",
        f"{STAGES}/choose/geometric.py",
        "limits = (share / share.sum()).cumsum(0)[:-1]",
        "limits = share.cumsum(0)[:-1]",
    ),
    Mutant(
        "the right word among the wrong ones",
        f"{STAGES}/propose/wrong.py",
        "drawn.masked_fill(skipped, -1), self.loss",
        "drawn.masked_fill(~target.loss_mask[..., None], -1), self.loss",
    ),
    Mutant(
        "the generator has places of its own",
        "playground/models/model.py",
        'shared = network if shape.tie_generator == "embeddings"',
        'shared = network if shape.tie_generator == "nothing"',
    ),
    Mutant(
        "UniLM's masks in equal shares",
        f"{STAGES}/arrange/mixture_part.py",
        "sampling.outcomes(self.shares, ",
        "sampling.outcomes([1.0 for share in self.shares], ",
    ),
    Mutant(
        "GloVe weighs rare pairs like frequent ones",
        "playground/answers.py",
        "(seen / self.x_max).clamp(max=1.0) ** self.alpha",
        "(seen / self.x_max).clamp(max=1.0) ** 0",
    ),
    Mutant(
        "the path ends where an answer is asked and not where it is read",
        "playground/leaks.py",
        "ends = [position] if target.reads is None else target.reads[row, position].tolist()",
        "ends = [position]",
    ),
    Mutant(
        "the leak check knows one mask for all layers",
        "playground/leaks.py",
        "reach = _join(_dense(attn_mask.layer(number), row) | own, reach)",
        "reach = _join(_dense(attn_mask.layer(0), row) | own, reach)",
    ),
)


def run(mutant: Mutant, copy: Path, options: Sequence[str]) -> tuple[bool, float, str]:
    """Whether the tests of the copy fail with the fault in it, after how many seconds, and which test failed."""
    file = copy / mutant.file
    sound = file.read_text(encoding="utf-8")
    file.write_text(sound.replace(mutant.old, mutant.new), encoding="utf-8")
    began = time.perf_counter()
    done = tested(copy, options)
    file.write_text(sound, encoding="utf-8")
    failed = [line for line in done.stdout.splitlines() if line.startswith("FAILED")]
    return killed(done.returncode, failed), time.perf_counter() - began, failed[0] if failed else ""


def killed(code: int, failed: Sequence[str]) -> bool:
    """Whether a test failed: not when pytest was stopped, was given no test, or could not read the files at all."""
    return code == 1 and bool(failed)


def tested(copy: Path, options: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """The tests of a copy, up to the first that fails."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "--no-header", "-p", "no:cacheprovider", *options, *SUITES]
    alone = {**os.environ, "OMP_NUM_THREADS": "1"}
    return subprocess.run(command, cwd=copy, capture_output=True, text=True, env=alone)


def try_all(
    chosen: Sequence[Mutant], copies: Sequence[Path], options: Sequence[str]
) -> Iterator[tuple[Mutant, bool, float, str]]:
    """Every fault in whichever copy is free, as many at a time as there are copies."""
    free: Queue[Path] = Queue()
    for copy in copies:
        free.put(copy)

    def attempt(mutant: Mutant) -> tuple[Mutant, bool, float, str]:
        copy = free.get()
        try:
            return (mutant, *run(mutant, copy, options))
        finally:
            free.put(copy)

    with ThreadPoolExecutor(len(copies)) as pool:
        yield from (done.result() for done in as_completed([pool.submit(attempt, m) for m in chosen]))


def main() -> int:
    """Try every fault and print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="faults whose description or file holds this word")
    parser.add_argument("--jobs", type=int, default=2, help="faults that are tried at a time")
    parser.add_argument("--all", action="store_true", help="with every case of every test, not the sample")
    given = parser.parse_args()
    options = ["--all"] if given.all else []
    chosen = [m for m in MUTANTS if given.only.lower() in f"{m.fault} {m.file}".lower()]
    if not chosen:
        print(f"No fault holds the word {given.only!r}.")
        return 2
    survived = 0
    with tempfile.TemporaryDirectory() as folder:
        copies = [Path(folder) / str(number) for number in range(given.jobs)]
        for copy in copies:
            copy.mkdir()
            for name in NEEDED:
                source = HOME / name
                shutil.copytree(source, copy / name) if source.is_dir() else shutil.copy(source, copy / name)
        sound = tested(copies[0], options)
        if sound.returncode:
            print(f"The tests fail without any fault:\n{sound.stdout[-2000:]}{sound.stderr[-2000:]}")
            return 2
        for mutant, caught, seconds, test in try_all(chosen, copies, options):
            survived += not caught
            print(f"{'killed  ' if caught else 'SURVIVED'} {seconds:5.0f} s  {mutant.fault}  {test[:100]}", flush=True)
    print(f"{len(chosen) - survived} of {len(chosen)} faults were caught.")
    return 1 if survived else 0


if __name__ == "__main__":
    raise SystemExit(main())
