"""Names of earlier versions, which stand in their files, links and command lines, and the names of today."""

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

from playground.errors import UserError
from playground.knob import knobs
from playground.objectives.objective import Objective


def _table(*lines: str) -> dict[str, str]:
    """The name of today for each old one, from lines such as "old=new other=name"."""
    return dict(pair.split("=") for line in lines for pair in line.split())


RECIPE = _table(
    "rate=lr matrix_rate=muon_lr window=seq_len batch=batch_size warm_up=warmup_ratio floor=min_lr_ratio",
    "decay=weight_decay clip=grad_clip accumulate=grad_accum_steps",
)
ARCHITECTURE = _table(
    "longest=max_position_embeddings feed=mlp_ratio start=init detects=rtd_head boundary=sbo_head",
    "generator_share=generator_ratio tied=tie_generator reads=attention",
)
SETTINGS = {"Recipe": RECIPE, "Architecture": ARCHITECTURE}
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

KNOBS: Mapping[str, str] = {
    "ArrangeCooccurrences": "window=window_size",
    "LabelledPair": "form=pair_format reset=reset_position_ids",
    "ArrangePair": "form=pair_format reset=reset_position_ids",
    "ShiftRight": "end=add_eos",
    "ArrangeText": "wrap=add_special_tokens",
    "DropLanguageIds": "told=language_embeddings",
    "ArrangeWindows": "radius=window_size shrink=shrink_windows",
    "AskAnswer": "end=add_eos",
    "AskSpanBoundary": "most=sbo_max_length",
    "AskContinuation": "grade=loss_on",
    "AskCount": "most=x_max power=alpha",
    "AskInBatchContrast": "twins=duplicates_as_negatives",
    "AskNext": "skip=context_size",
    "AskDecoder": "end=add_eos closing=final_sentinel",
    "AskTranslation": "end=add_eos",
    "ChangeEntities": "replaced=replace_prob",
    "ChangeSentenceOrder": "share=shuffle_ratio",
    "RotateDocument": "turned=rotate_prob official=match_released_code",
    "ChangeTokens": "mask=mask_replace_prob random=random_replace_prob pool=random_words_from together=replace_unit",
    "ChangeWordOrder": "window=shuffle_distance",
    "ChooseForDeletion": "rate=delete_ratio",
    "ChooseMassSpan": "share=span_ratio ends=edge_prob signs=count_specials",
    "ChooseGapSentences": "ratio=gap_sentence_ratio strategy=sentence_selection",
    "ChooseGeometricSpans": "rate=mask_ratio stop=geometric_p longest=max_span_length",
    "KeepSomeSentences": "share=unmasked_ratio",
    "ChooseSupervised": "share=supervised_ratio",
    "ChooseNgrams": "rate=mask_ratio longest=max_ngram law=sampler whole=whole_words specials=num_special_tokens",
    "ChooseNgram": "spread=length_std",
    "ChooseOrder": "kept=partial_prediction_k grams=ngram_weights functional=special_tokens law=sampler",
    "ChoosePoissonSpans": "rate=mask_ratio whole=whole_words",
    "ChooseRatio": "rate=mask_ratio",
    "ChooseSpans": "rate=noise_density official=match_released_code",
    "ChooseTokens": "rate=mask_ratio specials=num_special_tokens signs=special_tokens "
    "cap=max_predictions copies=dupe_factor",
    "ChooseTrigrams": "share=trigram_ratio",
    "ChooseWholeUnits": "rate=mask_ratio law=sampler specials=num_special_tokens",
    "SampleNegatives": "number=num_negatives power=ns_exponent",
    "SeeLeft": "window=sliding_window",
    "SeeRight": "window=sliding_window",
    "SampleMask": "told=mode_segments",
    "SeeWindow": "radius=window_size shrink=shrink_windows",
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
    """The same values under the names of today; an old word as a value becomes that of today too."""
    today = {names.get(name, name): value for name, value in values.items()}
    return {k: VALUES.get((k, v), v) if isinstance(v, str) else v for k, v in today.items()}


def knobs_of(objective: Objective, values: Mapping[str, Any]) -> dict[str, Any]:
    """The knobs of an objective as an earlier version named them, under the names of today."""
    return renamed(values, dict(_names(objective)))


def _names(objective: Objective) -> Iterator[tuple[str, str]]:
    """Each name that a knob of the objective ever had, alone or behind its stage's name, and its name of today."""
    for stage in (stage for each in objective.chains for stage in each.stages):
        kind, own = type(stage).__name__, {k.name for k in knobs(stage)}
        kinds = [kind, *(old for old, new in STAGES.items() if new == kind)]
        for old, new in {**{name: name for name in own}, **_table(KNOBS.get(kind, ""))}.items():
            if new in own:
                today = new if new in objective.knobs else f"{kind}.{new}"
                yield from ((f"{each}.{old}", today) for each in kinds)
                if old not in objective.knobs:
                    yield old, today


def current_settings(
    settings: Mapping[str, str], objective: Objective, *parts: object
) -> tuple[dict[str, str], list[str]]:
    """Typed settings under the names of today, with a sentence for each old name.

    They turn knobs of the objective and of `parts`, an architecture or a recipe. An old name of several of these knobs
    is refused, since a word has one meaning on a command line.
    """
    known = {*objective.knobs, *(k.name for part in parts for k in knobs(part))}
    meanings: dict[str, set[str]] = {}
    for old, new in chain(_names(objective), *(SETTINGS[type(part).__name__].items() for part in parts)):
        meanings.setdefault(old, set()).add(new)
    found = {name: value for name, value in settings.items() if name in known or name not in meanings}
    notices = []
    for name in (name for name in settings if name not in found):
        today, *others = sorted(meanings[name])
        if others:
            raise UserError(f"{name!r} is an old name of {' and of '.join([today, *others])}; write the one meant.")
        if today in found:
            raise UserError(f"{name!r} is called {today!r} now, and both are set; leave one of them out.")
        found |= renamed({name: settings[name]}, {name: today})
        notices.append(f"`{name}` is called `{today}` now.")
    return found, notices
