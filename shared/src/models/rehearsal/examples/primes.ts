import { checking, doing } from "../flow-messages.ts";
import { decision, excerpt, finish, type Scene, type Script } from "../script.ts";

const task = "How many primes are below 1000?";
const step = "Count the primes below 1000";

const code =
  "print('Primes below 1000:', sum(all(n % d for d in range(2, int(n ** 0.5) + 1)) for n in range(2, 1000)))";

/** Counts the primes with whatever runs Python here. */
function* count(scene: Scene) {
  const calls = [
    { name: "python_execute", args: { code } },
    { name: "bash", args: { command: `python3 -c "${code}"` } },
  ].filter(({ name }) => scene.tools.has(name));
  if (calls.length === 0)
    return finish(scene, "failure", "This needs python_execute or bash, which are not offered here.");
  const [result = ""]: readonly string[] = yield {
    say: "I am the rehearsal model, a script. I count them with Python.",
    calls: calls.slice(0, 1),
  };
  const found = /Primes below 1000: (\d+)/.exec(result)?.[1];
  if (found === undefined) return finish(scene, "failure", `They could not be counted: ${excerpt(result)}`);
  return finish(scene, "success", `There are ${found} primes below 1000.`, "Done.");
}

/** The question used in all guides: of an agent, and of the planning flow. */
export const primes: readonly Script[] = [
  {
    task: `The task: ${task}`,
    decides: "planning",
    play: ({ text }) =>
      text.includes("What came of the plan so far:")
        ? decision("planning", { command: "update", verdict: "impossible", reason: "I know no other way.", steps: [] })
        : decision("planning", {
            command: "create",
            title: "Primes below 1000",
            steps: [{ id: "count", agent: "manus", text: step, depends_on: [], expected: "the number of primes" }],
          }),
  },
  {
    task: checking(step),
    decides: "check_step",
    play({ text }) {
      const found = /There are \d+ primes below 1000\./.exec(text);
      return found === null
        ? decision("check_step", { verdict: "not_met", evidence: "", reason: "The number is not there." })
        : decision("check_step", { verdict: "met", evidence: found[0], reason: "It is there." });
    },
  },
  { task: doing(step), play: count },
  { title: task, task, play: count },
];
