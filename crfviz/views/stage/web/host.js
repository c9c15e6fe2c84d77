// The only module that knows Streamlit. What Streamlit calls at the first draw and again with every new payload is made
// here; what must survive in between lives in a view, one per mounted element: `open(element, send)` makes one that
// can receive(payload), deliver() what is unanswered, close(), and leave() if it keeps anything back, and sends lists
// of events.

import { closest } from "./dom.js";

/** @import { Host, Send, View } from "./types.js" */

const BACK = "crfviz-back"; // of the document: the line to the server was lost, and is there again
const LEAVING = "crfviz-leaving"; // of the document: keys lead to another screen

/** @template Data @param {(element: HTMLElement, send: Send) => View<Data>} open */
export function hosted(open) {
  /** @type {WeakMap<HTMLElement, ReturnType<typeof mount<Data>>>} */
  const mounted = new WeakMap();
  /** @param {Host<Data>} host */
  return ({ data, parentElement, setTriggerValue }) => {
    const own = mounted.get(parentElement) ?? mount(parentElement, open);
    mounted.set(parentElement, own);
    own.send = (events) => setTriggerValue("events", events);
    own.view.receive(data);
    if (own.isBack) own.view.deliver(); // a new server has received none of it
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

/** @template Data @param {HTMLElement} element @param {(element: HTMLElement, send: Send) => View<Data>} open */
function mount(element, open) {
  /** @type {Send} */
  const silent = () => {};
  const own = { send: silent, isBack: false, view: open(element, (events) => own.send(events)), forget: () => {} };
  const back = () => {
    own.isBack = true;
    own.view.deliver();
  };
  const forgets = [whenBack(back), whenLeaving(() => own.view.leave?.())];
  own.forget = () => forgets.forEach((forget) => forget());
  return own;
}

// Calls `back` whenever the connection is back. Returns how to stop.
/** @param {() => void} back */
function whenBack(back) {
  document.addEventListener(BACK, back);
  return () => document.removeEventListener(BACK, back);
}

// Calls `leaves` before a link or keys lead to another screen; it sends what is pending and says whether it did.
// Streamlit delivers in the next task, and to the page it is on: an event sent after the click would bring the reader
// back. So the link is followed one task later. Returns how to stop.
/** @param {() => boolean | undefined} leaves */
function whenLeaving(leaves) {
  /** @param {MouseEvent} event */
  const listen = (event) => {
    const link = closest(event, "a[href]");
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
