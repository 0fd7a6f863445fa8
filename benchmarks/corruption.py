"""Tokens per second of the batched stages against what others use, in one run.

The others are the collators of the transformers library behind torch's DataLoader, as its Trainer runs them, given
what its tokenizers give, kept in two ways: as plain lists in memory (column "lists"), the fastest rows there are, and
as a `datasets.Dataset` in the format that it has by default (column "datasets"), as users of the Trainer keep them; the
ratio to each stands beside our speed. For T5's and BART's spans it has no collator but had example scripts up to its
version 4, `run_t5_mlm_flax.py` and `run_bart_dlm_flax.py`: with `--examples` naming the folder in which they lie, their
collators are read from there and stand in the same two columns. Beside them stand one row after the other in small
arrays, our own short version of the same steps, and in plain lists (both below "lists"). Every arm makes padded batches
of 32 rows from the same rows, those that a decoder reads included, and lets go of each before the next.

Ours is timed three times, fetching the shuffled rows included: one batch at a time, in blocks of 32 batches, and in
blocks as long as in training, the latter two with cutting and trimming. The arms take turns, in reversed order every
other round; each shows its fastest short stretch, and the figures are medians over the rounds. Absolute speeds depend
on the machine and its load.

With `--share` it is measured instead what drawing takes of a training step at XS (2 layers, width 64, 32 rows of 32
tokens) for every objective, in processor time of one process: the goal is at most 2 %.

    pip install -c constraints.txt '.[benchmarks]'
    python benchmarks/corruption.py [--rounds 7] [--lengths 32 64 128] [--examples FOLDER] [--share] [--only NAME]
"""

import argparse
import ast
import math
import random
import time
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
from torch import Generator, Tensor
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader

from playground.batch import Batch, Tokens
from playground.corpora import open_corpus, pick
from playground.errors import UserError
from playground.objectives import Objective, find_objective, objectives
from playground.rng import generator
from playground.slicing import split_rows
from playground.tokenizing import specials
from playground.tokenizing.vocabulary import FIRST_WORD
from playground.training.data import STEPS, BatchSampler, most_at_once
from playground.training.loop import Run, prepared
from playground.zoo import entry_for

BATCH = 32
SHORT = 32
"""Steps of the shorter blocks."""

SPECIALS = specials(8000)

Work = Callable[[], object]


def texts(length: int) -> Tokens:
    """Random pieces of words for the longest block, no padding; three in ten pieces go on with the word before."""
    rng = generator(0, "bench", length)
    shape = (BATCH * STEPS, length)
    ids = torch.randint(FIRST_WORD, SPECIALS.size, shape, generator=rng)
    begins = torch.rand(shape, generator=rng) < 0.7
    word = begins.index_fill(1, torch.tensor([0]), True).cumsum(1) - 1
    return Tokens(ids, torch.full((len(ids),), length), word, torch.zeros_like(ids), SPECIALS, padded=False)


# ours


def one_by_one(objective: Objective, tokens: Tokens, rng: Generator, finish: Callable[[Batch], object]) -> Work:
    """The first batch of an epoch, drawn alone."""
    feed = BatchSampler(tokens, tokens, BATCH, seed=0)
    return lambda: finish(objective.batch(feed.at(0), rng))


def block(objective: Objective, tokens: Tokens, rng: Generator, finish: Callable[[Batch], object], steps: int) -> Work:
    """The first batches of an epoch, drawn at once and cut."""
    feed = BatchSampler(tokens, tokens, BATCH, seed=0)
    return lambda: spent(map(finish, split_rows(objective.batch(feed.between(0, steps), rng), BATCH, trim=True)))


def steps_of(tokens: Tokens) -> int:
    """How long a block is in training."""
    return most_at_once(BatchSampler(tokens, tokens, BATCH, seed=0), STEPS)


def spent(values: Iterable[object]) -> None:
    """Each batch is made and let go."""
    deque(values, maxlen=0)


