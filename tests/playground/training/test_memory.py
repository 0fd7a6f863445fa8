"""Memory: how much there is, as the files of a made-up system say it, and a run that has too little of it goes on."""

import os
import re
import sys
from dataclasses import replace
from types import MappingProxyType

import pytest
import torch

from playground.errors import UserError
from playground.models import LanguageModel
from playground.optimisers import AdamW, Muon
from playground.training import Incident, Stopped, checkpoint, memory, train
from playground.training.accumulation import OutOfMemory, bytes_asked, single_process
from playground.training.memory import available, container_free, container_limit
from playground.training.train_state import Snapshot, TrainState
from tests.runs import held_out, in_another_process, learner_of, losses, reviews, run_of, tiny

GB = 10**9
CPU = torch.device("cpu")


def system(folder, meminfo="", own="0::/\n", groups=MappingProxyType({})):
    """A system with these files; of each of the `groups`, by its path, a limit, the bytes used and the idle cache."""
    files = {"proc/meminfo": meminfo, "proc/self/cgroup": own}
    for path, (limit, used, cache) in groups.items():
        here = f"sys/fs/cgroup/{path}".rstrip("/")
        files |= {f"{here}/memory.max": f"{limit}\n", f"{here}/memory.current": f"{used}\n"}
        files |= {f"{here}/memory.stat": f"anon 5\nactive_file 7\ninactive_file {cache}\n"}
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return folder


MACHINE = "MemTotal: 64000000 kB\nMemFree: 1 kB\nMemAvailable:   4000000 kB\n"


