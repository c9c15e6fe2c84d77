"""The settings of a document: its tags, its model, and the key and colour of each tag."""

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from crfviz.exceptions import CrfvizError, FormatError, errors_at
from crfviz.taggers.blank import UNSET, bio_tags
from crfviz.text.files import abbreviate, abbreviate_value
from crfviz.text.name_lists import parse_pairs, written_pairs
from crfviz.text.schemes import OUTSIDE, is_bio, split_tag, types_of
from crfviz.text.splitting import is_tokenizer, unknown_tokenizer

# limit of a document's own tags, or of its entity types with BIO; keys are 26 letters, ten digits
MAX_TAGS = 60
LONGEST_TAG = 40  # characters
NO_TAG = re.compile(r"[\s<>&|\x00-\x1f]")  # characters that tags must not have
KEY = re.compile(r"[a-z]")
NONE_KEY = "x"  # key for no entity, with BIO tags
COLOUR = re.compile(r"#[0-9A-Fa-f]{6}")


@dataclass(frozen=True)
class Settings:
    """The settings of a document; keys and colours belong to tags, or to BIO types.

    Raises:
        CrfvizError: a tag is empty or repeated, a key is not a letter or has two tags, or a colour
            or tokenizer is invalid.

    """

    # K; None for the tags of the first confirmed annotation's model
    tags: tuple[str, ...] | None = None
    model: str = ""  # the model it was begun with, or that was trained on it; empty for none
    # letters by tag; others are assigned automatically
    keys: Mapping[str, str] = field(default_factory=dict, hash=False)
    colours: Mapping[str, str] = field(default_factory=dict, hash=False)  # such as #0072B2
    tokenizer: str = ""  # tokenizer of its texts, see `text.splitting`; empty for English
    proposes_gold: bool = False  # whether the tags of the file are proposals; else they are hidden
    right_names: tuple[str, ...] = ()  # names that stand under different types rightly

    def __post_init__(self) -> None:
        wrong = [tag for tag, n in Counter(self.tags or ()).items() if n > 1 or not tag]
        if wrong:
            raise CrfvizError(
                f"expected different tags, none of them empty, got {abbreviate(wrong[0])}"
            )
        bio = is_bio(self.tags or ())
        for name, key in self.keys.items():
            if not KEY.fullmatch(key) or (bio and key == NONE_KEY):
                raise CrfvizError(
                    f"expected a letter from a to z as key of {abbreviate(name)}"
                    f"{f', but not {NONE_KEY} (no entity)' * bio}, got {abbreviate(key)}"
                )
        twice = [key for key, number in Counter(self.keys.values()).items() if number > 1]
        if twice:
            named = " and ".join(name for name, key in self.keys.items() if key == twice[0])
            raise CrfvizError(f"expected one tag for each key, got {twice[0]!r} for {named}")
        for name, colour in self.colours.items():
            if not COLOUR.fullmatch(colour):
                raise CrfvizError(
                    f"expected a colour such as #0072B2 for {abbreviate(name)}, "
                    f"got {abbreviate(colour)}"
                )

        if self.tokenizer and not is_tokenizer(self.tokenizer):
            raise unknown_tokenizer(self.tokenizer)

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names that have keys: the tags, or the types of BIO tags."""
        tags = self.tags or ()
        return tuple(types_of(tags)) if is_bio(tags) else tags

    def as_fields(self) -> dict[str, Any]:
        """Return the fields for JSON, without defaults."""
        fields = {
            "tags": self.tags and list(self.tags),
            "model": self.model,
            "tokenizer": self.tokenizer,
            "proposes_gold": self.proposes_gold,
            "right_names": list(self.right_names),
        }
        own = {"keys": dict(self.keys), "colours": dict(self.colours)}
        return {name: value for name, value in (fields | own).items() if value}


def settings_of(fields: object, where: str) -> Settings:
    """Parse settings from the JSON of `as_fields`, which may be invalid.

    Raises:
        FormatError: names the place `where` and the invalid field.
    """
    if not isinstance(fields, dict):
        raise FormatError(
            f"{where}: expected an object of settings, got {abbreviate_value(fields)}"
        )
    tags, model = fields.get("tags"), fields.get("model", "")
    tokenizer = fields.get("tokenizer", "")
    proposes, names = fields.get("proposes_gold", False), fields.get("right_names", [])
    keys, colours = fields.get("keys", {}), fields.get("colours", {})
    fine = {
        "tags": tags is None or (isinstance(tags, list) and all(isinstance(t, str) for t in tags)),
        "model": isinstance(model, str),
        "tokenizer": isinstance(tokenizer, str),
        "proposes_gold": isinstance(proposes, bool),
        "right_names": isinstance(names, list) and all(isinstance(name, str) for name in names),
        "keys": _are_texts(keys),
        "colours": _are_texts(colours),
    }
    for name, good in fine.items():
        if not good:
            got = abbreviate_value(fields[name])
            raise FormatError(f"{where}: cannot read the {name} of the settings, got {got}")
    with errors_at(where, FormatError):
        tags = tags and tuple(tags)
        return Settings(tags, model, keys, colours, tokenizer, proposes, tuple(names))


def own_tags(names: Sequence[str], *, bio: bool, known: Collection[str] = ()) -> tuple[str, ...]:
    """Return the tags of a document from typed names.

    Args:
        names: of tags, or with `bio` of entity types; outer blanks are ignored.
        bio: whether several words can be one entity.
        known: names that the document has already, which may have any character.

    Raises:
        CrfvizError: a name is empty, too long, repeated or has an invalid character; or there are
            no names, or too many.

    """
    wanted = [name.strip() for name in names]
    if not bio and is_bio(wanted):
        wanted, bio = list(dict.fromkeys(kind for t in wanted if (kind := split_tag(t)[1]))), True
    if not 1 <= len(wanted) <= MAX_TAGS:
        raise CrfvizError(f"expected 1 to {MAX_TAGS} tags, got {len(wanted)}")
    for name in wanted:
        if name in known:
            continue
        if not name or NO_TAG.search(name) or len(name) > LONGEST_TAG:
            raise CrfvizError(
                f"expected tags of letters, digits and signs such as - and _, without blanks, <, "
                f">, & and |, of at most {LONGEST_TAG} characters, got {abbreviate(name)}"
            )
        if name in (UNSET, OUTSIDE) and (bio or name == UNSET):
            raise CrfvizError(
                f"expected another name than {name!r}, which means that there is none"
            )
    twice = [name for name, number in Counter(map(str.casefold, wanted)).items() if number > 1]
    if twice:
        got = " and ".join(name for name in wanted if name.casefold() == twice[0])
        raise CrfvizError(f"expected each tag once, got {got}")
    return bio_tags(wanted) if bio else tuple(wanted)


def settings_of_text(text: str, *, bio: bool, known: Collection[str] = ()) -> Settings:
    """Parse settings from names between commas, with optional keys: `WARE=w, FARBE`.

    Args:
        text: the names and keys.
        bio: see `own_tags`.
        known: see `own_tags`.

    Raises:
        CrfvizError: a name is missing or invalid; see `name_lists` for names with commas.
    """
    lines = [line.strip().removesuffix(",") for line in text.strip().split("\n")]
    pairs = parse_pairs(",".join(filter(None, lines)))
    tags = own_tags([name for name, _ in pairs], bio=bio, known=known)
    keys = {name.strip(): key.strip().lower() for name, key in pairs if key and key.strip()}
    return Settings(tags, keys=keys)


def text_of_settings(settings: Settings) -> str:
    """Return the names and keys in the form that `settings_of_text` parses."""
    return written_pairs((name, settings.keys.get(name)) for name in settings.names)


def _are_texts(value: object) -> bool:
    return isinstance(value, dict) and all(
        isinstance(text, str) for pair in value.items() for text in pair
    )
