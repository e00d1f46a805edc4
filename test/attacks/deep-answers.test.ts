import { expect, test } from "bun:test";
import { Role, Task, TaskState } from "@a2a-js/sdk";
import { answerOf } from "../../shared/src/a2a/ask/collect.ts";
import { peerArtifacts } from "../../shared/src/a2a/ask/peer-artifacts.ts";
import { toResult } from "../../shared/src/mcp/client/to-result.ts";
import { workspaceForTest } from "../../shared/src/testing/machine/workspace.ts";

const nested = (levels: number) => JSON.parse(`${"[".repeat(levels)}${"]".repeat(levels)}`);

/** What becomes of a result's structured content, and the processor time it took. */
async function ofStructured(structuredContent: Record<string, unknown>, text = "") {
  await using room = await workspaceForTest();
  const content = [{ type: "text" as const, text }];
  const target = { server: "s", tool: "t", workspace: room.workspace };
  const before = process.cpuUsage();
  const result = await toResult({ content, structuredContent }, target);
  const { user, system } = process.cpuUsage(before);
  return { text: result.text, ms: (user + system) / 1_000 };
}

test("a result of an MCP server that is nested without end holds no server and fills no memory", async () => {
  const deep = { a: nested(30_000) };
  const { text, ms } = await ofStructured(deep, JSON.stringify({ a: 1 }));
  expect(text).toContain("nested deeper than 100 levels");
  expect(ms).toBeLessThan(500);
  const wide = { a: Array.from({ length: 10_000 }, () => nested(90)) };
  const { text: said, ms: taken } = await ofStructured(wide);
  expect(said.length).toBeLessThan(2 * JSON.stringify(wide).length);
  expect(taken).toBeLessThan(2_000);
});

test("a structured result of ordinary size is set out on lines", async () => {
  expect((await ofStructured({ a: { b: 1 } })).text).toContain('{\n "a": {\n  "b": 1\n }\n}');
});

test("of another agent's task, what is nested without end is left out, and a fault says so", () => {
  const part = (levels: number) => ({ data: { a: nested(levels) } });
  const task = (name: string, levels: number) =>
    Task.fromJSON({
      id: "t",
      contextId: "c",
      status: { state: TaskState.TASK_STATE_COMPLETED },
      history: [{ messageId: "m", role: Role.ROLE_AGENT, parts: [{ text: "done" }] }],
      artifacts: [
        { artifactId: "1", name: "answer", parts: [{ text: "done" }] },
        { artifactId: "2", name, parts: [part(levels)] },
      ],
    });
  expect(answerOf(task("answer", 30_000))).toMatchObject({ fault: { code: "too_large" } });
  expect(answerOf(task("answer", 5)).fault).toBeUndefined();
  expect(peerArtifacts(task("other", 30_000), new Map())).toMatchObject({
    artifacts: [],
    fault: { code: "too_large" },
  });
  expect(peerArtifacts(task("other", 5), new Map()).artifacts).toHaveLength(1);
});
