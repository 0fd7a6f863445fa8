"""Seeds and comparisons on a Dask cluster: the numbers of one process, and a worker that dies loses nothing."""

import os
import signal
import threading
import time
from dataclasses import replace

import pytest

from playground.cluster import connected, lanes, train_on
from playground.finetuning import Base, find_strategy, find_task
from playground.finetuning.lanes import Work
from playground.finetuning.tune import Outcome, Setting
from playground.refusal import Refusal
from playground.training import train
from playground.training.lanes import Finished, Point
from playground.training.loop import prepared
from playground.training.runs import Runs
from tests.runs import losses, reviews, run_of, tiny

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
    run = run_of(entry=tiny(steps=100), steps=100, save_every=10, out=tmp_path / "sweep")
    runs, found = Runs(tmp_path), []
    thread = threading.Thread(target=lambda: found.extend(train_on(client, run, (3, 4), runs)))
    thread.start()
    killed = kill_one_that_has_begun(runs, deadline=time.monotonic() + 120)
    thread.join(240)
    assert [e.seed for e in found if isinstance(e, Finished)] == [3, 4]
    for kept in runs.all():
        whole = losses(train(replace(run, seed=kept.seed, out=None)))
        assert [p.loss for p in runs.points(kept.name) if p.loss is not None] == whole
    resumed = [p for p in found if isinstance(p, Point) and p.row.loss is not None and p.seed == killed.seed]
    assert len(resumed) <= 80, "it went on from its last checkpoint"


def kill_one_that_has_begun(runs, deadline):
    """The run whose worker was killed with its checkpoint of step 20 on the disk."""
    while time.monotonic() < deadline:
        there = [r for r in runs.all() if r.state == "running" and r.step >= 30]
        if there:
            with runs._open() as base:
                (process,) = base.execute("SELECT process FROM runs WHERE name = ?", (there[0].name,)).fetchone()
            os.kill(int(process.rpartition(":")[2]), signal.SIGKILL)
            return there[0]
        time.sleep(0.02)
    raise AssertionError("no run began in time")


def test_lanes_of_a_comparison_have_the_numbers_of_one_process(client):
    course = prepared(run_of(entry=tiny("BERT", {"layers": 1}, window=32), steps=1))
    tokenizer, task = reviews().tokenizer, find_task("sentiment")
    base = Base(course.learner, course.held_out)
    train_texts = {seed: task.load(tokenizer, 8, seed, "train") for seed in (0, 1)}
    work = Work(base, train_texts, task.load(tokenizer, 20, 0, "test"), Setting(steps=3))
    jobs = [(find_strategy(name), seed) for seed in (0, 1) for name in ("full", "feature-based")]
    shared = [lane for lane in lanes(client, work, jobs) if isinstance(lane.event, Outcome)]
    assert [(lane.strategy, lane.seed) for lane in shared] == jobs
    for (strategy, seed), lane in zip(jobs, shared, strict=True):
        *_, alone = work.lane(strategy, seed)
        assert lane.event.accuracy == alone.event.accuracy
        assert lane.event.forgetting == pytest.approx(alone.event.forgetting, abs=1e-6)


def test_a_run_without_a_folder_is_refused():
    with pytest.raises(Refusal, match="needs a folder that all its workers see"):
        list(train_on(None, run_of(), (1,)))


def test_a_cluster_that_does_not_answer_is_a_sentence():
    with pytest.raises(Refusal, match="No Dask scheduler answers at 'nonsense://x'"), connected("nonsense://x"):
        pass
