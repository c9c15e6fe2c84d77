"""Label errors: planted wrong tags are ranked first, by models that did not see them."""

import random
from dataclasses import replace

import pytest

import crfviz
from crfviz.exceptions import CrfvizError, FormatError
from crfviz.text.sentences import Sentence

WORDS = {"the": "DET", "a": "DET", "dog": "NOUN", "cat": "NOUN", "runs": "VERB", "sees": "VERB"}
PATTERNS = (("the", "dog", "runs"), ("a", "cat", "sees", "the", "dog"), ("the", "cat", "runs"))


def sentences(number=40):
    dice = random.Random(0)
    made = []
    for _ in range(number):
        words = [word for _ in range(2) for word in dice.choice(PATTERNS)]
        made.append(Sentence(tuple(words), tuple(WORDS[word] for word in words)))
    return made


def test_planted_errors_come_first_with_their_right_tags():
    gold = sentences()
    planted = {(3, 1): "VERB", (17, 0): "NOUN"}
    for (number, position), tag in planted.items():
        tags = list(gold[number].tags)
        tags[position] = tag
        gold[number] = replace(gold[number], tags=tuple(tags))
    shares = []
    found = crfviz.label_errors(gold, rounds=1, report=shares.append)
    assert {(each.sentence, each.position) for each in found[:2]} == {*planted}
    for each in found[:2]:
        assert each.given == planted[each.sentence, each.position]
        assert each.word == gold[each.sentence].tokens[each.position]
        assert each.likely == WORDS[each.word]
    odds = [each.log_odds for each in found]
    assert odds == sorted(odds, reverse=True)
    assert min(odds) > 0
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    pairs = [(list(each.tokens), list(each.tags)) for each in gold]
    assert crfviz.label_errors(pairs, rounds=1) == found


def test_random_wrong_tags_of_real_sentences_come_early():
    gold = crfviz.read_sentences("models/excerpts/ewt-dev.conllu")
    dice = random.Random(0)
    names = sorted({tag for each in gold for tag in each.tags})
    places = [(n, t) for n, each in enumerate(gold) for t in range(len(each.tokens))]
    planted = set(dice.sample(places, 10))
    for number, position in sorted(planted):
        tags = list(gold[number].tags)
        tags[position] = dice.choice([name for name in names if name != tags[position]])
        gold[number] = replace(gold[number], tags=tuple(tags))
    found = crfviz.label_errors(gold)[:30]
    hits = sum((each.sentence, each.position) in planted for each in found)
    assert hits >= 7, hits  # 8; six draws have 6 to 9


def test_report_may_end_the_run():
    class StoppedError(Exception):
        pass

    def stop(_share):
        raise StoppedError

    with pytest.raises(StoppedError):
        crfviz.label_errors(sentences(), report=stop)


def test_sentences_without_tags_or_too_few_are_refused():
    with pytest.raises(FormatError, match="sentence 2: expected gold tags"):
        crfviz.label_errors([*sentences(1), Sentence(("x",))])
    with pytest.raises(CrfvizError, match="two different sentences"):
        crfviz.label_errors(sentences(1) * 3)
