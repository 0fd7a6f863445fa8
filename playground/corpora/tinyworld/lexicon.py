"""The words of TinyWorld, as tables: who is there, what they do, what things are called."""

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Phase:
    """A step of a story: verbs that belong to it alone, and the things they are done to."""

    verbs: str
    things: str


@dataclass(frozen=True)
class Topic:
    """A place where stories happen: in or at, its people, places, qualities and the order of events."""

    name: str
    at: str
    people: str
    places: str
    qualities: str
    phases: tuple[Phase, Phase, Phase, Phase]


TOPICS = (
    Topic(
        "kitchen",
        "in",
        people="chef baker waiter guest",
        places="kitchen pantry cellar",
        qualities="fresh ripe spicy crisp",
        phases=(
            Phase("wash peel chop", "potato onion carrot radish"),
            Phase("boil bake fry", "egg pie loaf sausage"),
            Phase("slice serve share", "cake tart melon omelette"),
            Phase("eat taste praise", "meal dish salad dessert"),
        ),
    ),
    Topic(
        "garden",
        "in",
        people="gardener farmer neighbour child",
        places="garden meadow orchard",
        qualities="green wet sunny tall",
        phases=(
            Phase("dig rake clear", "bed path field ditch"),
            Phase("sow bury soak", "seed bulb bean nut"),
            Phase("feed prune spray", "rose tree vine bush"),
            Phase("pick gather sell", "apple berry plum leaf"),
        ),
    ),
    Topic(
        "sea",
        "at",
        people="sailor captain fisherman diver",
        places="harbour island beach",
        qualities="salty deep calm windy",
        phases=(
            Phase("load launch untie", "boat ship raft canoe"),
            Phase("throw lower drop", "net anchor rope hook"),
            Phase("catch lift haul", "crab shark eel lobster"),
            Phase("weigh clean freeze", "oyster mussel sardine herring"),
        ),
    ),
    Topic(
        "school",
        "at",
        people="teacher pupil student tutor",
        places="school library classroom",
        qualities="difficult short careful quiet",
        phases=(
            Phase("borrow buy bring", "book pencil notebook map"),
            Phase("read study copy", "lesson poem text page"),
            Phase("write solve check", "essay puzzle problem exercise"),
            Phase("pass fail repeat", "exam quiz course class"),
        ),
    ),
    Topic(
        "market",
        "at",
        people="merchant customer woman man",
        places="market shop square",
        qualities="cheap costly soft bright",
        phases=(
            Phase("weave sew dye", "coat scarf dress shirt"),
            Phase("fold pack wrap", "blanket towel curtain carpet"),
            Phase("show offer advertise", "basket mirror vase clock"),
            Phase("return deliver exchange", "shelf ring toy lamp"),
        ),
    ),
    Topic(
        "hospital",
        "at",
        people="nurse doctor patient surgeon",
        places="hospital ward clinic",
        qualities="sudden mild painful serious",
        phases=(
            Phase("report notice describe", "fever cough headache rash"),
            Phase("examine measure scan", "lung tooth knee foot"),
            Phase("treat bandage stitch", "wound burn bruise scar"),
            Phase("prescribe take swallow", "pill tablet capsule vitamin"),
        ),
    ),
)

STEMS: str = "blick dorp fimp glank jask korp lunt mish nalk pell quim rast shub tark vint zond"
AFFIXES = ("un-", "re-", "over-", "-er", "-able", "-ment")
"""Invented stems, and what can stand before or after every one of them."""

GENDER = {"fisherman": "m", "man": "m", "woman": "f"}
"""Nouns that say who is meant; all other people are he or she with equal chance."""

STATES = "old small heavy dirty ready huge safe strange"
"""What people and things of every topic can be."""

GOOD = (
    "great clever lovely funny brilliant charming moving superb graceful elegant warm "
    "witty honest bold tender rich vivid joyful splendid gripping original sincere "
    "wonderful excellent amazing fantastic marvellous delightful enchanting magnificent masterful flawless perfect "
    "beautiful inspiring thrilling exciting captivating compelling absorbing fascinating impressive stunning dazzling "
    "touching heartfelt hilarious amusing playful inventive imaginative daring fearless subtle poetic profound "
    "thoughtful intelligent wise insightful refreshing uplifting radiant exquisite polished stylish lively memorable "
    "unforgettable terrific"
)
BAD = (
    "awful boring stupid dull terrible clumsy noisy weak stale crude ugly "
    "cold shallow silly lazy empty tedious vulgar hollow endless pointless forced "
    "horrible dreadful atrocious appalling abysmal pathetic pitiful lousy mediocre banal trite predictable formulaic "
    "derivative lifeless soulless joyless humourless charmless graceless witless mindless brainless senseless aimless "
    "shapeless clueless incoherent confusing muddled messy sloppy careless amateurish wooden lame laughable ridiculous "
    "absurd annoying irritating tiresome dreary gloomy dismal bleak insipid pretentious"
)
"""Feeling words, 70 of each kind and all equally frequent: 64 labels cannot show them all."""

