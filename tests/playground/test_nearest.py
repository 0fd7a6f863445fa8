"""A name of the field is found, or what is nearest by meaning is said, in the same words wherever it is typed."""

import re
from time import process_time

import pytest

from playground.catalog import nearest
from playground.corpora import open_corpus
from playground.corpora.sources import find_source, sources
from playground.errors import UserError
from playground.finetuning import find_strategy, find_task, strategies, tasks
from playground.inventory import inventory
from playground.nearest import NEAREST, POST_TRAINING
from playground.objectives import find_objective, objectives
from playground.posttraining import find_method, methods
from playground.zoo import entries, entry_named, find_entry

FINDERS = {
    "entry": find_entry, "objective": find_objective, "strategy": find_strategy, "corpus": find_source,
    "task": find_task, "method of post-training": find_method,
}  # fmt: skip
"""What finds a name of the catalogue, by its kind."""

KINDS = (entries, objectives, strategies, sources, tasks, methods)

OBJECTIVES = """
NNLM, neural network language model, skip-gram, CBOW, negative sampling, SGNS, CBOW-NS, noise-contrastive estimation,
NCE, pairwise ranking, GloVe, LSA, SVD, fastText, contrastive learning, CTL, context2vec, LM, autoregressive,
window LM, backward LM, BiLM, character-level LM, contextual string embeddings, conditional LM, CLM, polyglot LM, MLM,
cloze, 80/10/10 corruption, static masking, dynamic masking, whole-word masking, BERT-wwm, phrase-level masking,
entity-level masking, random contiguous span masking, span boundary objective, SBO, seq2seq MLM, span mask,
text infilling (T5), text infilling (BART), enhanced MLM, E-MLM, label-aware MLM, LA-MLM, supersense prediction,
entity replacement detection, ERD, multilingual MLM, TLM, cross-lingual paraphrase classification, PLM,
partial prediction, permutation by attention mask, target-position-aware prediction, two-stream self-attention,
seq2seq LM, prefix LM, UniLM, DAE, denoising autoencoder, token masking, token deletion, text infilling,
sentence permutation, document rotation, word shuffling, sentence shuffling, noise composition,
word structural objective, span order recovery, multilingual DAE, replaced token detection, RTD, discriminator,
two-stage ELECTRA, Deep InfoMax, DIM, NSP, next sentence prediction, SOP, sentence structural objective,
semantic closeness, discourse relation, gap sentence generation, GSG, machine translation, NLI, cross-view training,
multi-task text-to-text, multilingual word embeddings, MLM + NSP, MLM + SOP, DIM + MLM, MLM + ERD
"""

SYSTEMS = """
NNLM, C&W, SENNA, word2vec, GloVe, fastText, CharCNN, BPE, context2vec, MUSE, Dai & Le, Ramachandran et al., CoVe,
InferSent, TagLM, ELMo, Flair, ULMFiT, CVT, GPT, GPT-2, GPT-3, Grover, CTRL, BERT, RoBERTa, ALBERT, SpanBERT,
StructBERT, ERNIE (Baidu), ERNIE 2.0, XLNet, UniLM v1, ELECTRA, InfoWord, MT-DNN, Transformer-XL, TransBERT, MASS, T5,
BART, mBART, PEGASUS, mBERT, XLM, XLM-R, Rosita, LASER, Artetxe & Schwenk, Artetxe, Ruder and Yogatama,
Wu et al. 2019, K-BERT, WKLM, SenseBERT, SentiLR, BioBERT, SciBERT, ClinicalBERT, BERTSUM, BERT-Attack,
Mask and Infill, DistilBERT, TinyBERT, BERT-PKD, PD, well-read students, MiniLM, BERT-of-Theseus, Q-BERT, Q8BERT,
FastBERT, distilled BiLSTM, BertViz, exBERT
"""

PARTS = """
CNN encoder, LSTM, GRU, biLSTM, self-attention, Transformer, Transformer encoder, Transformer decoder,
encoder-decoder, attention mask, causal mask, banded sparse attention, visible matrix, position embeddings,
learned positions, sinusoidal positions, relative positions, segment embeddings, special tokens, [CLS], [SEP], [MASK],
pre-LN, post-LN, segment-level recurrence, tied embeddings, factorised embeddings, cross-layer sharing, MLM head,
byte-level BPE, WordPiece, character CNN, contextual embeddings, teacher forcing, beam search, dropout,
gradient accumulation, mixed precision
"""

STRATEGIES = """
random initialisation, feature-based, ELMo mix, scalar mix, concatenation at the input, [GloVe(x); CoVe(x)],
full fine-tuning, embeddings only, top layer, all layers, word vectors fixed, concat pooling, span head, adapters,
Houlsby, projected attention layers, PALs, chain-thaw, gradual unfreezing, Chronopoulou, three stages, discriminative,
STLR, further pre-training, STILTs, TANDA, L2-SP, EWC, auxiliary LM, self-ensemble, self-distillation,
multi-task fine-tuning, multi-task then alone, self-training, semi-supervised, text-to-text, zero-shot prompting,
four-step transfer, zero-shot cross-lingual transfer, in-context, few-shot, initialising seq2seq, two-stage NMT,
input packing, auxiliary sentence, facts in the text, adversarial fine-tuning, data augmentation, knowledge source,
mask-and-infill, universal data format, catastrophic forgetting, continual learning
"""

COMPRESSION = """
weight pruning, attention-head pruning, layer pruning, low-rank factorisation, quantization, cross-layer sharing,
knowledge distillation, soft targets, patient knowledge distillation, module replacing, smaller vocabulary,
sample-wise adaptive depth
"""

