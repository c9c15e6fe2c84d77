"""The stage and the labeller as elements of any Streamlit app."""
