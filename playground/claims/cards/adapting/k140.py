"""The order of two sentences does not matter for their similarity, so both orders are read."""

from dataclasses import replace

from playground.claims import Arm, Claim, Lab, alike, higher
from playground.compression.classifier import fine_tuned, score_all
from playground.finetuning.comparing.compare import TEST_TEXTS
from playground.finetuning.data.dataset import Item
from playground.finetuning.data.files import find_task
from playground.finetuning.strategy.parse import read
from playground.finetuning.strategy.strategy import texts_for


def asymmetry(lab: Lab, arm: Arm, seed: int) -> float:
    """The mean difference of the ratings of a pair and of the same pair in the other order."""
    task = replace(find_task(arm.task), orders=2 if arm.figure == "both orders" else 1)
    turned = replace(task, items=lambda *how: [Item(item.texts[::-1], item.right) for item in task.items(*how)])
    base, words = replace(lab.base(arm, seed), task=task), lab.corpus(arm).tokenizer
    load, load_turned = (texts_for(base.learner, each, [read("full")], words) for each in (task, turned))
    model = fine_tuned(base, load(arm.train_size, seed, "train"), arm.tuning_steps, 16, seed)
    plain, other = (score_all(model, each(TEST_TEXTS, seed, "test")) for each in (load, load_turned))
    return float((plain - other).abs().mean())


K140 = Claim(
    title="Similarity in both orders",
    source="Weng, OpenAI GPT; Radford et al. 2018, sec. 3.3",
    prediction="Read in one order, a pair and its reverse differ by at least 0.05 of 4 points on average; read in both "
    "orders they never differ.",
    otherwise="One order already gives the same rating, or both orders do not.",
    common=Arm("RoBERTa", steps=600, one_model=True, task="similarity"),
    arms={name: {"figure": name} for name in ("one order", "both orders")},
    rules=(higher("one order", 0.05), alike("both orders", 0.0, within=1e-4, exact=True)),
    compute=asymmetry,
    unit="of 4 points",
    scale="That both orders give one rating follows from their mean, at any size; how far one order strays depends on "
    "the model. One pre-trained model for all seeds; labelled pairs and heads vary.",
)
