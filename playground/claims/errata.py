"""Misprints and contradictions of the surveys, each with what is right and what decides it here.

The sources are Liu et al. (arXiv:2003.07278), Qiu et al. (arXiv:2003.08271), Weng ("Generalized Language Models") and
a fourth text without formulas.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Erratum:
    """What a source `printed`, what is `correct`, and what `decides`: a claim, an entry, an objective or the paper."""

    name: str
    source: str
    printed: str
    correct: str
    decides: str


ERRATA = (
    Erratum(
        "E1",
        "Liu et al. sec. 3, Table 2; Qiu et al., Weng",
        "Sentence shuffling shuffles the words of a sentence.",
        "BART permutes the sentences of a document. Both noises exist here under their own names.",
        "BART's paper",
    ),
    Erratum(
        "E2",
        "Liu et al. Table 2; Qiu et al.",
        "The target of text infilling is the span; or it is the whole text.",
        "T5 writes the spans after sentinels, BART the whole text. They are two objectives.",
        "the objectives' drawings",
    ),
    Erratum(
        "E3",
        "Qiu et al. Table 1, DIM",
        "L = s(x, y) − log Σ s(x, y′)",
        "L = −[s(x, y) − log Σ exp s(x, y′)]: as printed, minimising it drives a pair apart.",
        "InfoNCE's paper",
    ),
    Erratum(
        "E4",
        "From Static to Contextualized Embedding",
        "X_ij is the probability that word j appears in the context of word i.",
        "X_ij is the co-occurrence count; P_ij = X_ij / X_i is the probability.",
        "K011",
    ),
    Erratum(
        "E5",
        "Weng",
        "RoBERTa applies masks in 10 different ways over 40 epochs (dynamic masking).",
        "That is the static baseline with ten copies. Dynamic masking draws new masks at each visit.",
        "K044",
    ),
    Erratum(
        "E6",
        "Liu et al. sec. 3",
        "ERNIE-GEN generates the tokens of a span non-autoregressively.",
        "It generates span by span, with a second stream that goes word by word.",
        "ERNIE-GEN's paper",
    ),
    Erratum(
        "E7",
        "Weng, ELECTRA",
        "−1[x ≠ x̂] log(1 − log D(x, t))",
        "−1[x ≠ x̂] log(1 − D(x, t))",
        "the loss of RTD, which is a cross-entropy",
    ),
    Erratum(
        "E8",
        "Qiu et al.; Weng",
        "ELECTRA is trained in two stages; or jointly with shared embeddings.",
        "Both are schedules of the paper; joint training is its default. Both can be trained here.",
        "ELECTRA's paper",
    ),
    Erratum(
        "E9",
        "Liu et al. Table 1; Qiu et al.",
        "ELMo's corpus is WikiText-103.",
        "ELMo: 1B Word Benchmark. ULMFiT: WikiText-103.",
        "the papers",
    ),
    Erratum(
        "E10",
        "Weng",
        "GPT-3 (175B) is 10 times larger than GPT-2 (1.5B).",
        "175 / 1.5 = 117 times.",
        "arithmetic",
    ),
    Erratum(
        "E11",
        "Liu et al., Weng; Qiu et al., From Static to Contextualized Embedding",
        "ALBERT speeds up training (1.7 times); or it is 3 times slower.",
        "Shared layers cut parameters, not operations. The sources compare models of different sizes.",
        "K179",
    ),
    Erratum(
        "E12",
        "Weng; From Static to Contextualized Embedding",
        "BERT's positions are learned; or sinusoidal as in the Transformer.",
        "BERT learns them.",
        "BERT's paper",
    ),
    Erratum(
        "E13",
        "Liu et al., Weng; Qiu et al.",
        "The layer mix runs over l = 1 … L; or from 0.",
        "s_j with j = 0 … L: the embeddings count too.",
        "the strategy layer mix",
    ),
    Erratum(
        "E14",
        "Weng, GPT",
        "L = L_cls + λ L_LM with L_cls = Σ log P and L_LM = −Σ log p",
        "Both terms must be negative: L_cls = −Σ log P.",
        "the strategy auxiliary LM loss",
    ),
    Erratum(
        "E15",
        "Weng, T5",
        "T5 is fine-tuned with adapter layers or gradual unfreezing.",
        "Those are compared in the paper; fine-tuning all parameters is its main setting.",
        "T5's paper",
    ),
    Erratum(
        "E16",
        "Qiu et al. Tables",
        "The marks † and ‡ stand for different notes.",
        "Each note belongs to its own table.",
        "the tables",
    ),
    Erratum(
        "E17",
        "Qiu et al., distillation",
        "L_KD = Σ tᵢ log sᵢ",
        "L_KD = −Σ tᵢ log sᵢ",
        "the method soft targets",
    ),
    Erratum(
        "E18",
        "Liu et al., DistilBERT",
        "The cosine loss compares embedding matrices.",
        "It compares hidden states.",
        "the method DistilBERT",
    ),
    Erratum(
        "E19",
        "From Static to Contextualized Embedding",
        "GPT-2 XL has 1.542M parameters.",
        "1,542 million.",
        "arithmetic",
    ),
    Erratum(
        "E20",
        "From Static to Contextualized Embedding",
        "P(solid | ice) / P(solid | stream)",
        "P(solid | ice) / P(solid | steam)",
        "K011",
    ),
    Erratum(
        "E21",
        "Weng, XLNet",
        "h(x_{≤t}); both x_{z_t} and x_{z_t}",
        "h(x_{z_{≤t}}); both z_t and x_{z_t}",
        "K061",
    ),
    Erratum(
        "E22",
        "Qiu et al.; Liu et al., Weng",
        "z_t is the permuted token; or its position.",
        "z is the order: z_t is a position.",
        "K059",
    ),
    Erratum(
        "E23",
        "Liu et al. sec. 2",
        "Named entity recognition is a sentence-level task.",
        "It is a token-level task.",
        "the task entities",
    ),
    Erratum(
        "E24",
        "Liu et al. Table 1; Qiu et al.; Weng",
        "XLNet is a decoder; a two-stream encoder; the same as BERT.",
        "The attention mask says what it is: an encoder whose masks follow a random order.",
        "K058",
    ),
    Erratum(
        "E25",
        "Liu et al.; Qiu et al.",
        "UniLM with or without NSP; ELECTRA with RTD alone or with MLM.",
        "UniLM has NSP; ELECTRA's loss has both terms.",
        "their entries in the zoo",
    ),
    Erratum(
        "E26",
        "Liu et al.; Qiu et al.",
        "BERT on GLUE: 80.5, 81.9 or 79.6.",
        "These are different sizes and subsets of tasks.",
        "the papers",
    ),
    Erratum(
        "E27",
        "Liu et al.; Qiu et al.",
        "StructBERT's sentence objective is the order of two segments.",
        "It has three classes: next, previous, another document.",
        "StructBERT's entry",
    ),
    Erratum(
        "E28",
        "From Static to Contextualized Embedding, XLNet",
        "The sentence itself is permuted (York is New a city).",
        "The input keeps its order; only the attention masks change.",
        "K058",
    ),
    Erratum(
        "E29",
        "From Static to Contextualized Embedding; Weng",
        "GPT-2 is best on 7 of 8 NLP tasks.",
        "On 7 of 8 language-modelling data sets.",
        "GPT-2's paper",
    ),
    Erratum(
        "E30",
        "Weng",
        "OntoNotes has four entity types.",
        "It has 18; CoNLL-2003 has four.",
        "the data sets",
    ),
    Erratum(
        "E31",
        "Weng, ULMFiT",
        "The base learning rate is that of the first layer.",
        "It is that of the last layer, divided by 2.6 for each layer below.",
        "the strategy discriminative",
    ),
    Erratum(
        "E32",
        "Weng, perplexity",
        "Perplexity is the exponent of the entropy of p, with P(w) = 1 / N.",
        "It is the exponent of the cross-entropy of the text under the model.",
        "K038",
    ),
    Erratum(
        "E33",
        "Liu et al., T5",
        "Scores are rounded up to the nearest multiple of 0.2.",
        "Up and nearest differ (2.45: 2.6 or 2.4). T5 rounds to the nearest.",
        "K081",
    ),
    Erratum(
        "E34",
        "From Static to Contextualized Embedding; Liu et al.",
        "XLNet outperforms BERT on 20 tasks.",
        "RoBERTa, trained longer without XLNet's changes, beats it.",
        "RoBERTa's paper",
    ),
    Erratum(
        "E35",
        "Qiu et al.",
        "Distillation differs from compression; or it is one of five ways to compress.",
        "Only the wording differs.",
        "Table 3 of Qiu et al.",
    ),
    Erratum(
        "E36",
        "Weng",
        "ELMo, NAACL 2017.",
        "NAACL 2018.",
        "the paper",
    ),
    Erratum(
        "E37",
        "Qiu et al.",
        "China − Beijing ≈ Japan − Tokyo",
        "The same with country − capital.",
        "K013",
    ),
    Erratum(
        "E38",
        "Liu et al.; Qiu et al.",
        "Adapters are for multi-task learning; or for one task each.",
        "Both settings exist.",
        "K141",
    ),
    Erratum(
        "E39",
        "From Static to Contextualized Embedding",
        "Equations and tables are missing images.",
        "The formulas here come from the papers.",
        "the papers",
    ),
    Erratum(
        "E40",
        "Liu et al.; Qiu et al.",
        "More than 100 languages, or 104; more than 2 TB, or 2.5 TB.",
        "Compatible.",
        "the papers",
    ),
)
"""All of them, in the order of the sources."""
