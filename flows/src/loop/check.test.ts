import { expect, test } from "bun:test";
import { paperAnswer, paperFile, paperFlow } from "../testing/paper-flow.ts";
import { type CheckVerdict, checkWork } from "./check.ts";
import { iterate } from "./iterate.ts";
import { better, type Iteration, isSame } from "./iteration.ts";
import { loop } from "./loop.ts";

const given = { type: "file", ...paperFile("given.txt") } as const;
const made = paperFile("made.txt", "made");
const outcome = paperAnswer("I made it.", { files: [made] });
const work = { task: "Make it", worker: "maker", outcome };
const passed = { passed: true, feedback: "there", score: 1 };
const failing = { passed: false, feedback: "more", score: 0 };
const ran = (exit_code: number, output = "") => paperAnswer("", { data: { exit_code, output } });

test.each([
  ["Make it", undefined],
  ["It is blue", "It is blue"],
])("the model checks the report and the files against the task, and against %j as %j", async (wanted, criteria) => {
  const { flow, shown } = paperFlow({}, { decided: [passed] });
  expect(await checkWork(flow, work, { by: "model", criteria }, undefined)).toEqual(passed);
  expect(shown.decisions[0]?.text).toBe(
    `The task: Make it\n\nWhat is wanted: ${wanted}\n\n<report>\nI made it.\n</report>\n\n<file name="made.txt" bytes="4">\nmade\n</file>`,
  );
});

test.each([
  ["Make it", undefined],
  ["It is blue", "It is blue"],
])(
  "an agent that checks sees the same, with the task's files, those made and its settings: %j as %j",
  async (wanted, criteria) => {
    const { flow, shown } = paperFlow({ files: [given] }, { asked: [paperAnswer("", { data: passed })] });
    const settings = { agents: ["x"] };
    await checkWork(flow, work, { by: "agent", agent: "critic", criteria, settings }, 5_000);
    expect(shown.asks[0]).toMatchObject({
      agent: "critic",
      text: expect.stringContaining(
        `The task: Make it\n\nWhat is wanted: ${wanted}\n\n<report>\nI made it.\n</report>`,
      ),
      parts: [given, { type: "file", ...made }],
      settings,
      options: { deadlineMs: 5_000 },
    });
  },
);

test.each([
  ["whoever did the work, where it is", undefined, "c", "maker", "where you worked", [], { contextId: "c" }],
  ["the same by name", "maker", "c", "maker", "where you worked", [], { contextId: "c" }],
  ["another agent, with the files", "other", "c", "other", "in a folder with the files", [given, made], {}],
  ["the worker without a conversation", undefined, "", "maker", "in a folder with the files", [given, made], {}],
] as const)("a command is run by %s", async (_, agent, contextId, asked, where, parts, options) => {
  const { flow, shown } = paperFlow({ files: [given] }, { asked: [ran(0)] });
  const at = { ...work, outcome: { ...outcome, contextId } };
  await checkWork(flow, at, { by: "command", command: "make", ...(agent && { agent }) }, 5_000);
  const [ask] = shown.asks;
  expect(ask?.agent).toBe(asked);
  expect(ask?.text).toContain(where);
  expect(ask?.text).toEndWith("\n\nmake");
  expect(ask?.parts as unknown).toEqual(parts.map((part) => ({ ...part, type: "file" })));
  expect(ask?.options).toMatchObject({ deadlineMs: 5_000, ...options });
  expect(ask?.options.contextId).toBe("contextId" in options ? options.contextId : undefined);
});

test("a command's feedback is its exit code and the end of what it printed", async () => {
  const { flow } = paperFlow({}, { asked: [ran(2, `a${"b".repeat(4_000)}`)] });
  const verdict = await checkWork(flow, work, { by: "command", command: "make" }, undefined);
  expect(verdict).toEqual({
    passed: false,
    feedback: `The command ended with exit code 2: make\n${"b".repeat(4_000)}`,
  });
});

/** A record of calls, of which each is its arguments, how it ended and what came of it. */
const record = (...calls: readonly (readonly [string, "done" | "failed" | "open", string])[]) => ({
  count: calls.length,
  calls: calls.map(([given, outcome, result]) => ({ name: "bash", arguments: given, outcome, result })),
});
const long = `node -e 'check("a\\n", "${"b".repeat(300)}")'\nmake`;

