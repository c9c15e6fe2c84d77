"""The tags that a document was begun with, and the model that has them."""

import sqlalchemy as sa
from alembic import op

revision = "3"
down_revision = "2"


def upgrade() -> None:
    """Add both columns; the model is that of most annotations of a document.

    The tags of a model were never stored: the first confirmed annotation adds them.
    """
    for column in (
        sa.Column("tags", sa.JSON),
        sa.Column("model", sa.Text, nullable=False, server_default=""),
    ):
        op.add_column("crfviz_documents", column)
    documents = sa.table("crfviz_documents", sa.column("id"), sa.column("model"))
    items = sa.table("crfviz_items", sa.column("id"), sa.column("document"))
    annotations = sa.table(
        "crfviz_annotations", sa.column("item"), sa.column("model"), sa.column("updated")
    )
    by_number = (
        sa.select(items.c.document, annotations.c.model)
        .join_from(annotations, items, annotations.c.item == items.c.id)
        .where(annotations.c.model != "")
        .group_by(items.c.document, annotations.c.model)
        .order_by(sa.func.count(), sa.func.max(annotations.c.updated))
    )
    connection = op.get_bind()
    for document, model in connection.execute(by_number).all():  # the last row wins
        change = sa.update(documents).where(documents.c.id == document)
        connection.execute(change.values(model=model))
