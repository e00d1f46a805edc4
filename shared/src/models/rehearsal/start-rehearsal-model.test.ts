import { afterEach, beforeEach, expect, test } from "bun:test";
import { copyFile, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Model, ModelMessage, ModelReply, ToolChoice } from "../../core/model.ts";
import { reply } from "../../testing/models/reply.ts";
import type { ChatServer } from "../chat/chat-server.ts";
import { createModel } from "../create-model.ts";
import { ordersReport } from "./orders/orders-report.ts";
import { rehearsalConfig } from "./rehearsal-config.ts";
import { startRehearsalModel } from "./start-rehearsal-model.ts";

const csv = new URL("../../../../gateway/demo/orders.csv", import.meta.url).pathname;
const signal = new AbortController().signal;
type Args = Record<string, unknown>;
type Tools = Record<string, (args: Args) => Promise<string> | string>;

let server: ChatServer;
let folder: string;
beforeEach(async () => {
  server = await startRehearsalModel({ pace: 0 });
  folder = await mkdtemp(join(tmpdir(), "rehearsal-"));
  await copyFile(csv, join(folder, "orders.csv"));
});
afterEach(async () => {
  await server.close();
  await rm(folder, { recursive: true });
});

async function run(...command: string[]): Promise<string> {
  const child = Bun.spawn(command, { cwd: folder, stdout: "pipe", stderr: "pipe" });
  const [out, err] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  return `stdout:\n${out}\nstderr:\n${err}`;
}

/** Real tools, with differently worded results. */
const real: Tools = {
  bash: ({ command }) => run("bash", "-c", String(command)),
  python_execute: ({ code }) => run("python3", "-c", String(code)),
  async str_replace_editor({ command, path, file_text }) {
    const file = join(folder, String(path));
    if (command === "view") return `1\t${await Bun.file(file).text()}`;
    await Bun.write(file, String(file_text));
    return `File created successfully at: ${path}`;
  },
  planning: ({ command, steps }) => `Plan ${command}: ${(steps as string[] | undefined)?.join("; ") ?? "ok"}`,
  terminate: () => "The interaction has been completed.",
};

function pick(...names: string[]): Tools {
  return Object.fromEntries(Object.entries(real).filter(([name]) => names.includes(name)));
}

const modelOf = (url: string): Model => createModel(rehearsalConfig(url));

function ask(model: Model, messages: readonly ModelMessage[], names: readonly string[]): Promise<ModelReply> {
  const tools = names.map((name) => ({ name, description: name, inputSchema: { type: "object" } }));
  const toolChoice: ToolChoice = "auto";
  return reply(model, { messages, tools, toolChoice }, { signal });
}

const user = (text: string): ModelMessage => ({ role: "user", parts: [{ type: "text", text }] });

/** Plays a task to its end, as an agent would; `onTurn` may replace the model between turns. */
async function play(tools: Tools, task = ordersReport.task, onTurn?: (turn: number) => Promise<void>) {
  const messages: ModelMessage[] = [{ role: "system", text: "You are Manus." }, user(`Files: orders.csv\n${task}`)];
  const called: string[] = [];
  for (let turn = 1; turn < 30; turn++) {
    await onTurn?.(turn);
    const { text, toolCalls } = await ask(
      modelOf(server.url),
      [...messages, user(`Step ${turn} of 30.`)],
      Object.keys(tools),
    );
    messages.push({ role: "assistant", text, toolCalls });
    if (toolCalls.length === 0) return { messages, called, end: { status: "text", summary: text } };
    for (const call of toolCalls) {
      const args = JSON.parse(call.arguments) as Args;
      called.push(call.name === "planning" ? `planning ${args.command}` : call.name);
      if (call.name === "terminate") return { messages, called, end: args as { status: string; summary: string } };
      const result = await tools[call.name]?.(args);
      messages.push({ role: "tool", callId: call.id, name: call.name, text: result ?? "", isError: false });
    }
  }
  throw new Error("the script did not end within 30 turns");
}

