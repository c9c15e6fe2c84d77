"""One module per version of the schema, in Alembic's form."""
