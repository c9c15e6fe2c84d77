"""Hypothesis profiles shared by all tests, and an empty folder for the models that tests bring."""

import os
import tempfile

from hypothesis import settings

settings.register_profile("dev", max_examples=50, deadline=None)
settings.register_profile("ci", max_examples=300, deadline=None, derandomize=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "dev"))

# While tests are collected, too: some are made for every model there is.
_own_models = tempfile.TemporaryDirectory()
os.environ["CRFVIZ_USER_MODELS"] = _own_models.name
