"""The keys and colours of a document's tags."""

import sqlalchemy as sa
from alembic import op

revision = "4"
down_revision = "3"


def upgrade() -> None:
    op.add_column("crfviz_documents", sa.Column("look", sa.JSON))
