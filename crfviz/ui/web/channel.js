// What the two windows of one lecture tell each other: the wall { at } which cue it is; the speaker's window { key }
// what was pressed there, { go } which cue or { sentence } which words are wanted, and { where } to ask for the cue.

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
