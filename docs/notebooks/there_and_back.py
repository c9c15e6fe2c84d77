"""There and back, for marimo: `marimo edit docs/notebooks/there_and_back.py`."""

import marimo

app = marimo.App()


@app.cell
def _():
    import marimo as mo

    import crfviz

    scores = crfviz.Potentials(
        [[2.0, 1.0], [0.5, 1.0], [1.0, 0.8]],
        [[0.2, 0.6], [0.9, -0.4]],
        tags=["NOUN", "VERB"],
        tokens=["fish", "fish", "fish"],
    )
    w = crfviz.show(scores)
    live = mo.ui.anywidget(w)  # so that what depends on it runs again after an edit
    live
    return live, scores, w


@app.cell
def _(live, scores, w):
    live.value
    " ".join(scores.tag_names[tag] for tag in w.path)
    return


if __name__ == "__main__":
    app.run()
