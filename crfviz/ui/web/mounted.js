// What a component of Streamlit is called for, at the first draw and again with every new payload: a view for each
// mounted element, which `make(element, data)` opens, lives in between. It can receive(data, send) and close().

export function mounted(make) {
  const views = new WeakMap();
  return ({ data, parentElement, setTriggerValue }) => {
    if (!views.has(parentElement)) views.set(parentElement, make(parentElement, data));
    const view = views.get(parentElement);
    view.receive(data, (name, value) => setTriggerValue(name, value));
    // Also called when two payloads come close together: then the element stays.
    return () =>
      setTimeout(() => {
        if (parentElement.isConnected) return;
        view.close();
        views.delete(parentElement);
      });
  };
}
