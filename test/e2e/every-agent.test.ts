import { afterAll, describe, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Artifact, Role, type Task, TaskState } from "@a2a-js/sdk";
import { ClientFactory } from "@a2a-js/sdk/client";
import { type AgentName, agentPorts } from "@manyhands/shared/config/agents";
import { startScriptedModel } from "@manyhands/shared/llm/scripted-model";
import type { Task as TaskOf03 } from "a2a-sdk-v0";
import { A2AClient } from "a2a-sdk-v0/client";
import { freePort, startAgent } from "./manus-server.ts";

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

/** What an agent made is fetched from where it says. */
async function contentOf(artifacts: readonly Artifact[]): Promise<string> {
  const content = artifacts.find(({ name }) => name === "out.txt")?.parts[0]?.content;
  return content?.$case === "url" ? await (await fetch(content.value)).text() : "";
}

describe.each(Object.keys(agentPorts) as AgentName[])("%s, started alone,", (name) => {
  const agent = startAgent(name, {
    MANYHANDS_HOME: home,
    PORT: freePort(),
    OPENAI_BASE_URL: model.url,
    MANYHANDS_MODEL: "scripted",
  });
  afterAll(() => agent.stop());

  test("tells in its card who it is, what it can do and how it is reached", async () => {
    await agent.ready;
    const card = JSON.parse(await (await fetch(`${agent.url}/.well-known/agent-card.json`)).text());
    expect(card.skills.length).toBeGreaterThan(0);
    expect(card.supportedInterfaces.map(({ url }: { url: string }) => url)).toEqual(Array(3).fill(agent.url));
    const own = card.capabilities.extensions.find(({ uri }: { uri: string }) => uri === "urn:manyhands:agent:1");
    expect(own.params).toMatchObject({ name, model: { name: "scripted" } });
  });

  test("takes a file and gives one back over A2A 1.0", async () => {
    await agent.ready;
    const client = await new ClientFactory().createFromUrl(agent.url);
    const part = { filename: "", mediaType: "", metadata: undefined };
    const file = { ...part, content: { $case: "raw", value: Buffer.from("given one") }, filename: "in.txt" } as const;
    const task = (await client.sendMessage({
      tenant: "",
      configuration: undefined,
      metadata: undefined,
      message: {
        messageId: crypto.randomUUID(),
        contextId: "",
        taskId: "",
        role: Role.ROLE_USER,
        parts: [{ ...part, content: { $case: "text", value: "What does it say?" } }, file],
        metadata: undefined,
        extensions: [],
        referenceTaskIds: [],
      },
    })) as Task;
    expect(task.status?.state).toBe(TaskState.TASK_STATE_COMPLETED);
    expect(task.artifacts.at(-1)?.parts[0]?.content).toEqual({ $case: "text", value: "It says: given one" });
    expect(await contentOf(task.artifacts)).toBe("given one back");
  });

  test("takes a file and gives one back over A2A 0.3", async () => {
    await agent.ready;
    const client = await A2AClient.fromCardUrl(`${agent.url}/.well-known/agent.json`);
    const bytes = Buffer.from("given two").toString("base64");
    const response = await client.sendMessage({
      message: {
        kind: "message",
        messageId: crypto.randomUUID(),
        role: "user",
        parts: [
          { kind: "text", text: "What does it say?" },
          { kind: "file", file: { name: "in.txt", mimeType: "text/plain", bytes } },
        ],
      },
    });
    const task = ("result" in response ? response.result : undefined) as TaskOf03 | undefined;
    expect(task?.status.state).toBe("completed");
    expect(task?.artifacts?.at(-1)?.parts).toMatchObject([{ kind: "text", text: "It says: given two" }]);
    const [out] = task?.artifacts?.find((artifact) => artifact.name === "out.txt")?.parts ?? [];
    const uri = out?.kind === "file" && "uri" in out.file ? out.file.uri : "";
    expect(await (await fetch(uri)).text()).toBe("given two back");
  });
});