def what_trains(batch: Batch) -> tuple[Batch, int]:
    """A step of training reads what is cut at once, attention the levels, and counts the tokens; nobody the rest."""
    return batch, batch.count


def written_out(batch: Batch) -> tuple[object, ...]:
    """The masks of both streams as matrices, because the collator writes them too.

    Without padding the query stream of a place sees exactly those whose content stream does not see that place.
    """
    content = batch.inputs.attn_mask.dense()
    return (*what_trains(batch), content, content.transpose(1, 2).logical_not())


# the others


def tokenizer() -> Any:
    """A tokenizer of the transformers library with our vocabulary; it only pads and knows the specials."""
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from transformers import PreTrainedTokenizerFast

    words = {f"w{k}": k for k in range(SPECIALS.size)}
    names = {
        "pad": SPECIALS.pad,
        "cls": SPECIALS.cls,
        "sep": SPECIALS.sep,
        "mask": SPECIALS.mask,
        "unk": SPECIALS.unknown,
        "eos": SPECIALS.end,
    }
    return PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer(WordLevel(words, unk_token=f"w{SPECIALS.unknown}")),
        **{f"{name}_token": f"w{number}" for name, number in names.items()},
    )


@dataclass(frozen=True)
class Collator:
    """A collator of the transformers library behind a shuffling loader, one epoch; or `alone`, on its first batch."""

    kind: str
    alone: bool = False
    knobs: dict[str, Any] = field(default_factory=dict)

    def __call__(self, tokens: Tokens) -> Work:
        """On rows that are lists in memory."""
        given, collate = self._features(tokens), self._collate()
        if self.alone:
            return lambda: collate([dict(row) for row in given[:BATCH]])
        return self._epoch(Lists(given), collate)

    def stored(self, tokens: Tokens) -> Work:
        """On rows of the datasets library, as they come by default: lists again, made from Arrow's at every fetch."""
        from datasets import Dataset

        return self._epoch(Dataset.from_list(self._features(tokens)), self._collate())

    def _collate(self) -> Any:
        import transformers

        return getattr(transformers, self.kind)(tokenizer=tokenizer(), **self.knobs)

    def _features(self, tokens: Tokens) -> list[dict[str, Any]]:
        """Rows as the library's tokenizers give them; pieces of a word touch, words have a space between them."""
        made: list[dict[str, Any]] = []
        for ids, word in zip(tokens.ids.tolist(), tokens.word_ids.tolist(), strict=True):
            row = {"input_ids": ids, "attention_mask": [1] * len(ids), "special_tokens_mask": [0] * len(ids)}
            if self.knobs.get("whole_word_mask", False):
                row["offset_mapping"] = [(2 * k + w, 2 * k + w + 2) for k, w in enumerate(word)]
            made.append(row)
        return made

    def _epoch(self, rows: Any, collate: Any) -> Work:
        loader = DataLoader(rows, batch_size=BATCH, shuffle=True, collate_fn=collate)
        return lambda: spent(loader)


@dataclass(frozen=True)
class Script(Collator):
    """The collator of an example script of the transformers library, read from the `folder` in which the script lies.

    Only the class is run, in place of the libraries that the script trains with it has what stands in `_around`.
    """

    file: str = ""
    folder: Path | None = None

    def _collate(self) -> Any:
        if self.folder is None or not (self.folder / self.file).exists():
            raise FileNotFoundError(f"{self.file} is not there, name its folder with --examples")
        tree = ast.parse((self.folder / self.file).read_text(encoding="utf-8"))
        found: list[ast.stmt] = [node for node in tree.body if getattr(node, "name", "") == self.kind]
        names = self._around()
        exec(compile(ast.Module(found, []), self.file, "exec"), names)
        return names[self.kind](tokenizer=tokenizer(), decoder_start_token_id=SPECIALS.start, **self.knobs)

    @staticmethod
    def _around() -> dict[str, Any]:
        from transformers import BatchEncoding, PreTrainedTokenizerBase

        return {
            "np": np,
            "math": math,
            "flax": SimpleNamespace(struct=SimpleNamespace(dataclass=dataclass)),
            "BatchEncoding": BatchEncoding,
            "PreTrainedTokenizerBase": PreTrainedTokenizerBase,
            "shift_tokens_right": lambda ids, pad, start: np.insert(ids[:, :-1], 0, start, axis=1),
        }

    def _features(self, tokens: Tokens) -> list[dict[str, Any]]:
        return [{"input_ids": ids} for ids in tokens.ids.tolist()]


