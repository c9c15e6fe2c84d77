// The one module that changes how addresses are written. Streamlit writes them by `history`; rules decide about each
// that would become a new place to come back to, and listeners are called when one was written.

const routers = new WeakMap(); // by the history that they change

function router() {
  if (!routers.has(history)) routers.set(history, install(history));
  return routers.get(history);
}

function install(history) {
  const pushNative = history.pushState.bind(history);
  const replaceNative = history.replaceState.bind(history);
  const rules = [];
  const listeners = [];
  const written = () => listeners.forEach((listener) => listener());
  const push = (told, left) => {
    if (left) rules[left - 1](told, () => push(told, left - 1));
    else pushNative(...told);
  };
  history.pushState = (...told) => {
    push(told, rules.length);
    written();
  };
  history.replaceState = (...told) => {
    replaceNative(...told);
    written();
  };
  return { rules, listeners };
}

// `rule(url, next, told)` gets an address and the arguments of `history.pushState`. It calls `next` to add an entry to
// the history. The rule that was added last runs first.
export function addRule(rule) {
  router().rules.push((told, next) => rule(new URL(told[2], location.href), next, told));
}

export function whenWritten(listener) {
  router().listeners.push(listener);
  addEventListener("popstate", listener);
}
