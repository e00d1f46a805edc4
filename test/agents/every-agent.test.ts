import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TaskState } from "@a2a-js/sdk";
import { agentDefaults } from "manyhands/internal/config/agents";
import { freePort } from "manyhands/internal/http/free-port";
import { startScriptedModel } from "manyhands/internal/testing/models/scripted-model";
import { artifactBytes, oldArtifactText, sendByOldSdk, sendBySdk } from "../e2e/sdk-client.ts";
import { startAgent } from "../servers/manus-server.ts";

const home = await mkdtemp(join(tmpdir(), "every-agent-"));

/** Reads the file it was sent and writes what it saw into another. */
const model = await startScriptedModel(({ messages }) => {
  const results = messages.filter(({ role }) => role === "tool").map(({ content }) => String(content));
  const edit = (args: object) => ({ calls: [{ name: "str_replace_editor", args }] });
  if (results.length === 0) return edit({ command: "view", path: "in.txt" });
  const seen = /\t(given \w+)/.exec(results[0] ?? "")?.[1] ?? "nothing";
  if (results.length === 1) return edit({ command: "create", path: "out.txt", file_text: `${seen} back` });
  return { text: `It says: ${seen}` };
});

afterAll(async () => {
  await model.close();
  await rm(home, { recursive: true, force: true });
});

describe.each(Object.keys(agentDefaults))("%s, started alone,", (name) => {
  const agent = startAgent(name, {
    MANYHANDS_HOME: home,
    PORT: `${freePort()}`,
    OPENAI_BASE_URL: model.url,
    MANYHANDS_MODEL: "scripted",
  });
  beforeAll(() => agent.ready);
  afterAll(() => agent.stop());

  test("its card says who it is, what it can do and how to reach it", async () => {
    const card = JSON.parse(await (await fetch(`${agent.url}/.well-known/agent-card.json`)).text());
    expect(card.skills.length).toBeGreaterThan(0);
    expect(card.supportedInterfaces.map(({ url }: { url: string }) => url)).toEqual(Array(3).fill(agent.url));
    const own = card.capabilities.extensions.find(({ uri }: { uri: string }) => uri === "urn:manyhands:agent:1");
    expect(own.params).toMatchObject({ name, model: { name: "scripted" } });
  });

  test("accepts a file and returns one over A2A 1.0", async () => {
    const task = await sendBySdk(agent.url, "What does it say?", { "in.txt": "given one" });
    expect(task.status?.state).toBe(TaskState.TASK_STATE_COMPLETED);
    expect(task.artifacts.at(-1)?.parts[0]?.content).toEqual({ $case: "text", value: "It says: given one" });
    expect((await artifactBytes(task, "out.txt")).toString()).toBe("given one back");
  });

  test("accepts a file and returns one over A2A 0.3", async () => {
    const task = await sendByOldSdk(agent.url, "What does it say?", { "in.txt": "given two" });
    expect(task.status.state).toBe("completed");
    expect(task.artifacts?.at(-1)?.parts).toMatchObject([{ kind: "text", text: "It says: given two" }]);
    expect(await oldArtifactText(task, "out.txt")).toBe("given two back");
  });
});
