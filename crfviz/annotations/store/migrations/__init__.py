"""How a store of an older version becomes one of the newest: Alembic's scripts."""
