import { expect, test } from "bun:test";
import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ShownState, TaskItem } from "../../tasks/task-item.ts";
import { cliForTest } from "../../testing/cli.ts";

const usage = { inputTokens: 10, outputTokens: 1, cachedInputTokens: 0, costUsd: 0.5, source: "provider" };
const at = (state: ShownState, text?: string): TaskItem => ({
  ...{ kind: "state", taskId: "t1", contextId: "c1", state },
  ...(text !== undefined && { text }),
});
const happened = (event: object): TaskItem => ({ kind: "event", seq: 1, at: 1, event }) as TaskItem;
const made = (name: string) =>
  happened({ type: "artifact-added", artifactId: name, name, parts: [{ type: "text", text: name }] });
const called = happened({ type: "model-asked", callId: "c", model: "m", usage, milliseconds: 1 });

/** An agent that asks once, makes a file before and one after it, and asks its model each time. */
async function* asking({ taskId }: { readonly taskId?: string | undefined }) {
  yield* taskId === undefined
    ? [at("working"), called, made("before.md"), at("input-required", "Which?")]
    : [at("working"), called, made("after.md"), at("completed")];
}

test("what a task made and used before a question counts at its end", async () => {
  await using cli = await cliForTest({ play: asking, answers: ["That one", "unasked"], interactive: true });
  expect(await cli.run("run", "Go")).toBe(0);
  expect(cli.sent.map(({ text, taskId }) => [text, taskId])).toEqual([
    ["Go", undefined],
    ["That one", "t1"],
  ]);
  expect((await readdir(join(cli.cwd, "manyhands-out/t1"))).toSorted()).toEqual(["after.md", "before.md"]);
  expect(cli.out()).toContain("2 model calls · 20 tokens in");
});

test("where nobody can be asked, or nobody answers, the task waits, and how to answer it is said", async () => {
  for (const options of [{ answers: ["unasked"] }, { answers: [], interactive: true }]) {
    await using cli = await cliForTest({ play: asking, ...options });
    expect(await cli.run("run", "Go")).toBe(3);
    expect(cli.sent).toHaveLength(1);
    expect(cli.said()).toContain("Answer it with: ");
  }
});

test("as JSON only the outcome is told, not what to do next; the schema and the limits go with the task", async () => {
  await using cli = await cliForTest({ play: asking, answers: [] });
  await writeFile(join(cli.cwd, "schema.json"), '{"type":"object"}');
  const given = ["--schema", "schema.json", "--budget-usd", "0.5", "--context", "c0"];
  expect(await cli.run("run", "Go", "--json", ...given)).toBe(3);
  const sent = { text: "Go", outputSchema: { type: "object" }, budgetUsd: 0.5, contextId: "c0" };
  expect(cli.sent).toMatchObject([sent]);
  expect(cli.said()).not.toContain("Answer it with");
  expect(await cli.run("flow", "debate", "Go", "--json", ...given)).toBe(3);
  expect(cli.sent[1]).toMatchObject(sent);
  expect(await cli.run("flow", "debate", "--example", "--json", "--budget-usd", "0", "--context", "c2")).toBe(3);
  expect(cli.sent[2]).toMatchObject({ budgetUsd: 0, contextId: "c2" });
});
