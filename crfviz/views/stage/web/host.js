// The only module that uses Streamlit. Streamlit calls a component at the first draw and with every new payload. In
// between, the state is in a view, one per mounted element. `open(element, send, data)` creates a view with
// receive(payload), deliver() for unacknowledged events, close(), and leave() if it delays events. `send` takes lists.
//
// In another Streamlit app the payload has `guest`. Its events are a state of the component: Streamlit keeps them until
// the next ones, also in a form, so that none is lost and none is sent twice. In the crfviz app they are
// triggers.

import { closest } from "./dom.js";

/** @import { Host, Mounted, Send, Trigger, View } from "./types.js" */

const BACK = "crfviz-back"; // document event: the connection to the server is restored
const LEAVING = "crfviz-leaving"; // document event: keys lead to another screen

// The default export of a component: `open(element, data)` creates the view of a mounted element, with
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
    // Streamlit also calls this if it drops the first of two payloads in quick succession: then the view stays.
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
        if (isBack) view.deliver(); // a new server has received none of the events
        isBack = false;
      },
      close() {
        for (const forget of forgets) forget();
        view.close();
      },
    };
  });
}

// Whether the payload belongs to another app, whose page is unknown.
/** @param {unknown} data */
export function isGuest(data) {
  return Boolean(/** @type {{ guest?: unknown }} */ (data).guest);
}

// Calls `back` after each reconnection. Returns a function that stops listening.
/** @param {() => void} back */
function whenBack(back) {
  document.addEventListener(BACK, back);
  return () => document.removeEventListener(BACK, back);
}

// Calls `leaves` before a link or keys lead to another screen; it sends pending events and returns whether it did.
// Streamlit delivers in the next task, to the current page: an event sent after the click would return the reader to
// the old page. The link is therefore followed one task later. Returns a function that stops listening.
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
