import { decision, finish, type Scene, type Script } from "../script.ts";

const question = "Should a small team write its tests before the code or after it?";

const sides = {
  before: [
    "A test that is written first says what the code is for before anyone is in love with a way to do it, and it is seen to fail once.",
    "It is right that a shape has to be found first; a throw-away sketch does that. What is kept should begin with its test.",
  ],
  after: [
    "While the shape of the code is not known yet, a test first fixes a guess; tests that follow at once fix what was found out.",
    "It is right that a test has to be seen to fail. That can be had afterwards too, by breaking the code once.",
  ],
} as const;

/** The example of the debate flow: two debaters, the check whether they agree, and the verdict. */
export const testDebate: readonly Script[] = [
  {
    title: `${question} (flow debate)`,
    task: question,
    play: (scene) => finish(scene, "success", argue(scene), "Done."),
  },
  {
    task: question,
    decides: "check_agreement",
    play: () =>
      decision("check_agreement", { agreed: false, reason: "One begins with the test, the other with the code." }),
  },
  {
    task: question,
    decides: "give_verdict",
    play({ text }) {
      const numbers = [...text.matchAll(/<argument number="(\d+)"/g)].map(([, number]) => Number(number));
      const cited = numbers.slice(-2);
      return decision("give_verdict", {
        decision:
          "With the code, in the same piece of work: first where it is known what the code should do, at once after it where that is being found out.",
        confidence: 0.6,
        reasons: [
          `Both sides hold that a test has to be seen to fail, and that no code is kept without one ${cited.map((n) => `[${n}]`).join(" ")}.`,
        ],
        dissent: "Whether people really write the test afterwards was answered by nobody.",
        citations: cited,
      });
    },
  },
];

/** The argument for the debater's position; in later rounds it cites the arguments it was shown. */
function argue({ text }: Scene): string {
  const side = /for this position[^\n]*\n\s*Before/.test(text) ? sides.before : sides.after;
  const seen = [...text.matchAll(/<argument number="(\d+)"/g)].map(([, number]) => `[${number}]`);
  return seen.length === 0 ? side[0] : `To ${seen.join(" and ")}: ${side[1]}`;
}
