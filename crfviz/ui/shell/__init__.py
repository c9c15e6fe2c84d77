"""The frame of every page, and the middleware between the network and Streamlit."""