const report = () => Bun.file(join(folder, "report.md")).text();

test("the demo task ends in a report with figures that were computed twice and read back", async () => {
  const { called, end } = await play(real);
  expect(called).toEqual([
    "planning create",
    "bash",
    "planning mark_step",
    "python_execute",
    "planning mark_step",
    "bash",
    "planning mark_step",
    "str_replace_editor",
    "planning mark_step",
    "bash",
    "planning mark_step",
    "terminate",
  ]);
  expect(end.status).toBe("success");
  expect(end.summary).toContain("76,704.20 from 215 orders; the best month is 2026-04");
  expect(end.summary).toContain("not a language model");
  const text = await report();
  expect(text).toContain("| East | 21,317.35 | 58 | 367.54 |");
  expect(text).toContain("**Best month:** 2026-04, with 18,428.15.");
  for (const oddity of ["10097", "10062", "10148", "left out: 21"]) expect(text).toContain(oddity);
  expect(text).toContain("with Python's csv module and with awk");
});

const toolSets: [string, string[], string][] = [
  ["without Python", ["bash", "str_replace_editor", "terminate"], "with awk and with sort, grep and cut"],
  ["without a shell", ["python_execute", "terminate"], "with Python's csv module and with SQL in Python's sqlite3"],
  ["with nothing but a shell", ["bash"], "with awk and with sort, grep and cut"],
];
test.each(toolSets)("%s the model finds other ways to the same figures", async (_, names, ways) => {
  const { end } = await play(pick(...names));
  expect(end.summary).toContain("76,704.20 from 215 orders");
  const text = await report();
  expect(text).toContain(ways);
  expect(text).toContain("| East | 21,317.35 | 58 | 367.54 |");
});

test.each([[["python_execute"]], [["bash"]]])("the guides' question is computed with %p", async (names) => {
  const { called, end } = await play(pick(...names), "How many primes are below 1000?");
  expect(called).toEqual(names);
  expect(end.summary).toBe("There are 168 primes below 1000.");
});

test("the figures come from the actual file", async () => {
  const head = "order_id,date,region,product,quantity,unit_price,status";
  await Bun.write(join(folder, "orders.csv"), `${head}\n1,2025-03-01,Moon,Rock,2,10.50,completed\n`);
  const { end } = await play(real);
  expect(end.status).toBe("success");
  expect(await report()).toContain("| Moon | 21.00 | 1 | 21.00 |");
  expect(await report()).toContain("- Nothing.");
});

test("a failing Python is replaced by another way, and the report says so", async () => {
  const { messages, end } = await play({ ...real, python_execute: () => "Error: python3: command not found" });
  expect(end.status).toBe("success");
  expect(JSON.stringify(messages)).toContain("That gave no figures (Error: python3: command not found).");
  expect(await report()).toContain("with awk and with sort, grep and cut");
});

test("two ways that differ are reported and settled by a third", async () => {
  const wrong = async (args: Args) => ((await real.bash?.(args)) ?? "").replace("2131735", "2131736");
  const { messages, end } = await play({ ...real, bash: wrong });
  expect(JSON.stringify(messages)).toContain("The two differ: 76,704.20 against 76,704.21. I need a third.");
  expect(end.status).toBe("success");
  expect(await report()).toContain("with Python's csv module and with SQL in Python's sqlite3");
});

