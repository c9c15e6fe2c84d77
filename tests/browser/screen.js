// Runs in every page before the app: finds the live stage, and tells what it shows.
(() => {
  let known = []; // shadow roots, while anybody else keeps them: a page is used by many tests
  const attachShadow = Element.prototype.attachShadow;
  Element.prototype.attachShadow = function (options) {
    const root = attachShadow.call(this, options);
    known = known.filter((each) => each.deref());
    known.push(new WeakRef(root));
    return root;
  };
  const roots = () => known.map((each) => each.deref()).filter((root) => root?.isConnected);
  const stage = () =>
    roots()
      .map((root) => root.querySelector("[data-stage]"))
      .findLast(Boolean);
  const names = new WeakMap();
  let count = 0;
  const REST = 150; // milliseconds
  let since = 0; // when the page came to rest, while somebody waits for it
  const name = (root) => {
    if (!names.has(root)) names.set(root, ++count);
    return names.get(root);
  };
  const running = () => document.querySelector("[data-testid=stApp]")?.dataset.testScriptState !== "notRunning";
  const shown = (element) => !element.closest("[hidden]");
  const all = (selector) => [...stage().querySelectorAll(selector)].filter(shown);
  const texts = (selector) => all(selector).map((element) => element.textContent);

  const labeller = () =>
    roots()
      .map((root) => root.querySelector("[data-labeller]"))
      .findLast(Boolean);
  window.crfviz = {
    stage,
    labeller,
    labellerFocus: () => labeller().getRootNode().activeElement?.nodeName ?? document.activeElement.nodeName,
    // Which stage this is, and how often it has been drawn.
    mark: () => {
      const root = stage();
      return root ? { name: name(root), rev: Number(root.dataset.rev) } : { name: 0, rev: -1 };
    },
    // Whether Python's numbers have been drawn since then, and the page has been at rest for a while:
    // the first redraw after a click may still be that of an earlier run.
    settled: (before) => {
      const root = stage();
      const drawn =
        root &&
        !running() &&
        root.dataset.source === "python" &&
        (name(root) !== before.name || Number(root.dataset.rev) > before.rev);
      if (!drawn) since = 0;
      else since ||= performance.now();
      const rested = drawn && performance.now() - since > REST;
      if (rested) since = 0;
      return rested;
    },
    read: () => {
      const rows = {};
      for (const cell of all("[data-row]")) {
        rows[cell.dataset.row] ??= [];
        rows[cell.dataset.row].push(cell.textContent);
      }
      const tables = {};
      for (const cell of all("[data-table]")) {
        const { table, t, k } = cell.dataset;
        tables[table] ??= {};
        tables[table][`${t},${k}`] = cell.getAttribute("aria-valuetext");
      }
      const nodes = [...stage().querySelectorAll("[data-node]")];
      return {
        source: stage().dataset.source,
        words: texts(".word span"),
        rows,
        tables,
        marginals: Object.fromEntries(nodes.map((node) => [node.dataset.node, Number(node.dataset.marginal)])),
        best: nodes.filter((node) => node.dataset.best === "true").map((node) => node.dataset.node),
        edges: [...stage().querySelectorAll("[data-edge]")].map((edge) => edge.dataset.edge),
        cells: Object.fromEntries(
          all("[data-cell]").map((cell) => [cell.dataset.cell, cell.getAttribute("aria-valuetext")]),
        ),
        identity: texts(".identity")[0] ?? "",
        note: texts(".note").join(" "),
        message: texts(".message").join(" "),
      };
    },
    // Whether the page is at rest and its messages are gone; closes those that are there.
    swept: () => {
      const messages = [...document.querySelectorAll("[data-testid=stToast] [slot=close]")];
      for (const close of messages) close.click();
      return !running() && !messages.length;
    },
    // Whether the frame of the page, of which the browser remembers a part, is as a first visit finds it.
    untouched: () => {
      const same =
        innerWidth === 1280 &&
        innerHeight === 720 &&
        !matchMedia("(prefers-color-scheme: dark), (prefers-reduced-motion), (forced-colors: active), print").matches &&
        document.querySelector("[data-testid=stSidebar]")?.dataset.collapsed === "false" &&
        !document.querySelector("[role=dialog], [data-testid=stPopoverBody]") &&
        Object.entries(localStorage).every(
          ([name, value]) => !name.startsWith("stActiveTheme") || /System/.test(value),
        );
      if (!same) localStorage.clear();
      return same;
    },
    // For a moment there may be two, that of a lecture behind it and the page's own.
    titled: (title) =>
      [...document.querySelectorAll("h1")].filter(
        (h1) => h1.textContent.includes(title) && h1.checkVisibility({ visibilityProperty: true }),
      ).length === 1,
    turnTo: (address) => {
      history.pushState({}, "", address);
      dispatchEvent(new PopStateEvent("popstate"));
    },
    // What a person reads in the stage; the body's own text ends where the stage begins.
    text: () => stage()?.innerText ?? "",
    // The first element in sight that the function gives a reason for, as text: contrast, sizes.
    all,
  };
})();
