"""Curated versions, and skipped sentences."""

import sqlalchemy as sa
from alembic import op

revision = "5"
down_revision = "4"


def upgrade() -> None:
    """Add the column and the table; older stores have no curated or skipped sentences."""
    op.add_column("crfviz_annotations", sa.Column("curation", sa.JSON))
    op.create_table(
        "crfviz_skips",
        sa.Column(
            "item",
            sa.Integer,
            sa.ForeignKey("crfviz_items.id", ondelete="CASCADE"),
            primary_key=True,
        ),
        sa.Column("annotator", sa.Text, primary_key=True),
    )
