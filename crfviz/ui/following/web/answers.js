// Answers on their way to the server. Each is told until the server has taken it, and of one question one at a time: of
// two quick ones the later has to arrive last, as it takes the place of the other.

const AGAIN = 2000; // milliseconds until an answer that did not arrive is told once more

export class Answers {
  // `post` sends a question and a choice, and gives the server's answer; `say` tells the reader what became of it.
  constructor(post, say) {
    this.post = post;
    this.say = say;
    this.given = new Map(); // question to choice
    this.telling = new Set(); // questions of which an answer is on its way
  }

  give(question, choice) {
    this.given.set(question, choice);
    return this.tell(question);
  }

  async tell(question) {
    if (this.telling.has(question)) return; // what is given meanwhile is told after that
    this.telling.add(question);
    let told;
    try {
      while (told !== this.given.get(question)) {
        told = this.given.get(question);
        await this.send(question, told);
      }
    } catch {
      this.say("The answer is on its way …");
      setTimeout(() => this.tell(question), AGAIN);
    } finally {
      this.telling.delete(question);
    }
  }

  async send(question, choice) {
    const answer = await this.post(question, choice);
    if (answer.ok) this.say("Your answer is in; another one takes its place.");
    else if (answer.status < 500) this.say((await answer.json()).message);
    else throw new Error(answer.status);
  }
}
