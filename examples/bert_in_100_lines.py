"""BERT in 100 lines: corpus, tokenizer, masking, model, training loop, and one blank that is filled.

Run it with `python examples/bert_in_100_lines.py`; a number behind it sets the steps. The parts are those that the app
trains and draws. Shapes: r rows of the corpus, b rows of a batch, n positions, k scored positions, v words.
"""

import sys

import torch

from playground import (
    Architecture,
    Batch,
    LanguageModel,
    Objective,
    Recipe,
    generator,
    lr_multiplier,
    open_corpus,
    pick,
    read_input,
    total_loss,
)
from playground.objectives import Term
from playground.objectives.arrange import ArrangeText
from playground.objectives.ask import AskMasked
from playground.objectives.change import ChangeTokens
from playground.objectives.choose import ChooseTokens
from playground.objectives.see import SeeAll

SEED = 0
RECIPE = Recipe(steps=int(sys.argv[1]) if len(sys.argv) > 1 else 600, optimiser="adamw")

# Corpus: everyday sentences from a small grammar. Tokenizer: every word of the grammar is one token.
corpus = open_corpus("everyday", seed=SEED, tokens=200_000)
tokenizer = corpus.tokenizer
train_rows = corpus.windows(RECIPE.seq_len)  # ids [r, n]
held_out_rows = pick(corpus.windows(RECIPE.seq_len, "held_out"), torch.arange(64))
print(f"{len(corpus):,} tokens, {len(tokenizer):,} different ones")

# Objective: a chain of stages. `choose` and `change` draw a plan from a random generator; nothing else is random.
MLM = Objective(
    name="MLM",
    stages=(
        ArrangeText(),  # the text as it is
        ChooseTokens(mask_ratio=0.15),  # which tokens are predicted
        ChangeTokens(mask_replace_prob=0.8, random_replace_prob=0.1),  # [MASK], a random word, or the word itself
        SeeAll(),  # the attention mask: every position attends to all
        AskMasked(),  # the loss mask: only the chosen positions are scored
    ),
    idea="Mask some words and predict them from both sides.",
    loss="Mean cross-entropy of the chosen words given the changed text.",
    terms=(Term("hidden words", r"-\frac{1}{|M|}\sum_{t \in M}\log p(x_t \mid \hat{x})"),),
    source="arXiv:1810.04805, sec. 3.1",
)

# Model: token embeddings, two transformer blocks, and a head that shares the embeddings.
shape = Architecture(layers=2, width=64, heads=4)
model = LanguageModel(shape, len(tokenizer), generator(SEED, "weights"))
optimiser = torch.optim.AdamW(model.parameters(), lr=RECIPE.lr, betas=(0.9, 0.98), weight_decay=RECIPE.weight_decay)
print(f"{sum(p.numel() for p in model.parameters()):,} parameters")


def batch_at(step: int) -> Batch:
    """The rows of a step, in a new order in every epoch, with a new mask."""
    epoch, number = divmod(step, len(train_rows.ids) // RECIPE.batch_size)
    order = torch.randperm(len(train_rows.ids), generator=generator(SEED, "order", epoch))  # [r]
    rows = pick(train_rows, order[number * RECIPE.batch_size :][: RECIPE.batch_size])  # ids [b, n]
    return MLM.batch(rows, generator(SEED, "corrupt", step))


# Training loop.
held_out_batch, losses = MLM.batch(held_out_rows, generator(0, "held out")), []
for step in range(RECIPE.steps):
    loss, _ = total_loss(model(batch_at(step)))  # one answer with scores [k, v]; their mean cross-entropy
    optimiser.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), RECIPE.grad_clip)
    optimiser.param_groups[0]["lr"] = RECIPE.lr * lr_multiplier(RECIPE, step)  # warm-up, then a linear fall
    optimiser.step()
    losses.append(loss.item())
    if step % 100 == 0 or step == RECIPE.steps - 1:
        with torch.no_grad():
            held_out, _ = total_loss(model(held_out_batch))
        print(f"step {step:4}: loss {losses[-1]:.2f}, held out {held_out.item():.2f} nats")

# One blank: the same stages on one sentence, whose plan is written by hand instead of drawn.
sentence = read_input("i went to the park on monday .", tokenizer).tokens  # ids [1, n]
batch = MLM.steps(sentence, generator(SEED), {"chosen": [7]})[-1].batch
with torch.no_grad():
    [answer] = model(batch)  # scores [1, v]
top = answer.scores[0].softmax(-1).topk(3)
words = [tokenizer.words[number] for number in top.indices.tolist()]
print(" ".join(tokenizer.words[number] for number in batch.inputs.ids[0].tolist()))
print(", ".join(f"{word} {share:.0%}" for word, share in zip(words, top.values.tolist(), strict=True)))
