// The display of a room: a QR code as high as the screen, the code, the address, and the number of followers.

import { html } from "../../views/stage/web/dom.js";

const POLL = 1000; // milliseconds between requests for the number of followers

// Polls the number of followers and calls `show`; returns a function that stops.
export function watchFollowers(path, show) {
  let timer = 0;
  let stopped = false;
  const look = async () => {
    const now = await fetch(path).then(
      (answer) => (answer.ok ? answer.json() : null),
      () => null,
    );
    if (stopped) return;
    if (now) show(now.followers);
    timer = setTimeout(look, POLL);
  };
  look();
  return () => {
    stopped = true;
    clearTimeout(timer);
  };
}

// Opens the large display over everything, until a key or a click; `closed` is called then.
export function showLarge({ code, address, qr, path }, closed = () => {}) {
  const count = html("p.count", { role: "status" });
  // one line, as large as the space beside the picture allows
  const line = html("p.address", { style: `font-size: min(3.4vw, ${75 / address.length}vw)` }, address);
  const text = html("div", line, html("p.code", code), count);
  const dialog = html(
    "dialog.crfviz-join",
    { "aria-label": "Join this lecture" },
    html("img", { src: qr, alt: "QR code" }),
    text,
  );
  document.body.append(dialog); // outside of the menu, which closes
  const stop = watchFollowers(path, (number) => {
    count.textContent = `${number} ${number === 1 ? "follower" : "followers"}`;
  });
  const close = () => dialog.close();
  // On the window: the focus may be in the menu below.
  const onKey = (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    close();
  };
  addEventListener("keydown", onKey, true);
  dialog.addEventListener("click", close);
  dialog.addEventListener("close", () => {
    stop();
    removeEventListener("keydown", onKey, true);
    dialog.remove();
    closed();
  });
  dialog.showModal();
  return close;
}
