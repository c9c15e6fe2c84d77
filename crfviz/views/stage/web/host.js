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

// Calls `back` whenever the line to the server is there again, until it is told to forget that.
/** @param {() => void} back */
function whenBack(back) {
  document.addEventListener(BACK, back);
  return () => document.removeEventListener(BACK, back);
}

// Asks `leaves` before a link or keys lead away whether there is something to be told first, until it is told to forget
// that. Streamlit tells in the next task, and for the page on which it is until another one has come: what is told
// behind a link brings the reader back. So the link is followed once more, behind it.
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
