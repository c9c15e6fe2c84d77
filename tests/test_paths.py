"""Path probabilities, and the error where there is no path."""

import pytest
import torch

from crfviz.chain.paths import probability, require_path
from crfviz.exceptions import NoPathError

INF = torch.inf


def test_probability_is_never_above_one():
    assert probability(1.0 + 1e-15, 1.0) == 1.0
    assert probability(-INF, 1.0) == 0.0
    assert probability(0.0, 1.0) == pytest.approx(0.36787944117144233, abs=1e-15)


def test_a_reachable_end_is_a_path():
    require_path(torch.tensor([[0.0, -INF], [-INF, 0.0]]), torch.tensor([-INF, 0.0]))


def test_error_says_where_prefixes_break_off():
    prefixes = torch.tensor([[0.0, 0.0], [-INF, -INF], [-INF, -INF]])
    with pytest.raises(NoPathError, match="position 1"):
        require_path(prefixes, prefixes[-1])


def test_error_says_that_no_tag_may_end():
    with pytest.raises(NoPathError, match="may end the sentence"):
        require_path(torch.tensor([[0.0, -INF]]), torch.tensor([-INF, -INF]))