GROUPS = {"": ("max", 9 * GB, 0), "users": (3 * GB, 2_900_000_000, 0), "users/one": (2 * GB, GB, 0)}
FREE = 4_000_000 << 10
SYSTEMS = {
    "a machine without a container": ((MACHINE,), None, None, FREE),
    "nobody says it": ((), None, None, None),
    "the idle file cache is free": (
        (MACHINE, "0::/\n", {"": (2 * GB, 15 * GB // 10, GB // 5)}),
        2 * GB,
        7 * GB // 10,
        7 * GB // 10,
    ),
    "the machine has less": (("MemAvailable: 1000 kB\n", "0::/\n", {"": (2 * GB, GB, 0)}), 2 * GB, GB, 1000 << 10),
    "a group without a limit": ((MACHINE, "0::/\n", {"": ("max", GB, 0)}), None, None, FREE),
    "the tightest of groups in groups": ((MACHINE, "0::/users/one\n", GROUPS), 2 * GB, GB // 10, GB // 10),
    "its own group is the outermost": ((MACHINE, "0::/docker/abc\n", {"": (GB, GB // 2, 0)}), GB, GB // 2, GB // 2),
    "over its limit": ((MACHINE, "0::/\n", {"": (GB, 2 * GB, 0)}), GB, 0, 0),
}
"""What the files say, and then the limit of the container, what is free in it, and what is available."""


@pytest.mark.parametrize("name", SYSTEMS)
def test_what_is_available_is_the_least_that_the_files_say(name, tmp_path):
    files, limit, free, least = SYSTEMS[name]
    there = system(tmp_path, *files)
    assert (container_limit(there), container_free(there), available(CPU, there)) == (limit, free, least)


def test_a_file_that_cannot_be_read_says_nothing(tmp_path):
    (tmp_path / "proc/self/cgroup").mkdir(parents=True)
    assert container_limit(tmp_path) is None


LIMITED = """
import resource, sys
from pathlib import Path
from playground.errors import UserError
from playground.training import Stepped, Incident, checkpoint, train
from tests.runs import run_of, tiny
"""


NO_ROOM = """
entry = tiny("GPT", {"width": 64, "layers": 2}, batch_size=256, seq_len=64, steps=2, optimiser="adamw")
events = train(run_of(entry=entry, steps=2, evaluate_every=100))
next(events), next(events)
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (120 << 20), -1))
seen = [e for e in events if isinstance(e, (Stepped, Incident))]
resource.setrlimit(resource.RLIMIT_AS, (-1, -1))
for e in seen:
    print(e.sentence if isinstance(e, Incident) else f"step {e.step}")
"""


GIVES_BACK = {"MALLOC_MMAP_THRESHOLD_": "131072", "MALLOC_ARENA_MAX": "1"}
"""glibc gives the address space of freed tensors back; what it keeps in pieces would count against the limit."""


SMALL_DISK = """
run = run_of(steps=4, save_every=2, out=Path(sys.argv[1]))
list(train(run))
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
try:
    list(train(run_of(steps=6, save_every=2, out=run.out), checkpoint.load(run.out).learner))
except UserError as refusal:
    print(refusal)
print(checkpoint.load(run.out).learner.step)
"""


@pytest.mark.guarded
@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs limits on files and on the address space")
def test_a_small_memory_is_survived_and_a_disk_that_takes_no_more_is_a_sentence(tmp_path):
    """Both allocations and writes truly fail here, in a process of its own."""
    told = in_another_process(LIMITED + NO_ROOM + SMALL_DISK, tmp_path / "run", env=os.environ | GIVES_BACK)
    *memory_said, said, step = told.splitlines()
    assert "A step on 256 rows of 64 tokens did not fit into the memory" in memory_said[0]
    assert "grad_accum_steps 1 → 2" in memory_said[0]
    assert memory_said[-2:] == ["step 1", "step 2"]
    assert said.startswith(f"The checkpoint could not be written to {tmp_path / 'run' / 'checkpoint.safetensors'}: ")
    assert step == "4"


# a run that has too little


class Full:
    """A gradient that has room for so many rows only."""

    def __init__(self, rows):
        self.rows, self.asked = rows, []

    def __call__(self, model, batch, accumulate, precision):
        rows = -(-len(batch.tokens.ids) // accumulate)
        self.asked.append(rows)
        if rows > self.rows:
            raise RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 3000000000 bytes.")
        return single_process(model, batch, accumulate, precision)


def test_want_of_memory_names_the_knob_and_goes_on_in_smaller_parts(monkeypatch):
    plain = losses(train(run_of(entry=tiny(optimiser="adamw"))))
    full = Full(rows=2)
    monkeypatch.setattr(TrainState, "splits", True)
    learner = None
    events = []
    for event in train(run_of(entry=tiny(optimiser="adamw"))):
        learner = getattr(event, "learner", learner)
        learner.gradient = full
        events.append(event)
    troubles = [e for e in events if isinstance(e, Incident)]
    assert [t.settings for t in troubles] == [{"grad_accum_steps": 2}, {"grad_accum_steps": 4}]
    assert "A step on 8 rows of 16 tokens did not fit into the memory (3.0 GB more were asked for)" in (
        troubles[0].sentence
    )
    assert "grad_accum_steps 1 → 2" in troubles[0].sentence
    assert losses(events) == pytest.approx(plain, rel=1e-3)
    assert full.asked[:4] == [8, 4, 2, 2]
    assert learner.entry.recipe.grad_accum_steps == 4
    assert events[-1] == Stopped(12, "steps", events[-1].seconds)


NO_ROOM_FOR_IT = "DefaultCPUAllocator: can't allocate memory: you tried to allocate 3000000000 bytes."


def short_of_memory(monkeypatch, where, name, time=7):
    """Something fails for want of memory, once."""
    whole, calls = getattr(where, name), []

    def once(*given, **named):
        calls.append(1)
        if len(calls) == time:
            raise RuntimeError(NO_ROOM_FOR_IT)
        return whole(*given, **named)

    monkeypatch.setattr(where, name, once)


@pytest.mark.parametrize("time", [1, 4])
def test_want_of_memory_in_the_evaluation_evaluates_in_parts(time, monkeypatch):
    plain = held_out(train(run_of(evaluate_every=2)))
    passes = iter([False] * (time - 1) + [True] + [False] * 99)
    answers = LanguageModel.forward

    def once(self, batch, attn_weights=None, **more):
        if not torch.is_grad_enabled() and next(passes):
            raise RuntimeError(NO_ROOM_FOR_IT)
        return answers(self, batch, attn_weights, **more)

    monkeypatch.setattr(LanguageModel, "forward", once)
    events = list(train(run_of(evaluate_every=2)))
    assert [e.settings for e in events if isinstance(e, Incident)] == [{"grad_accum_steps": 2}]
    assert [step for step, _ in held_out(events)] == [step for step, _ in plain]
    assert [loss for _, loss in held_out(events)] == pytest.approx([loss for _, loss in plain], rel=1e-3)


@pytest.mark.parametrize(
    ("where", "name"),
    [(LanguageModel, "forward"), (torch.Tensor, "backward"), (Muon, "step"), (AdamW, "step")],
)
def test_want_of_memory_in_any_part_of_a_step_goes_on_from_where_all_was_well(where, name, monkeypatch):
    """In the last one Muon's matrices have moved already, which must not happen twice."""
    plain = losses(train(run_of()))
    short_of_memory(monkeypatch, where, name)
    events = list(train(run_of()))
    (trouble,) = [e for e in events if isinstance(e, Incident)]
    assert trouble.settings == {"grad_accum_steps": 2}
    assert "(3.0 GB more were asked for)" in trouble.sentence
    assert losses(events)[: trouble.step] == plain[: trouble.step]
    assert losses(events) == pytest.approx(plain, rel=1e-3)


def test_want_of_memory_while_examples_are_drawn_draws_fewer_of_them(monkeypatch):
    batch = TrainState.batch

    def roomy(self, tokens, *path):
        if len(tokens.ids) > 64:
            raise RuntimeError(NO_ROOM_FOR_IT)
        return batch(self, tokens, *path)

    monkeypatch.setattr(TrainState, "batch", roomy)
    events = list(train(run_of()))
    troubles = [e for e in events if isinstance(e, Incident)]
    assert [number for t in troubles for number in re.findall(r"drawn for (\d+) steps", t.sentence)] == [
        "64",
        "16",
        "4",
    ]
    assert troubles[0].settings == {"batch_size": 4}
    assert len(losses(events)) == 12
    monkeypatch.setattr(TrainState, "batch", lambda *_: (_ for _ in ()).throw(MemoryError()))
    with pytest.raises(
        UserError, match="What 8 rows mask and predict does not fit into the memory; set batch_size to 4"
    ):
        list(train(run_of()))


def test_want_of_memory_while_steps_of_a_generator_are_opened_opens_fewer_and_changes_nothing(monkeypatch):
    plain, opened = losses(train(run_of("ELECTRA"))), TrainState.opened
    calls = []

    def roomy(self, tokens, step):
        calls.append(step)
        if len(calls) == 5:
            raise RuntimeError(NO_ROOM_FOR_IT)
        return opened(self, tokens, step)

    monkeypatch.setattr(TrainState, "opened", roomy)
    events = list(train(run_of("ELECTRA")))
    (trouble,) = [e for e in events if isinstance(e, Incident)]
    assert "drawn for 8 steps at once, which changes no draw" in trouble.sentence
    assert losses(events) == plain, "to the last bit"
    monkeypatch.setattr(TrainState, "opened", lambda *_: (_ for _ in ()).throw(MemoryError()))
    with pytest.raises(
        UserError, match="What 8 rows mask and predict does not fit into the memory; set batch_size to 4"
    ):
        list(train(run_of("ELECTRA")))


def test_a_run_that_must_end_for_want_of_memory_keeps_what_it_learnt(tmp_path, monkeypatch):
    learn = TrainState.learn

    def roomy(self, batch, *more):
        if self.step == 5:
            raise OutOfMemory(0)
        return learn(self, batch, *more)

    monkeypatch.setattr(TrainState, "learn", roomy)
    with pytest.raises(UserError, match="Not even one row"):
        list(train(run_of(out=tmp_path)))
    assert checkpoint.load(tmp_path).learner.step == 5
    monkeypatch.undo()
    whole = losses(train(run_of()))
    assert losses(train(run_of(), checkpoint.load(tmp_path).learner)) == pytest.approx(whole[5:], rel=1e-3)


def test_where_there_is_no_room_for_a_good_state_the_earlier_one_stays(monkeypatch):
    short_of_memory(monkeypatch, Snapshot, "of", time=2)
    events = list(train(run_of(evaluate_every=4)))
    assert losses(events) == losses(train(run_of(evaluate_every=4)))
    assert not [e for e in events if isinstance(e, Incident)]


def test_when_one_row_is_too_much_it_says_what_to_make_smaller():
    learner = learner_of()
    learner.entry = replace(learner.entry, recipe=replace(learner.entry.recipe, grad_accum_steps=8))
    with pytest.raises(UserError, match=r"Not even one row of 16 tokens fits .* set seq_len to 8"):
        memory.smaller(learner, OutOfMemory(0))


@pytest.mark.parametrize(
    ("error", "asked"),
    [
        (RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 128 bytes. Error"), 128),
        (torch.cuda.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0"), 2 << 30),
        (MemoryError(), 0),
        (RuntimeError("shapes do not fit"), None),
    ],
)
def test_want_of_memory_is_told_from_other_errors(error, asked):
    assert bytes_asked(error) == asked


def test_the_estimate_counts_at_least_the_weights_and_grows_with_what_it_should():
    entry = tiny("RoBERTa", {"width": 64, "layers": 2})
    words = len(reviews().tokenizer)
    learner = TrainState.new(entry, reviews().tokenizer.words, 0, torch.device("cpu"))
    held = sum(4 * p.numel() for p in learner.model.parameters())
    need = memory.estimate(entry, words)
    halved = memory.estimate(replace(entry, recipe=replace(entry.recipe, grad_accum_steps=2)), words)
    weights, step = 2 * halved - need, 2 * (need - halved)  # two parts of a batch halve all but the weights
    assert 4 * 0.9 * held < weights < 4 * 1.5 * held
    wider = memory.estimate(replace(entry, recipe=replace(entry.recipe, seq_len=32)), words)
    assert 2 * step < wider - weights < 4 * step


PIECES = """
import os, torch
from playground.training import memory

def resident():
    return int(open("/proc/self/statm").read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

pieces = [torch.ones(2_000_000) for _ in range(40)]
del pieces[:-1]  # the last one keeps what lies below it
before = resident()
memory.free_cached(torch.device("cpu"))
print(before - resident(), pieces[0].sum().item())
"""


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs glibc")
def test_memory_that_was_freed_in_pieces_is_given_back():
    bytes_back, total = in_another_process(PIECES, env=os.environ | {"MALLOC_MMAP_THRESHOLD_": str(32 << 20)}).split()
    assert total == "2000000.0"
    assert int(bytes_back) > 20 * 8_000_000


class Library:
    """A C library that notes what it is asked."""

    def __init__(self, noted):
        self.noted = noted

    def malloc_trim(self, pad):
        self.noted.append(f"trim {pad}")
        return 1


def without_glibc(name):
    raise OSError(f"{name}: cannot open shared object file")


@pytest.mark.parametrize("library", [Library, lambda noted: object(), lambda noted: without_glibc("libc.so.6")])
def test_what_was_freed_is_given_back_before_a_step_is_tried_again(library, monkeypatch):
    """Where there is no glibc, or no such function in it, the step is tried again all the same."""
    noted, full = [], Full(rows=2)
    monkeypatch.setattr(memory, "CDLL", lambda name: library(noted))
    monkeypatch.setattr(TrainState, "splits", True)
    learner = learner_of(optimiser="adamw")
    learner.gradient = full
    full.asked = noted
    events = list(train(run_of(entry=tiny(optimiser="adamw")), learner))
    assert len([e for e in events if isinstance(e, Incident)]) == 2
    trims = ["trim 0"] * (library is Library)
    assert noted[: 3 + 2 * len(trims)] == [8, *trims, 4, *trims, 2]


def test_workers_that_would_not_fit_do_not_begin():
    need = memory.estimate(tiny(), 500)
    each = memory.PROCESS + need
    fit, notice = memory.workers_that_fit(need, 8, int(3.5 * each / 0.8))
    assert fit == 3 and notice.startswith("8 workers would not fit") and notice.endswith("so 3 work.")
    assert memory.workers_that_fit(need, 2, 100 * each) == (2, "")
    assert memory.workers_that_fit(need, 8, 0)[0] == 1
    assert memory.workers_that_fit(need, 8, None) == (8, "")
