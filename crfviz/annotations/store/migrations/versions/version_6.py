"""Places of a name that an annotator refused."""

import sqlalchemy as sa
from alembic import op

revision = "6"
down_revision = "5"


def upgrade() -> None:
    """Add the table; older stores have no refused places."""
    op.create_table(
        "crfviz_refused",
        sa.Column(
            "item",
            sa.Integer,
            sa.ForeignKey("crfviz_items.id", ondelete="CASCADE"),
            primary_key=True,
        ),
        sa.Column("annotator", sa.Text, primary_key=True),
        sa.Column("first", sa.Integer, primary_key=True),
        sa.Column("last", sa.Integer, primary_key=True),
        sa.Column("what", sa.Text, primary_key=True),
    )
