import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "manyhands/internal/http/free-port";
import type { ChatRequest } from "manyhands/internal/models/chat/chat-protocol";
import type { ScriptedReply } from "manyhands/internal/testing/models/scripted-model";
import { type SmallModel, startSmallModel } from "manyhands/internal/testing/models/small-window";
import { artifactBytes, sendBySdk } from "../e2e/sdk-client.ts";
import { type AgentServer, startManus } from "../servers/manus-server.ts";

/** A call as small models write it: in the text, where nobody looks for it. */
const written = (name: string, args: object): ScriptedReply => ({
  text: `\`\`\`json\n${JSON.stringify({ name, arguments: args })}\n\`\`\``,
});

/** Reads far more than any of these windows hold, then writes a file, all by calls in the text. */
function longWork(_: ChatRequest, turn: number): ScriptedReply {
  const commands = [
    ...Array.from({ length: 8 }, (_, at) => `seq ${at}0000 ${at}9999`),
    "printf 'seventy thousand\\n' > count.txt",
  ];
  const command = commands[turn];
  return command === undefined ? { text: "count.txt says how many." } : written("bash", { command });
}

/** Says that it did what it did not, whatever it is told. */
const liar = (): ScriptedReply => ({ text: "I have written report.md." });

/** Describes a call, and makes it once it is told that nothing was called. */
function talker({ messages }: ChatRequest): ScriptedReply {
  if (messages.at(-1)?.role === "tool") return { text: "There are no files." };
  const isTold = JSON.stringify(messages).includes("so nothing was called");
  return isTold
    ? { calls: [{ id: "a", name: "bash", args: { command: "ls" } }] }
    : { text: 'First I list the files:\n<tool_call>{"name": "bash", "arguments": {"command": "ls"}}</tool_call>' };
}

/** What it does depends on the task alone, of which one is at work at a time. */
function play(request: ChatRequest, turnOf: (task: string) => number): ScriptedReply {
  const text = JSON.stringify(request.messages);
  if (text.includes("You keep the working memory of an agent")) return { text: "Done: some numbers were listed." };
  if (text.includes("Count far.")) return longWork(request, turnOf("far"));
  return text.includes("report.md") ? liar() : talker(request);
}

describe.each([4_096, 8_192, 16_384])("with a window of %d tokens", (window) => {
  let home: string;
  let model: SmallModel;
  let manus: AgentServer;

  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), "manyhands-small-"));
    let turns = 0;
    model = await startSmallModel(window, (request) => play(request, () => turns++));
    manus = startManus({
      MANYHANDS_HOME: home,
      PORT: `${freePort()}`,
      OPENAI_BASE_URL: model.url,
      OPENAI_API_KEY: "none",
      MANYHANDS_MODEL: "small",
      MANYHANDS_LLM_CAPABILITIES_CONTEXT_WINDOW: `${window}`,
    });
    await manus.ready;
  });

  afterAll(async () => {
    await manus.stop();
    await model.close();
    await rm(home, { recursive: true, force: true });
  });

  test("work of eight long results is done within it, by calls written as text", async () => {
    const task = await sendBySdk(manus.url, "Count far.");
    expect((await artifactBytes(task, "count.txt")).toString()).toBe("seventy thousand\n");
    expect(Math.max(...model.sizes)).toBeLessThanOrEqual(window);
    expect(model.refused()).toBe(0);
  });

  test("a model that only says that it made a file is told so once, and then the task has failed", async () => {
    const before = model.requests.length;
    const task = await sendBySdk(manus.url, "Write a summary of the year into report.md.");
    expect(task.status?.state).toBe(4);
    expect(JSON.stringify(task.status?.message)).toContain("report.md was to be made and does not exist");
    expect(model.requests.length - before).toBe(2);
  });

  test("a call amid other text is not made, and the model, told so, makes it", async () => {
    const task = await sendBySdk(manus.url, "Which files are there?");
    expect(JSON.stringify(task.artifacts)).toContain("There are no files.");
    expect(task.history.length).toBeGreaterThan(0);
  });

  test("its tools are as many as it has room for", () => {
    const names = model.requests[0]?.body.tools?.map((tool) => tool.function.name) ?? [];
    expect(names).toContain("bash");
    expect(names.includes("planning")).toBe(window >= 8_000);
    expect(names.includes("browser_go_to_url")).toBe(window >= 16_000);
    const fixed = JSON.stringify([model.requests[0]?.body.messages[0], model.requests[0]?.body.tools]).length;
    if (window < 8_000) expect(fixed / 4).toBeLessThanOrEqual(1_200);
  });
});
