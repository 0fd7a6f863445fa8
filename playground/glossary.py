"""The terms of the screen, one line each, with the word of the paper or the library where it is another one."""

import re
from dataclasses import dataclass
from html import escape


@dataclass(frozen=True)
class GlossaryTerm:
    """One term, what it means, and its name in papers and libraries."""

    name: str
    says: str
    paper: str = ""


ROWS = (
    ("ablation", "Switching off a part of a model to see what it is needed for."),
    ("accuracy", "The share of answers that are right."),
    (
        "activation patching",
        "Copying a hidden state from one sentence into another to see what it decides.",
        "causal tracing",
    ),
    (
        "adapter",
        "A small bottleneck network that is added to each layer and trained while the model is frozen.",
        "PEFT",
    ),
    ("advantage", "How much more reward an answer has than the mean of its group.", "GRPO, Shao et al. 2024"),
    (
        "alignment error rate",
        "How far word alignments are from the gold ones: 0 if all are the same.",
        "AER, Och and Ney 2003",
    ),
    (
        "anisotropy",
        "How similar the vectors of random words are: near 0 if they point in all directions.",
        "Ethayarajh 2019",
    ),
    ("architecture", "What a network is made of: kind, layers, width, attention and heads."),
    ("attention head", "One of several parallel attentions in a layer, each with its own weights."),
    ("attention mask", "Which key positions a query position may attend to.", "attention_mask, attn_mask"),
    ("attention pattern", "A regular way in which a head attends, such as to the previous word.", "Clark et al. 2019"),
    ("attractor", "A noun of the other number between a subject and its verb.", "Linzen et al. 2016"),
    ("base model", "The pre-trained model from which fine-tuning or compression starts.", "backbone"),
    ("baseline", "What the others are compared with: the first strategy, or guessing by frequency."),
    ("batch", "The rows of one training step."),
    ("beam search", "Writing several texts at once, of which the likeliest are continued.", "num_beams"),
    (
        "best of n",
        "Of n answers that the reference writes, the one with the highest reward; nothing is trained.",
        "rejection sampling",
    ),
    ("beta", "The price of a nat of KL to the reference: a higher beta keeps the policy closer to it.", "kl_coef"),
    ("bits", "How finely a weight is stored; 32 bits are a usual floating-point number."),
    ("BPE merges", "The pairs of pieces that were joined, in order, to make a vocabulary.", "Sennrich et al. 2016"),
    ("budget", "What a comparison may spend: labelled texts, steps and seeds."),
    ("checkpoint", "A file from which a run resumes exactly."),
    (
        "CKA",
        "How similar two spaces are, up to rotation and scale: from 0 to 1.",
        "centred kernel alignment, Kornblith et al. 2019",
    ),
    ("classifier", "A model that assigns one of several labels to a text, or to each of its words."),
    ("compression", "Making a trained model smaller or faster, at little cost to its answers.", "model compression"),
    (
        "content stream",
        "The hidden states that attend to their own token and to earlier ones in the order of prediction.",
    ),
    ("context", "The tokens that a model may use for a prediction."),
    ("contextual embedding", "A vector for a word that is computed from the word and the words around it."),
    ("control code", "A token at the start of a text that says what kind of text it is.", "Keskar et al. 2019"),
    (
        "control task",
        "A task with a random class for each word: a probe that solves it is memorising.",
        "Hewitt and Liang 2019",
    ),
    ("corpus", "The texts that a model is trained on."),
    ("corruption", "What is done to a text before the model reads it: masks, swaps, deletions.", "noise function"),
    ("cosine", "The cosine of the angle between two vectors: 1 if they have the same direction.", "cosine similarity"),
    ("cross-attention", "Attention of a decoder to the hidden states of the encoder."),
    ("cross-entropy", "The loss of a prediction: minus the logarithm of the probability of the right answer, in nats."),
    ("decoder", "The stack that writes, one token after another, and attends to the encoder."),
    ("discriminator", "The network that decides for every word whether it is the original."),
    ("distillation", "A small model, the student, learns from what a large one, the teacher, computes.", "KD"),
    ("domain", "A kind of text with its own topics and vocabulary, such as reviews or scientific papers."),
    (
        "DPO",
        "Raising the preferred answer of a pair against the other, both measured from the reference.",
        "direct preference optimization, Rafailov et al. 2023",
    ),
    ("dropout", "Setting a random share of the numbers in a network to 0 in each training step."),
    ("early exit", "Answering from a lower layer if its classifier is confident enough.", "FastBERT"),
    (
        "effective rank",
        "How many directions vectors use: about 1 if all are nearly the same (collapse), at most their width.",
        "RankMe",
    ),
    ("embedding", "The vector that stands for a token in a network."),
    ("encoder", "The stack that reads the input."),
    ("entropy", "How uncertain a distribution is: 0 if one outcome is certain."),
    ("entropy bound", "The lowest loss that any model can reach on a generated text; its grammar is known."),
    (
        "entry",
        "One system of the zoo: its architecture, objective, corpus and recipe, and how it differs from the paper.",
    ),
    ("epoch", "One pass over all training rows."),
    (
        "exponential moving average",
        "A slow copy of the weights: in each step it keeps most of itself and takes the rest from the model.",
        "EMA",
    ),
    ("few-shot", "A task solved from a few examples in the prompt, without training.", "in-context learning"),
    (
        "fill in the middle",
        "A language model reads what comes before and after a gap, and then writes the gap.",
        "FIM, Bavarian et al. 2022",
    ),
    ("filter normalisation", "A random direction whose parts are as long as those of the weights.", "Li et al. 2018"),
    ("fine-tuning", "Training a pre-trained model on a task with labels."),
    ("forgetting", "How far the pre-training loss rises through fine-tuning.", "catastrophic forgetting"),
    ("fork", "A new run that branches off an old one at a step, with other settings."),
    (
        "frontier",
        "The models that none beats: no model that costs as little scores higher beyond the noise.",
        "Pareto front",
    ),
    ("frozen", "Not changed by training: a weight with learning rate 0.", "requires_grad=False"),
    ("generator", "The network that proposes words for the gaps of a text."),
    ("GLUE", "A benchmark of nine tasks of sentences and pairs of sentences.", "Wang et al. 2018"),
    ("gold", "Known to be right, such as a label that the grammar assigns."),
    (
        "Goodhart's law",
        "A measure that is optimised stops measuring what was meant.",
        "reward hacking, overoptimization",
    ),
    ("gradient", "The direction in weight space in which the loss rises fastest; a step goes the other way."),
    ("gradient norm", "The length of the gradient vector; it is clipped at `grad_clip`.", "clip_grad_norm_"),
    ("greedy search", "Writing the likeliest token at each position."),
    (
        "GRPO",
        "Answers with more reward than the mean of their group become likelier.",
        "group relative policy optimization, Shao et al. 2024",
    ),
    ("head", "The last layer, which turns hidden states into an answer, such as the class of a text."),
    ("held-out", "Rows that are never trained on; an evaluation reads the first 64 of them.", "validation set"),
    ("hidden state", "The vector that a network computes for a position in a layer.", "hidden_states"),
    ("hyperparameters", "The settings of model, training and objective, which are not learned."),
    (
        "influence",
        "An estimate of how a training text changed a loss, without retraining.",
        "influence function, Koh and Liang 2017",
    ),
    ("input format", "How the texts of a task become one row, with which special tokens."),
    ("instrument", "A question about a model and the measurement that answers it."),
    ("key position", "A position that is attended to; a column of the attention mask."),
    (
        "KL to the optimum",
        "How far a policy is from the best one, in nats; 0 where they are the same.",
        "KL(policy || optimum)",
    ),
    (
        "KL to the reference",
        "How far a policy has moved from the model that it began as, in nats.",
        "KL(policy || reference)",
    ),
    (
        "knob",
        "A setting with a default and limits, changed with a slider or with `--set name=value`.",
        "hyperparameter",
    ),
    ("label", "The right answer for an example, such as the class of a text."),
    ("label efficiency", "Accuracy as a function of the number of labelled texts.", "learning curve"),
    ("language model", "A model that predicts each word from the words before it."),
    ("latency", "The seconds from a batch of texts to its answers.", "inference time"),
    ("layer", "One block of a network: attention and MLP in a transformer, one recurrence in an LSTM."),
    ("leak", "A path by which a position can read the very token that it has to predict."),
    ("learning rate", "How far one step moves the weights.", "lr"),
    ("level", "The hidden states after a number of layers; level 0 are the embeddings.", "hidden_states[k]"),
    ("log-probability", "The logarithm of a probability, in nats; the loss of an answer is its negative."),
    ("logits", "The scores of a model before they become probabilities."),
    ("LoRA", "Training a low-rank update of some matrices of a frozen model.", "Hu et al. 2021"),
    ("loss", "What training minimises, per scored position; a cross-entropy is in nats, a hinge in logits."),
    ("low rank", "Writing a matrix as the product of two thinner ones."),
    ("mask ratio", "The share of the tokens that are chosen for prediction.", "mlm_probability"),
    (
        "masked diffusion",
        "Hiding a random share t of the words and predicting them; step by step it generates text from gaps alone.",
        "MDLM, LLaDA",
    ),
    ("masked language model", "A model that predicts hidden words from the words on both sides."),
    ("memory of the text before", "States of the previous rows, to which every layer attends.", "mems, mem_len"),
    (
        "mismatch",
        "The share of the input in training that no text has in use, such as [MASK].",
        "pretrain-finetune discrepancy",
    ),
    ("mixture", "Several objectives or corpora that are trained together, each with a share."),
    ("model soup", "The mean of the weights of several fine-tuned models.", "Wortsman et al. 2022"),
    ("nats", "The unit of a loss with the natural logarithm; 0.69 nats are one bit."),
    ("negative sampling", "Telling the right word from a few random ones instead of scoring the whole vocabulary."),
    ("norm", "A layer that rescales a vector to unit variance or length.", "LayerNorm, RMSNorm"),
    ("objective", "What a model is trained to predict in pre-training, such as masked words.", "pre-training task"),
    ("operations", "Multiplications and additions for a text, counted from the shapes.", "FLOPs"),
    ("optimiser", "The rule that turns gradients into steps: AdamW, or Muon for matrices."),
    (
        "optimum",
        "The policy with the most reward less beta times its KL to the reference.",
        "Rafailov et al. 2023, eq. 4",
    ),
    ("P@1", "The share of questions whose most probable answer is right.", "precision at 1"),
    ("padding", "Positions that fill a row up to the length of the longest one; nothing attends to them."),
    (
        "paired t-test",
        "A test whether the mean difference of two strategies over the same seeds is larger than chance explains.",
    ),
    ("parameters", "The trainable numbers of a model."),
    ("permutation", "An order of prediction that is drawn for each text.", "factorization order, XLNet"),
    ("permutation language modelling", "Predicting the words of a text one after the other, in a random order."),
    ("perplexity", "The loss as a number of equally likely words: e to the power of the loss in nats."),
    ("phase", "A stretch of a run with an objective, a text and a learning-rate schedule of its own."),
    ("pipeline", "Compression methods in sequence, such as DistilBERT, then int8."),
    (
        "plan",
        "The random choices for one example, such as the masked words; for a strategy, each layer's rate at each step.",
    ),
    (
        "plasticity",
        "How much each layer may learn at each step: the factor on its learning rate, 0 where it is frozen.",
    ),
    ("policy", "The language model that is post-trained, as the chances of its answers."),
    ("position", "The index of a token in a row; the model gets it from rotary or learned embeddings."),
    (
        "post-training",
        "Training a pre-trained language model further so that its answers earn more reward.",
        "alignment, RLHF",
    ),
    ("pre-training", "Training on text without labels, before a model is adapted to a task."),
    ("precision", "The share of what was found that is right; of a run, the number format of its computations."),
    ("prediction", "The model's answer for a scored position, with its probability."),
    ("preference", "Which of two answers to a prompt is the better one, or the chance that it is.", "Bradley-Terry"),
    (
        "prefix tuning",
        "Learning a few virtual tokens that every layer of a frozen model attends to.",
        "Li and Liang 2021",
    ),
    ("probe", "A question that a model is asked without being trained for it.", "zero-shot probe"),
    (
        "probing classifier",
        "A small classifier that reads a property of the text from the states.",
        "diagnostic classifier",
    ),
    ("prompt", "A text that is given to a model so that its continuation, or the word in a gap, is the answer."),
    ("proxy reward", "A reward that goes along with the one that is meant, until it is optimised.", "reward model"),
    ("pruning", "Leaving out weights, heads, neurons or layers that the answers hardly need."),
    ("quantization", "Rounding weights to few levels, so that each needs fewer bits.", "Q-BERT, Q8BERT"),
    ("query position", "A position that attends; a row of the attention mask."),
    ("query stream", "The hidden states that attend only to tokens before their own in the order of prediction."),
    ("random encoder", "The same architecture with its initial weights, never trained."),
    ("rank", "The number of independent directions of a matrix; the inner dimension of a low-rank update."),
    ("recall", "The share of what should be found that was found."),
    (
        "recipe",
        "Optimiser, schedule, batch size and length of a training: `fast` for tiny models, `paper` as published.",
    ),
    ("reference", "The model as it was before post-training; the policy pays for moving away from it.", "ref_model"),
    ("regret", "By how many nats a loss exceeds that of the best possible prediction, which is known for a grammar."),
    ("replay", "Training on pre-training texts again during fine-tuning, against forgetting.", "rehearsal"),
    ("reward", "What an answer is worth, as a number."),
    ("run", "One training of one model with one seed."),
    ("sample", "One random outcome: which words are masked, which order is drawn. The seed determines it."),
    ("sampling", "Writing tokens that are drawn at random by their probability.", "do_sample"),
    ("scalar mix", "A weighted mean of all levels, whose weights are learned.", "ELMo"),
    ("schedule", "How the learning rate changes over the steps: warm-up, then decay.", "learning-rate scheduler"),
    ("scored", "Counted in the loss; other positions are read but not predicted.", "labels other than -100"),
    (
        "second position",
        "Another position of a token: that of the word to predict, or its number in a hidden span.",
        "block_position_ids, GLM",
    ),
    ("seed", "The number that determines all randomness: the same seed gives the same run, on a GPU but for rounding."),
    ("selectivity", "The accuracy of a probe minus that on its control task.", "Hewitt and Liang 2019"),
    ("sentinel", "A special token that stands for a hidden span and has a number."),
    (
        "SFT",
        "Next-word prediction on the words of demonstrated answers alone.",
        "supervised fine-tuning, Ouyang et al. 2022",
    ),
    ("silhouette", "How well the classes of points are separated: from -1 to 1, 0 without clusters."),
    ("soft targets", "The probabilities of all classes that a student learns from its teacher.", "soft labels"),
    ("span", "A sequence of neighbouring tokens.", "Joshi et al. 2020"),
    ("sparsity", "The share of the weights that are 0."),
    ("Spearman", "A correlation of two rankings, from -1 to 1.", "rank correlation"),
    ("special token", "A token that is not a word, such as [CLS], [SEP] or [MASK].", "all_special_tokens"),
    ("standard error", "How far a mean over seeds or texts is typically off."),
    ("static embedding", "A vector for a word that is the same in every sentence."),
    ("strategy", "A way of fine-tuning: what is trained, when, how fast, and which modules are added."),
    (
        "structural probe",
        "A linear map under which distances between states are distances in the syntax tree.",
        "Hewitt and Manning 2019",
    ),
    ("survey", "One of the two papers whose tables this project reproduces: Liu et al. 2020 and Qiu et al. 2020."),
    ("t-SNE", "A map that keeps neighbours together but not larger distances.", "van der Maaten and Hinton 2008"),
    ("task", "A labelled problem that a pre-trained model is fine-tuned on.", "downstream task"),
    (
        "task arithmetic",
        "Adding to a model what several fine-tuned copies of it have changed in its weights.",
        "task vector, Ilharco et al. 2023",
    ),
    ("teacher", "The model whose answers or states another one, its student, learns from."),
    ("temperature", "What the scores are divided by before a token is drawn: below 1 likely tokens gain."),
    ("token", "A word, or a piece of a word, with a number in the vocabulary."),
    ("tokenizer", "The rule that splits a text into tokens: words, characters, or learned pieces."),
    ("top k", "Drawing from the k likeliest tokens alone.", "top_k, Fan et al. 2018"),
    (
        "top p",
        "Drawing from the fewest likeliest tokens that reach the probability p together.",
        "nucleus sampling, Holtzman et al. 2019",
    ),
    (
        "TracIn",
        "Products of gradients summed over checkpoints: which training text lowered a loss.",
        "Pruthi et al. 2020",
    ),
    ("trial", "One fine-tuning of one strategy with one seed in a comparison."),
    ("true reward", "The reward that is meant, where a proxy reward is trained.", "gold reward"),
    ("unigram baseline", "The loss of a model that knows only how frequent each word is.", "unigram entropy"),
    ("universal trigger", "Words that change a classifier's answer when put before any text.", "Wallace et al. 2019"),
    (
        "unmasking",
        "Filling the gaps of a text step by step; each step reads what those before filled in.",
        "mask-predict, remasking",
    ),
    (
        "UUAS",
        "The share of the arcs of the gold tree that are recovered, ignoring direction.",
        "undirected unlabelled attachment score",
    ),
    ("virtual token", "A learned vector that a model reads as if it were a word of the text.", "soft prompt"),
    ("vocabulary", "All tokens that a model knows, each with a number.", "vocab"),
    ("warm-up", "The first steps of a run, in which the learning rate rises.", "warmup_ratio"),
    ("weight decay", "A pull of all weights towards zero in every step."),
    ("whole word masking", "Masking all pieces of a chosen word."),
    ("zero-shot", "A task solved without any example or training."),
    ("zoo", "The published systems that can be trained here at tiny size."),
)
TERMS = tuple(GlossaryTerm(*row) for row in ROWS)
"""Every term, in alphabetical order."""


def pattern(name: str) -> str:
    """A regular expression of a term as a word, in the singular or the plural."""
    ending = "(?:y|ies)" if name.endswith("y") else "s?"
    return rf"(?<![a-z]){re.escape(name.removesuffix('y')).lower()}{ending}(?![a-z])"


def mentioned(text: str) -> list[GlossaryTerm]:
    """The terms in a text, in its order, without those that are part of a longer one."""
    found: dict[int, GlossaryTerm] = {}
    for term in sorted(TERMS, key=lambda term: -len(term.name)):
        for word in re.finditer(pattern(term.name), text.lower()):
            if not any(begin <= word.start() < begin + len(longer.name) for begin, longer in found.items()):
                found[word.start()] = term
                break
    return [found[at] for at in sorted(found)]


def explain(text: str) -> str:
    """Each term that a text of the screen holds with what it means, a line each; nothing without one."""
    return "\n".join(f"{term.name}: {term.says}" for term in mentioned(text))


def hover(text: str) -> str:
    """What a browser shows over a text that holds terms, as an attribute `title`."""
    lines = explain(text)
    return f' title="{escape(lines, quote=True)}"' if lines else ""
