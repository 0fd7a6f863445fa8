"""One run in two processes is the run of one."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from playground.training import train
from tests import json_keys
from tests.runs import held_out, losses, run_of, tiny

ROOT = Path(__file__).parents[3]

NAMES = ("RoBERTa", "ELECTRA", "BART")

SHARED = """
import json, sys
from pathlib import Path
import torch
from playground.training import train
from playground.training.ddp import first, group, size
from tests.runs import held_out, losses, run_of, tiny
torch.set_num_threads(1)
said = {}
with group("cpu"):
    for name in sys.argv[1].split(","):
        entry = tiny(name, optimiser="adamw", grad_accum_steps=2)
        events = list(train(run_of(entry=entry, steps=6)))
        weights = next(iter(events)).learner.model.token_embedding.weight.detach()
        said[name] = [losses(events), held_out(events), float(weights.double().abs().sum()), size()]
    said["seconds"] = [len(losses(train(run_of("GPT", steps=None, seconds=0.05)))), size()]
    name = "first.json" if first() else "other.json"
Path(name).write_text(json.dumps(said))
"""


def torchrun(*command, folder):
    base = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    surroundings = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT), "XDG_CACHE_HOME": os.devnull}
    done = subprocess.run([*base, *command], cwd=folder, env=surroundings, text=True, capture_output=True)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


needs_gloo = pytest.mark.skipif(
    not (torch.distributed.is_available() and torch.distributed.is_gloo_available()), reason="needs torch with gloo"
)


@pytest.mark.guarded
@pytest.mark.slow
@needs_gloo
def test_two_processes_have_the_losses_of_one_with_the_joint_batch(tmp_path):
    script = tmp_path / "shared.py"
    script.write_text(SHARED, encoding="utf-8")
    torchrun(str(script), ",".join(NAMES), folder=tmp_path)
    said, other = (json.loads((tmp_path / f"{who}.json").read_text(encoding="utf-8")) for who in ("first", "other"))
    for name in NAMES:
        events = list(train(run_of(entry=tiny(name, optimiser="adamw"), steps=6)))
        found, evaluated, weights, processes = said[name]
        assert processes == 2
        assert found == pytest.approx(losses(events), rel=1e-4)
        assert found != losses(events), "it was not simply one process"
        assert [step for step, _ in evaluated] == [step for step, _ in held_out(events)]
        assert [loss for _, loss in evaluated] == pytest.approx([loss for _, loss in held_out(events)], rel=1e-4)
        whole = next(iter(events)).learner.model.token_embedding.weight.detach()
        assert weights == pytest.approx(float(whole.double().abs().sum()), rel=1e-4)
    assert other == said, "both end in the same step, whatever their clocks say"


@pytest.mark.slow
@needs_gloo
def test_torchrun_trains_on_the_command_line_and_one_process_speaks(tmp_path):
    small = [a for k in ("width=16", "heads=2", "layers=1", "seq_len=16", "batch_size=4") for a in ("--set", k)]
    text = "We walk home . They see a good film . " * 200
    (tmp_path / "t.txt").write_text(text, encoding="utf-8")
    line = ["-m", "playground", "train", "RoBERTa", "--corpus", "t.txt", *small, "--device", "cpu"]
    said = json_keys.read("train", torchrun(*line, "--steps", "4", "--out", "here", "--json", folder=tmp_path))
    assert (said["steps"], said["stopped"], said["device"]) == (4, "steps", "cpu")
    assert (tmp_path / "here" / "checkpoint.safetensors").is_file()
    rows = (tmp_path / "here" / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(r)["step"] for r in rows if "loss" in json.loads(r)] == [1, 2, 3, 4]
