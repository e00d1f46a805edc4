import { expect, test } from "bun:test";
import { join } from "node:path";
import type { Part } from "../../core/message.ts";
import type { Run } from "../../core/runs/run.ts";
import type { StoredFile } from "../../core/workspace.ts";
import { createArtifactStore } from "../../machine/workspace/artifacts/artifact-store.ts";
import { unchangedSinceBaseline } from "../../machine/workspace/baseline.ts";
import { agentForTest } from "../../testing/agent/agent.ts";
import { gateForTest } from "../../testing/agent/gate-tool.ts";
import { workspaceForTest } from "../../testing/machine/workspace.ts";
import { askHuman } from "../../tools/human/ask-human.ts";
import { terminate } from "../../tools/human/terminate.ts";
import type { AgentState } from "./agent-state.ts";
import { placeFiles, receive, receiveMessages } from "./receive.ts";

const names = [
  "mcp.json",
  "manyhands.toml",
  "ж".repeat(200),
  "😀".repeat(100),
  "../../etc/passwd",
  "a\nb\u202e.txt",
  ".env",
  "__proto__",
  "charts/a.png",
  "taken/a.png",
  ".git/hooks/pre-commit",
  "a/".repeat(300),
];

test("a file of any name is placed in the workspace, and harms neither the task nor other programs", async () => {
  for (const name of names) {
    await using agent = await agentForTest({ script: [{ text: "ok" }] });
    await Bun.write(await agent.workspace.resolve("taken"), "a file, no folder");
    const file = await agent.artifacts.put(new TextEncoder().encode("content"), { name: "in" });
    const { record, events } = await agent.run("Read.", { parts: [{ type: "file", ...file, name }] });
    expect([name, record.status, record.error]).toEqual([name, "completed", undefined]);
    const heard = events.flatMap((event) => (event.type === "message-heard" ? (event.parts ?? []) : []));
    const placed = heard.flatMap((part) => (part.type === "file" ? [part.name] : []))[0] ?? "";
    expect(await Bun.file(await agent.workspace.resolve(placed)).text()).toBe("content");
    if (name.startsWith("charts")) expect(placed).toBe(name);
  }
});

const call = (name: string, args: unknown) => ({ calls: [{ name, args }] });

test("a message sent before a question does not answer it, and is read in the next turn", async () => {
  const { tool, entered, leave } = gateForTest();
  await using agent = await agentForTest({
    script: [
      { calls: [...call("gate", {}).calls, ...call("ask_human", { inquire: "Which year?" }).calls] },
      { text: "2026, briefly." },
    ],
    tools: [tool, askHuman()],
  });
  const id = await agent.start("Plan.");
  await entered;
  await agent.say(id, "Be brief.");
  leave();
  await agent.until(id, "waiting");
  await agent.say(id, "2026");
  await agent.until(id, "completed");
  const prompt = agent.model.requests[1]?.body.messages.map(({ role, content }) => [role, content]);
  expect(prompt?.slice(-3)).toEqual([
    ["tool", "open"],
    ["tool", "2026"],
    ["user", "Be brief."],
  ]);
});

test("a message sent while the model writes its last answer is read before the task ends", async () => {
  await using agent = await agentForTest({
    script: (_, n) => (n === 0 ? { text: "Four, I think.", delayMs: 300 } : { text: "IV." }),
  });
  const id = await agent.start("Two and two?");
  while (agent.model.requests.length === 0) await Bun.sleep(5);
  await agent.say(id, "In Roman numerals.");
  const record = await agent.until(id, "completed");
  expect(record.output).toEqual({ answer: "IV." });
});

test("a task whose user wrote as it was ending continues, and answers with the new result", async () => {
  const { tool, leave } = gateForTest();
  leave();
  const end = (summary: string) => call("terminate", { status: "success", summary });
  await using agent = await agentForTest({
    script: (_, n) => [{ ...end("Four."), delayMs: 300 }, call("gate", {})][n] ?? end("IV."),
    tools: [tool, terminate],
  });
  const id = await agent.start("Two and two?");
  while (agent.model.requests.length === 0) await Bun.sleep(5);
  await agent.say(id, "In Roman numerals.");
  expect((await agent.until(id, "completed")).output).toEqual({ answer: "IV." });
});

test("a message that arrives in a task's last turn does not cost it its answer", async () => {
  await using agent = await agentForTest({
    script: () => ({ text: "Four.", delayMs: 300 }),
    agent: { limits: { steps: 1 } },
  });
  const id = await agent.start("Two and two?");
  while (agent.model.requests.length === 0) await Bun.sleep(5);
  await agent.say(id, "In Roman numerals.");
  expect((await agent.until(id, "completed", "failed")).output).toEqual({ answer: "Four." });
});

