"""The grammar of TinyWorld: what a document, a sentence and a phrase consist of.

`Name = one way | another way`; capitals name a rule, small letters are words, a number and a colon in front is a
weight (else 1). `<t>` stands for every topic in turn, `<n>` for sg and pl, `<p>` for good and bad, `<k>` for the four
phases of a story, `<z>` for past and now, `<a>` for 0, 1 and 2 attractors, `<w>` for every person, `<s>` for every
meaning of an ambiguous word, `<f>` for every field of meaning; `<m>` is the other number, `<q>` the other polarity. A
letter that stands only on the right makes one way for each of its values. `Hero := ...` remembers one choice for the
rest of the document and `$Hero` repeats it. `is/1` is a verb with the number of attractors that stand between it and
its subject. Brackets stand around the phrases, with their kind in front (noun, verb, prepositional or adjective phrase)
and perhaps their role; the dependency trees follow from them (`trees.py`). `event:2{...}` gives all that stands
between the braces the label event 2.
"""

RULES = """
Review-<p> = Title-<p> Line-<p> Line-<p> More-<p>
More-<p> = 4: Line-<p> | 3: Line-<p> Line-<p> | 2: | 1: Line-<p> Line-<p> Line-<p>
Title-<p> = NP[a Anchor-<p> Film] .
Anchor-good = good
Anchor-bad = bad
Line-<p> = 19: Said-<p> | 1: Said-<q>
Said-<p> = 4: Praise-<p> | 1: Felt-<p>
Praise-<p> = 5: NP[the feeling:<p>{ Aspect }] VP[was] AP[Pair-<p>] .
  | 2: NP[the feeling:<p>{ Aspects }] VP[were] AP[Pair-<p>] .
  | 2: NP[it] VP[was] NP[a Pair-<p> Film] .
  | 2: NP[the feeling:<p>{ Aspect }] VP[was] AP[Very Adjective-<p>] .
  | 1: NP[the feeling:<p>{ Aspect }] VP[was] AP[not Adjective-<q>] .
  | 1: NP[the feeling:<p>{ Aspects }] VP[were] AP[Adjective-<p>] , AP[not Adjective-<q>] .
Felt-<p> = 2: NP:agent[i] VP:action[Verb-<p>] NP:patient[the feeling:<p>{ Aspect }] .
  | 1: NP:agent[i] VP:action[Verb-<p>] NP:patient[it] .
Very = very | really | quite | truly | so

Story-<t> = 6: Cast-<t>-sg Told-<t>-sg | 4: Cast-<t>-pl Told-<t>-pl
Told-<t>-<n> = 3: Tale-<t>-<n>-past | 1: Tale-<t>-<n>-now
Tale-<t>-<n>-<z> = Title-<t> NP:agent[$Intro] VP:action[Come-<n>-<z>] PP:goal[to the Place-<t>] .
  event:1{ Phase-<t>-1-<n>-<z> } event:2{ Phase-<t>-2-<n>-<z> }
  event:3{ Phase-<t>-3-<n>-<z> } event:4{ Phase-<t>-4-<n>-<z> }
Title-<t> = NP[a day] PP:place[At-<t> the Home-<t>] .
Come-<n>-past = came
Come-sg-now = comes
Come-pl-now = come
Phase-<t>-<k>-<n>-<z> = 3: Link-<k> Event-<t>-<k>-<n>-<z> | 1: Link-<k> Event-<t>-<k>-<n>-<z> Event-<t>-<k>-<n>-<z>
Event-<t>-<k>-<n>-<z> = 5: NP:agent[Subject] VP:action[Deed-<t>-<k>-<n>-<z>] NP:patient[Thing-<t>-<k>] .
  | 1: NP:agent[Subject] VP:action[Deed-<t>-<k>-<n>-<z>] NP:patient[Thing-<t>-<k>] PP:place[near the Place-<t>] .
  | 1: NP:agent[Subject] VP:action[Deed-<t>-<k>-<n>-<z>] NP:patient[Thing-<t>-<k>] and NP:patient[Thing-<t>-<k>] .
  | 1: NP:patient[Some-<n> Noun-<t>-<k>-<n>] VP:action[Being-<n>-<z> Done-<t>-<k>] PP:agent[by $Hero] .
Being-sg-past = was
Being-sg-now = is
Being-pl-past = were
Being-pl-now = are
Link-1 = 5: | 1: first
Link-2 = 5: | 1: then
Link-3 = 5: | 1: later
Link-4 = 5: | 1: finally
Subject = 2: $Hero | 3: $Pronoun
Thing-<t>-<k> = 3: Some-sg Noun-<t>-<k>-sg | 2: Some-pl Noun-<t>-<k>-pl | 1: Some-sg Quality-<t> Noun-<t>-<k>-sg
Some-sg = 4: the | 2: a | 1: this
Some-pl = 3: the | 2: two | 1: many | 1: these

Scene-<t> = Remark-<t> Remark-<t> Remark-<t> Remark-<t> Remarks-<t>
Remarks-<t> = Remark-<t> | Remark-<t> Remark-<t> | Remark-<t> Remark-<t> Remark-<t>
Remark-<t> = 4: Topmost-<t>-<n> Does-<t>-<n>-0
  | 1: Topmost-<t>-<n> Beside-<t>-<n> Does-<t>-<n>-0
  | 3: Topmost-<t>-<n> Beside-<t>-<m> Does-<t>-<n>-1
  | 2: Topmost-<t>-<n> Beside-<t>-<m> Beside-<t>-<m> Does-<t>-<n>-2
Topmost-<t>-<n> = NP[Some-<n> Being-<t>-<n>]
Beside-<t>-<n> = PP:place[By the Being-<t>-<n>]
By = near | behind
Being-<t>-<n> = 4: Person-<t>-<n> | 1: Noun-<t>-<k>-<n>
Does-<t>-sg-<a> = 3: VP[is/<a>] AP[State-<t>] . | 2: VP[was/<a>] AP[State-<t>] . | 2: VP:action[Stay-sg-<a>] .
Does-<t>-pl-<a> = 3: VP[are/<a>] AP[State-<t>] . | 2: VP[were/<a>] AP[State-<t>] . | 2: VP:action[Stay-pl-<a>] .
State-<t> = 1: Quality-<t> | 2: Anyhow

Life-<w> = NP[Name-<w>] VP[was born] PP:place[in Birthplace-<w>] . Work-<w> Likings-<w>
Work-<w> = 2: NP[Name-<w>] VP[is] NP[a Job-<w>] . | 1: NP[He-<w>] VP[is] NP[a Job-<w>] .
Likings-<w> = 4: Liking-<w> | 3: Liking-<w> Tongue-<w> | 2: Tongue-<w>
  | 1: Liking-<w> NP:agent[Name-<w>] VP:action[came] PP:source[from Birthplace-<w>] .
Liking-<w> = 2: NP:agent[Name-<w>] VP:action[likes] NP:patient[Like-<w>] .
  | 1: NP:agent[He-<w>] VP:action[likes] NP:patient[Like-<w>] .
Tongue-<w> = 2: NP:agent[Name-<w>] VP:action[speaks] NP:patient[Language-<w>] .
  | 1: NP:agent[He-<w>] VP:action[speaks] NP:patient[Language-<w>] .

Journey = Traveller := Anybody NP:agent[chain:hero{ $Traveller }] VP:action[flew] PP:goal[to Crossed] .
  Capital Trip Trips
Trips = | Capital | Trip | Trip Capital | Cry Cry
Trip = 2: NP:agent[Anybody] VP:action[flew] PP:goal[to Crossed] .
  | 1: NP:agent[Anybody] VP:action[moved] PP:goal[to Crossed] .
  | 1: NP:agent[chain:hero{ $Traveller }] VP:action[came home] PP:source[from Crossed] .
  | 1: NP:agent[chain:hero{ $Traveller }] VP:action[stayed] PP:place[in Town] .
  | 1: NP:agent[Anybody] VP:action[walked] PP:source[from Town] PP:goal[to Town] .

Meeting = Woman := Women Man := Men Met Dealing Dealing Dealings
Met = NP:agent[chain:hero{ $Woman }] VP:action[met] NP:patient[chain:other{ $Man }] .
  | NP:agent[chain:other{ $Man }] VP:action[met] NP:patient[chain:hero{ $Woman }] .
Dealings = | Dealing | Dealing Dealing
Dealing = 2: NP:agent[She] VP:action[Dealt] NP:patient[Him] . | 2: NP:agent[He] VP:action[Dealt] NP:patient[Her] .
  | 1: NP:patient[She] VP:action[was Dealt-with] PP:agent[by Him] .
  | 1: NP:patient[He] VP:action[was Dealt-with] PP:agent[by Her] .
She = chain:hero{ $Woman } | chain:hero{ she }
Her = chain:hero{ $Woman } | chain:hero{ her }
He = chain:other{ $Man } | chain:other{ he }
Him = chain:other{ $Man } | chain:other{ him }

Riddle = Mixed | Field
Mixed = Meaning Meaning Meaning Meanings
Meanings = Meaning | Meaning Meaning | Meaning Meaning Meaning
Riddle-<f> = Meaning-<f> Meaning-<f> Meaning-<f> Meanings-<f>
Meanings-<f> = Meaning-<f> | Meaning-<f> Meaning-<f> | Meaning-<f> Meaning-<f> Meaning-<f>
Meaning-<f> = 5: Sensed-<f> | 2: Bare-<f> | 1: NP[the Cue-<f>] VP[was] PP:place[near the Cue-<f>] .
Bare-<s> = NP[the Word-<s>] VP[was] AP[Anyhow] .
  | NP:agent[we] VP:action[saw] NP:patient[the Word-<s>] PP:place[near the Place] .
Meaning = Sense-<s>
Sense-<s> = 2: PP:place[near the Cue-<s>] NP:agent[we] VP:action[saw] NP:patient[the Word-<s>] .
  | 1: NP[the Word-<s>] VP[was] PP:place[near the Cue-<s>] .
  | 1: NP[the Anyhow Word-<s>] VP[was] PP:place[near the Cue-<s>] .
  | 1: PP:place[near the Cue-<s>] NP[the Word-<s>] VP[was] AP[Anyhow] .
  | 1: PP:place[by the Cue-<s>] NP[the Word-<s>] VP[was] PP:place[near the Cue-<s>] .

Habit = Use Use Use Uses
Uses = Use | Use Use | Use Use Use
Use = Named-<n> | Done-<n> | Planned-<n>
Named-sg = NP[Some-sg Namesake-sg] VP[is] AP[Anyhow] . | NP:agent[we] VP:action[saw] NP:patient[Some-sg Namesake-sg] .
  | NP[a Anyhow Namesake-sg] VP[was] PP:place[near the Place] .
Named-pl = NP[Some-pl Namesake-pl] VP[are] AP[Anyhow] .
  | NP:agent[we] VP:action[saw] NP:patient[Some-pl Namesake-pl] .
  | NP[Anyhow Namesake-pl] VP[were] PP:place[near the Place] .
Done-sg = NP:agent[Some-sg Person-sg] VP:action[Practice-sg] NP:time[every day] .
  | NP:agent[Anybody] VP:action[Practice-sg] PP:place[near the Place] .
Done-pl = NP:agent[Some-pl Person-pl] VP:action[Practice-pl] NP:time[every day] .
  | NP:agent[they] VP:action[Practice-pl] PP:place[near the Place] .
  | NP:agent[we] VP:action[want to Practice] .
Planned-sg = NP:agent[Some-sg Person-sg] VP:action[Practice-sg] NP:patient[Some-<n> Namesake-<n>] .
Planned-pl = NP:agent[they] VP:action[Practice-pl] NP:patient[Some-<n> Namesake-<n>] .
  | NP:agent[we] VP:action[want to Practice] NP:patient[Some-<n> Namesake-<n>] .
Person-<n> = Person-<t>-<n>
Place = Place-<t>
"""
