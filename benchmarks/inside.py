"""What looking inside costs, beside the plain way: BertViz' pages, copies of a model, Jacobians, a pass for each layer.

The time of a hover is measured in Chromium (or what CHROMIUM names).

python benchmarks/inside.py [--rounds 5] [--tokens 128] [--layers 12] [--heads 12] [--width 768]

The large model is one of random weights in the shape of BERT-base (arXiv:1810.04805, sec. 3). BertViz is measured where
it can be imported: `pip install --no-deps --target DIR bertviz==1.4.1`, then PYTHONPATH=DIR.
"""

import argparse
import time
from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from statistics import median
from typing import Any

import numpy as np
import torch
from playwright.sync_api import sync_playwright
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from playground.analysis.finding import Finding
from playground.analysis.finding import plain as plain_values
from playground.analysis.gradients import sensitivity_of_text
from playground.analysis.inspection import Inspection, battery, inspect_each
from playground.analysis.instrument import instrument_named
from playground.analysis.interventions import row_losses
from playground.analysis.probing.classifier import split_by
from playground.analysis.probing.reading import probing_texts, untrained
from playground.analysis.probing.task import find_probing_task
from playground.analysis.subject import Subject, read_states
from playground.corpora import open_corpus
from playground.models import LanguageModel
from playground.models.taps import head_names
from playground.training.observe.subjects import of_learner
from playground.training.train_state import TrainState
from playground.zoo import entry_named
from tests.chromium import chromium
from widgets.notebook.drawing import in_block
from widgets.static import findings

AIM = "Aims: the heads of 12 x 12 at 128 tokens in under 1 s, a hover under 50 ms."

HOVERED = """() => {
  window.times = [];
  for (const head of document.querySelectorAll("[data-act=panel]")) head.addEventListener("pointerenter", (event) =>
    requestAnimationFrame(() => setTimeout(() => window.times.push(performance.now() - event.timeStamp))));
}"""


def spent(act: Callable[[], Any], rounds: int) -> float:
    """Median milliseconds of one core, after one call that warms up; other work on the machine does not count."""
    act()
    times = []
    for _ in range(rounds):
        start = time.process_time()
        act()
        times.append(1000 * (time.process_time() - start))
    return median(times)


def subject_of(name: str, **shape: Any) -> Subject:
    """An entry with fresh weights on its own corpus."""
    entry = entry_named(name)
    entry = replace(entry, model=replace(entry.model, **shape))
    corpus = open_corpus(entry.corpus)
    learner = TrainState.new(entry, corpus.tokenizer.words, 0, torch.device("cpu"))
    return of_learner(learner, corpus)


def line(what: str, ours: float, plain: float | None = None, how: str = "") -> None:
    ratio = f"{plain:10.1f}  {plain / ours:6.1f} x  {how}" if plain is not None else ""
    print(f"{what:<46} {ours:10.1f}  {ratio}")


def heads_of_a_large_model(given: argparse.Namespace) -> None:
    """The grid and one head of a model of BERT-base's shape, from the sentence to the markup."""
    shape = {"layers": given.layers, "heads": given.heads, "width": given.width, "max_position_embeddings": 512}
    subject = subject_of("RoBERTa", **shape)
    ids = subject.corpus.windows(given.tokens, "held_out").ids[0].tolist()
    text = " ".join(subject.tokenizer.words[i] for i in ids)
    look = instrument_named("attention")

    def measured() -> Finding:
        return look.look(subject, replace(look.settings, sentence=text))

    found = measured()
    page = findings.markup(found)
    tokens = subject.sentence(text).ids.shape[1]
    print(f"Attention of {given.layers} x {given.heads} at {tokens} tokens (ms): ours, plain, ratio. {AIM}")
    weights: dict[str, list[torch.Tensor]] = {}
    with torch.no_grad():
        subject.model.features(subject.sentence(text), weights)
    line("one pass and its finding", spent(measured, given.rounds))
    drawn = spent(lambda: findings.markup(found), given.rounds)
    line("the grid as markup", drawn, *bertviz(weights["encoder"], tokens, given.rounds))
    line("the grid and one head enlarged", spent(lambda: findings.markup(found, "1,1"), given.rounds))
    print(f"{'bytes of the grid':<46} {len(page):10,}")
    times = hover(page)
    print(f"{'a hover, from the pointer to the painted frame':<46} {median(times):10.1f}  at most {max(times):.1f}")


def hover(grid: str) -> list[float]:
    """Milliseconds of the clock from the pointer's entry of each head to the next frame that Chromium has painted."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(viewport={"width": 1280, "height": 2000})
        page.set_content(in_block(f"<style>{findings.STYLE}</style>{grid}"))
        page.evaluate(HOVERED)
        for head in page.locator("[data-act=panel]").all():
            head.hover()
            page.wait_for_timeout(30)
        times: list[float] = page.evaluate("window.times")
        browser.close()
    return times


def bertviz(weights: list[torch.Tensor], tokens: int, rounds: int) -> tuple[float | None, str]:
    """BertViz' model view of the same weights: milliseconds, and its bytes in words."""
    try:
        from bertviz import model_view
    except ImportError:
        return None, ""
    words = [f"w{k}" for k in range(tokens)]
    made = model_view(weights, words, html_action="return").data
    took = spent(lambda: model_view(weights, words, html_action="return"), rounds)
    return took, f"BertViz 1.4.1 model_view, {len(made):,} bytes"