test("a later task sees the conversation exactly as the one before did, order and file names included", async () => {
  const { tool, entered, leave } = gateForTest();
  await using agent = await agentForTest({
    script: [call("gate", {}), call("ask_human", { inquire: "Sure?" }), { text: "Done." }, { text: "Again." }],
    tools: [tool, askHuman(), terminate],
  });
  const file = await agent.artifacts.put(new TextEncoder().encode("new"), { name: "in.txt" });
  await Bun.write(await agent.workspace.resolve("in.txt"), "old");
  const id = await agent.start("Read it.", { parts: [{ type: "file", ...file }] });
  await entered;
  await agent.say(id, "And this.", [{ type: "file", ...file, name: "more.txt" }]);
  leave();
  await agent.until(id, "waiting");
  await agent.say(id, "Yes.");
  await agent.until(id, "completed");
  await agent.run("Once more.");
  const [, , last, next] = agent.model.requests.map(({ body }) => body.messages);
  expect(next?.slice(0, last?.length)).toEqual(last ?? []);
  expect(JSON.stringify(next)).toContain("in-2.txt");
});

test("a later task learns that the one before was canceled", async () => {
  await using agent = await agentForTest({
    script: (_, n) => (n === 0 ? { text: "deleting", stallAfter: 1 } : { text: "ok" }),
  });
  const id = await agent.start("Delete everything.");
  while (agent.model.requests.length === 0) await Bun.sleep(5);
  await agent.engine.cancel(id);
  await agent.until(id, "canceled");
  await agent.run("List the files.");
  const history = JSON.stringify(agent.model.requests[1]?.body.messages);
  expect(history).toMatch(/Delete everything.*was canceled.*List the files/);
});

/** Places parts in a workspace of its own, without an agent. */
async function placing() {
  const { workspace, home, [Symbol.asyncDispose]: dispose } = await workspaceForTest();
  const artifacts = createArtifactStore(`${home}/artifacts`);
  let steps = 0;
  const run = {
    principal: "alice",
    contextId: "c1",
    step: (_: string, work: () => Promise<unknown>) => {
      steps++;
      return work();
    },
  } as unknown as Run;
  const deps = { artifacts, openWorkspace: async () => workspace };
  return {
    workspace,
    steps: () => steps,
    store: async (name: string, content = name): Promise<StoredFile> =>
      artifacts.put(new TextEncoder().encode(content), { name }),
    place: async (parts: readonly Part[], received?: Map<string, string>) =>
      (await placeFiles(run, parts, received, deps)).map((part) =>
        part.type === "file" ? part.name : part.type === "text" ? part.text : part.type,
      ),
    [Symbol.asyncDispose]: dispose,
  };
}

test.each([
  ["report.pdf", "report.pdf"],
  ["a/b/report.pdf", "a/b/report.pdf"],
  ["a\\b\\report.pdf", "a/b/report.pdf"],
  ["../../etc/passwd", "etc/passwd"],
  ["/etc/./passwd", "etc/passwd"],
  ["1/2/3/4/5/6/7/8/9/f.txt", "2/3/4/5/6/7/8/9/f.txt"],
  ['a<b>c:d"e|f?g*h.txt', "a_b_c_d_e_f_g_h.txt"],
  ["line\nbreak\u202e\u2066.txt", "line_break__.txt"],
  ["...hidden.txt", "hidden.txt"],
  ["mcp.json", "_mcp.json"],
  [".git/a:b\u202e/.vscode/f.txt", "git/a_b_/vscode/f.txt"],
  [`${"d".repeat(300)}/f.txt`, `${"d".repeat(200)}/f.txt`],
  ["", "file"],
  [" / . ", "file"],
  [`${"n".repeat(300)}.txt`, `${"n".repeat(196)}.txt`],
  [`x.${"e".repeat(300)}`, `x.${"e".repeat(198)}`],
])("the user's file %j is placed as %s", async (name, path) => {
  await using room = await placing();
  const file = { ...(await room.store("x")), name };
  expect(await room.place([{ type: "file", ...file }])).toEqual([path]);
});

test("a name that is taken by something else gets a number, and the same file is placed once", async () => {
  await using room = await placing();
  const place = async (content: string) => {
    const file = await room.store("a.b.txt", content);
    return (await room.place([{ type: "file", ...file }]))[0];
  };
  expect([await place("one"), await place("two"), await place("one"), await place("too"), await place("two")]).toEqual([
    "a.b.txt",
    "a.b-2.txt",
    "a.b.txt",
    "a.b-3.txt",
    "a.b-2.txt",
  ]);
});

