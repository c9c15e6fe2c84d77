"""The Streamlit app: the scenario, caches, panels of the pages, and the frame around them."""
