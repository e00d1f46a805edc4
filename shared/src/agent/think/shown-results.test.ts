import { expect, test } from "bun:test";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod";
import { defineTool } from "../../core/tools/define-tool.ts";
import type { ChatRequest } from "../../models/chat/chat-protocol.ts";
import { agentForTest } from "../../testing/agent/agent.ts";
import { createStrReplaceEditor } from "../../tools/files/str-replace-editor.ts";
import { askHuman } from "../../tools/human/ask-human.ts";
import { createPlanning } from "../../tools/planning/planning.ts";

const content = Array.from({ length: 30 }, (_, n) => `line ${n}: a sentence of this file`).join("\n");
const edit = (args: object) => ({ calls: [{ name: "str_replace_editor", args }] });
const create = edit({ command: "create", path: "a.md", file_text: content });
const view = edit({ command: "view", path: "a.md" });
const change = (n: number) =>
  edit({ command: "str_replace", path: "a.md", old_str: `line ${n}:`, new_str: `LINE ${n}:` });
const done = { text: "done" };

/** The results that a prompt holds, in order. */
function resultsOf(request: ChatRequest | undefined): string[] {
  return (request?.messages ?? []).flatMap(({ role, content }) => (role === "tool" ? [String(content)] : []));
}

const says = defineTool({
  name: "say",
  description: "Says so many words.",
  input: z.strictObject({ words: z.int() }),
  effect: "pure",
  run: async ({ words }) => `FIRST ${"word ".repeat(words)} LAST`,
});
const say = (words: number) => ({ calls: [{ name: "say", args: { words } }] });

test("a file that the conversation holds word for word is not shown twice, until its lines are asked for", async () => {
  const range = edit({ command: "view", path: "a.md", view_range: [1, -1] });
  await using agent = await agentForTest({
    script: [create, view, view, range, done, view, done],
    tools: [createStrReplaceEditor()],
  });
  const { events } = await agent.run("Write it.");
  const [, first, second, third] = resultsOf(agent.model.requests[4]?.body);
  expect(first).toBe(
    `a.md reads word for word as when it was written or shown whole above: 30 lines, ${content.length} bytes. view_range [1, -1] shows it again.`,
  );
  expect(second).toBe(first as string);
  expect(third).toContain("    30\tline 29: a sentence of this file");
  const recorded = events.flatMap((event) => (event.type === "tool-ended" ? [event.text] : []));
  expect(recorded[1]).toContain("    30\tline 29: a sentence of this file");

  await agent.run("Look at it once more.");
  const next = resultsOf(agent.model.requests.at(-1)?.body);
  expect(next.slice(0, 4)).toEqual(resultsOf(agent.model.requests[4]?.body));
  expect(next[4]).toBe(first as string);
});

test("a file that was changed, by an edit or behind the conversation's back, is shown whole", async () => {
  const touch = defineTool({
    name: "touch",
    description: "Writes the file.",
    input: z.strictObject({}),
    effect: "idempotent",
    run: async (_, { workspace }) => {
      await writeFile(join(workspace.root, "a.md"), `${content}\nand more`);
      return "written";
    },
  });
  await using agent = await agentForTest({
    script: [create, change(3), view, { calls: [{ name: "touch", args: {} }] }, view, done],
    tools: [createStrReplaceEditor(), touch],
  });
  await agent.run("Write it.");
  expect(resultsOf(agent.model.requests[3]?.body)[2]).toContain("     4\tLINE 3: a sentence");
  expect(resultsOf(agent.model.requests.at(-1)?.body)[4]).toContain("    31\tand more");
});

test("a file that was changed and changed back since it was shown is shown whole", async () => {
  const changeBack = edit({ command: "str_replace", path: "a.md", old_str: "LINE 3:", new_str: "line 3:" });
  await using agent = await agentForTest({
    script: [create, change(3), view, changeBack, view, done],
    tools: [createStrReplaceEditor()],
  });
  await agent.run("Write it.");
  expect(resultsOf(agent.model.requests.at(-1)?.body)[4]).toContain("     4\tline 3: a sentence");
});

test("after a compaction a file is shown whole again", async () => {
  const isSummary = (request: ChatRequest) => JSON.stringify(request.messages[0]).includes("working memory");
  const moves = [create, ...Array.from({ length: 8 }, (_, n) => say(700 + n)), view, done];
  await using agent = await agentForTest({
    script: (request) => (isSummary(request) ? { text: "SUMMARY" } : (moves.shift() ?? done)),
    tools: [createStrReplaceEditor(), says],
    model: { capabilities: { contextWindow: 8_000, maxOutputTokens: 4_000 } },
  });
  await agent.run("Write it.");
  expect(resultsOf(agent.model.requests.at(-1)?.body).at(-1)).toContain("    30\tline 29: a sentence of this file");
});

test("views of a file fold once a later one has all of it, in batches, and the newest stays", async () => {
  const round = (n: number) => [change(n), view];
  await using agent = await agentForTest({
    script: [create, ...[0, 1, 2, 3, 4, 5].flatMap(round), done],
    tools: [createStrReplaceEditor()],
  });
  await agent.run("Edit it.");
  const prompts = agent.model.requests.map(({ body }) => body);
  const last = resultsOf(prompts.at(-1));
  expect(last.filter((text) => text.includes("line 29: a sentence of this file"))).toHaveLength(1);
  expect(last.at(-1)).toContain("LINE 5: a sentence");
  expect(last[2]).toBe("[a.md as it was then; a later view or create has all of it.]");
  expect(last[1]).toStartWith("The file a.md has been edited. [The lines are left out;");
  // What the model said itself is never changed.
  expect(JSON.stringify(prompts.at(-1)?.messages[2])).toContain("line 29: a sentence");
  const broken = prompts.filter((prompt, at) => {
    const before = prompts[at - 1]?.messages ?? [];
    return !Bun.deepEquals(before, prompt.messages.slice(0, before.length));
  });
  expect(broken.length).toBeLessThan(6);
});

