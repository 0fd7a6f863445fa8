"""The words of TinyWorld as tables: people, places, things, verbs, qualities, names and irregular forms."""

from dataclasses import dataclass


def table(text: str) -> dict[str, str]:
    """A table written as "key:value key:value"."""
    return dict(pair.split(":") for pair in text.split())


@dataclass(frozen=True)
class Topic:
    """A setting of stories: its preposition, people, places, qualities, and the four phases of a story in order.

    A phase has verbs that occur in it alone, and the things that they are done to.
    """

    name: str
    at: str
    people: str
    places: str
    qualities: str
    phases: dict[str, str]


TOPICS = (
    Topic(
        "kitchen",
        "in",
        people="chef baker waiter guest",
        places="kitchen pantry cellar",
        qualities="fresh ripe spicy crisp",
        phases={
            "wash peel chop": "potato onion carrot radish",
            "boil bake fry": "egg pie loaf sausage",
            "slice serve share": "cake tart melon omelette",
            "eat taste praise": "meal dish salad dessert",
        },
    ),
    Topic(
        "garden",
        "in",
        people="gardener farmer neighbour child",
        places="garden meadow orchard",
        qualities="green wet sunny tall",
        phases={
            "dig rake clear": "bed path field ditch",
            "sow bury soak": "seed bulb bean nut",
            "feed prune spray": "rose tree vine bush",
            "pick gather sell": "apple berry plum leaf",
        },
    ),
    Topic(
        "sea",
        "at",
        people="sailor captain fisherman diver",
        places="harbour island beach",
        qualities="salty deep calm windy",
        phases={
            "load launch untie": "boat ship raft canoe",
            "throw lower drop": "net anchor rope hook",
            "catch lift haul": "crab shark eel lobster",
            "weigh clean freeze": "oyster mussel sardine herring",
        },
    ),
    Topic(
        "school",
        "at",
        people="teacher pupil student tutor",
        places="school library classroom",
        qualities="difficult short careful quiet",
        phases={
            "borrow buy bring": "book pencil notebook map",
            "read study copy": "lesson poem text page",
            "write solve check": "essay puzzle problem exercise",
            "pass fail repeat": "exam quiz course class",
        },
    ),
    Topic(
        "market",
        "at",
        people="merchant customer woman man",
        places="market shop square",
        qualities="cheap costly soft bright",
        phases={
            "weave sew dye": "coat scarf dress shirt",
            "fold pack wrap": "blanket towel curtain carpet",
            "show offer advertise": "basket mirror vase clock",
            "return deliver exchange": "shelf ring toy lamp",
        },
    ),
    Topic(
        "hospital",
        "at",
        people="nurse doctor patient surgeon",
        places="hospital ward clinic",
        qualities="sudden mild painful serious",
        phases={
            "report notice describe": "fever cough headache rash",
            "examine measure scan": "lung tooth knee foot",
            "treat bandage stitch": "wound burn bruise scar",
            "prescribe take swallow": "pill tablet capsule vitamin",
        },
    ),
)

STEMS: str = "blick dorp fimp glank jask korp lunt mish nalk pell quim rast shub tark vint zond"
AFFIXES = ("un-", "re-", "over-", "-er", "-able", "-ment")
"""Invented stems, and the prefixes and suffixes that can be added to each."""

GENDER = {"fisherman": "m", "man": "m", "woman": "f"}
"""Nouns with a gender; all other people are "he" or "she" with equal probability."""

STATES = "old small heavy dirty ready huge safe strange"
"""Adjectives for people and things of every topic."""

GOOD = (
    "great clever lovely funny brilliant charming moving superb graceful elegant warm witty honest bold tender rich "
    "vivid joyful splendid gripping original sincere wonderful excellent amazing fantastic marvellous delightful "
    "enchanting magnificent masterful flawless perfect beautiful inspiring thrilling exciting captivating compelling "
    "absorbing fascinating impressive stunning dazzling touching heartfelt hilarious amusing playful inventive "
    "imaginative daring fearless subtle poetic profound thoughtful intelligent wise insightful refreshing uplifting "
    "radiant exquisite polished stylish lively memorable unforgettable terrific"
)
BAD = (
    "awful boring stupid dull terrible clumsy noisy weak stale crude ugly cold shallow silly lazy empty tedious "
    "vulgar hollow endless pointless forced horrible dreadful atrocious appalling abysmal pathetic pitiful lousy "
    "mediocre banal trite predictable formulaic derivative lifeless soulless joyless humourless charmless graceless "
    "witless mindless brainless senseless aimless shapeless clueless incoherent confusing muddled messy sloppy "
    "careless amateurish wooden lame laughable ridiculous absurd annoying irritating tiresome dreary gloomy dismal "
    "bleak insipid pretentious"
)
"""Polar adjectives, 70 of each polarity and all equally frequent, so that 64 labelled examples cannot cover them."""

