// Runs in the page before anything else. Every finished redraw of the live stage, and every answer
// that the labeller has drawn, is noted in `window.redraws`: when its last attribute was set, and
// when the main thread had finished the frame that shows it, in milliseconds since the navigation
// began.
(() => {
  window.redraws = [];
  window.inputs = []; // time stamps of the keys and of the pointer
  let inFrame = false; // between the frame's animation callbacks and its painting

  const afterTask = (act) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = act;
    port2.postMessage(null);
  };
  const nextFrame = window.requestAnimationFrame.bind(window);
  window.requestAnimationFrame = (act) =>
    nextFrame((time) => {
      if (!inFrame) {
        inFrame = true;
        afterTask(() => {
          inFrame = false;
        });
      }
      act(time);
    });
  const afterPaint = (act) => (inFrame ? afterTask(act) : nextFrame(() => afterTask(act)));

  const note = (changes) => {
    for (const drawn of new Set(changes.map((change) => change.target))) {
      const redraw = { source: drawn.dataset.source ?? null, set: performance.now(), shown: null };
      window.redraws.push(redraw);
      afterPaint(() => {
        redraw.shown = performance.now();
      });
    }
  };
  const attachShadow = Element.prototype.attachShadow;
  Element.prototype.attachShadow = function (options) {
    const root = attachShadow.call(this, options);
    new MutationObserver(note).observe(root, { subtree: true, attributeFilter: ["data-rev", "data-settled"] });
    return root;
  };
  for (const kind of ["keydown", "pointermove", "pointerup"]) {
    addEventListener(kind, (event) => window.inputs.push({ kind, key: event.key, at: event.timeStamp }), true);
  }
})();