test.each([
  ["no call at all", "make", record(), "the record has no call that ran it"],
  [
    "a call that failed",
    "make",
    record(['{"command":"make"}', "failed", "Error: no rule [exit code 2, 0.1 s, cwd .]"]),
    "as was reported: make\nError: no rule [exit code 2",
  ],
  [
    "a call that did not end",
    "make",
    record(['{"command":"cd app && make"}', "open", ""]),
    "the record has no result of it",
  ],
  [
    "a long one that failed",
    long,
    record([JSON.stringify({ command: long }).slice(0, 240), "failed", "AssertionError [exit code 1, 0.1 s, cwd .]"]),
    "exit code 1",
  ],
] as const)(
  "a check that is said to have passed does not pass with %s in the record",
  async (_, command, made, why) => {
    const { flow } = paperFlow({}, { asked: [{ ...ran(0, "fine"), made }] });
    const verdict = await checkWork(flow, work, { by: "command", command }, undefined);
    expect(verdict.passed).toBe(false);
    expect(verdict.feedback).toContain(why);
    expect(verdict.feedback).not.toContain("fine");
  },
);

test.each([
  [
    "the last of several",
    record(['{"command":"make"}', "failed", "[exit code 2]"], ['{"command":"make"}', "done", ""]),
  ],
  ["another way to run it", record(['{"code":"import subprocess"}', "done", "0"])],
  ["a command after others", record(['{"command":"cd app\\n make"}', "done", "[exit code 0, 0.1 s, cwd .]"])],
  ["no record", undefined],
] as const)("a check passes that ended with exit code 0, by the report and %s", async (_, made) => {
  const { flow } = paperFlow({}, { asked: [{ ...ran(0), ...(made && { made }) }] });
  const verdict = await checkWork(flow, work, { by: "command", command: "make" }, undefined);
  expect(verdict).toEqual({ passed: true, feedback: "The command ended with exit code 0: make" });
});

test("an answer that had to be given again is held against the calls before it", async () => {
  const first = { ...paperAnswer("it passed"), made: record(['{"command":"make"}', "failed", "no [exit code 3]"]) };
  const { flow } = paperFlow({}, { asked: [first, { ...ran(0), made: record() }] });
  const verdict = await checkWork(flow, work, { by: "command", command: "make" }, undefined);
  expect(verdict).toMatchObject({ passed: false, feedback: expect.stringContaining("exit code 3") });
});

const iteration = (changes: Partial<Iteration["outcome"]> = {}, verdict?: CheckVerdict): Iteration => ({
  number: 1,
  outcome: { ...outcome, ...changes },
  verdict,
});
const scored = (score?: number) =>
  iteration({}, { passed: false, feedback: "no", ...(score !== undefined && { score }) });

test("the better of two attempts has the higher score, and of two alike is the later; a failed one is never better", () => {
  const [low, high, none] = [scored(0.2), scored(0.8), scored()];
  expect(better(undefined, low)).toBe(low);
  expect(better(low, high)).toBe(high);
  expect(better(high, low)).toBe(high);
  const alike = scored(0.8);
  expect(better(high, alike)).toBe(alike);
  expect(better(low, none)).toBe(low);
  expect(better(none, scored(0))).not.toBe(none);
  const failed = iteration({ state: "failed" });
  expect(better(low, failed)).toBe(low);
  expect(better(undefined, failed)).toBeUndefined();
});

test("two attempts are the same only if answer, files and feedback are, whatever the blanks and the files' order", () => {
  const [a, b] = [paperFile("a"), paperFile("b")];
  const one = iteration({ answer: "so it is", files: [a, b] }, { passed: false, feedback: "no" });
  const like = (changes: Partial<Iteration["outcome"]>, feedback = "no") =>
    isSame(one, iteration({ ...one.outcome, ...changes }, { passed: false, feedback }));
  expect([like({}), like({ answer: " so  it\nis " }), like({ files: [b, a] })]).toEqual([true, true, true]);
  expect(like({ answer: "so is it" })).toBe(false);
  expect(like({ files: [a] })).toBe(false);
  expect(like({ files: [a, { ...b, sha256: "other" }] })).toBe(false);
  expect(like({ files: [a, { ...b, name: "c" }] })).toBe(false);
  expect(like({}, "still no")).toBe(false);
});

test("an attempt is told what was found, its last answer if the conversation is lost or may be forgotten, and the task with its check", async () => {
  const loopWork = { agent: "maker", task: "Make it", instruction: "{goal}, {agent}!", sent: [given] };
  const told = async (before: Iteration) => {
    const late = { type: "file", ...paperFile("late.txt") } as const;
    const changed = { ...given, sha256: "changed" };
    const { flow, shown } = paperFlow({ files: [changed, late, given] }, { asked: [outcome], decided: [passed] });
    await iterate(flow, { ...loopWork, deadlineMs: 7_000, until: { by: "model", criteria: "blue" } }, [before]);
    return { ...shown.asks[0], files: [changed, late, given] };
  };
  const failed = { passed: false, feedback: "too red" };
  const goesOn = await told(iteration({}, failed));
  expect(
    goesOn.text,
  ).toBe(`Your last attempt was checked, and it is not what is wanted yet. Fix what is wrong and give the whole result again.

What was found:
too red

The task, as before:
Make it, maker!

It is done when: blue`);
  expect(goesOn.parts).toEqual(goesOn.files.slice(0, 2));
  expect(goesOn.options).toEqual({ deadlineMs: 7_000, contextId: "c" });
  const { outcome: attempt, ...rest } = iteration({}, failed);
  const { remembers: _, ...forgotten } = attempt;
  const again = await told({ ...rest, outcome: forgotten });
  expect(again.text).toContain("Your last answer:\n<report>\nI made it.");
  expect(again.parts).toEqual([...again.files, { type: "file", ...made }]);
  expect(again.options).toEqual({ deadlineMs: 7_000, contextId: "c" });
  const lost = await told(iteration({ contextId: "" }, failed));
  expect(lost.text).toContain("too red\n\nYour last answer:\n<report>\nI made it.\n</report>\n\nThe task, as before:");
  expect(lost.parts).toEqual(again.parts);
  expect(lost.options).toEqual({ deadlineMs: 7_000 });
  expect((await told(iteration({ contextId: "", answer: "" }, failed))).text).not.toContain("Your last answer");
});

