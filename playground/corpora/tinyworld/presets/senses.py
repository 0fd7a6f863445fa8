"""Words with two meanings whose cue stands left or right, on both sides, near or far, or only in both cues together."""

from playground.corpora.tinyworld.grammar import Form, Way, Ways
from playground.corpora.tinyworld.lexicon import SENSES as WORDS
from playground.corpora.tinyworld.preset import Preset
from playground.corpora.tinyworld.ways import even, phrase

WHEN = ("morning", "evening")
WHERE = ("yard", "hall")


def exclusive() -> Ways:
    """One meaning where time and place are both the first or both the second of their kind, else the other (XOR)."""
    ways: dict[str, list[Way]] = {"When": even(Form(word, "NOUN", "sg") for word in WHEN)}
    for word, both in WORDS.items():
        for parity, (meaning, _) in enumerate(both):
            ways[f"Exclusive-{word}.{meaning}"] = [
                (1.0, _sentence(WHEN[k], f"Word-{word}.{meaning}", WHERE[k ^ parity])) for k in (0, 1)
            ]
    return ways


def _sentence(when: str, word: str, where: str) -> tuple:
    time, place = Form(when, "NOUN", "sg"), Form(where, "NOUN", "sg")
    scene = (*phrase("PP:time", "in", "the", time), *phrase("NP", "the", word), *phrase("VP", "was"))
    return (*scene, *phrase("PP:place", "in", "the", place), ".")


SENSES = Preset(
    name="senses",
    aliases=("homonyms",),
    tokens=300_000,
    idea="Words with two meanings; the cue that gives the meaning away is on "
    "the left, on the right or on both sides, near or far.",
    rules="""
Document = Album
Album = Sensed Sensed Sensed
Sensed = Left-near | Left-far | Right-near | Right-far | Both | 2: Xor
Left-near = Left-near-<s>
Left-far = Left-far-<s>
Right-near = Right-near-<s>
Right-far = Right-far-<s>
Both = Both-<s>
Xor = Xor-<s>
Left-near-<s> = cue:left{ distance:near{ PP:place[near the Cue-<s>] NP[the Word-<s>] VP[was] AP[Anyhow] . } }
Left-far-<s> = cue:left{ distance:far{ PP:place[near the Cue-<s>] Between NP[the Word-<s>] VP[was] AP[Anyhow] . } }
Right-near-<s> = cue:right{ distance:near{ NP[the Word-<s>] VP[was] PP:place[near the Cue-<s>] . } }
Right-far-<s> = cue:right{ distance:far{ NP[the Word-<s>] VP[was] AP[Anyhow] Between PP:place[near the Cue-<s>] . } }
Both-<s> = cue:both{ PP:place[by the Cue-<s>] NP[the Word-<s>] VP[was] PP:place[near the Cue-<s>] . }
Xor-<s> = cue:xor{ Exclusive-<s> } NP:agent[we] VP:action[saw] NP:patient[the Cue-<s>] .
Between = , PP:time[in the When] PP:place[behind the Place] ,
""",
    words=exclusive,
)
