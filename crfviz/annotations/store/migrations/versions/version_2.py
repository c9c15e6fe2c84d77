"""The time spent on a sentence, and what its annotator can go back to."""

import sqlalchemy as sa
from alembic import op

revision = "2"
down_revision = "1"


def upgrade() -> None:
    """Add both columns; what was stored before took no known time and cannot be undone."""
    for column in (
        sa.Column("seconds", sa.Float, nullable=False, server_default="0"),
        sa.Column("past", sa.JSON, nullable=False, server_default="[]"),
    ):
        op.add_column("crfviz_annotations", column)
