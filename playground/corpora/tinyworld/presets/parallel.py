"""Documents of one sentence, to be translated."""

from playground.corpora.tinyworld.preset import Preset

PARALLEL = Preset(
    name="parallel",
    idea="Single sentences, each followed by its translation into an invented language that puts the verb last.",
    rules="""
Document = 4: Said-<p> | 3: Told-<w> | 2: Move | 2: Meaning
Told-<w> = 2: NP[Name-<w>] VP[was born] PP:place[in Birthplace-<w>] . | 2: NP[Name-<w>] VP[is] NP[a Job-<w>] .
  | 2: NP:agent[Name-<w>] VP:action[likes] NP:patient[Like-<w>] .
  | 1: NP:agent[Name-<w>] VP:action[speaks] NP:patient[Language-<w>] .
Move = 2: NP:agent[Anybody] VP:action[flew] PP:goal[to Crossed] .
  | 1: NP:agent[Anybody] VP:action[moved] PP:goal[to Crossed] .
  | 1: NP:agent[Anybody] VP:action[walked] PP:source[from Town] PP:goal[to Town] .
""",
)
