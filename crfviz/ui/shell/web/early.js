// Runs in the page's head, before Streamlit: light or dark as the link says, from the first paint on. Streamlit asks
// the browser for the system's colours; ./frame.js tells it when the reader wants others.

(() => {
  const PAGES = ".st-key-pages a";
  const scheme = { wanted: new URLSearchParams(location.search).get("v.theme") ?? "system" };
  const asked = () => ["light", "dark"].includes(scheme.wanted);
  const system = window.matchMedia.bind(window);
  window.matchMedia = (media) => {
    const list = system(media);
    if (media.includes("prefers-color-scheme")) {
      const matches = () => (asked() ? media.includes(scheme.wanted) : system(media).matches);
      Object.defineProperty(list, "matches", { get: matches });
    }
    return list;
  };
  scheme.paint = () => {
    document.documentElement.style.colorScheme = asked() ? scheme.wanted : ""; // of the empty page
  };
  scheme.paint();
  const query = new URLSearchParams(location.search);
  const { dataset } = document.documentElement;
  if (query.get("embed") === "stage") dataset.embed = "stage"; // ../frame.css leaves the stage alone on the page
  if (query.getAll("embed_options").includes("transparent")) dataset.paper = "transparent";
  window.crfvizScheme = scheme;
  try {
    if (localStorage.getItem("crfviz.hint") === "over") dataset.greeted = ""; // see ../../web/tour.js
  } catch {
    // without storage the greeting is shown
  }
  // A click on a link to a page waits for ./frame.js, which opens it in this session. The browser would begin a new
  // session, without sentence and edits.
  let held = null; // the path of the link
  const hold = (event) => {
    const link = event.target.closest?.(PAGES);
    if (!link || event.button || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    held = link.pathname;
  };
  document.addEventListener("click", hold, true);
  window.crfvizFramed = () => {
    document.removeEventListener("click", hold, true);
    const link = [...document.querySelectorAll(PAGES)].find(({ pathname }) => pathname === held);
    held = null;
    link?.click();
  };
  // Streamlit's settings by whoever hosts it: ./frame.js says in place of its dialogs that there is no connection. With
  // its own address and host settings it connects at once, instead of asking for both below the path of the page first.
  const settings = { blockErrorDialogs: true, allowedOrigins: [location.origin], useExternalAuthToken: false };
  const { base, pages } = document.currentScript.dataset;
  const root = rootOf(location.pathname);
  window.__streamlit = { HOST_CONFIG: settings };
  if (root !== null) window.__streamlit.BACKEND_BASE_URL = location.origin + root;

  // The path of the app, which a proxy may set: that of the URL without the page's name. Null if that is not clear.
  function rootOf(pathname) {
    if (base) return pathname.startsWith(base) ? base : null;
    const isPage = (name) => pages.split(" ").includes(name);
    const [, root, page] = /^(.*\/)([^/]*)$/.exec(pathname);
    if (page) return isPage(page) ? root : null;
    return isPage(root.split("/").at(-2)) ? null : root;
  }
})();
