import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TaskState } from "@a2a-js/sdk";
import { freePort } from "manyhands/internal/http/free-port";
import type { ModelScript, ScriptedModel } from "manyhands/internal/testing/models/scripted-model";
import { startScriptedModel } from "manyhands/internal/testing/models/scripted-model";
import { artifactBytes, sendByOldSdk, sendBySdk } from "../e2e/sdk-client.ts";
import { type AgentServer, startManus } from "../servers/manus-server.ts";

let home: string;
let model: ScriptedModel;
let manus: AgentServer;

/**
 * Writes a file with the shell, reads it with Python, and ends; what it says comes from the real
 * results.
 */
const script: ModelScript = (request) => {
  const results = request.messages.filter(({ role }) => role === "tool").map(({ content }) => String(content));
  const task = JSON.stringify(request.messages.findLast(({ role }) => role === "user")?.content);
  if (task.includes("give up"))
    return { calls: [{ name: "terminate", args: { status: "failure", summary: "I gave up." } }] };
  if (results.length === 0)
    return {
      calls: [{ name: "bash", args: { command: "printf 'six\\nseven\\n' > numbers.txt; exit_code=$?; echo wrote" } }],
    };
  if (results.length === 1) {
    const code = "print(len(open('numbers.txt').read().split()), 'words')";
    return { text: "Counting.", calls: [{ name: "python_execute", args: { code } }] };
  }
  const words = /(\d+) words/.exec(results[1] ?? "")?.[1] ?? "unknown";
  return { calls: [{ name: "terminate", args: { status: "success", summary: `numbers.txt has ${words} words.` } }] };
};

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "manyhands-e2e-"));
  model = await startScriptedModel(script);
  manus = startManus({
    MANYHANDS_HOME: home,
    PORT: `${freePort()}`,
    OPENAI_BASE_URL: model.url,
    OPENAI_API_KEY: "canary-key-never-to-be-seen",
    MANYHANDS_MODEL: "scripted",
  });
  await manus.ready;
});

afterAll(async () => {
  await manus.stop();
  await model.close();
  await rm(home, { recursive: true, force: true });
});

test("the SDK's 1.0 client: SendMessage drives real tools and ends completed, the answer as last artifact", async () => {
  const task = await sendBySdk(manus.url, "Count words.");
  expect(task.status?.state).toBe(TaskState.TASK_STATE_COMPLETED);
  expect(task.artifacts.map(({ name }) => name)).toEqual(["numbers.txt", "answer"]);
  expect(task.artifacts.at(-1)?.parts[0]?.content).toEqual({ $case: "text", value: "numbers.txt has 2 words." });
  expect((await artifactBytes(task, "numbers.txt")).toString()).toBe("six\nseven\n");
});

test("the 0.3.14 client: message/send on the same address does the same", async () => {
  const task = await sendByOldSdk(manus.url, "Count words.");
  expect(task.status.state).toBe("completed");
  expect(task.artifacts?.at(-1)?.parts).toMatchObject([{ kind: "text", text: "numbers.txt has 2 words." }]);
});

test("a task the agent gives up on fails with its reason", async () => {
  const task = await sendByOldSdk(manus.url, "give up");
  expect(task.status.state).toBe("failed");
  expect(task.status.message?.parts).toMatchObject([{ text: "I gave up." }]);
});

test("card, health and readiness name the model in use and the sandbox, and never the key", async () => {
  const paths = ["/.well-known/agent-card.json", "/healthz", "/readyz", "/metrics"];
  const bodies = await Promise.all(paths.map(async (path) => (await fetch(manus.url + path)).text()));
  expect(bodies[0]).toContain('"scripted"');
  expect(bodies[1]).toContain('"scripted"');
  expect(bodies[1]).toMatch(/"sandbox":"(srt|bwrap|landlock)"/);
  expect(bodies.join()).not.toContain("canary-key");
});
