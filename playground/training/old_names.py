"""Names of earlier versions: files that they wrote are read under the names of today."""

from collections.abc import Iterator, Mapping
from typing import Any

from playground.knob import knobs
from playground.objectives import Objective


def _table(*lines: str) -> dict[str, str]:
    """Pairs of an old name and the name of today, from lines such as "old=new other=name"."""
    return dict(pair.split("=") for line in lines for pair in line.split())


RECIPE = _table(
    "rate=lr matrix_rate=muon_lr window=seq_len batch=batch_size warm_up=warmup_ratio floor=min_lr_ratio",
    "decay=weight_decay clip=grad_clip accumulate=grad_accum_steps",
)
ARCHITECTURE = _table(
    "longest=max_position_embeddings feed=mlp_ratio start=init detects=rtd_head boundary=sbo_head",
    "generator_share=generator_ratio tied=tie_generator reads=attention",
)
LEVELS = {"frequencies alone": "unigram baseline", "best possible": "entropy bound"}
"""What a replay compares a loss with."""

VALUES = {("attention", "both sides"): "bidirectional"}

STAGES = _table(
    "ChooseRarer=SubsampleFrequent ChooseShare=ChooseRatio ChooseDeleted=ChooseForDeletion",
    "ChooseFragment=ChooseMassSpan ChooseRuns=MergeAdjacent ChooseUnits=ChooseWholeUnits",
    "ChooseIntact=KeepSomeSentences ChooseOneNgram=ChooseNgram ChooseLabelled=ChooseSupervised",
    "ChangeToNothing=DeleteTokens ChangeStart=RotateDocument ChangeToMarkers=SpansToSentinels",
    "ChangeContent=MaskContentStream ChangeToFirstPart=DropTarget ArrangeShifted=ShiftRight",
    "ArrangeCells=ArrangeCooccurrences ArrangeTold=DropLanguageIds ArrangeHalf=FirstOfPair ArrangePart=SampleTask",
    "ProposeWrong=SampleNegatives ProposeWords=SampleFromGenerator SeeAlone=SeeSelf SeeOthers=SeeAllButSelf",
    "SeeApart=SeeWithinSegment SeeMixture=SampleMask SeeOrder=SeePermutation SeePainted=OverrideMask",
    "AskInPlace=AskMasked AskToWrite=AskDecoder AskWithin=Reweight AskMatch=AskInBatchContrast",
    "AskBoundary=AskSpanBoundary AskViews=AskCrossView AskJudged=OverrideLossMask ArrangeJudged=LabelledPair",
    "ArrangeSigned=WrapSpecials ArrangeCode=ControlCode ChangeToMasks=ReplaceWithMask",
)
"""The name of today by which a kind of stage goes, for its old name."""

TOKENS = _table("word=word_ids sentence=sentence_ids row=example_ids visit=epoch counts=word_counts")
"""What a row of a checkpoint of format 1 knows."""

PARTS = _table(
    "table=token_embedding place=position_embedding segment=segment_embedding language=language_embedding",
    "blank=query_embedding look=attn look_norm=ln_1 cross=cross_attn cross_norm=ln_cross_attn think_norm=ln_2",
    "widen=mlp.fc1 norm=ln_f vocabulary=lm_head generator_vocabulary=generator_lm_head lift=projection",
    "replaced=rtd_head boundary=sbo_head score=out_proj grams=ngram_embedding",
    "first=fc1 first_norm=ln_1 second=fc2 second_norm=ln_2",
)
"""The parts of a model in a checkpoint of format 1."""

