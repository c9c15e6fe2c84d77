"""The parts of Streamlit that its documentation does not name, and that crfviz needs."""

from streamlit.runtime.scriptrunner import get_script_run_ctx


def is_fragment_run() -> bool:
    """Return whether this run redraws fragments of a page, and not all of it."""
    context = get_script_run_ctx(suppress_warning=True)
    return context is not None and bool(context.fragment_ids_this_run)
