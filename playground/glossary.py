"""The terms of the screen, one line each, with the word of the paper or the library where it is another one."""

from dataclasses import dataclass
from html import escape


@dataclass(frozen=True)
class GlossaryTerm:
    """One term, what it means, and its name in papers and libraries."""

    name: str
    says: str
    paper: str = ""


ROWS = (
    ("accuracy", "The share of answers that are right."),
    ("attention head", "One of several attentions side by side in a layer, each with weights of its own."),
    ("attention mask", "Which key positions a query position may attend to.", "attention_mask, attn_mask"),
    ("attention pattern", "A regular way in which a head attends, such as to the word before.", "Clark et al. 2019"),
    ("baseline", "What the others are compared with: the first strategy, or guessing by frequency."),
    ("batch", "The rows of one training step."),
    ("BPE merges", "The pairs of pieces that were joined, in order, to make a vocabulary.", "Sennrich et al. 2016"),
    ("checkpoint", "A file from which a run goes on to the last bit."),
    ("corruption", "What is done to a text before the model reads it: masks, swaps, deletions.", "noise function"),
    ("cross-entropy", "The loss of a prediction: minus the logarithm of the probability of the right answer, in nats."),
    ("decoder", "The stack that writes, one token after another, and attends to the encoder."),
    ("encoder", "The stack that reads the input."),
    ("entropy bound", "The lowest loss that any model can reach on a generated text; its grammar is known."),
    ("epoch", "One pass over all training rows."),
    ("fine-tuning", "Training a pre-trained model on a task with labels."),
    ("forgetting", "By how many nats the pre-training loss rises through fine-tuning.", "catastrophic forgetting"),
    ("fork", "A new run that leaves an old one at a step, with other settings."),
    ("gradient norm", "How long the gradient is; it is shortened to `grad_clip`.", "clip_grad_norm_"),
    ("held-out", "Rows that are never trained on.", "validation set"),
    ("hyperparameters", "The settings of model, training and objective, which are not learnt."),
    ("input format", "How the texts of a task become one row, with which special tokens."),
    ("key position", "A position that is attended to; a column of the attention mask."),
    ("label efficiency", "Accuracy by the number of labelled texts.", "learning curve"),
    ("learning rate", "How far one step moves the weights.", "lr"),
    ("loss", "What training makes small; here in nats for each scored position."),
    ("nats", "The unit of a loss with the natural logarithm; 0.69 nats are one bit."),
    ("objective", "What a model is asked in pre-training, such as to name masked words.", "pre-training task"),
    ("optimiser", "The rule that turns gradients into steps: AdamW, or Muon for matrices."),
    ("padding", "Positions that fill a row up to the length of the longest; nothing attends to them."),
    ("permutation", "An order of prediction that is drawn for each text.", "factorization order, XLNet"),
    ("position", "The number of a place in a row; the model is told it by rotary or learned embeddings."),
    ("prediction", "What the model says for a scored position, with its probability."),
    ("probe", "A question that is asked of a model without training it for that.", "zero-shot probe"),
    ("query position", "A position that attends; a row of the attention mask."),
    ("sample", "One outcome of chance: which words are masked, which order is taken. The seed decides it."),
    ("scored", "Counted in the loss; other positions are read and not asked for.", "labels other than -100"),
    ("seed", "The number from which all chance of a run follows; the same seed gives the same run."),
    ("span", "Neighbouring tokens that are taken together.", "Joshi et al. 2020"),
    ("special token", "A token that is no word, such as [CLS], [SEP] or [MASK].", "all_special_tokens"),
    ("strategy", "A way of fine-tuning: what learns, when, how fast, with which parts beside."),
    ("token", "A word, or a piece of a word, with a number in the vocabulary."),
    ("unigram baseline", "The loss of a model that knows only how frequent each word is.", "unigram entropy"),
    ("weight decay", "A pull of all weights towards zero in every step."),
)
TERMS = tuple(GlossaryTerm(*row) for row in ROWS)
"""Every term, in alphabetical order."""


def mentioned(text: str) -> list[GlossaryTerm]:
    """The terms in a text, in its order, without those that are part of a longer one."""
    found: dict[int, GlossaryTerm] = {}
    for term in sorted(TERMS, key=lambda term: -len(term.name)):
        at = text.lower().find(term.name.lower())
        if at >= 0 and not any(begin <= at < begin + len(longer.name) for begin, longer in found.items()):
            found[at] = term
    return [found[at] for at in sorted(found)]


def explain(text: str) -> str:
    """Each term that a text of the screen holds with what it means, a line each; nothing without one."""
    return "\n".join(f"{term.name}: {term.says}" for term in mentioned(text))


def hover(text: str) -> str:
    """What a browser shows over a text that holds terms, as an attribute `title`."""
    lines = explain(text)
    return f' title="{escape(lines, quote=True)}"' if lines else ""
