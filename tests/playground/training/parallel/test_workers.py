"""Processes that train for another one end with it, and share nothing with its threads."""

import importlib
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cached_property

import pytest

from playground.compression import compare as compressing
from playground.compression.compare import CompressionSpec
from playground.finetuning import compare, find_task
from playground.finetuning.comparing.spec import ComparisonSpec
from playground.finetuning.run.base import base_of
from playground.pickling import declared_fields
from playground.training import Started, train
from playground.training.observe.look import ProbeSentence
from playground.training.parallel import workers
from playground.training.parallel.workers import READY, Processes, pool, received
from tests.runs import ROOT, becomes, every_entry, run_of, tensors_of, tiny

WORKERS = """
import os, time
from playground.training.parallel.workers import pool

if __name__ == "__main__":
    pools = [pool(1, None), pool(1, None)]
    print(*(each.submit(os.getpid).result() for each in pools), flush=True)
    time.sleep(600)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs kill -9")
def test_workers_end_when_who_asked_them_is_killed(tmp_path):
    (tmp_path / "asks.py").write_text(WORKERS)
    asked = subprocess.Popen(
        [sys.executable, str(tmp_path / "asks.py")], stdout=subprocess.PIPE, text=True, env=os.environ | PATHS
    )
    assert asked.stdout is not None
    workers = [int(pid) for pid in asked.stdout.readline().split()]
    assert len(workers) == 2 and all(map(alive, workers))
    asked.kill()
    asked.wait()
    asked.stdout.close()
    assert becomes(lambda: not any(map(alive, workers)))


@pytest.mark.slow
def test_what_workers_get_is_a_copy_that_shares_no_memory_with_the_threads_here():
    run = run_of()
    text = run.corpus.windows(8)
    with pool(1, (run, text)) as processes:
        assert processes.submit(hash_received).result() == run.corpus.hash
    rows = run.corpus.ids, text.ids, *run.corpus.labels.values(), *text.labels.values()
    assert not any(row.is_shared() for row in rows)


def test_the_modules_that_are_loaded_before_a_worker_is_copied_exist():
    """A worker begins without a module that is not found, and says nothing."""
    for name in READY:
        importlib.import_module(name)


def scaled(factor, number):
    return factor * number


@pytest.mark.slow
@pytest.mark.parametrize("processes", [1, 2])
def test_jobs_are_done_here_and_there_in_their_order_and_each_is_kept_once(processes):
    kept = []
    made = list(Processes(processes).run([3, 1, 2], scaled, -1, lambda *each: kept.append(each)))
    assert made == [-3, -1, -2]
    assert sorted(kept) == [(1, -1), (2, -2), (3, -3)]


@pytest.mark.parametrize("name", ["RoBERTa", "ELECTRA", "Transformer-XL"])
@pytest.mark.parametrize("way", ["compare", "compress"])
def test_no_comparison_sends_what_its_base_trains_on(name, way, monkeypatch):
    sent, run = [], run_of(entry=tiny(name), steps=3)
    learner = next(event.learner for event in list(train(run)) if isinstance(event, Started))
    assert learner.optimisers[0].state

    def stopped(number, data):
        sent.append(data)
        raise InterruptedError

    monkeypatch.setattr(workers, "pool", stopped)
    base, words, task = base_of(learner, run.corpus), run.corpus.tokenizer, find_task("sentiment")
    if way == "compare":
        events = compare(base, words, ComparisonSpec(train_sizes=(8,), steps=2, workers=2))
    else:
        spec = CompressionSpec(train_size=8, steps=2, workers=2)
        events = compressing.compress(base, words, spec, task=task)
    with pytest.raises(InterruptedError):
        list(events)
    assert tensors_of(sent) and not tensors_of(sent) & tensors_of(learner)


def hash_received():
    (run, _), _ = received()
    return run.corpus.hash


@every_entry
def test_what_a_thread_remembers_of_a_run_is_not_pickled(name):
    """Else a thread that remembers more meanwhile changes the dictionary that the pickler walks through."""
    run = run_of(entry=tiny(name))
    missing = {type(value) for value in inside(run, ProbeSentence(run.corpus.windows(8))) if remembers(value)}
    assert {kind.__name__ for kind in missing if kind.__getstate__ is not declared_fields} == set()


def remembers(value):
    return any(isinstance(vars(kind).get(name), cached_property) for kind in type(value).__mro__ for name in vars(kind))


def inside(*values):
    """The dataclasses that values are made of."""
    for value in values:
        if isinstance(value, Mapping):
            yield from inside(*value.values())
        elif isinstance(value, tuple | list):
            yield from inside(*value)
        elif is_dataclass(value) and not isinstance(value, type):
            yield value
            yield from inside(*(getattr(value, each.name) for each in fields(value)))


PATHS = {"PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}


def alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