test("text of 60,000 characters stays as it is, one much longer goes into a file, and the rest needs no step", async () => {
  await using room = await placing();
  const most = { type: "text", text: "x".repeat(60_000) } as const;
  expect(await room.place([most, { type: "data", data: 1 }])).toEqual([most.text, "data"]);
  expect(room.steps()).toBe(0);
  const [cut = "", data] = await room.place([
    { type: "text", text: most.text + "y".repeat(8000) },
    { type: "data", data: 1 },
  ]);
  expect(cut).toContain("8000 of 68000 characters left out here");
  expect([cut.length <= 60_000, data, room.steps()]).toEqual([true, "data", 1]);
});

test("what the user sent is recorded as received with the name it has there; a lost file is told", async () => {
  await using room = await placing();
  const file = await room.store("in.txt");
  const received = new Map<string, string>();
  const lost: Part = { type: "file", ...file, sha256: "0".repeat(64), name: "lost.txt" };
  expect(await room.place([{ type: "file", ...file }, lost], received)).toEqual([
    "in.txt",
    "[file lost.txt was sent, but its content is no longer stored]",
  ]);
  expect([...received]).toEqual([["in.txt", file.sha256]]);
});

test("a file counts as unchanged since it came if the user sent it, not if another agent made it for the task", async () => {
  await using room = await placing();
  await room.place([{ type: "file", ...(await room.store("sent.txt")) }], new Map());
  await room.place([{ type: "file", ...(await room.store("made.txt")) }]);
  const isUnchanged = await unchangedSinceBaseline(room.workspace);
  expect([await isUnchanged("sent.txt"), await isUnchanged("made.txt")]).toEqual([true, false]);
});

/** A run that keeps what it emits, and has these messages waiting at each poll. */
function hearing(...polls: { messageId: string; parts: Part[] }[][]) {
  const heard: object[] = [];
  const run = {
    emit: (event: object) => void heard.push(event),
    poll: async () => polls.shift() ?? [],
  } as unknown as Run;
  return { run, heard };
}
const deps = {} as Parameters<typeof receive>[3];
const text = (it: string): Part => ({ type: "text", text: it });

test("what a message's sender had taken in is recorded with it, and counts with what it holds itself", async () => {
  const { run, heard } = hearing();
  const task = { received: new Map(), takenIn: new Set<string>() };
  await receive(run, { messageId: "m1", parts: [text("plain")] }, task, deps);
  await receive(run, { messageId: "m2", parts: [text("x"), { type: "data", data: 1 }] }, task, deps, ["web"]);
  expect(heard).toEqual([
    { type: "message-heard", messageId: "m1", as: "message" },
    { type: "message-heard", messageId: "m2", as: "message", takenIn: ["web"] },
  ]);
  expect([...task.takenIn]).toEqual(["web", "data"]);
});

test.each([
  ["continue", 1, 0, "continue"],
  ["continue", 1, 1, "continue"],
  ["done", 1, 0, "done"],
  ["done", 1, 1, "continue"],
  ["done", 3, 1, "done"],
] as const)(
  "a turn that ends with %s, the %d. of three, while %d messages came is: %s",
  async (end, turn, came, result) => {
    const message = { messageId: "late", parts: [text("late")] };
    const { run } = hearing([{ messageId: "early", parts: [text("early")] }], came > 0 ? [message] : []);
    const outcome = { status: "success", summary: "x" };
    const task = {
      ...{ run, turn, limits: { steps: 3 }, messages: [], pendingMessages: [], received: new Map() },
      ...{ takenIn: new Set(), outcome: undefined },
    } as unknown as AgentState;
    const read: number[] = [];
    const receive = receiveMessages(async (now) => {
      read.push(now.messages.length);
      Object.assign(now, { outcome });
      return end;
    }, deps);
    expect(await receive(task)).toBe(result);
    expect(read).toEqual([1]);
    if (end === "done") expect(task.outcome).toEqual((result === "done" ? outcome : undefined) as typeof task.outcome);
  },
);

test("what a command has put under the name of a file is not waited for, and the file gets the next", async () => {
  await using room = await placing();
  const file = await room.store("empty.txt", "");
  await Bun.$`mkfifo ${join(room.workspace.root, "empty.txt")}`;
  const placed = room.place([{ type: "file", ...file }]);
  expect(await Promise.race([placed, Bun.sleep(5_000).then(() => "still waiting")])).toEqual(["empty-2.txt"]);
});
