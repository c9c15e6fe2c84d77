"""The frame of every page, and the middleware between network and Streamlit."""
