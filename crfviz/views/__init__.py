"""Pictures: data in, figure out. No Streamlit here but for the live stage's Python face."""
