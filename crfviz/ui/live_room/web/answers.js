// The queue of answers to send. Each is sent until the server has stored it. Answers to one question are sent one at a
// time, because the last one must arrive last: it replaces the others.

const RETRY_DELAY = 2000; // milliseconds until a lost answer is sent again

export class Answers {
  // `post` sends a question and a choice, and returns the response; `notify` shows the state to the reader.
  constructor(post, notify) {
    this.post = post;
    this.notify = notify;
    this.choices = new Map(); // by question
    this.sending = new Set(); // questions whose answer is being sent
  }

  give(question, choice) {
    this.choices.set(question, choice);
    return this.deliver(question);
  }

  async deliver(question) {
    if (this.sending.has(question)) return; // the loop below sends a later choice
    this.sending.add(question);
    let sent;
    try {
      while (sent !== this.choices.get(question)) {
        sent = this.choices.get(question);
        await this.send(question, sent);
      }
    } catch {
      this.notify("Sending your answer …");
      setTimeout(() => this.deliver(question), RETRY_DELAY);
    } finally {
      this.sending.delete(question);
    }
  }

  async send(question, choice) {
    const answer = await this.post(question, choice);
    if (answer.ok) this.notify("Answer sent. You can still change it.");
    else if (answer.status < 500) this.notify((await answer.json()).message);
    else throw new Error(answer.status);
  }
}
