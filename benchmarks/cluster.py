"""The seeds of a run and a comparison on a Dask cluster of two workers, against one and two processes of one machine.

The script starts a scheduler and two workers on this machine. Each worker is what a machine of its own would be: a
process with one core, its own working directory and its own cache; only the folder of the runs is shared. The three
ways take turns, each as the command that a person types, start included. Beside the clock stands the processor time of
the busiest process, which is what the clock would show on idle cores; in brackets is how many times as fast as one
process that is. What they computed is compared to the bit: the curves and weights of all seeds, and all scores. With
`--kill` the seeds are trained once more, and in the middle one worker is killed, its parent too, as if the machine had
lost its power.

    python benchmarks/cluster.py [--seeds 4] [--steps 150] [--tuning-steps 200] [--rounds 1] [--kill]
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import torch
from safetensors.torch import load_file

from playground.training.parallel.dask_cluster import KEPT, MALLOC
from widgets.app.server import free_port

ROOT = Path(__file__).parents[1]
ONE = "one process"
LOADED = "playground.finetuning.run.trials"
"""What a worker loads when it starts, so that its first task does not wait for torch."""

CLOCKED = {"seconds", "tokens_per_second", "out", "command"}
"""What differs from one run to the next, names a folder or says which way was asked for."""


def environment(home: Path) -> dict[str, str]:
    own = {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", "PLAYGROUND_HOME": str(home)}
    return os.environ | own


@contextmanager
def dask(kind: str, folder: Path, *options: str) -> Iterator[subprocess.Popen[bytes]]:
    """A scheduler or a worker in a folder of its own, and in a process group of its own."""
    folder.mkdir()
    command = [sys.executable, "-m", f"distributed.cli.dask_{kind}", *options]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=environment(folder) | dict.fromkeys(MALLOC, str(KEPT)),
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    try:
        yield process
    finally:
        kill(process)


def kill(process: subprocess.Popen[bytes]) -> None:
    """Kill a process and its children, as a machine that loses its power."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


@contextmanager
def cluster(folder: Path, workers: int) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """The address of a scheduler with so many workers, and the workers."""
    from distributed import Client

    address = f"tcp://127.0.0.1:{(port := free_port())}"
    scheduler = ("--host", "127.0.0.1", "--port", str(port), "--dashboard-address", ":0")
    worker = (address, "--nthreads", "1", "--nworkers", "1", "--dashboard-address", ":0", "--preload", LOADED)
    with ExitStack() as stack:
        stack.enter_context(dask("scheduler", folder / "scheduler", *scheduler))
        made = [stack.enter_context(dask("worker", folder / f"machine-{k + 1}", *worker)) for k in range(workers)]
        with Client(address, timeout="60s") as client:
            client.wait_for_workers(workers, timeout=60)
        yield address, made


@dataclass(frozen=True)
class Measured:
    """The facts that a command prints, its seconds by the clock, and the processor time of its busiest process."""

    facts: dict[str, Any]
    clock: float
    busiest: float


def playground(folder: Path, *options: str, workers: Sequence[subprocess.Popen[bytes]] = ()) -> Measured:
    """Run a command, and look at its processes and at those of the workers meanwhile."""
    before, spent = seconds_of([worker.pid for worker in workers]), dict[int, float]()
    begun = time.perf_counter()
    process = started(folder, *options)
    while process.poll() is None:
        spent |= seconds_of([process.pid, *(worker.pid for worker in workers)])
        time.sleep(0.2)
    clock = time.perf_counter() - begun
    assert process.returncode == 0, f"playground {' '.join(options)} failed"
    busiest = max(seconds - before.get(pid, 0.0) for pid, seconds in spent.items())
    return Measured(json.loads((folder / "facts.json").read_text()), clock, busiest)


def seconds_of(parents: Sequence[int]) -> dict[int, float]:
    """The processor time of these processes and of all below them."""
    found: dict[int, float] = {}
    for parent in parents:
        with suppress(psutil.NoSuchProcess):
            for each in (root := psutil.Process(parent), *root.children(recursive=True)):
                found[each.pid] = sum(each.cpu_times()[:2])
    return found


def started(folder: Path, *options: str) -> subprocess.Popen[bytes]:
    folder.mkdir(exist_ok=True)
    command = [sys.executable, "-m", "playground", *options, "--json"]
    with (folder / "facts.json").open("wb") as facts, (folder / "log").open("ab") as log:
        return subprocess.Popen(command, cwd=folder, env=environment(folder), stdout=facts, stderr=log)


