import { expect, test } from "bun:test";
import { entryForTest } from "manyhands/internal/testing/flow";
import { readAnswer } from "./approve-plan.ts";

const agents = [entryForTest("swe", "http://a"), entryForTest("data-analysis", "http://b")];
const read = (text: string) => readAnswer(text, { agents, finished: [], mostSteps: 5 });

test("yes and no are short; any longer text is a change request", () => {
  for (const text of ["yes", "Y", " OK! ", "go ahead", "approved", "yes, please."])
    expect(read(text).verdict).toBe("approved");
  for (const text of ["no", "No, thanks.", "stop", "cancel!"]) expect(read(text).verdict).toBe("rejected");
  for (const text of ["no, let swe do step 2", "yes but in French", "start with the data"])
    expect(read(text)).toEqual({ verdict: "wish", text });
  expect(read("  ")).toMatchObject({ verdict: "unclear" });
});

test("a plan is parsed from lines in the form it was shown", () => {
  expect(
    read(
      "1. [SWE] Fix it => tests pass\n2. [data analysis] Count (after 1) (delivers n.csv, a sum) => a number\nb) [swe] Tell (after 1, 2)",
    ),
  ).toEqual({
    verdict: "edited",
    steps: [
      { id: "1", text: "Fix it", agent: "swe", dependsOn: [], expected: "tests pass", delivers: [] },
      {
        ...{ id: "2", text: "Count", agent: "data-analysis", dependsOn: ["1"], expected: "a number" },
        delivers: ["n.csv", "a sum"],
      },
      { id: "b", text: "Tell", agent: "swe", dependsOn: ["1", "2"], expected: "", delivers: [] },
    ],
  });
});

test("or from JSON, fenced or not, as a list of steps or an object", () => {
  const steps = [{ text: "Fix it", agent: "swe" }];
  const expected = {
    verdict: "edited",
    steps: [{ id: "1", text: "Fix it", agent: "swe", dependsOn: [], expected: "", delivers: [] }],
  };
  const texts = [
    JSON.stringify({ steps }),
    JSON.stringify(steps),
    `\`\`\`json\n${JSON.stringify({ steps }, null, 2)}\n\`\`\``,
  ];
  for (const text of texts) expect(read(text)).toEqual(expected as ReturnType<typeof read>);
});

test("a plan that cannot be carried out is refused with the reason", () => {
  const fault = (text: string) => {
    const answer = read(text);
    return answer.verdict === "unclear" ? answer.fault : answer.verdict;
  };
  expect(fault("[cook] Cook")).toBe('Step 1: there is no agent "cook"; there are swe, data-analysis.');
  expect(fault("1. [swe] A (after 2)\n2. [swe] B (after 1)")).toContain("wait for each other");
  expect(fault('{"steps": [{"agent": "swe"}]}')).toContain("cannot be read");
  expect(fault('{"steps": [')).toContain("cannot be read");
});
