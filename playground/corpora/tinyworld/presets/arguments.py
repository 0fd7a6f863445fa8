"""Sentences of two clauses and the word that joins them, which follows from what the clauses say."""

from playground.corpora.tinyworld.preset import Preset

JOINED = ("and", "but", "because", "so")
"""The words that join clauses: addition, contrast, cause, result."""

ARGUMENTS = Preset(
    name="arguments",
    aliases=("connectives",),
    tokens=300_000,
    idea="Film reviews whose clauses are joined by and, but, because and so, as their sentiment requires.",
    rules="""
Document = Argued-<p>
Argued-<p> = Title-<p> Joined-<p> Joined-<p> Joined-<p>
Joined-<p> = connective:addition{ Clause-<p> and Clause-<p> . }
  | connective:contrast{ Clause-<p> but Clause-<q> . }
  | connective:cause{ Felt-it-<p> because Clause-<p> . }
  | connective:result{ Clause-<p> so Felt-it-<p> . }
Clause-<p> = 2: NP[the feeling:<p>{ Aspect }] VP[was] AP[Adjective-<p>]
  | 1: NP[the feeling:<p>{ Aspects }] VP[were] AP[Adjective-<p>]
Felt-it-<p> = NP:agent[i] VP:action[Verb-<p>] NP:patient[it]
""",
)
