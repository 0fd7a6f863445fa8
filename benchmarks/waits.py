"""How often Python waits for the device that trains: a GPU computes beside it, and a value it is asked for holds both.

Counted on the second device of the tests, whose tensors hold their values on the CPU, so no GPU is needed and every
machine counts the same: values and lists that are read, shapes that depend on values, copies from and to the CPU.

    OMP_NUM_THREADS=1 PYTHONPATH=. python benchmarks/waits.py entries [NAME ...]
    OMP_NUM_THREADS=1 PYTHONPATH=. python benchmarks/waits.py objectives [NAME ...]
    OMP_NUM_THREADS=1 PYTHONPATH=. python benchmarks/waits.py strategies [NAME ...]

`entries` and `objectives` count a step whose batch is drawn, an evaluation, `sound` before a checkpoint, a step whose
gradients are measured, a look (predictions and attention of a sentence) and a look inside the coming step.
`strategies` count a step of fine-tuning, of one training and of a stack of two.
"""

import argparse
from collections import Counter
from collections.abc import Callable

from playground.corpora import Corpus, open_corpus
from playground.errors import UserError
from playground.finetuning import find_task, strategies
from playground.finetuning.run.stacked import TrialStack, why_not_stackable
from playground.finetuning.run.trainer import Base, FinetuneConfig, Finetuner, numbered
from playground.finetuning.strategy.strategy import texts_for
from playground.objectives import find_objective, objectives
from playground.training.grad_stats import sizes
from playground.training.loop import Run, prepared
from playground.training.observe.look import ProbeSentence, to_watch
from playground.training.observe.update import look_inside
from playground.zoo import entries
from tests.runs import alone, reviews, run_of, suited_reviews
from tests.second_device import SecondTensor, second_device
from tests.waits import Asked

BEGIN, STEPS = 5, 3
"""Steps of fine-tuning before those that are counted, and how many are."""

BASES = {"decoder first": "T5", "new decoder": "T5", "new encoder": "BART"}
"""What a strategy starts from, where it is not RoBERTa."""


def count(act: Callable[[], object]) -> Counter[str]:
    """What Python waits for while something is done, by the operation."""
    with Asked(SecondTensor) as asked:
        act()
    return asked.seen


def of_run(run: Run) -> dict[str, int]:
    """The waits of a step, and of what is looked at between two steps."""
    state = prepared(run)
    learner, [first] = state.learner, state.step()
    look = ProbeSentence(to_watch(run.corpus, run.entry.watched, run.entry.recipe.seq_len))
    look(learner)  # what is kept from the first look on is made

    def measured() -> None:
        with sizes(learner.model) as groups:
            learner.learn(first.batch)
        assert groups

    acts = {
        "step": lambda: [event for _ in range(STEPS) for event in state.step()],
        "evaluation": lambda: [*state.evaluate()],
        "sound": lambda: learner.sound(state.loss),
        "gradients": measured,
        "look": lambda: look(learner),
        "look inside": lambda: look_inside(learner, state.blocks.feed),
    }
    waits = {name: count(act).total() for name, act in acts.items()}
    return waits | {"step": -(-waits["step"] // STEPS)}


def of_entry(name: str) -> dict[str, int]:
    with second_device() as device:
        return of_run(run_of(name, device=device))


def of_objective(name: str) -> dict[str, int]:
    objective = find_objective(name)
    with second_device() as device:
        return of_run(run_of(entry=alone(objective), corpus=suited_reviews(objective), device=device))


def of_strategy(name: str) -> dict[str, int]:
    """The waits of a step of fine-tuning, of one training and, where that can be, of a stack of two."""
    strategy, entry = strategies()[name], BASES.get(name, "RoBERTa")
    corpus: Corpus = open_corpus("parallel", tokens=20_000) if entry == "T5" else reviews()
    task, setting = find_task("translation" if entry == "T5" else "sentiment"), FinetuneConfig(steps=8, batch_size=4)
    if strategy.prompt:
        return {}
    with second_device() as device:
        state = prepared(run_of(entry, corpus=corpus, device=device))
        base = Base(state.learner, state.blocks.feed.evaluation(8), tokenizer=corpus.tokenizer, task=task)
        load = texts_for(base.learner, task, [strategy], corpus.tokenizer)
        texts = [load(16, seed, "train") for seed in (0, 1)]
        trials = [Finetuner(base, strategy, numbered(each, base), setting, seed) for seed, each in enumerate(texts)]
        waits = {"step": _steady(trials[0].learn)}
        if not why_not_stackable(base, strategy, texts[0]):
            waits["step of a stack"] = _steady(TrialStack(trials).learn)
        return waits


def _steady(learn: Callable[[int], object]) -> int:
    for step in range(BEGIN):
        learn(step)
    return -(-count(lambda: [learn(step) for step in range(BEGIN, BEGIN + STEPS)]).total() // STEPS)


KINDS = {
    "entries": (of_entry, entries),
    "objectives": (of_objective, objectives),
    "strategies": (of_strategy, strategies),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("names", nargs="*")
    given = parser.parse_args()
    measure, catalogue = KINDS[given.kind]
    rows = {}
    for name in given.names or catalogue():
        try:
            rows[name] = measure(name)
        except UserError as refusal:
            print(f"{name}: {refusal}")
    columns = list(dict.fromkeys(column for row in rows.values() for column in row))
    print(f"| {given.kind} | " + " | ".join(columns) + " |\n|---" + "|---:" * len(columns) + "|")
    for name, row in rows.items():
        print(f"| {name} | " + " | ".join(str(row.get(column, "–")) for column in columns) + " |")


if __name__ == "__main__":
    main()