test("figures that never agree end in a failure without a report", async () => {
  let n = 0;
  const wrong = (tool: string) => async (args: Args) =>
    ((await real[tool]?.(args)) ?? "").replace(/"East": ?\{"cents": ?\d+/, `"East":{"cents":${n++}`);
  const { end } = await play({ ...real, bash: wrong("bash"), python_execute: wrong("python_execute") });
  expect(end).toMatchObject({ status: "failure", summary: expect.stringContaining("so I write no report") });
  expect(await Bun.file(join(folder, "report.md")).exists()).toBe(false);
});

test("an editor that cannot write is replaced by the shell", async () => {
  const { end } = await play({
    ...real,
    str_replace_editor: () => "Error: The path report.md is not an absolute path",
  });
  expect(end.status).toBe("success");
  expect(await report()).toContain("# Orders summary");
});

test("a missing file and missing tools end in a failure that names them", async () => {
  await rm(join(folder, "orders.csv"));
  const noFile = await play(real);
  expect(noFile.end).toMatchObject({ status: "failure", summary: expect.stringContaining("No such file") });
  const noShell = await play(pick("str_replace_editor", "planning", "terminate"));
  expect(noShell.end).toMatchObject({ status: "failure", summary: expect.stringContaining("bash or python_execute") });
  expect(noShell.called).toEqual(["terminate"]);
});

test("a server restarted before every turn continues the same conversation", async () => {
  const { end } = await play(real, ordersReport.task, async () => {
    await server.close();
    server = await startRehearsalModel({ pace: 0 });
  });
  expect(end.status).toBe("success");
});

test("any other task is refused with the three ways to a real model", async () => {
  const { end } = await play(real, "Write me a poem about the sea.");
  expect(end.status).toBe("failure");
  for (const way of [
    "not a language model",
    "OPENAI_API_KEY",
    "[llm]",
    "manyhands.toml",
    "OPENAI_BASE_URL",
    "MANYHANDS_MODEL",
  ]) {
    expect(end.summary).toContain(way);
  }
  const { toolCalls, text } = await ask(modelOf(server.url), [user("Hello?")], []);
  expect(toolCalls).toEqual([]);
  expect(text).toContain("I am the rehearsal model");
});

test("its refusal names tasks, and is no task where a flow quotes it, in full or cut short", async () => {
  const { end } = await play(real, "Write me a poem about the sea.");
  for (const cut of [end.summary.length, end.summary.indexOf("slogan") + 60]) {
    const quoted = `What was found:\nmanus failed: ${end.summary.slice(0, cut)}…\n\nFix what is wrong.`;
    const again = await play(real, quoted);
    expect(again.called).toEqual(["terminate"]);
    expect(again.end.summary).toBe(end.summary);
  }
  const both = await play(real, `Not this: ${end.summary}\nBut this: ${ordersReport.task}`);
  expect(both.end.status).toBe("success");
});

test("a further question after the task is refused, and the task itself can be given again", async () => {
  const { messages } = await play(real);
  const further = await ask(
    modelOf(server.url),
    [...messages, user("And now the same for last year.")],
    Object.keys(real),
  );
  expect(further.toolCalls[0]).toMatchObject({ name: "terminate", arguments: expect.stringContaining("failure") });
  const again = await ask(modelOf(server.url), [...messages, user(ordersReport.task)], Object.keys(real));
  expect(again.toolCalls[0]?.name).toBe("planning");
});

test("it has its own name, costs nothing and answers to no other name", async () => {
  const model = modelOf(server.url);
  expect([model.name, model.provider]).toEqual(["rehearsal", "rehearsal"]);
  const { usage } = await ask(model, [user("Hello?")], []);
  expect(usage).toMatchObject({ costUsd: 0, source: "estimate" });
  const models = (await (await fetch(`${server.url}/models`)).json()) as { data: { id: string }[] };
  expect(models.data.map(({ id }) => id)).toEqual(["rehearsal"]);
  const other = createModel({ ...rehearsalConfig(server.url), name: "gpt-4o" });
  expect(ask(other, [user("Hello?")], [])).rejects.toMatchObject({ code: "model_rejected" });
});

test("its words stream one after the other, at the requested pace", async () => {
  const slow = await startRehearsalModel({ pace: 5 });
  const times: number[] = [];
  const request = { messages: [user("Hello?")], tools: [], toolChoice: "auto" } as const;
  for await (const event of modelOf(slow.url).ask(request, { signal })) {
    if (event.type === "text-delta") times.push(performance.now());
  }
  await slow.close();
  expect(times.length).toBeGreaterThan(20);
  expect((times.at(-1) ?? 0) - (times[0] ?? 0)).toBeGreaterThan(60);
});
