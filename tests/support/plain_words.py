"""Checks of plain English on a page: abandoned phrases, synonyms, long labels and sentences."""

import re

LABEL_WORDS, SENTENCE_WORDS = 4, 30  # maximum number of words
OLD = (  # abandoned phrases, replaced by standard terms
    "word alone",
    "left to right",
    "the address is the link",
    "Add this screen",
    "Take it with you",
    "Save the lattice",
    "with no mass folded",
    "Show the numbers as tables",
    "goes another way",
    "way of deciding",
    "like to follow which",
    "one word after the other?",
    "how often and how surely",
    "the other side +",
    "Which share of all probability",
    "No keys of one letter",
    "are doubtful",
    "and label them",
    "makes it anew",
    "goes for everybody",
    "should count as",
    "cut the line in the file",
    "That was not understood",
    "takes no answers now",
    "rooms that are followed",
    "Right tags as at first",
    "How wrong",
    "How sure",
    "What the CRF buys",
    "Is it the gold?",
    "Share of: words right",
)
SAME = (  # synonyms, of which a page may use only the first
    ("independent", "word by itself"),
    ("greedy", "left-to-right"),
    ("gold tags", "right tags"),
    ("uncertain", "doubtful"),
    ("snapshot", "saved state"),
    ("token accuracy", "words right"),
    ("sentence accuracy", "sentences right"),
)
LONGER = re.compile(r"unlikely tags hidden · Show$")  # names what is hidden, with the number
SEEN = """() => {
  const all = (root, selector) => [...root.querySelectorAll(selector)]
    .concat([...root.querySelectorAll("*")].filter((one) => one.shadowRoot)
      .flatMap((host) => all(host.shadowRoot, selector)));
  const drawn = (one) => one.checkVisibility({ visibilityProperty: true });
  const words = (one) => {
    const icons = [...one.querySelectorAll("[data-testid=stIconMaterial]")];
    const text = one.innerText ?? one.textContent;
    return icons.reduce((rest, icon) => rest.replace(icon.innerText, ""), text)
      .replace(/\\s+/g, " ").trim();
  };
  const data = "[data-node], [data-choice], .words, .cell, .tags";
  const outside = "[data-testid=stSelectbox], [data-quoted], .stCode";
  return {
    labels: all(document, "button, [role=radio], [role=tab], summary")
      .filter((one) => drawn(one) && !one.closest(data))
      .map(words),
    sentences: all(document, "p, li, .note, .legend, .identity, [role=status], figcaption")
      .filter((one) => drawn(one) && !one.closest(outside)).map(words),
  };
}"""


def problems_of(text):
    """Return the abandoned phrases in a text, and the synonyms that it should not use."""
    old = [phrase for phrase in OLD if phrase in text]
    return old + [other for _, other in SAME if other in text.lower()]


def long_sentences(text):
    """Return the sentences of a text with more than `SENTENCE_WORDS` words."""
    parts = re.split(r"(?<=[.!?])\s+| · ", text)
    return [part for part in parts if len(re.findall(r"[^\W\d_]{2,}", part)) > SENTENCE_WORDS]


def long_labels(labels):
    """Return the labels of buttons and pills with too many words, not counting numbers or signs."""
    return [
        label
        for label in labels
        if len(re.findall(r"[^\W\d_]+(?:[-’'][^\W\d_]+)*", label)) > LABEL_WORDS
        and not LONGER.search(label)
    ]


def assert_plain(screen, where):
    """Check the texts that the page shows now."""
    seen = screen.page.evaluate(SEEN)
    long = [each for text in seen["sentences"] for each in long_sentences(text)]
    found = {"old": problems_of(screen.text()), "labels": long_labels(seen["labels"]), "long": long}
    assert found == {"old": [], "labels": [], "long": []}, (where, found)
