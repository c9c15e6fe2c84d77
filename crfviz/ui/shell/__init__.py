"""The frame of every page, and what stands between network and Streamlit."""