def heads_one_by_one(rounds: int) -> None:
    """Every head switched off by its tap, and by a copy of the model whose weights are set to 0."""
    subject = subject_of("RoBERTa")
    model, batch, heads = subject.model.eval(), subject.batch(32), head_names(subject.model)

    @torch.no_grad()
    def tapped() -> list[float]:
        found = []
        with tapped(model, *heads) as taps:
            for head in heads:
                taps.restore()
                taps.zero(head)
                found.append(float(row_losses(model, batch).mean()))
        return found

    @torch.no_grad()
    def copied() -> list[float]:
        found = []
        for number in range(len(heads)):
            layer, head = divmod(number, model.shape.heads)
            other: LanguageModel = deepcopy(model)
            wide = model.shape.width // model.shape.heads
            other.layers[layer].attn.out.weight[:, head * wide : (head + 1) * wide] = 0
            found.append(float(row_losses(other, batch).mean()))
        return found

    assert torch.allclose(torch.tensor(tapped()), torch.tensor(copied()), atol=1e-5)
    line(f"{len(heads)} heads off, one by one", spent(tapped, rounds), spent(copied, rounds), "a copy for each head")


def sensitivity(rounds: int) -> None:
    """The exact influence of each word on each state."""
    subject = subject_of("RoBERTa")
    model, tokens = subject.model.eval(), subject.sentence()
    [below] = model.hidden_states(tokens, last=0)

    def jacobian() -> torch.Tensor:
        exact = torch.autograd.functional.jacobian(lambda x: model.hidden_states(tokens, x, 0)[-1][0], below.detach())
        return exact[:, :, 0].square().sum((1, 3)).sqrt()

    level = model.top_hidden_state
    assert torch.allclose(jacobian(), sensitivity_of_text(model, tokens, level), atol=1e-4)
    ours = spent(lambda: sensitivity_of_text(model, tokens, level), rounds)
    line("influence of words on states", ours, spent(jacobian, rounds), "torch.autograd.functional.jacobian")


def states(rounds: int) -> None:
    """The states of all layers of 1,000 sentences, read once for all instruments, or anew for each layer."""
    subject = subject_of("RoBERTa")
    model, tokens = subject.model.eval(), subject.sentences(1_000)

    def anew() -> None:
        with torch.no_grad():
            for level in range(len(subject.levels)):
                model.hidden_states(tokens, last=level)

    once = spent(lambda: replace(subject, known={}).states(tokens), rounds)
    line("states of all layers of 1,000 sentences", once, spent(anew, rounds), "a pass for each layer")
    subject.states(tokens)
    line(
        "the same for the next instrument", max(spent(lambda: subject.states(tokens), rounds), 1e-3), once, "read anew"
    )


PROBED = ("part of speech", "sense", "number", "entity type", "head direction", "arc", "SentLen", "Tense", "SubjNum")
"""Tasks about words, pairs and sentences."""


def probes(rounds: int) -> None:
    """The probing classifier on several tasks with shared states, and scikit-learn on states read for each task."""
    subject, instrument, seen = subject_of("RoBERTa"), instrument_named("probing classifier"), 500
    subject.model.eval()

    def shared() -> list[list[float]]:
        fresh = replace(subject, known={})
        settings = (replace(instrument.settings, task=task, count=seen) for task in PROBED)
        return [plain_values(instrument.look(fresh, each).tables[0].columns["accuracy"]) for each in settings]

    def plain() -> list[list[float]]:
        return [plain_probe(replace(subject, known={}), task, seen) for task in PROBED]

    assert all(np.allclose(one, other, atol=1e-9) for one, other in zip(shared(), plain(), strict=True))
    name = f"{len(PROBED)} probing tasks at all levels"
    line(name, spent(shared, rounds), spent(plain, rounds), "states read for each task, scikit-learn called plainly")


def plain_probe(subject: Subject, name: str, count: int) -> list[float]:
    """Accuracies by level of the task and its control task, of the model and then of a random encoder."""
    texts, items = find_probing_task(name).make(probing_texts(subject, count), subject.seed)
    items = items.sample(subject.seed)
    split, twin = split_by(items.rows, subject.seed), untrained(subject).model
    accuracies = []
    for model in (subject.model, twin):
        levels = [items.features(level, texts.tokens).double().numpy() for level in read_states(model, texts.tokens)]
        for labels in (items.labels.numpy(), items.control(subject.seed).numpy()):
            for x in levels:
                if len(np.unique(labels[split.train])) == 1:  # nothing to fit
                    accuracies.append(float((labels[split.test] == labels[split.train][0]).mean()))
                    continue
                probe = make_pipeline(StandardScaler(), LogisticRegression(max_iter=300, tol=1e-3))
                probe.fit(x[split.train], labels[split.train])
                accuracies.append(float(probe.score(x[split.test], labels[split.test])))
    return accuracies


def whole_battery() -> None:
    """All instruments that train nothing, on the default base; those that lack something say so at once."""
    subject = subject_of("RoBERTa")
    start = time.process_time()
    asked = list(inspect_each(battery(), {"base": subject}, {}))
    line("the battery on the default base", 1000 * (time.process_time() - start))
    measured = [made for _, made in asked if isinstance(made, Inspection)]
    print(
        f"  {len(measured)} instruments measured, {len(asked) - len(measured)} lack something in {subject.corpus.name}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in (("rounds", 5), ("tokens", 128), ("layers", 12), ("heads", 12), ("width", 768)):
        parser.add_argument(f"--{name}", type=int, default=default)
    given = parser.parse_args()
    torch.set_num_threads(1)
    heads_of_a_large_model(given)
    print("The default base (ms): ours, plain, ratio.")
    for each in (heads_one_by_one, sensitivity, states):
        each(given.rounds)
    probes(1)
    whole_battery()


if __name__ == "__main__":
    main()
