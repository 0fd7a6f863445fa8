"""The step of training against the Hugging Face Trainer: the same shape, batch and data, in turns.

Each side has a process of its own, so that neither gains by how the other handles its memory. They take a few steps in
turn, the order is reversed every round, and the figure is the median over the rounds of the ratios of processor times;
one thread each. A callback holds the Trainer back between its turns, so what is timed is its whole loop: data loader,
collator, step, clipping, schedule, logging every 10 steps. Its dropout is set to 0, which makes it faster than its
default. Ours runs as under `playground train`.

    python benchmarks/training.py                     # steps per second, six objectives, XS and S
    python benchmarks/training.py --sizes M --rounds 3
    python benchmarks/training.py --growth            # our time and memory as length and width double
"""

import argparse
import logging
import platform
import resource
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from dataclasses import replace
from multiprocessing import Pipe, get_context
from statistics import median

import torch
from torch.utils.flop_counter import FlopCounterMode

from playground.corpora import Corpus
from playground.objectives import find_objective
from playground.tokenizing import train as train_tokenizer
from playground.tokenizing.vocabulary import FIRST_WORD
from playground.training import Run
from playground.training.loop import prepared
from playground.zoo import entry_named

SIZES = {
    "XS": {"width": 64, "layers": 2, "heads": 2, "window": 32, "batch": 32, "words": 1000},
    "S": {"width": 128, "layers": 4, "heads": 4, "window": 64, "batch": 32, "words": 4000},
    "M": {"width": 256, "layers": 6, "heads": 4, "window": 128, "batch": 32, "words": 8000},
}
LINES = {
    "BERT MLM": "RoBERTa", "GPT LM": "GPT", "XLNet PLM": "XLNet", "ELECTRA RTD": "ELECTRA", "T5 spans": "T5",
    "BART infilling": "BART",
}  # fmt: skip
OBJECTIVES = {"XLNet": "PLM", "T5": "T5 spans"}
"""What an entry is asked where its own objective reads pairs or many tasks, which the library's collators do not."""

STEPS = {"XS": 12, "S": 4, "M": 1}


