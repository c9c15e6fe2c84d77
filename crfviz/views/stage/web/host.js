// The only module that knows Streamlit. Streamlit calls a component at the first draw and with every new payload. State
// lives in between in a view, one per mounted element. `open(element, send, data)` makes a view with receive(payload),
// deliver() for unacknowledged events, close(), and leave() if it delays events; it sends lists of events.
//
// In an app of somebody else the payload has `guest`. Its events are a state of the component: Streamlit keeps them
// until the next ones, also inside of a form, so that none is lost and none is sent twice. In the app they are
// triggers.

import { closest } from "./dom.js";

/** @import { Host, Mounted, Send, Trigger, View } from "./types.js" */

const BACK = "crfviz-back"; // of the document: the line to the server was lost, and is there again
const LEAVING = "crfviz-leaving"; // of the document: keys lead to another screen

// The default export of a component: `open(element, data)` makes the view of a mounted element, which can
// receive(data, trigger) and close().
/** @template Data @param {(element: HTMLElement, data: Data) => Mounted<Data>} open */
export function mounted(open) {
  /** @type {WeakMap<HTMLElement, Mounted<Data>>} */
  const views = new WeakMap();
  /** @param {Host<Data>} host */
  return ({ data, parentElement, setTriggerValue, setStateValue }) => {
    const view = views.get(parentElement) ?? open(parentElement, data);
    views.set(parentElement, view);
    view.receive(data, isGuest(data) ? setStateValue : setTriggerValue);
    // Streamlit also calls this when two payloads come so close together that it drops the first: then the view stays.
    return () =>
      setTimeout(() => {
        if (parentElement.isConnected) return;
        view.close();
        views.delete(parentElement);
      });
  };
}

// The same for a view that sends lists of events until they are acknowledged.
/** @template {object} Data @param {(element: HTMLElement, send: Send, data: Data) => View<Data>} open */
export function hosted(open) {
  return mounted((/** @type {HTMLElement} */ element, /** @type {Data} */ data) => {
    /** @type {Send} */
    let send = () => {};
    let isBack = false;
    const view = open(element, (events) => send(events), data);
    const back = () => {
      isBack = true;
      view.deliver();
    };
    const forgets = isGuest(data) ? [] : [whenBack(back), whenLeaving(() => view.leave?.())];
    return {
      /** @param {Data} data @param {Trigger} trigger */
      receive(data, trigger) {
        send = (events) => trigger("events", events);
        view.receive(data);
        if (isBack) view.deliver(); // a new server has received none of it
        isBack = false;
      },
      close() {
        for (const forget of forgets) forget();
        view.close();
      },
    };
  });
}

// Whether the payload belongs to an app of somebody else, of whose page nothing is known.
/** @param {unknown} data */
export function isGuest(data) {
  return Boolean(/** @type {{ guest?: unknown }} */ (data).guest);
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