KNOBS = {
    "ArrangeCooccurrences": _table("window=window_size"),
    "LabelledPair": _table("form=pair_format reset=reset_position_ids"),
    "ArrangePair": _table("form=pair_format reset=reset_position_ids"),
    "ShiftRight": _table("end=add_eos"),
    "ArrangeText": _table("wrap=add_special_tokens"),
    "DropLanguageIds": _table("told=language_embeddings"),
    "ArrangeWindows": _table("radius=window_size shrink=shrink_windows"),
    "AskAnswer": _table("end=add_eos"),
    "AskSpanBoundary": _table("most=sbo_max_length"),
    "AskContinuation": _table("grade=loss_on"),
    "AskCount": _table("most=x_max power=alpha"),
    "AskInBatchContrast": _table("twins=duplicates_as_negatives"),
    "AskNext": _table("skip=context_size"),
    "AskDecoder": _table("end=add_eos closing=final_sentinel"),
    "AskTranslation": _table("end=add_eos"),
    "ChangeEntities": _table("replaced=replace_prob"),
    "ChangeSentenceOrder": _table("share=shuffle_ratio"),
    "RotateDocument": _table("turned=rotate_prob official=match_released_code"),
    "ChangeTokens": _table(
        "mask=mask_replace_prob random=random_replace_prob pool=random_words_from together=replace_unit"
    ),
    "ChangeWordOrder": _table("window=shuffle_distance"),
    "ChooseForDeletion": _table("rate=delete_ratio"),
    "ChooseMassSpan": _table("share=span_ratio ends=edge_prob signs=count_specials"),
    "ChooseGapSentences": _table("ratio=gap_sentence_ratio strategy=sentence_selection"),
    "ChooseGeometricSpans": _table("rate=mask_ratio stop=geometric_p longest=max_span_length"),
    "KeepSomeSentences": _table("share=unmasked_ratio"),
    "ChooseSupervised": _table("share=supervised_ratio"),
    "ChooseNgrams": _table(
        "rate=mask_ratio longest=max_ngram law=sampler whole=whole_words specials=num_special_tokens"
    ),
    "ChooseNgram": _table("spread=length_std"),
    "ChooseOrder": _table("kept=partial_prediction_k grams=ngram_weights functional=special_tokens law=sampler"),
    "ChoosePoissonSpans": _table("rate=mask_ratio whole=whole_words"),
    "ChooseRatio": _table("rate=mask_ratio"),
    "ChooseSpans": _table("rate=noise_density official=match_released_code"),
    "ChooseTokens": _table(
        "rate=mask_ratio specials=num_special_tokens signs=special_tokens cap=max_predictions copies=dupe_factor"
    ),
    "ChooseTrigrams": _table("share=trigram_ratio"),
    "ChooseWholeUnits": _table("rate=mask_ratio law=sampler specials=num_special_tokens"),
    "SampleNegatives": _table("number=num_negatives power=ns_exponent"),
    "SeeLeft": _table("window=sliding_window"),
    "SeeRight": _table("window=sliding_window"),
    "SampleMask": _table("told=mode_segments"),
    "SeeWindow": _table("radius=window_size shrink=shrink_windows"),
}
"""The old names of the knobs of each kind of stage."""


def tensor(name: str) -> str:
    """The name of a tensor of a checkpoint of format 1 in one of today."""
    kind, *parts = name.split(".")
    if kind in ("held_out", "rehearsal"):
        *others, last = parts
        return name if "label" in others else ".".join([kind, *others, TOKENS.get(last, last)])
    if kind != "model":
        return name
    if parts[0] == "labels":  # the second part is the name of a label
        return ".".join([kind, "label_heads", parts[1], *(PARTS.get(part, part) for part in parts[2:])])
    narrow = {"narrow": "mlp.fc2" if "blocks" in parts else "embedding_projection"}
    return ".".join([kind, *((PARTS | narrow).get(part, part) for part in parts)])


def renamed(values: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """The same values under the names of today; a value that was called otherwise has its name of today too."""
    today = {names.get(name, name): value for name, value in values.items()}
    return {
        name: VALUES.get((name, value), value) if isinstance(value, str) else value for name, value in today.items()
    }


def knobs_of(objective: Objective, values: Mapping[str, Any]) -> dict[str, Any]:
    """The knobs of an objective as an earlier version named them, under the names of today."""
    return renamed(values, dict(_names(objective)))


def _names(objective: Objective) -> Iterator[tuple[str, str]]:
    """Both names that a knob may have had, alone or behind its stage's name, and its name of today."""
    for stage in (stage for chain in objective.chains for stage in chain.stages):
        kind, known = type(stage).__name__, {k.name for k in knobs(stage)}
        kinds = [kind, *(old for old, new in STAGES.items() if new == kind)]
        names = {**{name: name for name in known}, **KNOBS.get(kind, {})}
        for old, new in ((old, new) for old, new in names.items() if new in known):
            today = new if new in objective.knobs else f"{kind}.{new}"
            yield from ((f"{each}.{old}", today) for each in kinds)
            if old not in objective.knobs:
                yield old, today
