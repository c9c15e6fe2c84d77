// Runs in every page where CRFVIZ_SLOW is set: what the server sends arrives late, in its order.
(() => {
  const LATE = 700; // milliseconds at most
  crfviz.held = 0; // messages that are on their way
  let quiet = Promise.resolve();
  const later = (tell) => {
    const wait = new Promise((done) => setTimeout(done, Math.random() * LATE));
    crfviz.held += 1;
    quiet = Promise.all([quiet, wait]).then(() => {
      crfviz.held -= 1;
      tell();
    });
  };
  const set = Object.getOwnPropertyDescriptor(WebSocket.prototype, "onmessage").set;
  Object.defineProperty(WebSocket.prototype, "onmessage", {
    configurable: true,
    set(tell) {
      set.call(this, tell && ((event) => later(() => tell.call(this, event))));
    },
  });
  const listen = WebSocket.prototype.addEventListener;
  WebSocket.prototype.addEventListener = function (type, tell, ...options) {
    const late = type === "message" ? (event) => later(() => tell.call(this, event)) : tell;
    return listen.call(this, type, late, ...options);
  };
})();
