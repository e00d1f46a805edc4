import { doing } from "../flow-messages.ts";
import { type Acting, excerpt, finish, type Script } from "../script.ts";
import { monthEndSteps } from "./month-end-steps.ts";

const fault = "if weight < heaviest:";
const fixed = "if weight <= heaviest:";
const runTests = { name: "run_tests", args: { path: "shipping" } };

/** SWE's part of the demo: inspect, run the tests, fix, run them again, inspect the patch. */
export const fixShipping: Script = {
  task: doing(monthEndSteps.repair),
  *play(scene) {
    const missing = ["unpack", "run_tests", "str_replace_editor"].filter((name) => !scene.tools.has(name));
    if (missing.length > 0)
      return finish(scene, "failure", `This step needs ${missing.join(" and ")}, not offered here.`);
    const [unpacked = ""] = yield {
      say: "I am the rehearsal model, a script. I unpack the project and look around.",
      calls: [
        { name: "unpack", args: { path: "shipping.tar.gz" } },
        { name: "repo_map", args: { path: "." } },
      ],
    };
    const before = yield* tests("I run the tests before I change anything.");
    if (isPassed(before))
      return finish(scene, "success", `The tests pass already, so nothing was changed: ${firstLine(before)}`);
    if (!/tests? failed/.test(before))
      return finish(scene, "failure", `The tests could not be run. ${firstLine(before)} ${excerpt(unpacked)}`);
    const [code = ""] = yield {
      say: `${firstLine(before)} The parcels that fail weigh exactly what a limit says, so I read the code that compares with it.`,
      calls: [{ name: "str_replace_editor", args: { command: "view", path: "shipping/shipping.py" } }],
    };
    if (!code.includes(fault))
      return finish(scene, "failure", `The tests fail, but not by the fault I know. ${firstLine(before)}`);
    const edit = { command: "str_replace", path: "shipping/shipping.py", old_str: fault, new_str: fixed };
    yield {
      say: "A weight equal to a limit belongs to that rate: the comparison leaves it out. I fix that one comparison.",
      calls: [{ name: "str_replace_editor", args: edit }],
    };
    const after = yield* tests("I run the tests again.");
    if (!isPassed(after)) return finish(scene, "failure", `The tests still fail after the change. ${firstLine(after)}`);
    yield { say: firstLine(after), calls: [{ name: "checkpoints", args: { command: "diff" } }] };
    return finish(scene, "success", summaryOf(before, after), "Done.");
  },
};

function summaryOf(before: string, after: string): string {
  return [
    "The fault was in shipping_cost (shipping/shipping.py): a parcel that weighs exactly as much as a rate allows was charged at the next rate, and one of 20 kg was refused.",
    `Changed: \`${fault}\` to \`${fixed}\`, nothing else.`,
    `Tests before: ${firstLine(before)} Tests after: ${firstLine(after)}`,
  ].join("\n");
}

/** Runs the tests; retries if a server restart interrupted them. */
function* tests(say: string): Acting<string> {
  let [result = ""] = yield { say, calls: [runTests] };
  if (result.startsWith("Interrupted"))
    [result = ""] = yield { say: "That was interrupted. Once more.", calls: [runTests] };
  return result;
}

function isPassed(result: string): boolean {
  return /^(?:All \d+ tests|The 1 test) passed\./m.test(result);
}

/** The first sentence of the result. */
function firstLine(result: string): string {
  return result.split("\n")[0] ?? "";
}
