"""The grammar of TinyWorld: what a document, a sentence and a phrase consist of.

`Name = one way | another way`; capitals name a rule, small letters are words, a number and a colon in front is a
weight (else 1). `<t>` stands for every topic in turn, `<n>` for sg and pl, `<p>` for good and bad, `<k>` for the four
phases of a story, `<z>` for past and now, `<a>` for 0, 1 and 2 attractors, `<w>` for every person, `<s>` for every
meaning of an ambiguous word; `<m>` is the other number, `<q>` the other polarity. A letter that stands only on the
right makes one way for each of its values. `Hero := ...` remembers one choice for the rest of the document and `$Hero`
repeats it. `is/1` is a verb with the number of attractors that stand between it and its subject.
"""

RULES = """
Review-<p> = Title-<p> Line-<p> Line-<p> More-<p>
More-<p> = 4: Line-<p> | 3: Line-<p> Line-<p> | 2: | 1: Line-<p> Line-<p> Line-<p>
Title-<p> = a Anchor-<p> Film .
Anchor-good = good
Anchor-bad = bad
Line-<p> = 19: Said-<p> | 1: Said-<q>
Said-<p> = 4: Praise-<p> | 1: Felt-<p>
Praise-<p> = 5: the Aspect was Pair-<p> .
  | 2: the Aspects were Pair-<p> .
  | 2: it was a Pair-<p> Film .
  | 2: the Aspect was Very Adjective-<p> .
  | 1: the Aspect was not Adjective-<q> .
  | 1: the Aspects were Adjective-<p> , not Adjective-<q> .
Felt-<p> = 2: i Verb-<p> the Aspect . | 1: i Verb-<p> it .
Very = very | really | quite | truly | so

Story-<t> = 6: Cast-<t>-sg Told-<t>-sg | 4: Cast-<t>-pl Told-<t>-pl
Told-<t>-<n> = 3: Tale-<t>-<n>-past | 1: Tale-<t>-<n>-now
Tale-<t>-<n>-<z> = Title-<t> $Intro Come-<n>-<z> to the Place-<t> .
  Phase-<t>-1-<n>-<z> Phase-<t>-2-<n>-<z> Phase-<t>-3-<n>-<z> Phase-<t>-4-<n>-<z>
Come-<n>-past = came
Come-sg-now = comes
Come-pl-now = come
Phase-<t>-<k>-<n>-<z> = 3: Link-<k> Event-<t>-<k>-<n>-<z> | 1: Link-<k> Event-<t>-<k>-<n>-<z> Event-<t>-<k>-<n>-<z>
Event-<t>-<k>-<n>-<z> = 5: Subject Deed-<t>-<k>-<n>-<z> Thing-<t>-<k> .
  | 1: Subject Deed-<t>-<k>-<n>-<z> Thing-<t>-<k> near the Place-<t> .
  | 1: Subject Deed-<t>-<k>-<n>-<z> Thing-<t>-<k> and Thing-<t>-<k> .
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
Remark-<t> = 4: Some-<n> Being-<t>-<n> Does-<t>-<n>-0
  | 1: Some-<n> Being-<t>-<n> By the Being-<t>-<n> Does-<t>-<n>-0
  | 3: Some-<n> Being-<t>-<n> By the Being-<t>-<m> Does-<t>-<n>-1
  | 2: Some-<n> Being-<t>-<n> By the Being-<t>-<m> By the Being-<t>-<m> Does-<t>-<n>-2
By = near | behind
Being-<t>-<n> = 4: Person-<t>-<n> | 1: Noun-<t>-<k>-<n>
Does-<t>-sg-<a> = 3: is/<a> State-<t> . | 2: was/<a> State-<t> . | 2: Stay-sg-<a> .
Does-<t>-pl-<a> = 3: are/<a> State-<t> . | 2: were/<a> State-<t> . | 2: Stay-pl-<a> .
State-<t> = 1: Quality-<t> | 2: Anyhow

Life-<w> = Name-<w> was born in Birthplace-<w> . Work-<w> Likings-<w>
Work-<w> = 2: Name-<w> is a Job-<w> . | 1: He-<w> is a Job-<w> .
Likings-<w> = 4: Liking-<w> | 3: Liking-<w> Tongue-<w> | 2: Tongue-<w>
  | 1: Liking-<w> Name-<w> came from Birthplace-<w> .
Liking-<w> = 2: Name-<w> likes Like-<w> . | 1: He-<w> likes Like-<w> .
Tongue-<w> = 2: Name-<w> speaks Language-<w> . | 1: He-<w> speaks Language-<w> .

Journey = Traveller := Anybody $Traveller flew to Crossed . Capital Trip Trips
Trips = | Capital | Trip | Trip Capital
Trip = 2: Anybody flew to Crossed . | 1: Anybody moved to Crossed . | 1: $Traveller came home from Crossed .

Riddle = Meaning Meaning Meaning Meanings
Meanings = Meaning | Meaning Meaning | Meaning Meaning Meaning
Meaning = Sense-<s>
Sense-<s> = near the Cue-<s> we saw the Word-<s> . | the Word-<s> was near the Cue-<s> .
  | by the Cue-<s> the Word-<s> was near the Cue-<s> .

Habit = Use Use Use Uses
Uses = Use | Use Use | Use Use Use
Use = Named-<n> | Done-<n>
Named-sg = Some-sg Namesake-sg is Anyhow . | we saw Some-sg Namesake-sg . | a Anyhow Namesake-sg was near the Place .
Named-pl = Some-pl Namesake-pl are Anyhow . | we saw Some-pl Namesake-pl . | Anyhow Namesake-pl were near the Place .
Done-sg = Some-sg Person-sg Practice-sg every day . | Anybody Practice-sg near the Place .
Done-pl = Some-pl Person-pl Practice-pl every day . | they Practice-pl near the Place . | we want to Practice .
Person-<n> = Person-<t>-<n>
Place = Place-<t>
"""

WORLD = """
Document = 37: Review-<p> | 4: Story-<t> | 2.5: Scene-<t> | 14: Life | 5: Journey | 9: Riddle | 10: Habit
"""

REVIEWS = """
Document = Review-<p>
"""
