import { expect, test } from "bun:test";
import { AppError } from "manyhands";
import { canceledBranch, tellBranch, workBranch } from "./branch.ts";
import { paperAnswer, paperFile, paperFlow } from "./testing/paper-flow.ts";

const branch = { name: "1", agent: "one", message: { text: "Do it" }, deadlineMs: 50 };
const throwing = (error: Error) => paperFlow({ ask: () => Promise.reject(error) }).flow;

test("a limit of the flow fails the branch, and anything unexpected ends the flow", async () => {
  const limit = new AppError("token_limit", "Nothing is left.");
  expect(await workBranch(throwing(limit), branch)).toMatchObject({
    outcome: "failed",
    hitLimit: true,
    reason: "Nothing is left.",
    error: { code: "token_limit" },
  });
  await expect(workBranch(throwing(new TypeError("a bug")), branch)).rejects.toThrow("a bug");
});

test("an agent is asked with its branch's deadline, and as the flow's answer only where it is that", async () => {
  const { flow, shown } = paperFlow({}, { asked: [] });
  await workBranch(flow, branch);
  await workBranch(flow, { ...branch, deadlineMs: undefined, isAnswer: true });
  expect(shown.asks.map(({ options }) => options)).toEqual([{ isAnswer: false, deadlineMs: 50 }, { isAnswer: true }]);
});

test("what a branch came to has all that its agent handed over, and why it did not complete", async () => {
  const made = { taskId: "t1", files: [paperFile("a.txt")], artifacts: [{ name: "a", parts: [] }], data: { rows: 3 } };
  const error = { code: "stuck", message: "No way on." } as const;
  const { flow } = paperFlow(
    {},
    { asked: [paperAnswer("Found", made), paperAnswer("Half", { ...made, state: "failed", error })] },
  );
  const common = { branch, hitLimit: false, ...made };
  expect(await workBranch(flow, branch)).toEqual({ ...common, answer: "Found", outcome: "completed", reason: "" });
  expect(await workBranch(flow, branch)).toEqual({
    ...common,
    answer: "Half",
    outcome: "failed",
    reason: expect.stringContaining("No way on."),
    error,
  });
});

test("how a branch ended is told in words: its agent, or why it failed", async () => {
  const error = { code: "stuck", message: "No way on." } as const;
  const { flow, shown } = paperFlow({}, { asked: [paperAnswer("Found"), paperAnswer("", { state: "failed", error })] });
  for (const result of [await workBranch(flow, branch), await workBranch(flow, branch), canceledBranch(branch)])
    tellBranch(flow, result);
  const ended = shown.told.filter(({ type }) => type === "branch-ended");
  expect(ended.map(({ note }) => note)).toEqual([
    "Branch 1: one completed",
    "Branch 1: one failed: No way on.",
    "Branch 1: one canceled",
  ]);
});
