"""Documents, their sentences, and one row per sentence and annotator."""

import sqlalchemy as sa
from alembic import op

revision = "1"
down_revision = None


def upgrade() -> None:
    """Create the tables."""
    op.create_table(
        "crfviz_documents",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("name", sa.Text, nullable=False, unique=True),
        sa.Column("created", sa.DateTime, nullable=False),
        sqlite_autoincrement=True,  # ids are never reused, as in PostgreSQL
    )
    op.create_table(
        "crfviz_items",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column(
            "document",
            sa.Integer,
            sa.ForeignKey("crfviz_documents.id", ondelete="CASCADE"),
            nullable=False,
        ),
        sa.Column("position", sa.Integer, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("offsets", sa.JSON, nullable=False),
        sa.Column("gold", sa.JSON),
        sa.UniqueConstraint("document", "position", name="crfviz_items_place"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "crfviz_annotations",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column(
            "item", sa.Integer, sa.ForeignKey("crfviz_items.id", ondelete="CASCADE"), nullable=False
        ),
        sa.Column("annotator", sa.Text, nullable=False),
        sa.Column("offsets", sa.JSON, nullable=False),
        sa.Column("proposed", sa.JSON, nullable=False),
        sa.Column("final", sa.JSON, nullable=False),
        sa.Column("pins", sa.JSON, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("model", sa.Text, nullable=False),
        sa.Column("model_version", sa.Text, nullable=False),
        sa.Column("revision", sa.Integer, nullable=False),
        sa.Column("created", sa.DateTime, nullable=False),
        sa.Column("updated", sa.DateTime, nullable=False),
        sa.UniqueConstraint("item", "annotator", name="crfviz_annotations_whose"),
    )
