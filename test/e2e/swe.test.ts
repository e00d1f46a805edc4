import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Role, type Task, TaskState } from "@a2a-js/sdk";
import { ClientFactory } from "@a2a-js/sdk/client";
import { type ScriptedModel, startScriptedModel } from "@manyhands/shared/llm/scripted-model";
import { type AgentServer, freePort, startAgent } from "./manus-server.ts";

const sums = "def total(items):\n    result = 1\n    for item in items:\n        result += item\n    return result\n";
const cases = `import unittest
from sums import total
class Totals(unittest.TestCase):
    def test_total(self):
        self.assertEqual(total([1, 2]), 3)
`;

let home: string;
let model: ScriptedModel;
let swe: AgentServer;

/** Runs the tests, mends the code by a patch only when they failed, runs them again, and says how they came out. */
const script: Parameters<typeof startScriptedModel>[0] = ({ messages }) => {
  const results = messages.filter(({ role }) => role === "tool").map(({ content }) => String(content));
  const last = results.at(-1) ?? "";
  if (results.length === 0) return { calls: [{ name: "search", args: { pattern: "result = " } }] };
  if (results.length === 1 || last.startsWith("The patch was applied"))
    return { calls: [{ name: "run_tests", args: {} }] };
  if (results.length === 2 && last.startsWith("1 of 1 tests failed.")) {
    const patch =
      "--- a/sums.py\n+++ b/sums.py\n@@ -1,3 +1,3 @@\n def total(items):\n-    result = 1\n+    result = 0\n     for item in items:\n";
    return { calls: [{ name: "apply_patch", args: { patch } }] };
  }
  return { calls: [{ name: "terminate", args: { status: "success", summary: last.split("\n")[0] ?? "" } }] };
};

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "manyhands-swe-"));
  model = await startScriptedModel(script);
  swe = startAgent("swe", {
    MANYHANDS_HOME: home,
    PORT: freePort(),
    OPENAI_BASE_URL: model.url,
    OPENAI_API_KEY: "none",
    MANYHANDS_MODEL: "scripted",
  });
  await swe.ready;
});

afterAll(async () => {
  await swe.stop();
  await model.close();
  await rm(home, { recursive: true, force: true });
});

test("a failing project sent as files is mended, its tests pass, and the change comes back as a patch", async () => {
  const client = await new ClientFactory().createFromUrl(swe.url);
  const plain = { filename: "", mediaType: "", metadata: undefined };
  const file = (filename: string, text: string) => ({
    ...plain,
    content: { $case: "raw" as const, value: Buffer.from(text) },
    filename,
  });
  const task = (await client.sendMessage({
    tenant: "",
    configuration: undefined,
    metadata: undefined,
    message: {
      messageId: crypto.randomUUID(),
      contextId: "",
      taskId: "",
      role: Role.ROLE_USER,
      parts: [
        { ...plain, content: { $case: "text", value: "The tests fail. Fix the code." } },
        file("sums.py", sums),
        file("test_sums.py", cases),
      ],
      metadata: undefined,
      extensions: [],
      referenceTaskIds: [],
    },
  })) as Task;
  expect(task.status?.state).toBe(TaskState.TASK_STATE_COMPLETED);
  expect(task.artifacts.map(({ name }) => name)).toEqual(["sums.py", "changes.patch", "answer"]);
  expect(task.artifacts.at(-1)?.parts[0]?.content).toEqual({ $case: "text", value: "The 1 test passed." });
  const content = task.artifacts[1]?.parts[0]?.content;
  const patch = content?.$case === "url" ? await (await fetch(content.value)).text() : "";
  expect(patch).toContain("-    result = 1\n+    result = 0\n");
  if (Bun.which("git") === null) return;
  await Bun.write(join(home, "check/sums.py"), sums);
  const applied = Bun.spawnSync(["git", "apply", "-"], { cwd: join(home, "check"), stdin: Buffer.from(patch) });
  expect({ code: applied.exitCode, error: applied.stderr.toString() }).toEqual({ code: 0, error: "" });
  expect(await Bun.file(join(home, "check/sums.py")).text()).toBe(sums.replace("result = 1", "result = 0"));
});
