"""`playground generate`: a trained model continues a text, or its decoder generates one from an encoded text."""

import argparse
from dataclasses import asdict, dataclass
from typing import TypedDict

import torch

from playground.analysis.generation import Generation, Hypothesis, write
from playground.cli.options import Parser, common_options, number_of, say, whole
from playground.folders import run_folder
from playground.knob import turn
from playground.tokenizing import Tokenizer
from playground.training import checkpoint


class TokenFacts(TypedDict):
    """A written token."""

    token: str
    probability: float
    top: dict[str, float]
    """The likeliest tokens at its position, with their probabilities."""


class TextFacts(TypedDict):
    """A text that was written."""

    text: str
    tokens: list[TokenFacts]
    log_prob: float
    """Log-probability in nats."""
    score: float
    """What it is ranked by."""
    ended: bool
    """Whether the model ended it."""


@dataclass(frozen=True)
class GenerateFacts(Generation):
    """Texts that a model wrote, the best first, and how."""

    entry: str = ""
    texts: tuple[TextFacts, ...] = ()


FACTS = (GenerateFacts,)


def add(command: Parser) -> None:
    """The options of the command."""
    common_options(command, generate)
    option, how = command.add_argument, Generation()
    option("base", type=run_folder, metavar="RUN", help="a run by its name or folder, such as a GPT-2 or a BART")
    option("--text", default="", help="the text to continue, or the text that the encoder reads")
    option("--do-sample", action="store_true", help="draw each token by its probability")
    option("--temperature", default=how.temperature, metavar="T", help="below 1 likely tokens are drawn more often")
    option("--top-k", default=how.top_k, metavar="K", help="draw from the K likeliest tokens; 0 is off")
    option("--top-p", default=how.top_p, metavar="P", help="draw from the likeliest tokens of mass P; 1.0 is off")
    sequences = "how many texts are drawn"
    option("--num-return-sequences", type=number_of(), default=how.num_return_sequences, metavar="N", help=sequences)
    option("--num-beams", type=number_of(), default=how.num_beams, metavar="N", help="size of the beam; 1 is greedy")
    option("--length-penalty", default=how.length_penalty, metavar="A", help="above 0 long texts are favoured")
    option("--max-new-tokens", type=number_of(), default=how.max_new_tokens, metavar="N", help="maximum new tokens")
    language = "target language of a multilingual model, from 0"
    option("--target-language", default=how.target_language, metavar="N", help=language)
    option("--control-code", type=whole, default=how.control_code, metavar="N", help="CTRL's code, from 1; 0 for none")


def generate(given: argparse.Namespace) -> int:
    """Print the texts that were written, the best first, each with its log-probability and its score."""
    torch.set_num_threads(1)
    how = turn(Generation(), {name: getattr(given, name) for name in asdict(Generation())})
    saved = checkpoint.load(given.base)
    learner, tokenizer = saved.learner, saved.tokenizer
    found = write(learner.model, learner.objective, tokenizer.encode(given.text).ids, tokenizer.specials, how)
    texts = [_facts(one, tokenizer) for one in found]
    lines = [
        f"{one['score']:8.3f}  {one['text']}{'' if one['ended'] else ' ...'}  ({one['log_prob']:.2f} nats)"
        for one in texts
    ]
    return say(given, GenerateFacts(**asdict(how), entry=learner.entry.name, texts=tuple(texts)), lines)


def _facts(one: Hypothesis, tokenizer: Tokenizer) -> TextFacts:
    """A text with its tokens, each with its probability and the likeliest ones in its place."""
    tokens: list[TokenFacts] = [
        {
            "token": tokenizer.decode([each.id])[0],
            "probability": each.probability,
            "top": {tokenizer.decode([number])[0]: probability for number, probability in each.top},
        }
        for each in one.tokens
    ]
    text = tokenizer.join(one.shown)
    return {"text": text, "tokens": tokens, "log_prob": one.log_prob, "score": one.score, "ended": one.ended}
