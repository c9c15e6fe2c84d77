"""Exports: live HTML files, TikZ, tables, notebooks."""
