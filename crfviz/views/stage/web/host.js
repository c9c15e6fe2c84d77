// The only module that knows Streamlit. What Streamlit calls at the first draw and again with every new payload is made
// here; what must survive in between lives in a view, one per mounted element: `open(element, send)` makes one that
// can receive(payload) and close(), and sends lists of events.

export function hosted(open) {
  const mounted = new WeakMap();
  return ({ data, parentElement, setTriggerValue }) => {
    if (!mounted.has(parentElement)) {
      const own = {};
      own.view = open(parentElement, (events) => own.send(events));
      mounted.set(parentElement, own);
    }
    const { view } = Object.assign(mounted.get(parentElement), { send: (events) => setTriggerValue("events", events) });
    view.receive(data);
    // Streamlit also calls this when two payloads come so close together that it drops the first: then the view stays.
    return () =>
      setTimeout(() => {
        if (parentElement.isConnected) return;
        view.close();
        mounted.delete(parentElement);
      });
  };
}
