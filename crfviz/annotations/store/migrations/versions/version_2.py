"""The time spent on a sentence, and undo steps."""

import sqlalchemy as sa
from alembic import op

revision = "2"
down_revision = "1"


def upgrade() -> None:
    """Add both columns; older rows have no time and no undo steps."""
    for column in (
        sa.Column("seconds", sa.Float, nullable=False, server_default="0"),
        sa.Column("past", sa.JSON, nullable=False, server_default="[]"),
    ):
        op.add_column("crfviz_annotations", column)
