"""Tokens per second of the batched stages against the plain way, one row after the other, in one run.

The plain way is written here as a released script would write it: lists, loops, one random draw at a time. Both
sides do the same work on the same rows in turn (the order is reversed every round), and the figure is the median of
the rounds' ratios; absolute speeds depend on the machine and its load, ratios hold.

    python benchmarks/corruption.py [--rounds 7] [--rows 32] [--length 128]
"""

import argparse
import random
import time
from collections.abc import Callable
from statistics import median

import torch

from playground.example import Tokens
from playground.objectives import find_objective
from playground.seeds import generator
from playground.tokenizing import specials

SPECIALS = specials(8000)


def rows(number: int, length: int) -> Tokens:
    """Random words, no padding."""
    ids = torch.randint(SPECIALS.first_word, SPECIALS.size, (number, length), generator=generator(0, "bench"))
    places = torch.arange(length).expand(number, length)
    lengths = torch.full((number,), length)
    return Tokens(ids, lengths, places, torch.zeros_like(ids), SPECIALS, padded=False)


def plain_mlm(text: list[int], dice: random.Random) -> tuple[list[int], list[int]]:
    """BERT's masking of one row, after the description of its released script."""
    count = min(len(text), max(1, round(0.15 * (len(text) + 2))))
    places = list(range(len(text)))
    dice.shuffle(places)
    inputs, targets = list(text), [-100] * len(text)
    for place in places[:count]:
        targets[place] = text[place]
        fate = dice.random()
        if fate < 0.8:
            inputs[place] = SPECIALS.mask
        elif fate < 0.9:
            inputs[place] = dice.randrange(SPECIALS.first_word, SPECIALS.size)
    return inputs, targets


def plain_t5(text: list[int], dice: random.Random) -> tuple[list[int], list[int]]:
    """T5's span corruption of one row: two random partitions, interleaved."""
    gone = min(max(1, round(0.15 * len(text))), len(text) - 1)
    runs = max(1, round(gone / 3))
    lengths = partition(gone, runs, dice)
    between = partition(len(text) - gone, runs, dice)
    inputs, targets, place = [], [], 0
    for number, (kept, lost) in enumerate(zip(between, lengths, strict=True)):
        inputs += text[place : place + kept] + [SPECIALS.sentinels[number % 32]]
        targets += [SPECIALS.sentinels[number % 32], *text[place + kept : place + kept + lost]]
        place += kept + lost
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
    slots = sorted(dice.randrange(len(text) - budget + 1) for _ in lengths)
    inputs, place, kept = [], 0, 0
    for slot, lost in zip(slots, lengths, strict=True):
        inputs += text[place : place + slot - kept] + [SPECIALS.mask]
        place, kept = place + slot - kept + lost, slot
    return inputs + text[place:], text


def poisson(mean: float, dice: random.Random) -> int:
    """One Poisson number by multiplying uniform ones."""
    limit, product, count = 2.718281828459045**-mean, dice.random(), 0
    while product > limit:
        product, count = product * dice.random(), count + 1
    return count


def plain_plm(text: list[int], dice: random.Random) -> tuple[list[list[bool]], list[list[bool]]]:
    """XLNet's masks of one row: a random order, the last sixth of it predicted."""
    order = list(range(len(text)))
    dice.shuffle(order)
    rank = [-1] * len(text)
    for step, place in enumerate(order[len(text) - len(text) // 6 :]):
        rank[place] = step
    content = [[r <= own for r in rank] for own in rank]
    query = [[r < own for r in rank] for own in rank]
    return content, query


PLAIN = {"MLM": plain_mlm, "T5 spans": plain_t5, "BART infilling": plain_bart, "PLM": plain_plm}


def seconds(work: Callable[[], object], least: float = 0.2) -> float:
    """Seconds of one call, averaged over enough calls to be seen."""
    work()
    began, calls = time.perf_counter(), 0
    while time.perf_counter() - began < least:
        work()
        calls += 1
    return (time.perf_counter() - began) / calls


def compare(name: str, tokens: Tokens, rounds: int) -> tuple[float, float, float]:
    """Tokens per second, plain and batched, and the median ratio."""
    objective, dice, texts = find_objective(name), random.Random(0), tokens.ids.tolist()
    rng = generator(0, "bench", name)

    def batched() -> object:
        made = objective.example(tokens, rng)
        if name == "PLM":
            return made.inputs.visible.dense(), made.inputs.query_visible.dense()  # the plain way writes them too
        return made

    def plain() -> object:
        return [torch.tensor(PLAIN[name](text, dice)[0]) for text in texts]

    ratios, speeds = [], []
    for number in range(rounds):
        arms = [("plain", plain), ("batched", batched)]
        taken = {arm: seconds(work) for arm, work in (arms if number % 2 else reversed(arms))}
        ratios.append(taken["plain"] / taken["batched"])
        speeds.append((tokens.ids.numel() / taken["plain"], tokens.ids.numel() / taken["batched"]))
    slow, fast = (median(s[i] for s in speeds) for i in range(2))
    return slow, fast, median(ratios)


def main() -> None:
    """Print one table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--rows", type=int, default=32)
    parser.add_argument("--length", type=int, default=128)
    given = parser.parse_args()
    torch.set_num_threads(1)
    tokens = rows(given.rows, given.length)
    print(f"{given.rows} rows of {given.length} tokens, one thread, torch {torch.__version__}")
    print(f"{'objective':<16} {'row by row':>14} {'batched':>14} {'ratio':>7}   (tokens/s, median of {given.rounds})")
    for name in PLAIN:
        slow, fast, ratio = compare(name, tokens, given.rounds)
        print(f"{name:<16} {slow:>14,.0f} {fast:>14,.0f} {ratio:>6.1f}x")


if __name__ == "__main__":
    main()
