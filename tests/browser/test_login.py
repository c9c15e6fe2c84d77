"""A deployment with Streamlit's own login: the account is the annotator, nobody else labels."""

import re

import pytest
from playwright.sync_api import expect

from benchmarks.serving import running_app
from crfviz.annotations.files.importing import read_items
from crfviz.annotations.store.store import open_store
from tests.support.forked_server import fork
from tests.support.identity_provider import identity_provider, secrets
from tests.support.screen import PATIENCE


@pytest.mark.rotating
@pytest.mark.long
def test_login_account_is_the_annotator(fresh, tmp_path):
    file = tmp_path / "secrets.toml"
    variables = {"STREAMLIT_SECRETS_FILES": str(file)}
    with (
        identity_provider("anna@example.org") as provider,
        running_app(tmp_path / "server.log", variables, fork) as app,
    ):
        file.write_text(secrets(provider, app.url))
        with open_store(app.database) as store:
            store.add("dogs", read_items(b"Dogs run .", "dogs").items)
            address = f"{app.url}/annotate?v.by=mallory&v.doc={store.documents()[0].key}"
            page = fresh().new_page()
            page.set_default_timeout(PATIENCE)
            page.goto(address)
            expect(page.get_by_text("Log in on the left")).to_be_visible(timeout=PATIENCE)
            expect(page.locator("[data-labeller]")).to_have_count(0)
            page.get_by_role("button", name="Log in to label").click()
            expect(page.locator("h1", has_text="Explore")).to_be_visible(timeout=PATIENCE)
            page.goto(address)
            expect(page.get_by_text("anna@example.org")).to_be_visible(timeout=PATIENCE)
            chip = page.locator("[data-labeller] .chip").first
            expect(chip).to_be_visible(timeout=PATIENCE)
            page.keyboard.press("x")
            expect(page.locator("[data-labeller]")).to_have_attribute("data-revision", "1")
            ((_, stored),) = store.annotations()
            assert stored.annotator == "anna@example.org"
            page.get_by_role("button", name="Log out").click()
            expect(page.locator("h1", has_text="Explore")).to_be_visible(timeout=PATIENCE)
            page.goto(address)
            expect(page.get_by_text("Log in on the left")).to_be_visible(timeout=PATIENCE)
            file.write_text(file.read_text().replace('"crfviz"', '"crfviz'))  # a quote is lost
            _nobody_labels(page, app)
            file.unlink()
            _nobody_labels(page, app)
        assert "Traceback" not in app.log()
        assert provider.asked["client_id"] == "crfviz"


def _nobody_labels(page, app):
    page.goto(f"{app.url}/annotate?v.by=mallory")
    said = page.get_by_text(re.compile("Login does not work|Log in on the left"))
    expect(said).to_be_visible(timeout=PATIENCE)
    expect(page.locator("[data-labeller]")).to_have_count(0)
