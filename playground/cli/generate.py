"""`playground generate`: a trained model continues a text, or its decoder generates one from an encoded text."""

import argparse
from dataclasses import asdict

import torch

from playground.analysis.beam_search import Generation, write
from playground.cli.options import Parser, common_options, number_of, say
from playground.folders import run_folder
from playground.knob import turn
from playground.training import checkpoint


def add(command: Parser) -> None:
    """The options of the command."""
    common_options(command, generate, seeded=False)
    option, how = command.add_argument, Generation()
    option("base", type=run_folder, metavar="RUN", help="a run by its name or folder, such as a GPT-2 or a BART")
    option("--text", default="", help="the text to continue, or the text that the encoder reads")
    option("--num-beams", type=number_of(), default=how.num_beams, metavar="N", help="size of the beam; 1 is greedy")
    option("--length-penalty", default=how.length_penalty, metavar="P", help="above 0 long texts are favoured")
    option("--max-new-tokens", type=number_of(), default=how.max_new_tokens, metavar="N", help="most new tokens")
    language = "what a decoder of several languages is told to write, from 0"
    option("--target-language", default=how.target_language, metavar="N", help=language)


def generate(given: argparse.Namespace) -> int:
    """Print the texts that were written, the best first, each with its log-probability and its score."""
    torch.set_num_threads(1)
    how = turn(Generation(), {name: getattr(given, name) for name in asdict(Generation())})
    saved = checkpoint.load(given.base)
    model, tokenizer = saved.learner.model.eval(), saved.tokenizer
    texts = [
        {"text": tokenizer.join(one.ids[: len(one.ids) - one.ended]), **asdict(one)}
        for one in write(model, tokenizer.encode(given.text).ids, tokenizer.specials, how)
    ]
    lines = [
        f"{one['score']:8.3f}  {one['text']}{'' if one['ended'] else ' ...'}  ({one['log_prob']:.2f} nats)"
        for one in texts
    ]
    return say(given, {"entry": saved.learner.entry.name, **asdict(how), "texts": texts}, lines)