TASKS = """
GLUE, CoLA, acceptability, SST-2, SST, IMDb, Rotten Tomatoes, 20 Newsgroups, DBpedia, TREC, question classification,
MNLI, SNLI, RTE, SciTail, QNLI, MRPC, QQP, paraphrase, STS-B, XNLI, cross-lingual document classification,
parallel corpus mining, NER, CoNLL-2003, OntoNotes 5.0, POS, Penn Treebank, text chunking, constituent labelling,
SQuAD, SQuAD 1.1, SQuAD 2.0, CoQA, RACE, story cloze, SWAG, Children's Book Test, LAMBADA, semantic role labelling,
coreference resolution, word sense disambiguation, dependency parsing, constituency parsing, ABSA, sentiment transfer,
word analogy, WMT14, IWSLT15, unsupervised MT, document MT, CNN/Daily Mail, extractive summary, 1B Word, WikiText-103,
LAMA
"""

CORPORA = """
BookCorpus, Wikipedia, CC-News, OpenWebText, Stories dataset, Gigaword, ClueWeb, Common Crawl, C4, WebText, RealNews,
1 Billion Word Benchmark, WMT News Crawl, MultiUN, Europarl, Tanzil, Wikidata
"""

LATER = "GPT-J, KnowBERT, GLM, diffusion, LLaMA, DeBERTa, Longformer, instruction tuning, prompt tuning, RAG, Mamba"
"""Names that the surveys give in passing, or that came after them."""

LISTS = (OBJECTIVES, SYSTEMS, PARTS, STRATEGIES, COMPRESSION, TASKS, CORPORA, LATER)


def typed(names):
    """Names between commas; a comma that belongs to a name stands before "Ruder"."""
    return [" ".join(name.split()) for name in re.split(r",(?! Ruder)", names)]


NAMES = tuple(dict.fromkeys(name for names in LISTS for name in typed(names)))


def found(name):
    """The kinds of what has this name here."""
    return [kind for kind, find in FINDERS.items() if is_known(find, name)]


def is_known(find, name):
    try:
        return bool(find(name))
    except UserError:
        return False


def test_every_name_of_the_surveys_is_found_or_says_what_is_nearest():
    assert len(NAMES) > 300
    assert [name for name in NAMES if not found(name) and not nearest(name)] == []


def test_what_is_nearest_is_here_and_what_is_here_needs_nothing_nearest():
    assert [near.name for near in NEAREST if near.kind not in found(near.name)] == []
    assert [name for near in NEAREST for name in near.to if found(name)] == []


def test_a_name_has_one_nearest_and_every_sentence_is_whole():
    plain = ["".join(filter(str.isalnum, name.lower())) for near in NEAREST for name in near.to]
    assert len(set(plain)) == len(plain) and all(plain)
    for near in NEAREST:
        for name in near.to:
            assert (
                nearest(name)
                == f"{name!r} is not here; nearest is the {near.kind} {near.name!r}, because {near.because}."
            )
        assert near.because == " ".join(near.because.split()) and not near.because.endswith(".")


@pytest.mark.parametrize("find", [*FINDERS.values(), entry_named, open_corpus, inventory])
@pytest.mark.parametrize("name", ["DistilBERT", "tiny bert", "LAMBADA", "gpt j", "mT5"])
def test_the_same_is_said_wherever_a_name_is_typed(find, name):
    with pytest.raises(UserError, match="is not here; nearest is") as refused:
        find(name)
    assert str(refused.value) == nearest(name)


@pytest.mark.parametrize(("find", "wrong", "right"), [
    (find_entry, "Robertta", "RoBERTa"), (find_objective, "spam mask", "span mask"),
    (find_objective, "hidden entities", "entity masking"), (find_strategy, "gradual thawing", "gradual unfreezing"),
    (find_source, "wrold", "world"), (find_task, "sentimental", "sentiment"), (open_corpus, "paralel", "parallel"),
    (inventory, "predict sentence order", "SOP"),
])  # fmt: skip
def test_a_wrong_name_gets_the_three_nearest_by_letters_or_by_the_words_of_the_idea(find, wrong, right):
    with pytest.raises(UserError, match=r"the nearest[^:]*: [^,]+, [^,]+, [^,]+\.$") as refused:
        find(wrong)
    assert right in re.split("[:,.] ?", str(refused.value))[1:4]


def test_every_method_of_post_training_says_where_it_is_when_it_is_looked_for_elsewhere():
    named = [name for method in methods().values() for name in (method.name, *method.aliases)]
    assert sorted(POST_TRAINING) == sorted(named)
    for name in named:
        with pytest.raises(UserError, match="is a method of post-training; open the Post-training page"):
            find_objective(name)


def test_a_misspelt_name_of_what_is_not_here_is_understood():
    with pytest.raises(UserError, match="'code-switching' is not here; nearest is the objective 'multilingual MLM'"):
        find_objective("code-swiching")
    assert nearest("DistillBERT").startswith("'DistilBERT' is not here")
    here = [name for find in KINDS for item in find().values() for name in (item.name, *item.aliases)]
    assert [name for name in here if nearest(name)] == []


@pytest.mark.parametrize("name", ["", "?", "a b " * 100_000])
def test_any_text_is_refused_at_once(name):
    began = process_time()
    with pytest.raises(UserError, match="the nearest"):
        find_objective(name)
    assert process_time() - began < 1


def test_a_published_size_is_a_name():
    assert [size.name for entry in entries().values() for size in entry.published if not found(size.name)] == []
