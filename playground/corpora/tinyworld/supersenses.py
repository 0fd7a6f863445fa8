"""Supersenses of content words, fewer than WordNet has (SenseBERT, arXiv:1908.05646, sec. 3)."""

from playground.corpora.tinyworld import everyday
from playground.corpora.tinyworld import lexicon as lex
from playground.corpora.tinyworld.grammar import Form
from playground.corpora.tinyworld.inflection import participle, past, plural, with_s

NOUNS = {
    "person": f"{lex.JOBS} friend boy girl baby boss chef baker waiter guest gardener farmer neighbour child sailor "
    "captain fisherman diver teacher pupil student tutor merchant customer woman man nurse doctor patient surgeon "
    "actor cook judge guard umpire lawyer prisoner player coach builder golfer caddie member singer actress fan porter "
    "king queen prince princess father mother son daughter brother sister grandfather grandmother uncle aunt cousin",
    "animal": "mouse rabbit chicken animal shellfish bird beast beetle crow ladybird weevil dog cat cow sheep duck "
    "lion wolf crab shark eel lobster oyster mussel sardine herring insect penguin whale elephant horse",
    "plant": "grass flower tulip oak birch rose tree vine bush seed bulb bean nut leaf reed plant",
    "food": "pizza sandwich milk meat fruit sugar juice butter potato onion carrot radish egg pie loaf sausage cake "
    "tart melon omelette meal dish salad dessert apple berry plum tea coffee cheese chocolate honey rice soup bread "
    "gravy wine garnish batter pasta seasoning broth pastry fish buffet starter herb portion drink noodle vegetable "
    "dinner lunch supper breakfast",
    "body": "leg lung tooth knee foot wing feather beard moustache chin thumb elbow skin shoulder nose",
    "artifact": "car phone ball computer bag key bike ticket present hat cup bottle newspaper game chair table mat "
    "sofa shoe box floor wall net anchor rope hook boat ship raft canoe book pencil notebook map coat scarf dress "
    "shirt blanket towel curtain carpet basket mirror vase clock shelf ring toy lamp pill tablet capsule vitamin "
    "camera costume picture lighting ferry helmet racket envelope tower brick telescope suitcase train file record "
    "throne crown necklace skirt sword sledge kettle gown tie parcel gift cane album rocker kite swing plate napkin "
    "grill wallet",
    "place": "park city store station office restaurant river museum airport church village lake kitchen pantry cellar "
    "garden meadow orchard harbour island beach sea school library classroom market shop square hospital ward "
    "clinic capital bed path field ditch landscape stadium cave nest marsh lawn stage zoo jungle hotel yard hall "
    "palace bedroom house garage street border birthplace sight haven bridge mill castle",
    "nature": "mountain weather stream iceberg planet moon",
    "substance": "wax ice steam water gas solid",
    "time": "today tonight tomorrow yesterday wednesday thursday friday saturday sunday week weekend year afternoon "
    "summer winter night monday tuesday day morning evening",
    "possession": "loan coin cheque debt salary",
    "group": "cast jury party class",
    "speech": "name lesson poem text page essay course music story plot ending script dialogue song scene twist letter "
    "talk answer call sign joke shout whistle play opera jazz poetry film movie comedy drama language secret tale "
    "quarrel menu",
    "thought": "puzzle problem plan dream wish",
    "act": "exercise exam quiz acting editing photography choreography walk dance visit test vote race drive chess "
    "football skiing cycling yoga drawing sailing job fashion service",
    "state": "fever cough headache rash wound burn bruise scar",
    "property": "circle triangle cross humour pace style mood rhythm sound effect colour aroma",
}
"""Supersenses of nouns, which stand in the singular."""

VERBS = {
    "motion": "go went travel swim join jump follow meet come came launch fly flew move walk dance race drive fall "
    "visit",
    "change": "boil bake fry freeze dye cook",
    "contact": "use open close sit sat push wash peel chop slice dig rake clear sow bury soak prune spray pick gather "
    "load untie throw lower drop lift haul clean fold pack wrap bandage stitch plant file",
    "creation": "make sing weave sew write copy play record",
    "eating": "eat taste swallow feed",
    "giving": "find lose need pay serve share borrow buy bring sell catch offer return deliver exchange take has have",
    "thought": "read study solve check examine measure weigh test judge plan dream",
    "seeing": "see saw show scan notice",
    "speech": "thank greet invite warn blame bark purr moo neigh bleat quack roar howl praise repeat advertise report "
    "describe prescribe talk answer call sign joke shout whistle speak",
    "dealing": "help trust treat pass fail guard train vote",
    "feeling": "like want love enjoy admire adore hate regret dislike detest relish savour devour recommend refuse "
    "reject avoid despise",
    "staying": "live work stand wait rest stay",
}
"""Supersenses of verbs."""

_QUALITIES = (*(topic.qualities for topic in lex.TOPICS), everyday.QUALITIES, everyday.VALUES, everyday.WEATHER)

ADJECTIVES = {
    "judgement": f"{lex.GOOD} {lex.BAD} good bad {lex.FOOD[lex.GOOD]} {lex.FOOD[lex.BAD]}",
    "state": f"{everyday.MOODS} thrilled",
    "property": " ".join(
        dict.fromkeys(
            " ".join(("red blue yellow grey black brown white orange new", lex.STATES, "born", *_QUALITIES)).split()
        )
    ),
}
"""Supersenses of adjectives: a judgement of the speaker, a state of a person or a property of a thing."""

NAMES = {"person": "person", "city": "place", "town": "place", "country": "place", "language": "speech"}
"""Supersenses of the entity types."""

SUPERSENSES = tuple(dict.fromkeys((*NOUNS, *VERBS, *ADJECTIVES)))


_INFLECTED = {
    "NOUN": (NOUNS, (str, plural)),
    "VERB": (VERBS, (str, with_s, past, participle)),
    "ADJ": (ADJECTIVES, (str,)),
}
_BY_FORM = {
    (pos, inflect(word)): meaning
    for pos, (table, inflections) in _INFLECTED.items()
    for meaning, words in table.items()
    for word in words.split()
    for inflect in inflections
}


def supersense(form: Form) -> str:
    """The supersense of a content word in its role, "" for function words."""
    if form.entity:
        return NAMES[lex.ENTITIES[form.entity]]
    return lex.SUPERSENSE.get(form.sense) or _BY_FORM.get((form.pos, form.word), "")
