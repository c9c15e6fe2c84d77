// The script in the page's head: the settings that Streamlit reads before it connects.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { runInNewContext } from "node:vm";

const SCRIPT = readFileSync(new URL("../../../crfviz/ui/shell/web/early.js", import.meta.url), "utf8");
const ORIGIN = "https://crfviz.test";

function settings(pathname, base = "") {
  const window = { matchMedia: () => ({}) };
  const document = {
    currentScript: { dataset: { base, pages: "transitions viterbi learn" } },
    documentElement: { style: {}, dataset: {} },
    addEventListener: () => {},
  };
  runInNewContext(SCRIPT, {
    window,
    document,
    location: { pathname, search: "", origin: ORIGIN },
    URLSearchParams,
  });
  return window.__streamlit;
}

describe("the address of the server", () => {
  for (const [pathname, base, expected] of [
    ["/", "", "/"],
    ["/transitions", "", "/"],
    ["/crf/", "", "/crf/"], // of a proxy that takes it off
    ["/crf/transitions", "", "/crf/"],
    ["/learn/viterbi", "", "/learn/"],
    ["/crf", "", null], // or a page that is not known
    ["/learn/", "", null], // the page with a slash, or the path of a proxy
    ["/learn", "/learn/", null],
    ["/learn/", "/learn/", "/learn/"],
    ["/learn/viterbi", "/learn/", "/learn/"],
  ]) {
    test(`of ${pathname}${base && ` under ${base}`} is ${expected ?? "left to Streamlit"}`, () => {
      const { BACKEND_BASE_URL: found } = settings(pathname, base);
      assert.equal(found, expected === null ? undefined : ORIGIN + expected);
    });
  }

  test("comes with the host settings that let Streamlit connect at once", () => {
    const { allowedOrigins, useExternalAuthToken, blockErrorDialogs } = settings("/").HOST_CONFIG;
    assert.deepEqual([...allowedOrigins], [ORIGIN]);
    assert.equal(useExternalAuthToken, false);
    assert.equal(blockErrorDialogs, true);
  });
});
