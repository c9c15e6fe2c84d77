// In the menu of a room: the number of followers, live, and the button for the large display.

import { button, html } from "../../views/stage/web/dom.js";
import { mounted } from "../../views/stage/web/host.js";
import { showLarge, watchFollowers } from "./join.js";

export default mounted((parent) => {
  const count = html("p", { "data-followers": "" });
  let room = null;
  let stop = () => {};
  const large = button("Show large", () => showLarge(room));
  parent.append(html("div.room", large, count));
  return {
    receive(data) {
      if (room?.path !== data.path) {
        stop();
        stop = watchFollowers(data.path, (number) => {
          count.textContent = `${number} ${number === 1 ? "follower" : "followers"}`;
        });
      }
      room = data;
    },
    close: () => stop(),
  };
});
