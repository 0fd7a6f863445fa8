"""The command line: every command prints for people, or one JSON object with `--json`.

Exit status 0 done, 1 the run failed, 2 the arguments are wrong (one sentence on standard error).
"""

import gc
import io
import sys
from collections.abc import Sequence
from importlib import import_module

from playground import __version__
from playground.cli.options import Parser
from playground.errors import UserError

COMMANDS = {
    "app": "serve the playground on this machine",
    "objective": "show one objective on one text",
    "table": "print the survey's input/target table for a text",
    "train": "train an entry of the zoo",
    "runs": "list saved runs, or show the curve of one",
    "compare": "compare fine-tuning strategies side by side",
    "compress": "compress a fine-tuned model, with three meters",
    "posttrain": "post-train a language model against the exact optimum",
    "claims": "run the papers' claims as experiments that may disagree",
    "hunt": "name real faults of public programs from the symptoms of a run",
    "choose": "find the run that suits a task",
    "generate": "generate text with a trained model, greedily, by beam search or by sampling",
    "edit": "give a sentence another label by replacing words",
    "align": "align the word vectors of two languages",
    "ask": "ask a trained model what an objective asks, or to fill the gaps of a text",
    "inspect": "look inside a trained model with an instrument",
    "export": "write a trained model as a folder that transformers reads",
    "import": "read a folder that transformers wrote",
    "bake": "write a run as one HTML file that replays it offline",
    "lessons": "run the tutorial notebooks and write them as pages",
    "zoo": "list systems, objectives, strategies, corpora and tasks",
}
"""Every command with its help, in the order of the help; its module of the same name is imported when it is called."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status."""
    for stream in (sys.stdout, sys.stderr):  # a character that the terminal cannot print is escaped
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    words = sys.argv[1:] if arguments is None else arguments
    if arguments is None:  # imported modules stay, and looking for garbage in them takes a third of a short command
        gc.disable()
    try:
        known = parser(next((word for word in words if word in COMMANDS), ""))
        if arguments is None:
            gc.freeze()
            gc.enable()
        given = known.parse_args(words)
        return given.run(given)
    except UserError as refusal:
        print(str(refusal), file=sys.stderr)
        return 2
    except BrokenPipeError:
        return 0
    except KeyboardInterrupt:
        print("Stopped.", file=sys.stderr)
        return 1


def parser(called: str | None = None) -> Parser:
    """All commands, with the options of the one that is `called`, or of all."""
    top = Parser(prog="playground", description="See pre-training objectives and train tiny models.")
    top.add_argument("--version", action="version", version=__version__)
    commands = top.add_subparsers(dest="command", required=True, parser_class=Parser)
    for name, help_text in COMMANDS.items():
        command = commands.add_parser(name, help=help_text, description=help_text)
        if called in (name, None):
            import_module(f"playground.cli.{name}").add(command)
    return top
