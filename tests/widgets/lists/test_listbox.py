"""What a visitor types into the list of objectives, and which card comes first."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from playground.zoo import entries
from widgets.lists.objective_picker import cards, picker
from widgets.lists.strategy_picker import cards as strategy_cards

ROOT = Path(__file__).parents[3]
RANK = """
import { ranked } from "./widgets/lists/listbox.js";
let text = "";
for await (const piece of process.stdin) text += piece;
const { cards, typed } = JSON.parse(text);
console.log(JSON.stringify(typed.map((search) => ranked(cards, search).map((card) => card.name))));
"""

TYPED = {
    "masked language modelling": ["MLM"], "masked language modeling": ["MLM"], "Masked LM": ["MLM"], "cloze": ["MLM"],
    "autoencoder": ["all noises"], "denoising": ["BART infilling"], "next token": ["LM"], "next word": ["LM"],
    "next-token prediction": ["LM"], "autoregressive": ["LM"], "causal": ["LM"], "language model": ["LM"],
    "RoBERTa": ["MLM"], "roberta": ["MLM"], "BERT": ["MLM", "NSP", "MLM + NSP", "whole word masking"],
    "GPT": ["LM"], "GPT-2": ["LM"], "gpt2": ["LM"], "GPT-3": ["LM"], "XLNet": ["PLM on pairs"], "ELECTRA": ["RTD"],
    "ALBERT": ["SOP", "n-gram masking", "n-gram MLM + SOP"], "T5": ["T5 spans"], "BART": ["BART infilling"],
    "MASS": ["span mask"], "UniLM": ["UniLM"], "SpanBERT": ["SpanBERT"], "XLM": ["XLM"], "XLM-R": ["multilingual MLM"],
    "ELMo": ["BiLM"], "ERNIE": ["MLM"], "PEGASUS": ["gap sentences"], "word2vec": ["skip-gram NS"],
    "next sentence": ["NSP"], "sentence order": ["SOP"], "permutation": ["PLM"], "replaced token": ["RTD"],
    "contrastive": ["sentence matching"], "span corruption": ["T5 spans"], "mask": ["MLM"],
    "diffusion": ["masked diffusion"], "LLaDA": ["masked diffusion"],
    "UL2": ["UL2"], "mixture of denoisers": ["UL2"], "MNTP": ["MNTP"], "GPT-BERT": ["GPT-BERT"],
}  # fmt: skip
"""What is typed, and the cards that come first."""

NOT_HERE = {
    "mT5": "T5 spans", "instruction tuning": "T5 multi-task", "GPT-4": "LM",
    "CLIP": "sentence matching", "SimCSE": "sentence matching", "DeBERTa": "MLM",
}  # fmt: skip
"""Names that are not here, and the card that is nearest to each."""


def ranked(cards: list, typed: list[str]) -> dict[str, list[str]]:
    """The names of the cards that the list shows for each search."""
    command = ["node", "--input-type=module", "--eval", RANK]
    given = json.dumps({"cards": cards, "typed": typed})
    done = subprocess.run(command, cwd=ROOT, input=given, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return dict(zip(typed, json.loads(done.stdout), strict=True))


needs_node = pytest.mark.skipif(not shutil.which("node"), reason="needs Node 20 or later, as `node` on the path")


@needs_node
def test_what_is_typed_finds_its_objective_first():
    found = ranked(cards(), [*TYPED])
    assert {search: found[search][: len(first)] for search, first in TYPED.items()} == TYPED


@needs_node
@pytest.mark.parametrize("made", [cards(), strategy_cards({})], ids=["objectives", "strategies"])
def test_every_name_and_alias_finds_its_own_card_first(made):
    named = {name: card["name"] for card in made for name in card["names"] if name}
    assert {name: names[0] for name, names in ranked(made, [*named]).items()} == named


@needs_node
def test_every_model_finds_what_it_is_trained_with():
    known = {card["name"]: [*card["names"], *card["models"]] for card in cards()}
    assert [name for name, found in ranked(cards(), [*entries()]).items() if name not in known[found[0]]] == []


def test_a_name_that_is_not_here_says_what_is_nearest_and_shows_its_card():
    searched = picker()
    for name, first in NOT_HERE.items():
        searched.sought = name
        asked, sentence, names = searched.nearest
        assert (asked, names) == (name, [first])
        assert sentence.startswith(f"{name!r} is not here; nearest is the ")


def test_a_method_of_post_training_says_where_it_is_though_no_objective_is_near():
    searched = picker()
    for name, sentence in {
        "DPO": "'DPO' is a method of post-training; open the Post-training page",
        "RLHF": "'RLHF' is not here; nearest is the method of post-training 'DPO'",
    }.items():
        searched.sought = name
        assert searched.nearest[1].startswith(sentence)
    assert searched.nearest[2] == []