def t5_script(folder: Path | None, length: int) -> Script:
    """T5's, which wants to be told how long what it makes will be."""
    gone = round(0.15 * length)
    runs = max(1, round(gone / 3))
    knobs = {"noise_density": 0.15, "mean_noise_span_length": 3.0, "pad_token_id": SPECIALS.pad}
    lengths = {"input_length": length - gone + runs + 1, "target_length": gone + runs + 1}
    return Script("FlaxDataCollatorForT5MLM", knobs=knobs | lengths, file="run_t5_mlm_flax.py", folder=folder)


def bart_script(folder: Path | None) -> Script:
    """BART's, which leaves the order of the sentences alone; it drops empty spans and has one budget for a batch."""
    knobs = {"permute_sentence_ratio": 0.0}
    return Script("FlaxDataCollatorForBartDenoisingLM", knobs=knobs, file="run_bart_dlm_flax.py", folder=folder)


@dataclass(frozen=True)
class Lists:
    """Rows in memory; a collator takes things out of what it is given."""

    made: list[dict[str, Any]]

    def __len__(self) -> int:
        return len(self.made)

    def __getitem__(self, number: int) -> dict[str, Any]:
        return dict(self.made[number])


def as_released(corrupt: Callable[[np.ndarray, np.random.Generator], tuple[np.ndarray, np.ndarray]]) -> Any:
    """The released scripts' way on the first batch: small arrays, one row after the other, then padded tensors."""

    def make(tokens: Tokens) -> Work:
        rows, dice = tokens.ids[:BATCH].numpy(), np.random.default_rng(0)

        def work() -> object:
            made = [corrupt(row, dice) for row in rows]
            sides = (pad_sequence([torch.from_numpy(row[k]) for row in made], batch_first=True) for k in (0, 1))
            return with_decoder(*sides)

        return work

    return make


