// What the two windows of one lecture tell each other: { at } which cue is on the screen, { go } which one is wanted.

const NAME = "crfviz.lecture";

export function channel(listen) {
  const between = new BroadcastChannel(NAME);
  let lecture = null;
  between.onmessage = ({ data }) => {
    if (data.lecture === lecture) listen(data);
  };
  return {
    of(name) {
      lecture = name;
    },
    tell: (message) => between.postMessage({ lecture, ...message }),
    close: () => between.close(),
  };
}
