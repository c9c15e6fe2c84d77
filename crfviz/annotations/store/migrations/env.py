"""Alembic's environment: runs the migrations inside the transaction that the store opened."""

from alembic import context

from crfviz.annotations.store.schema import TABLES, VERSION_TABLE

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=TABLES,
    version_table=VERSION_TABLE,
)
context.run_migrations()
