"""Curated versions, and the sentences that somebody has passed over."""

import sqlalchemy as sa
from alembic import op

revision = "5"
down_revision = "4"


def upgrade() -> None:
    """Add the column and the table; nothing was settled or kept as skipped before."""
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