def comparable(facts: Any) -> Any:
    """The same facts without seconds and folders."""
    if isinstance(facts, dict):
        return {key: comparable(value) for key, value in facts.items() if key not in CLOCKED}
    return [comparable(each) for each in facts] if isinstance(facts, list) else facts


def same_seeds(one: Path, other: Path) -> bool:
    """Whether all seeds below two folders have the same curves and the same weights."""
    names = sorted(path.parent.relative_to(one) for path in one.rglob("metrics.jsonl"))
    assert names, f"no run in {one}"
    return all(_same_seed(one / name, other / name) for name in names)


def _same_seed(one: Path, other: Path) -> bool:
    weights, others = (load_file(folder / "checkpoint.safetensors") for folder in (one, other))
    curves = (one / "metrics.jsonl").read_text() == (other / "metrics.jsonl").read_text()
    return curves and weights.keys() == others.keys() and all(torch.equal(weights[k], others[k]) for k in weights)


Ways = dict[str, tuple[tuple[str, ...], Sequence[subprocess.Popen[bytes]]]]
"""The options of each way, and the workers that it uses."""


def measure(given: argparse.Namespace, folder: Path, ways: Ways) -> None:
    """Run all ways in turns and print the table."""
    client = folder / "client"
    base = playground(client, "train", "RoBERTa", "--steps", "200", "--out", str(folder / "base")).facts["out"]
    seeds = ("train", "RoBERTa", "--steps", str(given.steps), "--seeds", str(given.seeds))
    comparison = (
        "compare", base, "--strategies", given.strategies, "--seeds", str(given.seeds),
        "--tuning-steps", str(given.tuning_steps),
    )  # fmt: skip
    for turn in range(given.rounds):
        print(f"| way, round {turn + 1} | seeds: clock, busiest, s | comparison: clock, busiest, s | same | load |")
        print("|---|---|---|---|---|", flush=True)
        first: list[Measured] = []
        for way, (options, workers) in ways.items():
            out = folder / f"{way} {turn}"
            trained = playground(client, *seeds, "--out", str(out), *options, workers=workers)
            compared = playground(client, *comparison, *options, workers=workers)
            first = first or [trained, compared]
            same = same_seeds(folder / f"{ONE} {turn}", out) and comparable(compared.facts) == comparable(
                first[1].facts
            )
            cells = [
                f"{now.clock:.1f} ({one.clock / now.clock:.2f}), {now.busiest:.1f} ({one.busiest / now.busiest:.2f})"
                for one, now in zip(first, (trained, compared), strict=True)
            ]
            load = f"{os.getloadavg()[0]:.1f}"
            print(f"| {way} | {' | '.join(cells)} | {'yes' if same else 'NO'} | {load} |", flush=True)


def lose(given: argparse.Namespace, folder: Path, address: str, workers: Sequence[subprocess.Popen[bytes]]) -> None:
    """Train the seeds again and kill a worker in the middle."""
    out, whole = folder / "lost", folder / f"{ONE} 0"
    begun = time.perf_counter()
    options = ("--steps", str(given.steps), "--seeds", str(given.seeds), "--save-every", "50", "--out", str(out))
    process = started(folder / "client", "train", "RoBERTa", *options, "--cluster", address)
    while not [*out.rglob("checkpoint.safetensors")]:
        time.sleep(0.1)
    kill(workers[0])
    at = time.perf_counter() - begun
    process.wait()
    seconds = time.perf_counter() - begun
    same = process.returncode == 0 and same_seeds(whole, out)
    print(f"one of the machines dies after {at:.1f} s: {seconds:.1f} s, the same bits: {'yes' if same else 'NO'}")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--steps", type=int, default=150)
    parser.add_argument("--strategies", default="full,gradual unfreezing")
    parser.add_argument("--tuning-steps", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--kill", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, cluster(Path(name), 2) as (address, workers):
        two, cluster_of_two = ("--workers", "2"), ("--cluster", address)
        measure(given, Path(name), {ONE: ((), ()), "two processes": (two, ()), "cluster": (cluster_of_two, workers)})
        if given.kill:
            lose(given, Path(name), address, workers)


if __name__ == "__main__":
    main()