def array_t5(text: np.ndarray, dice: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """T5's released steps for one row, in arrays: shuffled flags cut two totals into parts, which take turns."""
    number = len(text)
    gone = min(max(round(number * 0.15), 1), number - 1)
    runs = max(1, round(gone / 3))
    turns = np.stack([array_parts(number - gone, runs, dice), array_parts(gone, runs, dice)], axis=1).reshape(-1)
    begins = np.zeros(number, dtype=np.int64)
    begins[np.cumsum(turns)[:-1]] = 1
    hidden = np.cumsum(begins) % 2 == 1
    return array_folded(text, hidden), array_folded(text, ~hidden)


def array_parts(total: int, parts: int, dice: np.random.Generator) -> np.ndarray:
    """A number cut into positive parts by shuffled flags."""
    flags = np.arange(total - 1) < parts - 1
    dice.shuffle(flags)
    return np.bincount(np.concatenate([[0], np.cumsum(flags)]), minlength=parts)


def array_folded(text: np.ndarray, hidden: np.ndarray) -> np.ndarray:
    """The text with every hidden run as one numbered marker."""
    first = hidden & ~np.concatenate([[False], hidden[:-1]])
    markers = np.asarray(SPECIALS.sentinels)[(np.cumsum(first) - 1) % 32]
    return np.where(first, markers, text)[~hidden | first]


def array_bart(text: np.ndarray, dice: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """BART's released steps for one row, in arrays: spans grow from shuffled starts, empty ones are put in at last."""
    budget = int(np.ceil(0.3 * len(text)))
    lengths = dice.poisson(3.0, size=budget)
    while lengths.sum() < budget:
        lengths = np.concatenate([lengths, dice.poisson(3.0, size=budget)])
    count = int(np.searchsorted(np.cumsum(lengths), budget)) + 1
    lengths = lengths[:count]
    lengths[-1] -= lengths.sum() - budget
    empty, lengths = int((lengths == 0).sum()), lengths[lengths > 0]
    starts = dice.permutation(len(text))[: len(lengths)]
    inputs, kept = text.copy(), np.ones(len(text), dtype=bool)
    inputs[starts] = SPECIALS.mask
    ahead, left = starts, lengths - 1
    while len(ahead):
        ahead, left = ahead + 1, left - 1
        going = (left >= 0) & (ahead < len(text))
        ahead, left = ahead[going], left[going]
        kept[ahead] = False
    inputs = inputs[kept]
    return np.insert(inputs, dice.integers(0, len(inputs) + 1, size=empty), SPECIALS.mask), text


def row_by_row(corrupt: Callable[[list[int], random.Random], tuple[list[int], list[int]]]) -> Callable[[Tokens], Work]:
    """The plain way on the first batch: inputs and targets as padded tensors."""

    def make(tokens: Tokens) -> Work:
        rows, dice = tokens.ids[:BATCH].tolist(), random.Random(0)
        return lambda: with_decoder(*(padded(side) for side in zip(*(corrupt(row, dice) for row in rows), strict=True)))

    return make


def with_decoder(inputs: Tensor, targets: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The two sides and what the decoder reads: a start sign and the targets but the last."""
    start = torch.full_like(targets[:, :1], SPECIALS.start)
    return inputs, targets, torch.cat([start, targets[:, :-1]], dim=1)


def padded(rows: tuple[list[int], ...]) -> Tensor:
    """Ragged rows as one tensor."""
    width = max(map(len, rows))
    return torch.tensor([row + [SPECIALS.pad] * (width - len(row)) for row in rows])


def plain_t5(text: list[int], dice: random.Random) -> tuple[list[int], list[int]]:
    """T5's span corruption of one row: two random partitions, interleaved."""
    gone = min(max(1, round(0.15 * len(text))), len(text) - 1)
    runs = max(1, round(gone / 3))
    lengths = partition(gone, runs, dice)
    between = partition(len(text) - gone, runs, dice)
    inputs, targets, position = [], [], 0
    for number, (kept, lost) in enumerate(zip(between, lengths, strict=True)):
        inputs += text[position : position + kept] + [SPECIALS.sentinels[number % 32]]
        targets += [SPECIALS.sentinels[number % 32], *text[position + kept : position + kept + lost]]
        position += kept + lost
    return inputs, targets


def partition(total: int, parts: int, dice: random.Random) -> list[int]:
    """A uniform composition of a number into positive parts."""
    cuts = sorted(dice.sample(range(1, total), parts - 1)) if parts > 1 else []
    return [b - a for a, b in zip([0, *cuts], [*cuts, total], strict=True)]


def plain_bart(text: list[int], dice: random.Random) -> tuple[list[int], list[int]]:
    """BART's text infilling of one row: Poisson lengths until the budget is met, put between the kept words."""
    budget, lengths = -(-3 * len(text) // 10), []
    while sum(lengths) < budget:
        lengths.append(min(poisson(3.0, dice), budget - sum(lengths)))
    dice.shuffle(lengths)
    slots = sorted(dice.randrange(len(text) - budget + 1) for _ in lengths)
    inputs, position, kept = [], 0, 0
    for slot, lost in zip(slots, lengths, strict=True):
        inputs += text[position : position + slot - kept] + [SPECIALS.mask]
        position, kept = position + slot - kept + lost, slot
    return inputs + text[position:], text


def poisson(mean: float, dice: random.Random) -> int:
    """One Poisson number by multiplying uniform ones."""
    limit, product, count = 2.718281828459045**-mean, dice.random(), 0
    while product > limit:
        product, count = product * dice.random(), count + 1
    return count


# the comparison


@dataclass(frozen=True)
class Line:
    """One line of the table: an objective of ours, with its knobs, who is measured against it and on how many rows."""

    title: str
    objective: str
    other: Collator | Callable[[Tokens], Work]
    rows: int = BATCH * SHORT
    knobs: dict[str, Any] = field(default_factory=dict)
    finish: Callable[[Batch], object] = what_trains


MASKING, ORDER = "DataCollatorForLanguageModeling", "DataCollatorForPermutationLanguageModeling"
INDEPENDENT = {"sampler": "iid", "min_one": False, "mask_replace_prob": 1.0, "random_replace_prob": 0.0}
WHOLE = Collator(MASKING, knobs={"whole_word_mask": True})


def lines(length: int, examples: Path | None) -> tuple[Line, ...]:
    """The lines of the table for a length."""
    return (
        Line("MLM, exact count / collator", "MLM", Collator(MASKING)),
        Line("MLM, independent / collator", "MLM", Collator(MASKING), knobs={"selection": "iid"}),
        Line("the same / collator alone", "MLM", Collator(MASKING, alone=True), BATCH, knobs={"selection": "iid"}),
        Line("whole words / collator", "whole word masking", WHOLE),
        Line("whole words, indep. / collator", "whole word masking", WHOLE, knobs=INDEPENDENT),
        Line("PLM, masks written / collator", "PLM", Collator(ORDER), finish=written_out),
        Line("PLM, levels / collator", "PLM", Collator(ORDER)),
        Line("T5 spans / example script", "T5 spans", t5_script(examples, length)),
        Line("T5 spans / arrays by row", "T5 spans", as_released(array_t5), BATCH),
        Line("T5 spans / lists by row", "T5 spans", row_by_row(plain_t5), BATCH),
        Line("BART infilling / example script", "BART infilling", bart_script(examples)),
        Line("BART infilling / arrays by row", "BART infilling", as_released(array_bart), BATCH),
        Line("BART infilling / lists by row", "BART infilling", row_by_row(plain_bart), BATCH),
    )


def seconds(work: Work, slices: int = 5, least: float = 0.025) -> float:
    """Processor seconds of one call: the fastest of some short stretches, since other work only ever adds."""
    return min(_stretch(work, least) for _ in range(slices))


def _stretch(work: Work, least: float) -> float:
    began, calls = time.process_time(), 0
    while calls == 0 or time.process_time() - began < least:
        work()
        calls += 1
    return (time.process_time() - began) / calls


def arms_of(line: Line, tokens: Tokens) -> dict[str, tuple[Work, int]]:
    """What is timed, and how many rows one call of it makes; the datasets library may be missing."""
    objective, rng = find_objective(line.objective).turn(line.knobs), generator(0, "bench", line.title)
    few, longest = pick(tokens, torch.arange(BATCH * SHORT)), steps_of(tokens)
    arms = {
        "lists": (line.other(few), line.rows),
        "batch": (one_by_one(objective, tokens, rng, line.finish), BATCH),
        "32 steps": (block(objective, tokens, rng, line.finish, SHORT), BATCH * SHORT),
        "block": (block(objective, tokens, rng, line.finish, longest), BATCH * longest),
    }
    if isinstance(line.other, Collator) and not line.other.alone:
        with suppress(ImportError):
            arms["datasets"] = (line.other.stored(few), line.rows)
    return arms


def compare(line: Line, tokens: Tokens, rounds: int) -> dict[str, float]:
    """Tokens per second of every arm, and the medians of the ratios of ours to the others' ("block / datasets")."""
    arms = arms_of(line, tokens)
    speeds: dict[str, list[float]] = {name: [] for name in arms}
    for work, _ in arms.values():
        work()
    for number in range(rounds):
        for name in arms if number % 2 else reversed(arms):
            work, rows = arms[name]
            speeds[name].append(rows * tokens.ids.shape[1] / seconds(work))
    ratios = {
        f"{ours} / {theirs}": median(a / b for a, b in zip(speeds[ours], speeds[theirs], strict=True))
        for ours in OURS
        for theirs in {"lists", "datasets"} & set(speeds)
    }
    return {name: median(seen) for name, seen in speeds.items()} | ratios


OURS = ("batch", "32 steps", "block")
COLUMNS = ("lists", "datasets", *(f"{name}{to}" for name in OURS for to in ("", " / lists", " / datasets")))
"""What is printed of a line: speeds in million tokens per second, and ratios."""


def written(name: str, found: dict[str, float]) -> str:
    """One cell of the table."""
    width = max(len(name) + 2, 10)
    if name not in found:
        return "–".rjust(width)
    return (f"{found[name]:.1f}x" if "/" in name else f"{found[name] / 1e6:.2f}").rjust(width)


def main() -> None:
    """Print one table for every length."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--lengths", type=int, nargs="+", default=[32, 64, 128])
    parser.add_argument("--examples", type=Path, help="folder with the example scripts of the transformers library")
    parser.add_argument("--share", action="store_true", help="what drawing takes of a training step")
    parser.add_argument("--only", default="", help="lines whose title holds this")
    given = parser.parse_args()
    torch.set_num_threads(1)
    if given.share:
        shares(given.only)
        return
    torch.empty(31 << 20, dtype=torch.uint8)  # as after any step of training, freed memory is kept for what comes
    print(f"batches of {BATCH} rows, one thread, torch {torch.__version__}, {others()}")
    for length in given.lengths:
        tokens = texts(length)
        heads = "".join(name.rjust(max(len(name) + 2, 10)) for name in COLUMNS)
        print(f"\n{f'{length} tokens, blocks of {steps_of(tokens)} steps':<32}{heads}      (million tokens/s)")
        for line in (each for each in lines(length, given.examples) if given.only in each.title):
            try:
                found = compare(line, tokens, given.rounds)
            except (UserError, ImportError, FileNotFoundError) as reason:
                print(f"{line.title:<32} left out: {str(reason).split(';')[0]}")
                continue
            cells = "".join(written(name, found) for name in COLUMNS)
            print(f"{line.title:<32}{cells}", flush=True)


def share_of_a_step(objective: Objective) -> tuple[float, float]:
    """Seconds of processor time of drawing one batch, and of one training step on it, at XS."""
    entry = entry_for(objective)
    model, recipe = replace(entry.model, layers=2, width=64, heads=2), replace(entry.recipe, seq_len=32, batch_size=32)
    run = Run(replace(entry, model=model, recipe=recipe), open_corpus(entry.corpus), 0, torch.device("cpu"))
    state = prepared(run)
    batch = state.blocks.at(0)
    state.learner.learn(batch)
    number = max(32, state.blocks.steps)
    drawn = timed(lambda: spent(map(replace(state.blocks, _number=-1).at, range(number)))) / number
    return drawn, timed(lambda: spent(state.learner.learn(batch) for _ in range(12))) / 12


def timed(work: Work) -> float:
    """Seconds of this process's processor time."""
    begun = time.process_time()
    work()
    return time.process_time() - begun


def shares(only: str) -> None:
    """Print what drawing takes of a step, objective by objective; a generator's own answers count as drawing."""
    print(f"{'drawing of a step at XS':<34}{'draw ms':>10}{'step ms':>10}{'share':>10}")
    for name, objective in objectives().items():
        if only in name:
            drawn, step = share_of_a_step(objective)
            print(
                f"{name:<34}{1e3 * drawn:>10.3f}{1e3 * step:>10.2f}{100 * drawn / (drawn + step):>8.2f} %", flush=True
            )


def others() -> str:
    """The versions of the libraries that are measured against."""
    names = ("transformers", "datasets")
    return ", ".join(f"{n} {version(n)}" if find_spec(n) else f"without {n}" for n in names)


if __name__ == "__main__":
    main()