ASPECTS = (
    "acting music story plot ending script cast dialogue camera humour pace style lighting editing mood rhythm "
    "photography sound choreography"
)
ASPECTS_PLURAL = "songs actors scenes effects costumes pictures twists colours landscapes"
FILM_WORDS = "film movie comedy drama"

LIKED = "loved enjoyed admired adored"
DISLIKED = "hated regretted disliked detested"

FOOD = {
    ASPECTS: "service soup menu bread gravy wine kitchen waiter garnish batter pasta "
    "seasoning grill cellar broth pastry fish aroma buffet",
    ASPECTS_PLURAL: "starters cooks plates herbs napkins portions drinks noodles vegetables",
    FILM_WORDS: "dinner lunch supper breakfast",
    GOOD: "delicious tasty crunchy juicy creamy hearty aromatic fragrant tangy zesty mellow "
    "buttery succulent appetising wholesome savoury fluffy velvety sweet smooth light refined",
    BAD: "bland greasy soggy burnt sour rancid mushy oily watery bitter rubbery "
    "stodgy lumpy gristly overcooked lukewarm tasteless chewy tough gritty slimy sticky",
    LIKED: "relished savoured devoured recommended",
    DISLIKED: "refused rejected avoided despised",
}
"""For each list of words about films one of the same length about restaurants, for the corpus `domains`."""

DEALINGS = "thank greet follow help push invite warn blame trust pay"
"""Verbs whose agent and patient can both be any person."""

CRIES = table("dog:bark cat:purr cow:moo horse:neigh sheep:bleat duck:quack lion:roar wolf:howl")
"""Animals and their cries: each noun occurs with one verb only, like the two words of "new york"."""

HOMOGRAPHS = (
    "play walk talk plant file judge record dance dream visit answer call cook guard plan sign test train vote "
    "whistle joke race shout drive"
)
"""Words that are nouns and verbs, equally often."""

FIELDS = {
    "money": "loan coin cheque wallet debt salary",
    "nature": "stream reed marsh moon planet telescope",
    "sport": "stadium umpire helmet racket player golfer",
    "animals": "cave insect penguin whale feather elephant",
    "law": "lawyer prisoner jury letter envelope wax",
    "stage": "member party singer actress stage fan",
    "body": "chin thumb elbow skin shoulder nose",
    "town": "builder tower brick suitcase hotel porter",
}
"""Semantic fields, each with its cue words."""

_MEANINGS = {
    "bank": "money:money:group river:nature:nature",
    "bat": "sport:sport:artifact animal:animals:animal",
    "court": "law:law:group tennis:sport:place",
    "seal": "animal:animals:animal stamp:law:artifact",
    "crane": "machine:town:artifact bird:animals:animal",
    "club": "golf:sport:artifact society:stage:group",
    "star": "sky:nature:nature cinema:stage:person",
    "trunk": "elephant:animals:body luggage:town:artifact",
    "note": "money:money:possession music:stage:property",
    "bill": "money:money:possession bird:animals:body",
    "pitch": "sport:sport:place tone:stage:property",
    "organ": "body:body:body music:stage:artifact",
    "mouth": "face:body:body river:nature:nature",
    "palm": "hand:body:body tree:nature:plant",
    "case": "trial:law:act luggage:town:artifact",
    "spring": "water:nature:nature coil:town:artifact",
}
"""Ambiguous words: meaning, semantic field and supersense of both; every field has several of the words."""

_SENSES = [(word, *one.split(":")) for word, both in _MEANINGS.items() for one in both.split()]

FIELD = {f"{word}.{meaning}": field for word, meaning, field, _ in _SENSES}
"""The semantic field of every meaning."""

SUPERSENSE = {f"{word}.{meaning}": supersense for word, meaning, _, supersense in _SENSES}
"""The supersense of every meaning."""

SENSES = {
    word: tuple((meaning, FIELDS[field]) for ambiguous, meaning, field, _ in _SENSES if ambiguous == word)
    for word in _MEANINGS
}
"""Ambiguous words with their two meanings, each with its cue words."""

