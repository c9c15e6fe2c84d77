"""Streamlit's side: the scenario, caches and shared panels."""