def text(words, tokens=60_000):
    """Random ids: the arithmetic of a step does not depend on what the words are."""
    vocabulary = " ".join(f"w{n}" for n in range(words))
    tokenizer = train_tokenizer([vocabulary], "word", words)
    rng = torch.Generator().manual_seed(0)
    ids = torch.randint(FIRST_WORD, len(tokenizer), (tokens,), generator=rng)
    number = torch.arange(tokens)
    return Corpus("random", "random words", tokenizer, ids, number, number // 12, number // 60, int(tokens * 0.95))


# ours


def shaped(name, size, precision="float32", **changes):
    """An entry of ours in a size, with the rates of the papers, texts one by one and neither dropout nor memory."""
    size, entry = size | changes, entry_named(name)
    entry = replace(entry, objective=find_objective(OBJECTIVES.get(name, entry.objective.name)))
    rates = {
        "RoBERTa": {"mask_ratio": 0.15},
        "XLNet": {"partial_prediction_k": 6.0},
        "ELECTRA": {"mask_ratio": 0.15, "weight": 50.0},
    }
    model = replace(
        entry.model, width=size["width"], layers=size["layers"], heads=size["heads"], head_dim=0, dropout=0.0,
        mem_len=0, max_position_embeddings=2 * size["window"],
        decoder_layers=size["layers"] if name in ("T5", "BART") else 0,
    )  # fmt: skip
    recipe = replace(
        entry.recipe, seq_len=size["window"], batch_size=size["batch"], optimiser="adamw", lr=1e-3, precision=precision
    )
    return replace(entry, model=model, recipe=recipe, objective=entry.objective.turn(rates.get(name, {})))


class Ours:
    """Our loop without events for anybody to look at."""

    def __init__(self, name, size, corpus, precision="float32", device="cpu", seed=0, **changes):
        entry = shaped(name, size, precision, **changes)
        self.course = prepared(Run(entry, corpus, seed, torch.device(device), steps=100_000))

    def steps(self, number):
        for _ in range(number):
            for event in self.course.step():
                last = event
        return float(last.loss)

    def work(self):
        """Floating-point operations of one step's forward and backward pass."""
        learner = self.course.learner
        with FlopCounterMode(display=False) as counter:
            learner.gradient(learner.model, self.course.blocks.at(learner.step), 1, "float32")
        learner.model.zero_grad(set_to_none=True)
        return counter.get_total_flops()

    def close(self):
        pass


# theirs


class Theirs:
    """A Trainer in a thread of its own that a callback holds back between its turns."""

    def __init__(self, name, size, corpus):
        from transformers import Trainer, TrainingArguments

        model, collator, kind = peer(name, size, corpus)
        self.go, self.rest = threading.Semaphore(0), threading.Semaphore(0)
        self.left = 0
        arguments = TrainingArguments(
            tempfile.gettempdir(), per_device_train_batch_size=size["batch"], max_steps=100_000, logging_steps=10,
            report_to=[],
            save_strategy="no", disable_tqdm=True, use_cpu=True, learning_rate=1e-3, dataloader_num_workers=0,
            dataloader_pin_memory=False, remove_unused_columns=False,
        )  # fmt: skip
        rows = corpus.ids[: len(corpus.ids) // size["window"] * size["window"]].view(-1, size["window"]).tolist()
        data = [{"input_ids": row} for row in rows[: len(rows) * 19 // 20]]
        self.trainer = (kind or Trainer)(
            model=model, args=arguments, train_dataset=data, data_collator=collator, callbacks=[self._callback()]
        )
        self.thread = threading.Thread(target=self._work, daemon=True)
        self.thread.start()
        self.rest.acquire()

    def _callback(self):
        from transformers import TrainerCallback

        mine = self

        class Turns(TrainerCallback):
            def on_log(self, args, state, control, **_):
                control.should_log = False

            def on_train_begin(self, args, state, control, **_):
                mine.rest.release()
                mine.go.acquire()

            def on_step_end(self, args, state, control, **_):
                mine.left -= 1
                if mine.left <= 0:
                    mine.rest.release()
                    mine.go.acquire()
                control.should_training_stop = mine.left < 0

        return Turns()

    def _work(self):
        from transformers.trainer_callback import PrinterCallback

        self.trainer.remove_callback(PrinterCallback)
        self.trainer.train()

    def steps(self, number):
        self.left = number
        self.go.release()
        self.rest.acquire()

    def work(self):
        return None

    def close(self):
        self.left = -1
        self.go.release()
        self.thread.join()  # one that is cut off in a tensor call when the process ends would abort it


def peer(name, size, corpus):
    """The library's own model in the same shape, without dropout, its collator, and a Trainer where it needs one."""
    import transformers as hf

    words, width, layers, heads, window = (
        len(corpus.tokenizer), size["width"], size["layers"], size["heads"], size["window"],
    )  # fmt: skip
    tokenizer = hub_tokenizer(words)
    if name == "RoBERTa":
        config = hf.BertConfig(
            vocab_size=words, hidden_size=width, num_hidden_layers=layers, num_attention_heads=heads,
            intermediate_size=4 * width, max_position_embeddings=2 * window, hidden_dropout_prob=0.0,
            attention_probs_dropout_prob=0.0,
        )  # fmt: skip
        return hf.BertForMaskedLM(config), hf.DataCollatorForLanguageModeling(tokenizer), None
    if name == "GPT":
        config = hf.GPT2Config(
            vocab_size=words, n_embd=width, n_layer=layers, n_head=heads, n_positions=2 * window, resid_pdrop=0.0,
            embd_pdrop=0.0, attn_pdrop=0.0, bos_token_id=1, eos_token_id=1,
        )  # fmt: skip
        return hf.GPT2LMHeadModel(config), hf.DataCollatorForLanguageModeling(tokenizer, mlm=False), None
    if name == "XLNet":
        config = hf.XLNetConfig(
            vocab_size=words, d_model=width, n_layer=layers, n_head=heads, d_inner=4 * width, dropout=0.0,
            bos_token_id=1, eos_token_id=1, pad_token_id=0,
        )  # fmt: skip
        return hf.XLNetLMHeadModel(config), hf.DataCollatorForPermutationLanguageModeling(tokenizer), None
    if name == "T5":
        config = hf.T5Config(
            vocab_size=words, d_model=width, num_layers=layers, num_decoder_layers=layers, num_heads=heads,
            d_kv=width // heads, d_ff=4 * width, dropout_rate=0.0, decoder_start_token_id=0, pad_token_id=0,
        )  # fmt: skip
        return hf.T5ForConditionalGeneration(config), Spans(words), None
    if name == "BART":
        config = hf.BartConfig(
            vocab_size=words, d_model=width, encoder_layers=layers, decoder_layers=layers,
            encoder_attention_heads=heads, decoder_attention_heads=heads, encoder_ffn_dim=4 * width,
            decoder_ffn_dim=4 * width, max_position_embeddings=2 * window, dropout=0.0, pad_token_id=0,
            bos_token_id=1, eos_token_id=2, decoder_start_token_id=2, forced_eos_token_id=2,
        )  # fmt: skip
        return hf.BartForConditionalGeneration(config), Gaps(), None
    return electra(hf, tokenizer, words, width, layers, heads, window)


def electra(hf, tokenizer, words, width, layers, heads, window):
    """Generator and discriminator with tied embeddings as the paper trains them; the library has no Trainer for it."""
    common = {
        "vocab_size": words, "embedding_size": width, "num_hidden_layers": layers,
        "max_position_embeddings": 2 * window,
        "hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0,
    }  # fmt: skip
    small = max(heads, width // 4)
    forger = hf.ElectraForMaskedLM(
        hf.ElectraConfig(**common, hidden_size=small, intermediate_size=4 * small, num_attention_heads=heads)
    )
    judge = hf.ElectraForPreTraining(
        hf.ElectraConfig(**common, hidden_size=width, intermediate_size=4 * width, num_attention_heads=heads)
    )
    judge.electra.embeddings = forger.electra.embeddings

    class Both(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.forger, self.judge = forger, judge

        def forward(self, input_ids, labels, **_):
            guess = self.forger(input_ids=input_ids, labels=labels)
            with torch.no_grad():
                drawn = torch.distributions.Categorical(logits=guess.logits).sample()
                asked = labels != -100
                forged = torch.where(asked, drawn, input_ids)
                replaced = (asked & (forged != labels)).long()
            return {"loss": guess.loss + 50 * self.judge(input_ids=forged, labels=replaced).loss}

    return Both(), hf.DataCollatorForLanguageModeling(tokenizer), None


class Spans:
    """T5's corruption row by row in numpy, as the library's own example does it (15 %, mean length 3)."""

    def __init__(self, words):
        import numpy

        self.numpy, self.words, self.rng = numpy, words, numpy.random.default_rng(0)

    def __call__(self, rows):
        np = self.numpy
        pairs = [self._cut(np.array(row["input_ids"])) for row in rows]
        inputs, targets = zip(*pairs, strict=True)
        wide = max(map(len, targets))
        labels = np.full((len(rows), wide), -100)
        for k, target in enumerate(targets):
            labels[k, : len(target)] = target
        return {"input_ids": torch.from_numpy(np.stack(inputs)), "labels": torch.from_numpy(labels)}

    def _cut(self, ids):
        np = self.numpy
        noise = max(1, round(len(ids) * 0.15))
        spans = max(1, round(noise / 3))
        lengths = [self._pieces(total, spans) for total in (len(ids) - noise, noise)]
        starts = np.cumsum(np.stack(lengths, 1).reshape(-1))[:-1]
        marks = np.zeros(len(ids), int)
        marks[starts] = 1
        hidden = np.cumsum(marks) % 2 == 1
        return self._folded(ids, hidden), np.append(self._folded(ids, ~hidden), 1)

    def _pieces(self, total, number):
        np = self.numpy
        cuts = np.sort(self.rng.permutation(total - 1)[: number - 1]) + 1
        return np.diff(np.concatenate([[0], cuts, [total]]))

    def _folded(self, ids, hidden):
        np = self.numpy
        first = hidden & ~np.roll(hidden, 1)
        first[0] = hidden[0]
        folded = np.where(first, self.words - np.cumsum(first), ids)
        return folded[~hidden | first]


class Gaps:
    """BART's infilling row by row in numpy: 30 % of the words in gaps of Poisson(3) words, each one mask; padded."""

    MASK, PAD = 3, 0

    def __init__(self):
        import numpy

        self.numpy, self.rng = numpy, numpy.random.default_rng(0)

    def __call__(self, rows):
        np = self.numpy
        texts = [np.array(row["input_ids"]) for row in rows]
        cut = [self._cut(ids) for ids in texts]
        wide = max(map(len, cut))
        inputs = np.stack([np.pad(ids, (0, wide - len(ids)), constant_values=self.PAD) for ids in cut])
        return {
            "input_ids": torch.from_numpy(inputs),
            "attention_mask": torch.from_numpy((inputs != self.PAD).astype("int64")),
            "labels": torch.from_numpy(np.stack(texts)),
        }

    def _cut(self, ids):
        np, left = self.numpy, max(1, round(0.3 * len(ids)))
        hidden, first = np.zeros(len(ids), bool), np.zeros(len(ids), bool)
        while left > 0:
            length = min(max(1, self.rng.poisson(3)), left)
            start = self.rng.integers(0, len(ids) - length + 1)
            if not hidden[max(0, start - 1) : start + length + 1].any():
                hidden[start : start + length] = first[start] = True
                left -= length
        return np.where(first, self.MASK, ids)[~hidden | first]


def hub_tokenizer(words):
    """A tokenizer of the library with the same number of words and the marks that its collators ask for."""
    from tokenizers import Tokenizer, models
    from transformers import PreTrainedTokenizerFast

    marks = ["[PAD]", "[CLS]", "[SEP]", "[MASK]", "[UNK]"]
    names = marks + [f"w{n}" for n in range(words - len(marks))]
    inner = Tokenizer(models.WordLevel({name: k for k, name in enumerate(names)}, unk_token="[UNK]"))
    return PreTrainedTokenizerFast(
        tokenizer_object=inner, pad_token="[PAD]", cls_token="[CLS]", sep_token="[SEP]", mask_token="[MASK]",
        unk_token="[UNK]",
    )  # fmt: skip


# measuring


def spent(work):
    """Processor seconds of a piece of work; one thread computes at a time."""
    began = time.process_time()
    work()
    return time.process_time() - began


def product_rate(size=512, rounds=8):
    """The best rate of a large float32 matrix product, in floating-point operations a second."""
    a, b = torch.randn(size, size), torch.randn(size, size)
    return max(2 * size**3 / max(1e-9, spent(lambda: a @ b)) for _ in range(rounds))


class Arm:
    """One side in a process of its own, which works when it is asked."""

    def __init__(self, *what):
        self.pipe, other = Pipe()
        get_context("spawn").Process(target=work, args=(other, *what), daemon=True).start()
        self.pipe.recv()

    def cost(self, count):
        """Processor seconds of a step, over so many steps."""
        self.pipe.send(count)
        return self.pipe.recv()

    def close(self):
        """The operations of a step, where the side knows them; its process ends."""
        self.pipe.send(0)
        return self.pipe.recv()


def work(pipe, side, name, size, precision):
    """What the process of a side does."""
    quiet()
    corpus = text(SIZES[size]["words"])
    arm = Ours(name, SIZES[size], corpus, precision) if side != "theirs" else Theirs(name, SIZES[size], corpus)
    arm.steps(min(STEPS[size], 2))
    pipe.send("ready")
    while count := pipe.recv():
        pipe.send(spent(lambda count=count: arm.steps(count)) / count)
    pipe.send(arm.work())
    arm.close()


def line(title, size, rounds, halved):
    """One line of the table."""
    sides = {"ours": "float32", "theirs": "float32"} | ({"half": "bfloat16"} if halved else {})
    arms = {side: Arm(side, LINES[title], size, precision) for side, precision in sides.items()}
    times, limit = {side: [] for side in arms}, []
    for number in range(rounds):
        limit.append(product_rate())
        for side in sorted(arms, reverse=bool(number % 2)):
            times[side].append(arms[side].cost(STEPS[size]))
    operations = {side: arm.close() for side, arm in arms.items()}["ours"]
    rate, peer_rate = (1 / median(times[side]) for side in ("ours", "theirs"))
    ratio = median(b / a for a, b in zip(times["ours"], times["theirs"], strict=True))
    half = median(b / a for a, b in zip(times["half"], times["theirs"], strict=True)) if halved else None
    share = median(operations / t / best for t, best in zip(times["ours"], limit, strict=True))
    cells = [title, size, f"{peer_rate:.3g}", f"{rate:.3g}", f"{ratio:.2f}", "–" if half is None else f"{half:.2f}"]
    print("| " + " | ".join([*cells, f"{share:.0%}"]) + " |", flush=True)
    return ratio


def quiet():
    """One thread, and no word from the library."""
    import transformers

    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    transformers.logging.set_verbosity_error()


def growth():
    """Our time and peak memory of a step as length and width double, each in a process of its own."""
    print("| objective | window | width | ms a step | peak MiB of the process |\n|---|---|---|---|---|")
    for name in ("RoBERTa", "GPT"):
        for window, width in ((32, 64), (64, 64), (128, 64), (256, 64), (32, 128), (32, 256), (32, 512)):
            words = [sys.executable, __file__, "--one", name, str(window), str(width)]
            print(subprocess.run(words, capture_output=True, text=True, check=True).stdout, end="", flush=True)


def one(name, window, width):
    """A line of the growth table."""
    ours = Ours(name, SIZES["XS"], text(1000), window=int(window), width=int(width))
    ours.steps(2)
    cost = median(spent(lambda: ours.steps(2)) / 2 for _ in range(5))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"| {name} | {window} | {width} | {1000 * cost:.1f} | {peak:.0f} |")


def main():
    given = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    given.add_argument("--sizes", default="XS,S")
    given.add_argument("--lines", default=",".join(LINES))
    given.add_argument("--rounds", type=int, default=7)
    given.add_argument("--half", action="store_true", help="our side in half precision too")
    given.add_argument("--growth", action="store_true")
    given.add_argument("--one", nargs=3, metavar=("NAME", "WINDOW", "WIDTH"))
    asked = given.parse_args()
    torch.set_num_threads(1)
    if asked.one:
        return one(*asked.one)
    if asked.growth:
        return growth()
    import transformers

    quiet()
    print(f"torch {torch.__version__}, transformers {transformers.__version__}, Python {platform.python_version()}")
    print("| objective | size | Trainer steps/s | ours steps/s | ratio | ratio, ours bf16 | share of product rate |")
    print("|---|---|---|---|---|---|---|")
    for size in asked.sizes.split(","):
        ratios = [line(t, size, asked.rounds, asked.half) for t in asked.lines.split(",")]
        if len(ratios) > 1:
            print(f"geometric mean at {size}: {torch.tensor(ratios).log().mean().exp():.2f}", flush=True)
    return None


if __name__ == "__main__":
    main()