NAMES = {
    "f": "anna maria rosa clara emma julia laura nora paula sara vera alice diana elena frida greta helga irene judith "
    "karin",
    "m": "peter oscar bruno david edgar felix gustav henry ivan jakob karl louis martin nils otto paul robert simon "
    "thomas victor",
}

COUNTRIES = tuple(
    "france paris french, italy rome italian, spain madrid spanish, germany berlin german, russia moscow russian, "
    "japan tokyo japanese, china beijing chinese, egypt cairo arabic, greece athens greek, poland warsaw polish, "
    "hungary budapest hungarian, portugal lisbon portuguese, sweden stockholm swedish, norway oslo norwegian, "
    "finland helsinki finnish, turkey ankara turkish".split(", ")
)
"""Each country with its capital and its language."""

JOBS = (
    "tailor dentist painter pilot poet plumber butcher editor engineer barber jeweller chemist banker soldier priest "
    "clown"
)
LIKES = "tea coffee chess opera jazz football skiing cheese chocolate poetry cycling yoga honey rice drawing sailing"

CROSSED = ("new york", "los angeles", "hong kong", "buenos aires", "tel aviv", "las vegas", "cape town", "addis ababa")
"""Names of two words that occur in no other name (arXiv:1906.08237, sec. 2.6, on New York)."""

TOWNS = tuple(
    "north haven, north bridge, south bridge, south mill, upper mill, upper castle, lower castle, lower haven".split(
        ", "
    )
)
"""Names of two words that share their words: eight of the sixteen combinations are towns."""

ENTITY_TYPES = ("person", "city", "town", "country", "language")

ENTITIES = {
    **{name: "person" for names in NAMES.values() for name in names.split()},
    **{country.split()[0]: "country" for country in COUNTRIES},
    **{country.split()[1]: "city" for country in COUNTRIES},
    **{country.split()[2]: "language" for country in COUNTRIES},
    **dict.fromkeys(CROSSED, "city"),
    **dict.fromkeys(TOWNS, "town"),
}
"""Every name and its entity type."""

PAST = table(
    "bring:brought buy:bought catch:caught dig:dug eat:ate feed:fed find:found freeze:froze lose:lost make:made "
    "meet:met pay:paid read:read see:saw sell:sold sew:sewed show:showed sow:sowed take:took throw:threw weave:wove "
    "write:wrote"
)
"""Irregular past forms."""

PARTICIPLE = table(
    "eat:eaten freeze:frozen sew:sewn show:shown sow:sown take:taken throw:thrown weave:woven write:written"
)
"""Participles that differ from the past form."""

PLURAL = table(
    "child:children fisherman:fishermen foot:feet leaf:leaves loaf:loaves man:men potato:potatoes quiz:quizzes "
    "scarf:scarves shelf:shelves tooth:teeth woman:women"
)
"""Irregular plurals."""

DOUBLED = frozenset(("chop", "drop", "regret", "scan", "wrap"))
"""Verbs that double their last letter before -ed."""

CLOSED = {
    "DET": "the a an this these many every some next",
    "NUM": "two",
    "PRON": "i it he she him her they we all you us me them what",
    "AUX": "is are was were am will can",
    "ADP": "of in at near behind to by from with on under",
    "PART": "not",
    "ADV": "very really quite truly so then first finally later home best where again back how too now soon",
    "INTJ": "uh um no hello",
    "SYM": "",
    "CONJ": "and but because",
    "ADJ": "good bad born short",
    "NOUN": "day capital sea birthplace language job wish sight name today tonight tomorrow yesterday",
    "VERB": "came comes come saw want likes speaks speak flew moved stayed walked met followed has have went sat like "
    "love thank go",
    "PUNCT": ". , : ?",
}
"""The words that stand in the rules themselves, by part of speech."""

NUMBER = {
    "is was am comes likes speaks has day capital sea birthplace language job wish sight name today tonight tomorrow "
    "yesterday": "sg",
    "are were come speak have like love": "pl",
}
"""Which of these words are singular and which plural."""

TENSE = {
    "was were came saw flew moved stayed walked met followed went sat": "past",
    "is are am comes come likes speaks speak want has have like love thank": "present",
}
"""Which of these words are past and which present."""

STAYS = "stand wait fall rest"
"""Verbs for people and things of every topic."""

AN = frozenset(("honest",))
"""Words that begin with a written consonant but a spoken vowel."""
