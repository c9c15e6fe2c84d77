"""One sentence that passed through a watched layer."""

from dataclasses import dataclass

from crfviz.taggers.brought.adapters import Adapter, Batch


@dataclass(eq=False)
class Seen:
    """One sentence of a batch that passed through a layer."""

    adapter: Adapter
    batch: Batch
    row: int  # index in the batch
    mask: list[bool]  # T
    label: str
    path: list[int] | None = None  # the library's own path
    number: int = 0  # index among the sentences of this layer and label
    where: str = ""  # shown in messages
