import { afterAll, expect, test } from "bun:test";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { tellOutcome } from "./outcome.ts";
import type { TaskOutcome } from "./render-task.ts";
import { newView } from "./terminal-view.ts";

const folder = await mkdtemp(join(tmpdir(), "manyhands-outcome-"));
afterAll(() => rm(folder, { recursive: true }));

const file = { type: "file", sha256: "a", name: "sums.csv", mediaType: "text/csv", size: 3 } as const;
const artifact = (name: string, ...parts: TaskOutcome["artifacts"][number]["parts"]) =>
  ({ type: "artifact-added", artifactId: name, name, parts }) as const;

async function told(outcome: Partial<TaskOutcome>, json = false): Promise<{ text: string; cwd: string }> {
  const cwd = await mkdtemp(join(folder, "cwd-"));
  const pieces: string[] = [];
  const terminal = {
    style: { color: false, columns: 80 },
    interactive: false,
    out: (piece: string) => void pieces.push(piece),
    say: () => undefined,
    ask: async () => undefined,
    onEscape: () => () => undefined,
    read: async () => undefined,
  };
  const whole: TaskOutcome = {
    taskId: "t1",
    contextId: "c1",
    state: "completed",
    text: "",
    artifacts: [],
    view: newView,
    ...outcome,
  };
  const source = { file: async () => new TextEncoder().encode("1,2") };
  await tellOutcome(whole, { cwd, terminal }, { source, json });
  return { text: pieces.join(""), cwd };
}

test("the end of a task is told with its cause if it went wrong, and with the files that were saved", async () => {
  const files = await told({ text: "unseen", artifacts: [artifact("sums.csv", file)] });
  expect(files.text).toStartWith("\n✓ completed  0 model calls");
  const saved = join(files.cwd, "manyhands-out", "t1");
  expect(files.text.split("\n").slice(2)).toEqual([`Files in ${saved}`, "  sums.csv  3 B", ""]);
  expect(await Bun.file(join(saved, "sums.csv")).text()).toBe("1,2");
  const failed = await told({ state: "failed", text: "It is away.\n\u001b[2JTry later." });
  expect(failed.text.split("\n").slice(1)).toEqual([
    expect.stringMatching(/^✗ failed {2}/),
    "  It is away.",
    "  \\u001b[2JTry later.",
    "",
  ]);
  expect(await readdir(failed.cwd)).toEqual([]);
  const named = await told({ state: "failed", code: "step_limit", text: "No answer." });
  expect(named.text).toStartWith("\n✗ failed, step_limit  0 model calls");
  const alike = await told({ state: "rejected", code: "rejected", text: "Not approved." });
  expect(alike.text).toStartWith("\n✗ rejected  0 model calls");
  for (const [state, words, isCause] of [
    ["canceled", "■ canceled", true],
    ["rejected", "✗ rejected", true],
    ["paused", "‖ paused", true],
    ["input-required", "? waiting for an answer", false],
    ["auth-required", "? waiting for authorization", false],
    ["working", "… still running", false],
    ["submitted", "… waiting to start", false],
  ] as const) {
    const { text } = await told({ state, text: "why" });
    expect([state, text.includes(words), text.includes("\n  why")]).toEqual([state, true, isCause]);
    expect((await told({ state })).text.split("\n")).toHaveLength(3);
  }
});

test("a task's id, which is an agent's to choose, leads to no other folder", async () => {
  for (const taskId of ["..", ".", "../..", "a/../../b", ".git", "/etc"]) {
    const { cwd } = await told({ taskId, artifacts: [artifact("sums.csv", file)] });
    expect([taskId, await readdir(cwd)]).toEqual([taskId, ["manyhands-out"]]);
    const [made, ...more] = await readdir(join(cwd, "manyhands-out"));
    expect([made?.startsWith("."), more]).toEqual([false, []]);
    expect(await readdir(join(cwd, "manyhands-out", made ?? ""))).toEqual(["sums.csv"]);
  }
});

test("as JSON the outcome has the last answer, its data, the files and what was used", async () => {
  const view = { ...newView, totals: { ...newView.totals, calls: 2, costUsd: 0.5 } };
  const { text, cwd } = await told(
    {
      state: "failed",
      text: "cause",
      view,
      artifacts: [
        artifact("answer", { type: "text", text: "old" }),
        artifact("sums.csv", file),
        artifact(
          "answer",
          { type: "text", text: "new\u009b" },
          { type: "data", data: { n: 1 } },
          { type: "text", text: "er" },
        ),
      ],
    },
    true,
  );
  // A terminal obeys characters that JSON leaves as they are.
  expect(text).not.toContain("\u009b");
  expect(JSON.parse(text)).toEqual({
    kind: "result",
    taskId: "t1",
    contextId: "c1",
    state: "failed",
    text: "new\u009b\ner",
    data: { n: 1 },
    files: [{ path: join(cwd, "manyhands-out", "t1", "sums.csv"), bytes: 3 }],
    totals: expect.objectContaining({ calls: 2, costUsd: 0.5 }),
  });
  const bare: unknown = JSON.parse((await told({ state: "rejected", text: "cause" }, true)).text);
  expect(bare).toMatchObject({ text: "cause", files: [] });
  expect(bare).not.toHaveProperty("data");
});
