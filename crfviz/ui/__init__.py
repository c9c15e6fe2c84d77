"""The Streamlit app: the scenario, caches and shared panels."""