test("what a plan was is folded to what was done, once it is shown anew", async () => {
  const plan = (args: object) => ({ calls: [{ name: "planning", args }] });
  const steps = Array.from({ length: 12 }, (_, n) => `Do the part that has the number ${n}`);
  const mark = (n: number) => plan({ command: "mark_step", step_index: n, step_status: "completed" });
  await using agent = await agentForTest({
    script: [plan({ command: "create", plan_id: "p", title: "Parts", steps }), mark(0), mark(1), mark(2), done],
    tools: [createPlanning()],
  });
  await agent.run("Do it.");
  const last = resultsOf(agent.model.requests.at(-1)?.body);
  expect(last.filter((text) => text.includes("has the number 11"))).toHaveLength(1);
  expect(last.at(-1)).toContain("2. [✓] Do the part that has the number 2");
  expect(last[1]).toStartWith("Step 0 updated in plan 'p'. [The plan is left out;");
});

test("of what one turn shows twice, the model reads the newest", async () => {
  const plan = (args: object) => ({ name: "planning", args });
  const steps = ["Read", "Write", "Send it to all of the people on the list"];
  const create = { calls: [plan({ command: "create", plan_id: "p", title: "Letter", steps })] };
  const mark = (n: number) => plan({ command: "mark_step", step_index: n, step_status: "completed" });
  await using agent = await agentForTest({
    script: [{ calls: [{ name: "say", args: { words: 2_000 } }] }, create, { calls: [mark(0), mark(1)] }, done],
    tools: [createPlanning(), says],
  });
  await agent.run("Do it.");
  const [, , first, second] = resultsOf(agent.model.requests.at(-1)?.body);
  expect(first).toStartWith("Step 0 updated in plan 'p'. [The plan is left out;");
  expect(second).toContain("1. [✓] Write");
});

test("a long output is shortened after some turns and still names the file that holds it whole", async () => {
  await using agent = await agentForTest({
    script: [say(4_000), ...Array.from({ length: 14 }, (_, n) => say(n)), done],
    tools: [says],
  });
  await agent.run("Go.");
  const [early = "", late = ""] = [3, 15].map((n) => resultsOf(agent.model.requests[n]?.body)[0]);
  expect(early.length).toBeGreaterThan(10_000);
  expect(late.length).toBeLessThan(1_600);
  for (const text of [early, late]) {
    const [path = ""] = /\.manyhands\/output\/[^\]\s]+/.exec(text) ?? [];
    expect(await Bun.file(join(agent.workspace.root, path)).text()).toHaveLength(20_011);
    expect(text).toStartWith("FIRST");
    expect(text).toEndWith("LAST");
  }
});

test("what is folded after a compaction stays so, word for word, when the task goes on after a restart", async () => {
  const isSummary = (request: ChatRequest) => JSON.stringify(request.messages[0]).includes("working memory");
  const ask = { calls: [{ name: "ask_human", args: { inquire: "Go on?" } }] };
  const rounds = (from: number) => [0, 1, 2, 3].flatMap((n) => [change(from + n), view]);
  const long = [say(1_500), say(1_500), say(1_500)];
  const moves = [...long, create, ...rounds(0), ...long, ...rounds(4), ask, ...rounds(8), done];
  const promptsOf = async (restarts: boolean) => {
    let turn = 0;
    await using agent = await agentForTest({
      script: (request) => (isSummary(request) ? { text: "SUMMARY" } : (moves[turn++] ?? done)),
      tools: [createStrReplaceEditor(), says, askHuman()],
      model: { capabilities: { contextWindow: 10_000, maxOutputTokens: 2_000 } },
    });
    const id = await agent.start("Go.");
    await agent.until(id, "waiting");
    if (restarts) await agent.restart({});
    await agent.say(id, "yes");
    await agent.until(id, "completed");
    return agent.model.requests.map(({ body }) => body);
  };
  const [straight, restarted] = [await promptsOf(false), await promptsOf(true)];
  const foldsIn = (request: ChatRequest) =>
    resultsOf(request).filter((text) => text.startsWith("[a.md as it was then;"));
  expect(restarted.map(resultsOf)).toEqual(straight.map(resultsOf));
  const summed = straight.findIndex(isSummary);
  const asked = straight.findIndex((request) => JSON.stringify(request.messages).includes("Go on?"));
  expect(summed).toBeGreaterThan(0);
  expect(summed).toBeLessThan(asked);
  const [before, after] = [straight[asked], straight.at(-1)].map((request) => (request ? foldsIn(request).length : 0));
  expect(before).toBeGreaterThan(0);
  expect(after).toBeGreaterThan(before ?? 0);
});

test("a long output counts its turns on in the next task of its conversation", async () => {
  await using agent = await agentForTest({
    script: [say(4_000), ...Array.from({ length: 11 }, (_, n) => say(n)), done, say(1), done],
    tools: [says],
  });
  await agent.run("Go.");
  await agent.run("Go on.");
  const [before = "", after = ""] = [12, 13].map((n) => resultsOf(agent.model.requests[n]?.body)[0]);
  expect([before.length > 10_000, after.length < 1_600]).toEqual([true, true]);
});
