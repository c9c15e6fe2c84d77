"""Answers of who follows, in JavaScript: which arrive, and in which order."""

from tests.support import node
from tests.support.paths import ROOT

MODULE = ROOT / "crfviz/ui/following/web/answers.js"
BODY = """
  const posted = [], said = [], timers = [];
  globalThis.setTimeout = (act) => timers.push(act);
  const waiting = [];
  const post = (question, choice) => {
    posted.push([question, choice]);
    return new Promise((answer, fail) => waiting.push({ answer, fail }));
  };
  const rest = () => new Promise(setImmediate);
  const answers = new Answers(post, (text) => said.push(text));
  const steps = {
    give: (question, choice) => void answers.give(question, choice),
    taken: (place) => waiting[place].answer({ ok: true }),
    refused: (place) =>
      waiting[place].answer({ ok: false, status: 409, json: async () => ({ message: "over" }) }),
    away: (place) => waiting[place].answer({ ok: false, status: 503 }),
    lost: (place) => waiting[place].fail(new TypeError("no line")),
    later: () => timers.splice(0).forEach((act) => act()),
  };
  const after = [];
  for (const [name, ...of] of told) {
    steps[name](...of);
    await rest();
    after.push(posted.length);
  }
  return { posted, said, after };
"""


def told(tmp_path, *steps):
    return node.run(tmp_path, {MODULE: "Answers"}, BODY, steps)


def test_of_two_quick_answers_the_later_is_told_after_the_first_is_taken(tmp_path):
    found = told(tmp_path, ["give", "q", 0], ["give", "q", 1], ["give", "q", 2], ["taken", 0])
    assert found["after"] == [1, 1, 1, 2]
    assert found["posted"] == [["q", 0], ["q", 2]]  # what was thought better of is not told


def test_an_answer_that_did_not_arrive_is_told_again_and_another_does_not_wait_for_that(tmp_path):
    found = told(
        tmp_path,
        ["give", "q", 0],
        ["lost", 0],
        ["later"],
        ["away", 1],
        ["give", "q", 1],
        ["taken", 2],
    )
    assert found["posted"] == [["q", 0], ["q", 0], ["q", 1]]
    on_its_way = "The answer is on its way …"
    assert found["said"] == [
        on_its_way,
        on_its_way,
        "Your answer is in; another one takes its place.",
    ]


def test_what_is_refused_is_said_and_not_told_again(tmp_path):
    found = told(tmp_path, ["give", "q", 0], ["refused", 0], ["later"])
    assert (found["posted"], found["said"]) == ([["q", 0]], ["over"])


def test_questions_do_not_wait_for_each_other(tmp_path):
    found = told(tmp_path, ["give", "q", 0], ["give", "r", 1])
    assert found["posted"] == [["q", 0], ["r", 1]]
