"""Processes that train for another one end with it."""

import os
import subprocess
import sys

import pytest

from tests.runs import ROOT, becomes

WORKERS = """
import os, time
from concurrent.futures import ProcessPoolExecutor
from playground.finetuning.run import scheduler
from playground.training.parallel import seeds
from playground.training.parallel.workers import context

if __name__ == "__main__":
    pools = [ProcessPoolExecutor(1, context(), begin, (None,)) for begin in (scheduler._begin, seeds._begin)]
    print(*(pool.submit(os.getpid).result() for pool in pools), flush=True)
    time.sleep(600)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs kill -9")
def test_workers_of_seeds_and_of_comparisons_end_when_who_asked_them_is_killed(tmp_path):
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


PATHS = {"PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}


def alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
