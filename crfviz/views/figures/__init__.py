"""Figures by Altair and Plotly."""
