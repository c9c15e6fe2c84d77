// The few globals of a browser that a module uses, for one test.

export const ORIGIN = "http://crfviz.test";

// Sets globals until the test is over.
export function setGlobals(test, globals) {
  for (const [name, value] of Object.entries(globals)) {
    const before = Object.getOwnPropertyDescriptor(globalThis, name);
    Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
    test.after(() => (before ? Object.defineProperty(globalThis, name, before) : delete globalThis[name]));
  }
}

// A target of events: `listeners` has what was added last, by the name of the event.
export function eventTarget() {
  const listeners = {};
  return {
    listeners,
    addEventListener: (name, act) => {
      listeners[name] = act;
    },
    removeEventListener: (name, act) => {
      if (listeners[name] === act) delete listeners[name];
    },
  };
}

// A window at an address. `places` are the addresses that its Back goes through, the present one last.
export function openWindow(test, address) {
  const places = [address];
  const here = () => new URL(places.at(-1), ORIGIN);
  const { listeners, addEventListener } = eventTarget();
  const window = {
    places,
    listeners,
    location: {
      get href() {
        return here().href;
      },
      get pathname() {
        return here().pathname;
      },
      get search() {
        return here().search;
      },
    },
    history: {
      pushState: (_state, _title, url) => void places.push(url.replace(ORIGIN, "")),
      replaceState: (_state, _title, url) => void places.splice(-1, 1, url.replace(ORIGIN, "")),
    },
    document: { addEventListener, dispatchEvent: ({ type }) => listeners[type]() },
  };
  const { location, history, document } = window;
  setGlobals(test, { location, history, document, addEventListener });
  return window;
}
