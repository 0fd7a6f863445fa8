"""Seeds and comparisons on a Dask cluster: the numbers of one process, and a worker that dies loses nothing."""

import os
import signal
import threading
from collections import Counter
from dataclasses import replace

import pytest

from playground.errors import UserError
from playground.finetuning import Base
from playground.finetuning.comparing.compare import compare
from playground.finetuning.comparing.spec import ComparisonSpec
from playground.finetuning.run.measure import Result
from playground.finetuning.run.record import TrialRecord
from playground.training import train
from playground.training.loop import prepared
from playground.training.parallel.dask_cluster import Cluster, connected
from playground.training.parallel.seeds import Finished, Point, train_seeds
from playground.training.store.runs import Runs
from tests.runs import becomes, losses, reviews, run_of, tiny

distributed = pytest.importorskip("distributed", reason="needs the extra `cluster`")


@pytest.fixture(scope="module")
def client():
    """Two worker processes; starting them is most of the time of these tests."""
    with (
        distributed.LocalCluster(2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.mark.slow
def test_a_worker_that_is_killed_in_mid_sweep_loses_nothing(client, tmp_path):
    run = run_of(entry=tiny(steps=300), steps=300, save_every=10, out=tmp_path / "sweep")
    runs, found, processes = Runs(tmp_path), [], client.run(os.getpid)
    thread = threading.Thread(
        target=lambda: found.extend(train_seeds(run, (3, 4), runs=runs, executor=Cluster(client)))
    )
    thread.start()
    assert becomes(lambda: [r.step >= 30 for r in runs.all()] == [True, True], 120)
    os.kill(processes[next(worker for worker, work in client.processing().items() if work)], signal.SIGKILL)
    thread.join(240)
    assert [e.seed for e in found if isinstance(e, Finished)] == [3, 4]
    for kept in runs.all():
        whole = losses(train(replace(run, seed=kept.seed, out=None)))
        assert [p.loss for p in runs.points(kept.name) if p.loss is not None] == whole
    counted = Counter(p.seed for p in found if isinstance(p, Point) and p.row.loss is not None)
    assert min(counted.values()) <= 280, "the one whose worker was killed went on from its last checkpoint"


@pytest.mark.slow
def test_trials_on_a_cluster_have_the_numbers_of_one_process_even_if_a_worker_is_killed(client, tmp_path):
    course = prepared(run_of(entry=tiny("RoBERTa", {"layers": 1}, seq_len=32), steps=1))
    spec = ComparisonSpec(strategies=("full", "replay"), train_sizes=(8,), seeds=2, steps=30)
    what = (Base(course.learner, course.held_out), reviews().tokenizer, spec)
    *_, alone = compare(*what)
    record, victim = TrialRecord.open(tmp_path, resume=False), min(client.run(os.getpid).values())
    events_of = compare(*what, record=record, executor=Cluster(client))
    first = next(events_of)
    os.kill(victim, signal.SIGKILL)
    *events, away = [first, *events_of]
    done = [(e.strategy.name, e.seed) for e in events if isinstance(e.event, Result)]
    assert done == [(name, seed) for seed in (0, 1) for name in spec.strategies]
    assert numbers(away) == numbers(alone)
    kept = TrialRecord.open(tmp_path, resume=True)
    assert len(kept.known) == 4
    *_, again = compare(*what, record=kept, executor=Cluster(None))
    assert numbers(again) == numbers(away), "what is kept is not run again"


def numbers(comparison):
    return {n: [(o.accuracy, o.forgetting, o.moved) for o in some] for n, some in comparison.outcomes.items()}


@pytest.mark.slow
def test_a_task_of_which_workers_die_is_a_sentence(client, monkeypatch):
    monkeypatch.setattr(client.cluster.scheduler, "allowed_failures", 0)
    with pytest.raises(UserError, match="died in each of 1 attempts at one task"):
        list(Cluster(client).run([1], lambda _, code: os._exit(code), None, lambda *_: None))


def test_a_run_without_a_folder_is_refused():
    with pytest.raises(UserError, match="needs a folder that all its workers see"):
        list(train_seeds(run_of(), (1,), executor=Cluster(None)))


def test_a_cluster_without_workers_is_a_sentence():
    with distributed.LocalCluster(
        n_workers=0, threads_per_worker=1, dashboard_address=None, processes=False
    ) as cluster:
        address = cluster.scheduler_address
        with pytest.raises(UserError, match="No worker has joined the Dask scheduler at"), connected(address):
            pass


def test_a_cluster_that_does_not_answer_is_a_sentence():
    with pytest.raises(UserError, match="No Dask scheduler answers at 'nonsense://x'"), connected("nonsense://x"):
        pass
