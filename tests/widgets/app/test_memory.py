"""What a visit took goes back to the system, and what the threads of trainings have freed is kept in few pools."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from widgets.app import memory
from widgets.app.jupyter_proxy import setup_playground

ROOT = Path(__file__).parents[3]

FREED = """
import sys, threading
from ctypes import CDLL, c_void_p
from widgets.app import memory
if sys.argv[1] == "spare":
    memory.spare()
room = threading.Barrier(8)
def work():
    pieces = [bytearray(20_000) for _ in range(1_000)]
    room.wait()
threads = [threading.Thread(target=work) for _ in range(8)]
for each in threads: each.start()
for each in threads: each.join()
libc = CDLL("libc.so.6")
libc.fopen.restype = c_void_p
out = c_void_p(libc.fopen(b"/dev/stdout", b"w"))
libc.malloc_info(0, out)
libc.fclose(out)
"""
"""Eight threads that allocate at the same time, then what glibc says of its pools."""


def pools(how):
    """How many pools of memory eight threads have left."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MALLOC_")}
    command = [sys.executable, "-c", FREED, how]
    said = subprocess.run(command, env=environment | {"PYTHONPATH": str(ROOT)}, capture_output=True, text=True)
    assert not said.returncode, said.stderr
    return said.stdout.count("<heap nr=")


@pytest.mark.skipif(sys.platform != "linux", reason="the allocator of glibc")
def test_threads_share_few_pools_of_memory():
    few, many = pools("spare"), pools("as it is")  # libraries that were loaded before may have a thread of their own
    assert memory.ARENAS <= few <= many - 4, (few, many)


def test_visits_that_end_together_are_tidied_up_after_once(monkeypatch):
    later, done = [], []
    monkeypatch.setattr(memory, "IOLoop", type("Loop", (), {"current": lambda: Loop}))
    monkeypatch.setattr(memory, "free_cached", lambda device: done.append(device.type))

    class Loop:
        call_later = staticmethod(lambda seconds, work: later.append(work))

    tidying = memory.Tidying()
    tidying.soon()
    tidying.soon()
    assert len(later) == 1 and not done
    later.pop()()
    assert done == ["cpu"]
    tidying.soon()
    assert len(later) == 1


def test_the_tile_of_jupyterlab_begins_with_few_pools():
    assert setup_playground()["environment"] == {"MALLOC_ARENA_MAX": str(memory.ARENAS)}
