"""Eight questions on faults of training, to be asked before the hunt and after it."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Question:
    """A question with its choices, of which one is right, and why."""

    text: str
    choices: tuple[str, ...]
    right: str
    why: str


QUESTIONS = (
    Question(
        "A language model has a training loss of almost 0 after a minute. What is the most likely reason?",
        ("Its learning rate is too low.", "It sees the word that it predicts.", "It has learned the language."),
        "It sees the word that it predicts.",
        "No text can be predicted without error; a loss near 0 means that the answer leaks into the input.",
    ),
    Question(
        "The training loss falls, the held-out loss rises. The masks of each text were drawn once. What helps?",
        ("Train longer.", "Evaluate on the training text.", "Draw new masks at each visit."),
        "Draw new masks at each visit.",
        "With fixed masks the model learns the gaps by heart.",
    ),
    Question(
        "Two versions of a program differ by 0.4 points of accuracy with one seed each. What do you know?",
        ("Nothing about which is better.", "The higher one is better.", "The lower one has a bug."),
        "Nothing about which is better.",
        "Seeds alone often differ by more; a paired test over several seeds is needed.",
    ),
    Question(
        "Which positions does a masked language model read to fill a gap?",
        ("Only the masked ones.", "All positions, masked ones as [MASK].", "Only those to the left."),
        "All positions, masked ones as [MASK].",
        "Its attention is bidirectional; a causal mask takes half of the context away.",
    ),
    Question(
        "Gradients of four small batches are added up. The batches have different numbers of scored words. "
        "What is equal to one large batch?",
        ("The mean of the four losses.", "The sum of the four losses.", "Weigh each by its number of scored words."),
        "Weigh each by its number of scored words.",
        "The loss of a large batch is a mean over words, not over small batches.",
    ),
    Question(
        "A benchmark asks which of two sentences is more probable. A model that gives both the same probability gets "
        "100 %. Where is the fault?",
        ("In how ties are counted.", "In the model.", "In the sentences."),
        "In how ties are counted.",
        "A tie is half right. A comparison with >= instead of > gives it full marks.",
    ),
    Question(
        "Texts of different length are padded. Padding positions get attention. What is seen?",
        ("Nothing at all.", "A prediction changes with the length of the other texts.", "The loss is not a number."),
        "A prediction changes with the length of the other texts.",
        "Padding must be masked, so that a text has the same output in every batch.",
    ),
    Question(
        "Which test finds most faults of a data pipeline before anything is trained?",
        ("Train for an hour.", "Compare with a published score.", "Look at one batch, token by token."),
        "Look at one batch, token by token.",
        "Inputs, targets, mask and loss positions of one batch show nearly all of them.",
    ),
)
"""The questions, in the order in which they are asked."""
