"""Two hundred rare names that tags and words may have, and chains named with some of them."""

import random
from itertools import chain

import numpy as np

from crfviz.chain.potentials import Potentials
from tests.support.rotation import commit

_SIGNS = list(",.:;#'\"`|/\\%&()*+-<=>?@[]^_{}~$!")
_TREEBANKS = [
    "''",
    "``",
    "-LRB-",
    "-RRB-",
    "-LCB-",
    "$.",
    "$,",
    "$(",
    "WP$",
    "PRP$",
    "NP|<S>",
    "S/NP",
]
_TREEBANKS += [
    "NOUN|Case=Nom|Number=Sing",
    "VERB|Mood=Ind|Number=Sing|Person=3|Tense=Pres|VerbForm=Fin",
]
_TREEBANKS += [
    "A=B",
    "a=b",
    "k=v,w=x",
    "B-geo",
    "I-geo",
    "B-",
    "I-",
    "B-B-x",
    "S-x-y",
    "<unk>",
    "<PAD>",
]
_OF_A_LANGUAGE = [
    "__proto__",
    "constructor",
    "prototype",
    "toString",
    "hasOwnProperty",
    "valueOf",
    "length",
]
_OF_A_LANGUAGE += [
    "null",
    "None",
    "NaN",
    "nan",
    "undefined",
    "true",
    "False",
    "inf",
    "-inf",
    "Infinity",
]
_OF_A_LANGUAGE += [
    "self",
    "__class__",
    "{}",
    "[]",
    "()",
    "${x}",
    "{0}",
    "%s",
    "%d",
    "\\n",
    "\\",
    "\\t",
    "r'x'",
]
_NUMERALS = [
    "0",
    "1",
    "2",
    "3",
    "-1",
    "+1",
    "1.0",
    "1e3",
    "0x1",
    "01",
    "007",
    "1,5",
    "½",
    "²",
    "٣",
    "一",
    "Ⅷ",
]
_WITH_COMMAS = [
    "a,b",
    "b,a",
    "a,",
    ",a",
    "a,b,c",
    ",,",
    "a.b",
    "a:b",
    "a;b",
    "a|b",
    "a/b",
    "a=b,c=d",
    '"a,b"',
]
_OURS = [
    "any",
    "word",
    "O",
    "o",
    "tag",
    "tags",
    "start",
    "end",
    "Start",
    "none",
    "all",
    "auto",
    "score",
    "gold",
]
_OURS += [
    "viterbi",
    "greedy",
    "sentence",
    "position",
    "transition",
    "emission",
    "·",
    "…",
    "–",
    "−",
    "∞",
    "−∞",
]
_OF_MARKUP = [
    "<b>",
    "</script>",
    "<!--",
    "-->",
    "&amp;",
    "&lt;",
    "**a**",
    "_a_",
    "`a`",
    "$x$",
    "[a](b)",
    ":red[a]",
]
_OF_MARKUP += [
    "#1",
    "# a",
    "- a",
    "1.",
    "\\textbf",
    "\\\\",
    "~",
    "^^",
    "||",
    "--",
    "---",
    "'a'",
    '"q"',
    "“q”",
]
_OF_TABLES = [
    "=1+1",
    "=A1",
    "+a",
    "@a",
    "'",
    '"',
    '""',
    '"""',
    'a"b',
    "a'b",
    "a b",
    "B-geo loc",
    "two  blanks",
]
_SCRIPTS = [
    "名词",
    "動詞",
    "اسم",
    "שם",
    "संज्ञा",
    "คำ",
    "Ünïcödé",
    "é",
    "e\u0301",
    "ß",
    "İ",
    "ı",
    "ſ",
    "🙂",
    "👩‍🚀",
    "🇮🇸",
]
_SCRIPTS += [
    "a\u00a0b",
    "\u200d",
    "a\u200bb",
    "\u202eabc",
    "ﬁ",
    "Ａ",
    "𝐀",
    "\ufeff",
    "\ue000",
    "\U0001f1e6",
    "ǅ",
]
_LONG = ["x" * 63, "x" * 64, "x" * 65, "名" * 40, ",".join("abcdefgh"), "A" * 30 + "," + "B" * 30]

_EVERY = (_LONG, _WITH_COMMAS, _TREEBANKS, _OF_A_LANGUAGE, _OF_TABLES, _OURS, _SCRIPTS, _NUMERALS)
NAMES = tuple(dict.fromkeys(chain(*_EVERY, _OF_MARKUP, _SIGNS)))[:200]  # different ones, none empty


def seed_of_commit():
    """Return a seed that the checked-out commit fixes."""
    return int(commit(), 16) % 2**32


def drawn(number, seed=None):
    """Return some of the names in random order, all different; by default as the commit decides."""
    return random.Random(seed_of_commit() if seed is None else seed).sample(NAMES, number)


def rare_chain(seed, num_tokens=5, num_tags=4):
    """Return a chain whose tags and words have rare names; words may repeat."""
    dice = np.random.default_rng(seed)
    shapes = [(num_tokens, num_tags), (num_tags, num_tags), (num_tags,), (num_tags,)]
    tables = (dice.normal(0, 2, shape).round(2) for shape in shapes)
    words = random.Random(seed + 1).choices(NAMES, k=num_tokens)
    return Potentials(*tables, tags=drawn(num_tags, seed), tokens=words)
