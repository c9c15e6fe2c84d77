"""The entry point of the app: `streamlit run app.py` draws the frame around a page of pages/.

Streamlit imports this file once for the server, and executes it in every run of a session.
"""

import streamlit as st

if __name__ == "__main__":
    from crfviz.ui import cached, tour
    from crfviz.ui.lectures.editor import add_button
    from crfviz.ui.lectures.player import play
    from crfviz.ui.live_room.broadcast import broadcast
    from crfviz.ui.session import page_state
    from crfviz.ui.session.scenario_state import publish
    from crfviz.ui.shell import frame
    from crfviz.ui.shell.sidebar import sidebar
    from crfviz.ui.shell.topbar import topbar
    from crfviz.views.contents import at_path

    frame.style()
    cached.warm_up()
    pages = frame.pages()
    page = st.navigation(pages, position="hidden")
    with broadcast(page.title):
        if not (page_state.may_be_cue() and play(pages, page.url_path)):
            page_state.begin(page.url_path)
            frame.configure()
            tour.advance(page_state.path())
            frame.turn(pages, page, page_state.take_page_request())
            link, path = publish(), page_state.path()
            above = st.container(key="above")
            has_picture = at_path(path).sentence
            if has_picture:  # first, because the browser then loads its code during the rest
                frame.run()
            sidebar(link, path, add_button)
            with above:
                tour.draw_stop(path)
                topbar(at_path(path))
            if not has_picture:  # last, because the links stay there during its long work
                frame.run()
else:
    from crfviz.ui.live_room.routes import routes
    from crfviz.ui.shell import server
    from crfviz.ui.watching import meters

    app = st.App(
        __file__,
        routes=[*routes(), *meters.routes()],
        middleware=server.middleware(),
        lifespan=server.lifespan,
    )
