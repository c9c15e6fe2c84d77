"""The list of `make mutate` fits the code: every mutation can be applied, and its tests exist."""

import pytest

from tests.support.mutate import BrokenMutationError, Mutation, read_mutations
from tests.support.paths import ROOT

MUTATIONS = read_mutations()


def test_old_text_of_every_mutation_occurs_once():
    texts = {mutation.file: (ROOT / mutation.file).read_text("utf-8") for mutation in MUTATIONS}
    counts = [(m.file, m.old, texts[m.file].count(m.old)) for m in MUTATIONS]
    assert [entry for entry in counts if entry[-1] != 1] == []
    assert [m.file for m in MUTATIONS if m.applied(texts[m.file]) == texts[m.file]] == []


def test_sixty_mutations_have_existing_tests():
    assert len({(mutation.file, mutation.old) for mutation in MUTATIONS}) == 60
    tests = {test for mutation in MUTATIONS for test in mutation.tests}
    assert sorted(test for test in tests if not (ROOT / test).is_file()) == []


def test_mutation_without_its_old_text_is_rejected():
    mutation = Mutation("crfviz/x.py", "a bug", "old", "new", ())
    assert mutation.applied("the old one") == "the new one"
    with pytest.raises(BrokenMutationError, match=r"crfviz/x\.py: expected the old text once"):
        mutation.applied("the new one")
