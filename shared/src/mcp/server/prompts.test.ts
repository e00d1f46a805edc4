import { expect, test } from "bun:test";
import type { ArtifactStore } from "../../core/workspace.ts";
import type { Runnables } from "../../runs/runnable.ts";
import type { CallDeps } from "./call-run.ts";
import { runnablePrompts } from "./prompts.ts";
import { runResources } from "./resources.ts";

const runnable = (name: string, type: "agent" | "flow") => ({ name, type, title: `${name}!`, description: `${name}.` });
const all = [
  runnable("swe", "agent"),
  runnable("sweep", "agent"),
  runnable("manus", "agent"),
  runnable("plan", "flow"),
];
const runnables = {
  all: () => all,
  get: (name: string) => all.find((one) => one.name === name),
} as unknown as Runnables;
const prompts = runnablePrompts(runnables);
const none = { responses: {}, state: undefined };
const answered = (action: string, task: string) => ({
  responses: { task: { action, content: { task } } },
  state: undefined,
});

test("every agent and flow is a prompt with a task; only a flow can be told its agents", () => {
  expect(prompts.list().map(({ name, arguments: args }) => [name, ...(args ?? []).map((one) => one.name)])).toEqual([
    ["swe", "task"],
    ["sweep", "task"],
    ["manus", "task"],
    ["plan", "task", "agents"],
  ]);
  const [swe] = prompts.list();
  expect(swe).toMatchObject({ title: "swe!", description: "swe.", arguments: [{ name: "task", required: true }] });
  expect(prompts.get("swe", { task: "t" }, none)).toMatchObject({ description: "swe." });
});

const textOf = (name: string, args: Record<string, string>, given = none as Parameters<typeof prompts.get>[2]) =>
  JSON.stringify(prompts.get(name, args, given));

test("a prompt passes the task on, and to a flow which agents to use", () => {
  expect(textOf("swe", { task: "Fix it." })).toContain("Give this task to swe with the tool of that name. Pass");
  expect(textOf("swe", { task: "Fix it." })).toContain("\\n\\nFix it.");
  expect(textOf("plan", { task: "t", agents: "swe" })).toContain("of that name, with these agents: swe. Pass");
  expect(textOf("swe", { task: "t", agents: "manus" })).not.toContain("with these agents");
});

test("a missing task is asked for; the answer is used if it was given", () => {
  expect(textOf("swe", { task: "" }, answered("accept", "Answered."))).toContain("\\n\\nAnswered.");
  for (const given of [none, answered("decline", "x"), answered("accept", "")])
    expect(textOf("swe", { task: "" }, given)).toContain("What should swe do?");
  expect(textOf("swe", {}, answered("accept", "asked"))).toContain("\\n\\nasked");
  expect(textOf("swe", { task: "given" }, answered("accept", "asked"))).toContain("\\n\\ngiven");
});

test.each<[string, string, string[]]>([
  ["agents", "", ["swe", "sweep", "manus"]],
  ["agents", "swe", ["swe", "sweep"]],
  ["agents", "manus, sw", ["manus, swe", "manus, sweep"]],
  ["agents", "swe,manus,m", ["swe, manus, manus"]],
  ["agents", "plan", []],
  ["task", "sw", []],
])("for %s %j is completed to %j", (argument, typed, values) => {
  expect(prompts.complete("plan", argument, typed)).toEqual(values);
});

const hash = "a".repeat(64);
function resourcesWith(content: Buffer<ArrayBuffer>) {
  const artifacts = {
    get: async (sha256: string) => (sha256 === hash ? new Blob([content]) : undefined),
  } as unknown as ArtifactStore;
  const engine = { hasFile: async (principal: string) => principal === "p" };
  return runResources({ artifacts, engine } as unknown as CallDeps);
}
const uri = `http://x/artifacts/${hash}/a.txt`;

test.each<[string, Buffer<ArrayBuffer>, object]>([
  ["text", Buffer.from("words"), { mimeType: "text/plain", text: "words" }],
  ["bytes with a NUL", Buffer.from([65, 0]), { blob: "QQA=" }],
  ["bytes that are no UTF-8", Buffer.from([0xe9]), { blob: "6Q==" }],
  ["nothing", Buffer.from(""), { text: "" }],
])("a file of %s is read as that", async (_, content, expected) => {
  expect(await resourcesWith(content).read(uri, "p")).toEqual([expect.objectContaining({ uri, ...expected })]);
});

test("a file of seven million bytes is read, a larger one is refused with where it is", async () => {
  const [whole] = (await resourcesWith(Buffer.alloc(7_000_000, "x")).read(uri, "p")) ?? [];
  expect(whole && "text" in whole ? whole.text.length : 0).toBe(7_000_000);
  const large = resourcesWith(Buffer.alloc(7_000_001, "x")).read(uri, "p");
  await expect(large).rejects.toMatchObject({ code: "too_large", message: expect.stringContaining(`at ${uri}.`) });
});

test.each([`http://x/artifacts/${"b".repeat(64)}/a`, `http://x/artifacts/${hash}`, `http://x/${hash}/a`, "x:y"])(
  "%s names no file",
  async (other) => {
    const { signal } = new AbortController();
    expect(await resourcesWith(Buffer.from("x")).read(other, "p")).toBeUndefined();
    expect(await resourcesWith(Buffer.from("x")).watch(other, "p", signal)).toBeUndefined();
  },
);
