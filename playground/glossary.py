"""The terms of the screen, one line each, with the word of the paper or the library where it is another one."""

from dataclasses import dataclass
from html import escape


@dataclass(frozen=True)
class GlossaryTerm:
    """One term: what it means, and how papers and libraries call the same."""

    name: str
    says: str
    paper: str = ""


TERMS = (
    GlossaryTerm("accuracy", "The share of answers that are right."),
    GlossaryTerm("attention head", "One of several attentions side by side in a layer, each with weights of its own."),
    GlossaryTerm("attention mask", "Which key positions a query position may attend to.", "attention_mask, attn_mask"),
    GlossaryTerm(
        "attention pattern", "A regular way in which a head attends, such as to the word before.", "Clark et al. 2019"
    ),
    GlossaryTerm("baseline", "What the others are compared with: the first strategy, or guessing by frequency."),
    GlossaryTerm("batch", "The rows of one training step."),
    GlossaryTerm(
        "BPE merges",
        "The pairs of pieces that were joined, in their order, to make a vocabulary.",
        "Sennrich et al. 2016",
    ),
    GlossaryTerm("checkpoint", "A file from which a run goes on to the last bit."),
    GlossaryTerm(
        "corruption", "What is done to a text before the model reads it: masks, swaps, deletions.", "noise function"
    ),
    GlossaryTerm(
        "cross-entropy",
        "The loss of a prediction: minus the logarithm of the probability of the right answer, in nats.",
    ),
    GlossaryTerm("decoder", "The stack that writes, one token after another, and attends to the encoder."),
    GlossaryTerm("encoder", "The stack that reads the input."),
    GlossaryTerm(
        "entropy bound", "The lowest loss that any model can reach on a generated text; its grammar is known."
    ),
    GlossaryTerm("epoch", "One pass over all training rows."),
    GlossaryTerm("fine-tuning", "Training a pre-trained model on a task with labels."),
    GlossaryTerm(
        "forgetting", "By how many nats the pre-training loss rises through fine-tuning.", "catastrophic forgetting"
    ),
    GlossaryTerm("fork", "A new run that leaves an old one at a step, with other settings."),
    GlossaryTerm("gradient norm", "How long the gradient is; it is shortened to `grad_clip`.", "clip_grad_norm_"),
    GlossaryTerm("held-out", "Rows that are never trained on.", "validation set"),
    GlossaryTerm("hyperparameters", "The settings of model, training and objective, which are not learnt."),
    GlossaryTerm("input format", "How the texts of a task become one row, with which special tokens."),
    GlossaryTerm("key position", "A position that is attended to; a column of the attention mask."),
    GlossaryTerm("label efficiency", "Accuracy by the number of labelled texts.", "learning curve"),
    GlossaryTerm("learning rate", "How far one step moves the weights.", "lr"),
    GlossaryTerm("loss", "What training makes small; here in nats for each scored position."),
    GlossaryTerm("nats", "The unit of a loss with the natural logarithm; 0.69 nats are one bit."),
    GlossaryTerm(
        "objective", "What a model is asked in pre-training, such as to name masked words.", "pre-training task"
    ),
    GlossaryTerm("optimiser", "The rule that turns gradients into steps: AdamW, or Muon for matrices."),
    GlossaryTerm("padding", "Positions that fill a row up to the length of the longest; nothing attends to them."),
    GlossaryTerm("permutation", "An order of prediction that is drawn for each text.", "factorization order, XLNet"),
    GlossaryTerm("position", "The number of a place in a row; the model is told it by rotary or learned embeddings."),
    GlossaryTerm("prediction", "What the model says for a scored position, with its probability."),
    GlossaryTerm("probe", "A question that is asked of a model without training it for that.", "zero-shot probe"),
    GlossaryTerm("query position", "A position that attends; a row of the attention mask."),
    GlossaryTerm("sample", "One outcome of chance: which words are masked, which order is taken. The seed decides it."),
    GlossaryTerm(
        "scored", "Counted in the loss; other positions are read and not asked for.", "labels other than -100"
    ),
    GlossaryTerm("seed", "The number from which all chance of a run follows; the same seed gives the same run."),
    GlossaryTerm("span", "Neighbouring tokens that are taken together.", "Joshi et al. 2020"),
    GlossaryTerm("special token", "A token that is no word, such as [CLS], [SEP] or [MASK].", "all_special_tokens"),
    GlossaryTerm("strategy", "A way of fine-tuning: what learns, when, how fast, with which parts beside."),
    GlossaryTerm("token", "A word, or a piece of a word, with a number in the vocabulary."),
    GlossaryTerm(
        "unigram baseline", "The loss of a model that knows only how frequent each word is.", "unigram entropy"
    ),
    GlossaryTerm("weight decay", "A pull of all weights towards zero in every step."),
)
"""Every term, in the order of the alphabet."""


def mentioned(text: str) -> list[GlossaryTerm]:
    """The terms that a text of the screen holds, in its order, one within another left out."""
    low, found = text.lower(), []
    for term in sorted(TERMS, key=lambda term: -len(term.name)):
        at = low.find(term.name.lower())
        if at >= 0 and not any(begin <= at < begin + len(other.name) for begin, other in found):
            found.append((at, term))
    return [term for _, term in sorted(found, key=lambda pair: pair[0])]


def hover(text: str) -> str:
    """What a browser shows over a text: each of its terms in a line, as an attribute `title`; nothing without one."""
    lines = [f"{term.name}: {term.says}" for term in mentioned(text)]
    return f' title="{escape(chr(10).join(lines), quote=True)}"' if lines else ""
