// Runs in the page's head, before Streamlit: light or dark as the link says, from the first paint on. Streamlit asks
// the browser for the system's colours; ./frame.js tells it when the reader wants others.

(() => {
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
  // Streamlit's settings by whoever hosts it: ./frame.js says in place of its dialogs that there is no connection.
  window.__streamlit = { HOST_CONFIG: { blockErrorDialogs: true } };
})();
