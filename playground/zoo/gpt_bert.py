"""GPT-BERT: one network that fills gaps and writes on, with the same layers and the same head."""

from playground.models import Architecture
from playground.objectives.catalog.gpt_bert import GPT_BERT as OBJECTIVE
from playground.zoo.entry import Entry

GPT_BERT = Entry(
    name="GPT-BERT",
    year=2024,
    paper="arXiv:2410.24159",
    idea="Shift BERT's answers by one position; then a masked and a causal language model are one network.",
    parent="BERT",
    changed="Predicts a hidden word at the position before it, and trains one row in 16 as a causal language model.",
    unlike_paper={
        "stages": "rows and batches keep their sizes, which grow in the paper",
        "order": "all words have the same chance to be hidden, where the released code prefers those that were hidden "
        "less",
        "batches": "a row for MNTP begins with [CLS] and one for LM with [START]; the paper has one token for both",
        "optimiser": "no LAMB, no z-loss and no moving average of the weights",
        "network": "no norm between attention and its output projection, no scores from both words and their "
        "distance, and no learned weights for the layers",
    },
    data="BabyLM's texts of 10 or 100 million words; FineWeb-Edu and Cosmopedia",
    model=Architecture(
        activation="geglu", mlp_bias=False, attention_bias=True, head_transform=True, predicts_ahead=True
    ),
    objective=OBJECTIVE,
)
