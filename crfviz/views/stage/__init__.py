"""The live stage: one SVG component that draws a chain and lets its weights be moved."""