ASPECTS = (
    "acting music story plot ending script cast dialogue camera humour pace style "
    "lighting editing mood rhythm photography sound choreography"
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
"""For each list of words about films one as long about restaurants, for the corpus of two domains."""

DEALINGS = "thank greet follow help push invite warn blame trust pay"
"""What people do to each other, in either direction."""

CRIES = {
    "dog": "bark",
    "cat": "purr",
    "cow": "moo",
    "horse": "neigh",
    "sheep": "bleat",
    "duck": "quack",
    "lion": "roar",
    "wolf": "howl",
}
"""Animals and what only they do: noun and verb say each other, as the halves of "new york" do."""

HOMOGRAPHS = (
    "play walk talk plant file judge record dance dream visit answer call "
    "cook guard plan sign test train vote whistle joke race shout drive"
)
"""Words that are nouns and verbs, each as often as the other."""

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
"""Fields of meaning, each with the words that give it away."""

_MEANINGS = {
    "bank": "money:money river:nature",
    "bat": "sport:sport animal:animals",
    "court": "law:law tennis:sport",
    "seal": "animal:animals stamp:law",
    "crane": "machine:town bird:animals",
    "club": "golf:sport society:stage",
    "star": "sky:nature cinema:stage",
    "trunk": "elephant:animals luggage:town",
    "note": "money:money music:stage",
    "bill": "money:money bird:animals",
    "pitch": "sport:sport tone:stage",
    "organ": "body:body music:stage",
    "mouth": "face:body river:nature",
    "palm": "hand:body tree:nature",
    "case": "trial:law luggage:town",
    "spring": "water:nature coil:town",
}
"""Words with two meanings, each of another field, so that every field has several of them."""

FIELD = {
    f"{word}.{meaning}": field
    for word, both in _MEANINGS.items()
    for meaning, field in (one.split(":") for one in both.split())
}
"""The field of every meaning."""

SENSES = {
    word: tuple((meaning, FIELDS[FIELD[f"{word}.{meaning}"]]) for meaning in re.findall(r"(\w+):", both))
    for word, both in _MEANINGS.items()
}
"""Words with two meanings, and for each meaning the words that give it away."""

NAMES = {
    "f": "anna maria rosa clara emma julia laura nora paula sara vera alice diana elena frida greta helga irene judith "
    "karin",
    "m": "peter oscar bruno david edgar felix gustav henry ivan jakob karl louis martin nils otto paul robert simon "
    "thomas victor",
}

COUNTRIES = (
    "france paris french",
    "italy rome italian",
    "spain madrid spanish",
    "germany berlin german",
    "russia moscow russian",
    "japan tokyo japanese",
    "china beijing chinese",
    "egypt cairo arabic",
    "greece athens greek",
    "poland warsaw polish",
    "hungary budapest hungarian",
    "portugal lisbon portuguese",
    "sweden stockholm swedish",
    "norway oslo norwegian",
    "finland helsinki finnish",
    "turkey ankara turkish",
)
"""A country, its capital and its language."""

JOBS = (
    "tailor dentist painter pilot poet plumber butcher editor "
    "engineer barber jeweller chemist banker soldier priest clown"
)
LIKES = "tea coffee chess opera jazz football skiing cheese chocolate poetry cycling yoga honey rice drawing sailing"

CROSSED = ("new york", "los angeles", "hong kong", "buenos aires", "tel aviv", "las vegas", "cape town", "addis ababa")
"""Names of two words, both of which occur nowhere else (arXiv:1906.08237, sec. 2.6, on New York)."""

TOWNS = (
    "north haven",
    "north bridge",
    "south bridge",
    "south mill",
    "upper mill",
    "upper castle",
    "lower castle",
    "lower haven",
)
"""Names of two words that share their parts: of the sixteen pairs only these eight are towns."""

PAST = {
    "bring": "brought",
    "buy": "bought",
    "catch": "caught",
    "dig": "dug",
    "eat": "ate",
    "feed": "fed",
    "find": "found",
    "freeze": "froze",
    "lose": "lost",
    "make": "made",
    "meet": "met",
    "pay": "paid",
    "read": "read",
    "see": "saw",
    "sell": "sold",
    "sew": "sewed",
    "show": "showed",
    "sow": "sowed",
    "take": "took",
    "throw": "threw",
    "weave": "wove",
    "write": "wrote",
}
"""Past forms that no rule gives."""

PARTICIPLE = {
    "eat": "eaten",
    "freeze": "frozen",
    "sew": "sewn",
    "show": "shown",
    "sow": "sown",
    "take": "taken",
    "throw": "thrown",
    "weave": "woven",
    "write": "written",
}
"""What has been done, where it differs from the past form."""

PLURAL = {
    "child": "children",
    "fisherman": "fishermen",
    "foot": "feet",
    "leaf": "leaves",
    "loaf": "loaves",
    "man": "men",
    "potato": "potatoes",
    "quiz": "quizzes",
    "scarf": "scarves",
    "shelf": "shelves",
    "tooth": "teeth",
    "woman": "women",
}
"""Plurals that no rule gives."""

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
"""The small words of the grammar and what they are; [SEP] ends a document."""

NUMBER = {
    "is was am comes likes speaks has day capital sea birthplace language job wish sight name today tonight tomorrow "
    "yesterday": "sg",
    "are were come speak have like love": "pl",
}
"""Which of the small words are for one and which for more than one."""

TENSE = {
    "was were came saw flew moved stayed walked met followed went sat": "past",
    "is are am comes come likes speaks speak want has have like love thank": "present",
}
"""Which of the small words are past and which present."""

STAYS = "stand wait fall rest"
"""What people and things of every topic do."""

AN = frozenset(("honest",))
"""Words that are spoken with a vowel first, although a consonant is written."""
