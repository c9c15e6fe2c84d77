// The only module that knows Streamlit. What Streamlit calls at the first draw and again with every new payload is made
// here; what must survive in between lives in a view, one per mounted element: `open(element, send)` makes one that
// can receive(payload), deliver() what is unanswered, close(), and leave() if it keeps anything back, and sends lists
// of events.

const BACK = "crfviz-back"; // of the document: the line to the server was lost, and is there again
const LEAVING = "crfviz-leaving"; // of the document: keys lead to another screen

export function hosted(open) {
  const mounted = new WeakMap();
  return ({ data, parentElement, setTriggerValue }) => {
    if (!mounted.has(parentElement)) {
      const own = {};
      own.view = open(parentElement, (events) => own.send(events));
      const back = () => {
        own.isBack = true;
        own.view.deliver();
      };
      const forgets = [whenBack(back), whenLeaving(() => own.view.leave?.())];
      own.forget = () => forgets.forEach((forget) => forget());
      mounted.set(parentElement, own);
    }
    const own = mounted.get(parentElement);
    own.send = (events) => setTriggerValue("events", events);
    own.view.receive(data);
    if (own.isBack) own.view.deliver(); // a server to which all of this is new heard nothing before
    own.isBack = false;
    // Streamlit also calls this when two payloads come so close together that it drops the first: then the view stays.
    return () =>
      setTimeout(() => {
        if (parentElement.isConnected) return;
        own.forget();
        own.view.close();
        mounted.delete(parentElement);
      });
  };
}

// Calls `back` whenever the line to the server is there again, until it is told to forget that.
function whenBack(back) {
  document.addEventListener(BACK, back);
  return () => document.removeEventListener(BACK, back);
}

// Asks `leaves` before a link or keys lead away whether there is something to be told first, until it is told to forget
// that. Streamlit tells in the next task, and for the page on which it is until another one has come: what is told
// behind a link brings the reader back. So the link is followed once more, behind it.
function whenLeaving(leaves) {
  const listen = (event) => {
    const link = event.target.closest?.("a[href]");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey || !leaves()) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    setTimeout(() => link.click());
  };
  document.addEventListener("click", listen, true);
  document.addEventListener(LEAVING, leaves);
  return () => {
    document.removeEventListener("click", listen, true);
    document.removeEventListener(LEAVING, leaves);
  };
}
