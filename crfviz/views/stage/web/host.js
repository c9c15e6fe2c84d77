// The only module that knows Streamlit. What Streamlit calls at the first draw and again with every new payload is made
// here; what must survive in between lives in a view, one per mounted element: `open(element, send)` makes one that
// can receive(payload), deliver() what is unanswered, and close(), and sends lists of events.

const STATE = "data-test-connection-state"; // of the page's connection, on Streamlit's outermost element

export function hosted(open) {
  const mounted = new WeakMap();
  return ({ data, parentElement, setTriggerValue }) => {
    if (!mounted.has(parentElement)) {
      const own = {};
      own.view = open(parentElement, (events) => own.send(events));
      own.forget = whenBack(() => own.view.deliver());
      mounted.set(parentElement, own);
    }
    const { view, forget } = Object.assign(mounted.get(parentElement), {
      send: (events) => setTriggerValue("events", events),
    });
    view.receive(data);
    // Streamlit also calls this when two payloads come so close together that it drops the first: then the view stays.
    return () =>
      setTimeout(() => {
        if (parentElement.isConnected) return;
        forget();
        view.close();
        mounted.delete(parentElement);
      });
  };
}

// Calls `back` whenever the connection to the server was lost and is there again, until it is told to forget that.
function whenBack(back) {
  const app = document.querySelector(`[${STATE}]`);
  let lost = false;
  const observer = new MutationObserver(() => {
    const connected = app.getAttribute(STATE) === "CONNECTED";
    if (connected && lost) back();
    lost = !connected;
  });
  if (app) observer.observe(app, { attributeFilter: [STATE] });
  return () => observer.disconnect();
}
