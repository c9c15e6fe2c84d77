"""For models whose tags are not BIO: say so, and offer one whose tags are."""

import streamlit as st

from crfviz.exceptions import CrfvizError
from crfviz.ui import cached
from crfviz.ui.scene import Scene
from crfviz.ui.session.current import change
from crfviz.ui.words import plain


def offer_bio(scene: Scene) -> None:
    """A message, and a button that opens a sentence with a BIO model where there is one."""
    st.info(
        plain(
            f"The tags of {scene.model} are not BIO tags: they mark single words, so there are no "
            "entities and no rules about which tag may follow which."
        )
    )
    name = next((name for name in cached.models() if _is_bio(name)), None)
    if name is None:
        return
    sentence = cached.first_sentence(name)
    st.button(
        plain(f"Open “{sentence}” with {name}"),
        on_click=lambda: change(model=name, sentence=sentence),
        key="open_bio",
        type="primary",
    )


def _is_bio(name: str) -> bool:
    try:
        return cached.tagger(name).scheme is not None
    except CrfvizError:
        return False
