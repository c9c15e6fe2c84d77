// Runs in every page before the app: finds the live stage, and tells what it shows.
(() => {
  let known = []; // shadow roots, while anybody else keeps them
  const attachShadow = Element.prototype.attachShadow;
  Element.prototype.attachShadow = function (options) {
    const root = attachShadow.call(this, options);
    known = known.filter((each) => each.deref());
    known.push(new WeakRef(root));
    return root;
  };
  const roots = () => known.map((each) => each.deref()).filter((root) => root?.isConnected);
  const comes = (one, other) => (one.compareDocumentPosition(other) & Node.DOCUMENT_POSITION_FOLLOWING ? -1 : 1);
  // The last stage of the page: of two, either may be mounted first.
  const stage = () =>
    roots()
      .sort((one, other) => comes(one.host, other.host))
      .map((root) => root.querySelector("[data-stage]"))
      .findLast(Boolean);
  // What nodes say of one kind of number, by position and tag.
  const numbersOf = (nodes, kind) =>
    Object.fromEntries(
      nodes
        .filter((node) => kind in node.dataset)
        .map((node) => [node.dataset.node, Number(node.dataset[kind].replace("inf", "Infinity"))]),
    );
  const names = new WeakMap();
  let count = 0;
  const REST = 150; // milliseconds
  let since = 0; // when the page came to rest, while somebody waits for it
  const name = (root) => {
    if (!names.has(root)) names.set(root, ++count);
    return names.get(root);
  };

  // What goes over the line to the server, since the page itself shows a run only once it hears of it: a run that was
  // asked for has not begun yet, one that ended to begin anew is none that ended.
  const [ASKS, BEGINS, ENDS, ANEW] = [0x5a, 4, 6, 2]; // BackMsg.rerun_script's first byte; of ForwardMsg; a status
  const FORGOTTEN = 5000; // milliseconds; a run may be asked of a part that is gone, and then none begins
  const line = { asked: -FORGOTTEN, runs: false, walks: false };
  document.addEventListener("crfviz-steps", ({ detail }) => {
    line.walks = detail !== null; // a step waits until the keys rest, and is told then
  });
  const heard = ({ data }) => {
    if (!(data instanceof ArrayBuffer)) return; // not Streamlit's
    const bytes = new Uint8Array(data);
    let at = 0;
    const varint = (unit = 1) => {
      const byte = bytes[at++];
      return (byte & 127) * unit + (byte > 127 ? varint(128 * unit) : 0);
    };
    while (at < bytes.length) {
      const tag = varint();
      const value = varint(); // of a message or text its length
      if (tag >> 3 === BEGINS) Object.assign(line, { asked: -FORGOTTEN, runs: true });
      if (tag >> 3 === ENDS) line.runs = value === ANEW;
      if (tag % 8 === 2) at += value;
    }
  };
  const heeded = new WeakSet();
  const send = WebSocket.prototype.send;
  WebSocket.prototype.send = function (data) {
    if (!heeded.has(this)) this.addEventListener("message", heard);
    heeded.add(this);
    if (data[0] === ASKS) line.asked = performance.now();
    return send.call(this, data);
  };
  const answered = () =>
    document.querySelector("[data-testid=stApp]")?.dataset.testScriptState === "notRunning" &&
    !line.runs &&
    !crfviz.held && // by slow.js
    performance.now() - line.asked >= FORGOTTEN;
  const running = () => line.walks || !answered();
  const rested = (rests) => {
    if (!rests) since = 0;
    else since ||= performance.now();
    const long = rests && performance.now() - since > REST;
    if (long) since = 0;
    return long;
  };
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
      since = 0; // who waited before may have given up
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
        getComputedStyle(root).getPropertyValue("--ink") && // the style sheet is in force
        root.dataset.source === "python" &&
        (name(root) !== before.name || Number(root.dataset.rev) > before.rev);
      return rested(drawn);
    },
    rests: () => rested(!running()),
    // Whether all that the server was told is answered, whatever it will be told next.
    answered,
    // Whether the address says so, and the server knows: of a step it is told later.
    linked: (name, value) => new URL(document.URL).searchParams.get(name) === value && !line.walks,
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
        marginals: numbersOf(nodes, "marginal"),
        best_scores: numbersOf(nodes, "value"),
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
