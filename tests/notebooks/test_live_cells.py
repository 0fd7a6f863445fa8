"""A kernel with a person before it: cells answer while a model trains, and an interrupt pauses the run."""

import os
from collections.abc import Callable, Iterator

import pytest
from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.manager import KernelManager, start_new_kernel

from tests.runs import ROOT, becomes

PATIENCE = 120
"""Seconds that a busy machine may take."""


def of(message: dict) -> str:
    """The request that a message answers."""
    return message["parent_header"].get("msg_id", "")


class Kernel:
    """A kernel and what its cells have said."""

    def __init__(self, manager: KernelManager, client: BlockingKernelClient) -> None:
        self.manager, self.client = manager, client
        self.heard: list[dict] = []

    def run(self, code: str) -> str:
        """What a cell printed; what is said meanwhile of other cells is kept too."""
        asked = self.client.execute(code)
        said: list[dict] = []
        while not said or said[-1]["content"] != {"execution_state": "idle"} or of(said[-1]) != asked:
            said.append(self.client.get_iopub_msg(timeout=PATIENCE))
        self.heard += said
        assert not [each["content"] for each in said if each["msg_type"] == "error" and of(each) == asked]
        own = (each["content"]["text"] for each in said if each["msg_type"] == "stream" and of(each) == asked)
        return "".join(own).strip()

    def until(self, code: str, met: Callable[[str], bool]) -> str:
        """Ask again and again, as a person would, until the answer is right."""
        said = [""]
        assert becomes(lambda: met(said.append(self.run(code)) or said[-1]), PATIENCE), f"{code}: {said[-1]}"
        return said[-1]


@pytest.fixture(scope="module")
def kernel() -> Iterator[Kernel]:
    environment = os.environ | {"PLAYGROUND_HEADLESS": "0", "PYTHONPATH": str(ROOT)}
    manager, client = start_new_kernel(startup_timeout=PATIENCE, env=environment)
    made = Kernel(manager, client)
    made.run("from tests.runs import reviews; from widgets import compare, compress, inspect, stage, table, train")
    yield made
    client.stop_channels()
    manager.shutdown_kernel(now=True)


def test_a_run_leaves_the_kernel_free_and_an_interrupt_pauses_it(kernel: Kernel) -> None:
    kernel.run("model = train('RoBERTa', reviews(), steps=100_000, batch_size=4, seq_len=16)\nseen = []")
    kernel.run("model.observe(lambda change: seen.append(change.new.step), 'run')")
    kernel.run("model")
    kernel.until("print(len(seen))", lambda said: int(said) > 2)
    kernel.manager.interrupt_kernel()
    kernel.until("print(model.run.state)", lambda said: said == "paused")
    assert kernel.run("print(model.run.step)") == kernel.run("print(model.learner.step)")
    assert kernel.run("print(model.fill('the film was [MASK] .', count=3))").count(",") == 5
    kept = [each["content"] for each in kernel.heard if each["msg_type"] == "update_display_data"]
    assert kept and '["replay", "replay-' in kept[-1]["data"]["text/html"], "what the saved notebook shows"
    paused = int(kernel.run("print(model.run.step)"))
    kernel.run("model.resume()")
    kernel.until("print(model.run.step)", lambda said: int(said) > paused)
    kernel.run("model.pause()")


def test_who_waits_for_a_run_is_let_go_by_an_interrupt(kernel: Kernel) -> None:
    kernel.run("other = train('GPT', reviews(), steps=100_000, batch_size=4, seq_len=16)")
    kernel.until("print(other.run.step)", lambda said: int(said) > 0)
    # After an error a kernel refuses what is asked at the same moment, unless the cell that failed says otherwise.
    asked = kernel.client.execute("print('waits', flush=True); other.held_out", stop_on_error=False)
    while kernel.client.get_iopub_msg(timeout=PATIENCE)["content"].get("text", "") != "waits\n":
        pass
    kernel.manager.interrupt_kernel()
    while of(reply := kernel.client.get_shell_msg(timeout=PATIENCE)) != asked:
        pass
    assert reply["content"]["ename"] == "KeyboardInterrupt"
    assert kernel.run("print(other.run.state)") == "paused"
    assert float(kernel.run("print(other.held_out)")) > 0


@pytest.mark.parametrize(
    ("begun", "offered", "typed"),
    [
        ("stage('PLM', pl", "plan=", "pl"),
        ("train('GPT', st", "steps=", "st"),
        ("stage('MLM', mask", "mask_ratio=", "mask"),
        ("x = 3\ntrain('GPT', 're", "reviews", "re"),
        ("compare(model, strategies=['gradual u", "gradual unfreezing", "gradual u"),
    ],
)
def test_tab_offers_the_options_and_the_names(kernel: Kernel, begun: str, offered: str, typed: str) -> None:
    reply = kernel.client.complete(begun, reply=True, timeout=PATIENCE)["content"]
    assert offered in reply["matches"]
    assert begun[reply["cursor_start"] : reply["cursor_end"]] == typed, "what is replaced"


@pytest.mark.parametrize("name", ["stage", "table", "train", "compare", "compress", "inspect"])
def test_a_question_mark_shows_signature_names_values_and_an_example(kernel: Kernel, name: str) -> None:
    said = kernel.client.inspect(name, reply=True, timeout=PATIENCE)["content"]["data"]["text/plain"]
    assert "Signature:" in said and "What comes back " in said and ">>> " in said
    assert " list the " in " ".join(said.replace("lists", "list").split()), "where the names are"
