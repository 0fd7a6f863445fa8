"""Many probes fail the control task: with hidden units they can memorise a class for each word, so their accuracy says
little about the states."""

from playground.claims import Arm, Claim, lower

K198 = Claim(
    title="Probes and control tasks",
    source="Liu et al., sec. 8; Hewitt and Liang, arXiv:1909.03368",
    prediction="An MLP probe of the part of speech has a lower selectivity (its accuracy minus the accuracy of "
    "the control task) than a linear one.",
    otherwise="The MLP probe is as selective as the linear one.",
    common=Arm("MLM", corpus="world", figure="selectivity"),
    arms={
        "MLP probe": {"instrument": "probing classifier(count=500, hidden=128)"},
        "linear probe": {"instrument": "probing classifier(count=500, hidden=0)"},
    },
    rules=(lower("MLP probe", "linear probe"),),
    unit="of accuracy",
    scale="A small vocabulary, of which most words recur in the 500 sentences; a state of width 64 has room for few of "
    "them, so that a linear probe cannot memorise many.",
)