test.each([
  ["passed", paperAnswer("so"), { passed: true, feedback: "there", score: 1 }, "there"],
  ["not_passed", paperAnswer("so"), { passed: false, feedback: "no", score: 0 }, "no"],
  ["not_passed", paperAnswer("so"), { passed: false, feedback: "no" }, "no"],
  [
    "failed",
    paperAnswer("", { state: "failed", error: { code: "task_failed", message: "no paper" } }),
    undefined,
    "The attempt did not come to an end: one failed: no paper",
  ],
] as const)("an attempt that %s is told with its feedback and score", async (came, asked, verdict, feedback) => {
  const { flow, shown } = paperFlow({}, { asked: [asked], decided: [verdict] });
  await iterate(flow, { agent: "maker", task: "Make it", instruction: "{goal}", sent: [] }, []);
  const score = verdict !== undefined && "score" in verdict ? { score: verdict.score } : {};
  expect(shown.told).toEqual([
    {
      type: "iteration-begun",
      note: "Iteration 1: maker begins",
      data: { iteration: 1, agent: "maker", begun: true },
    },
    {
      type: "iteration-ended",
      note: `Iteration 1: ${came.replace("_", " ")}: ${feedback}`,
      data: { iteration: 1, agent: "one", outcome: came, feedback, ...score },
    },
  ]);
  expect(shown.decisions).toHaveLength(verdict === undefined ? 0 : 1);
});

test.each([
  ["the model", undefined, [3, 2, 1], true],
  ["an agent", { by: "agent", agent: "critic" }, [6, 4, 2], false],
] as const)(
  "the budget is shared by the attempts that may follow and their checks by %s; only a better one is handed on",
  async (_, until, expected, own) => {
    const checks = [0.5, 0.2, 0.9].map((score) => ({ passed: false, feedback: `only ${score}`, score }));
    const drafts = [1, 2, 3].map((n) => paperAnswer(`draft ${n}`, { files: [paperFile(`${n}`)] }));
    const byAgent = drafts.flatMap((draft, n) => [draft, paperAnswer("", { data: checks[n] ?? null })]);
    const [calls, handedOn, reached]: [unknown[], string[][], string[]] = [[], [], []];
    const { flow } = paperFlow(
      {
        expect: (...asks) => void calls.push(asks),
        handOn: (files) => void handedOn.push(files.map(({ name }) => name)),
        reached: (text) => void reached.push(text),
      },
      { asked: until === undefined ? drafts : byAgent, decided: checks },
    );
    const options = { agent: "maker", instruction: "{goal}", maxIterations: 3, ...(until && { until }) };
    await expect(loop.perform(flow, options)).rejects.toMatchObject({ code: "step_limit" });
    expect(calls).toEqual(expected.map((count) => [count, { own }]));
    expect(handedOn).toEqual([["1"], ["1", "2", "3"]]);
    expect(reached).toEqual([
      "draft 1",
      ...[
        [1, 0.5],
        [3, 0.9],
      ].map(([n, at]) => `draft ${n}\n\nThe check did not pass: only ${at}`),
    ]);
  },
);

test("the agent works on the whole task, and is shown its last answer, cut, if it may have forgotten that", async () => {
  const { remembers: _, ...long } = paperAnswer("x".repeat(20_000));
  const { flow, shown } = paperFlow(
    { earlier: "before" },
    { asked: [long, paperAnswer("y")], decided: [failing, passed] },
  );
  await loop.perform(flow, { agent: "maker", instruction: "{goal}", maxIterations: 3 });
  const task = "Earlier in this conversation:\nbefore\n\nNow:\nThe goal";
  expect(shown.asks[0]?.text).toBe(task);
  expect(shown.asks[1]?.text).toContain(
    `What was found:\nmore\n\nYour last answer:\n<report>\n${"x".repeat(16_000)}\n[cut off]\n</report>\n\nThe task, as before:\n${task}`,
  );
});
