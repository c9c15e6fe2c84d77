// The button "Copy link": puts the address of what is on the screen on the clipboard, and says so for a moment.

const BUTTON = ".crfviz-copy";
const SAID = 2000; // milliseconds

async function copy(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text); // over https, or on this machine
  const box = Object.assign(document.createElement("textarea"), { value: text });
  document.body.append(box);
  box.select();
  document.execCommand("copy");
  box.remove();
}

async function click({ target }) {
  const button = target.closest?.(BUTTON);
  if (!button) return;
  const label = button.dataset.label ?? button.textContent;
  button.dataset.label = label;
  await copy(location.href);
  button.textContent = "Copied";
  setTimeout(() => {
    button.textContent = label;
  }, SAID);
}

export function watchCopy() {
  document.addEventListener("click", click);
}
