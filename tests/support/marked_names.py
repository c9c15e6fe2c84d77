"""Names that contain Markdown for an external image: models, words, documents, people, files."""

import os
from unittest.mock import patch

from crfviz.annotations import labelling
from crfviz.annotations.files.importing import read_items
from crfviz.annotations.labelling import Desk
from crfviz.annotations.store.store import open_store
from crfviz.settings import settings
from crfviz.taggers.registry import load_tagger, store_model
from tests.support.brought import as_json, understand

MARK = "![{}](http://leak.invalid/{})"
TAGS = [MARK.format(name, name) for name in ("a", "b", "c")]
WORDS = [MARK.format("w", n) for n in range(3)]
ANNOTATORS = [MARK.format("p", n) for n in range(2)]
DOCUMENT = MARK.format("d", 0)
ROWS = [f"{word}\t{tag}\n" for word, tag in zip(WORDS, TAGS, strict=True)]
CORPUS = "".join(["word\ttag\n", *ROWS])  # the header says which column has the tags
FILE = f"{MARK.format('f', 0)}.conll"


def marked_places(folder):
    """Create models and annotations in a folder; return a server's environment for them."""
    places = {
        "CRFVIZ_USER_MODELS": str(folder / "models"),
        "CRFVIZ_DATABASE_URL": f"sqlite:///{folder}/annotations.db",
    }
    with patch.dict(os.environ, places):
        settings.cache_clear()
        _models()
        _annotations()
    settings.cache_clear()
    return places


def _models():
    """Store two models: `marked`, and `marked-bio` with entity tags."""
    scores = [[3.0, 0.5, -1.0], [-1.0, 2.5, 1.0], [-2.0, 1.25, 1.5]]
    bio = ["O", f"B-{TAGS[0]}", f"I-{TAGS[0]}"]
    for name, tags in (("marked", TAGS), ("marked-bio", bio)):
        content = as_json(tags=tags, sentences=[{"tokens": WORDS, "emissions": scores}])
        store_model(understand(content, bio=tags is bio), name)


def _annotations():
    """Store a document that two annotators have finished with different tags."""
    with open_store() as store:
        store.add(DOCUMENT, read_items(CORPUS.encode(), DOCUMENT).items)
        item = next(iter(store.items(DOCUMENT)))
        for who, tag in zip(ANNOTATORS, TAGS, strict=False):
            desk = Desk(item, who, load_tagger("marked"), "v1")
            annotation = labelling.correct(desk, labelling.begin(desk), 0, 0, tag)
            store.save(labelling.accept(annotation))
