import { afterAll, beforeAll, expect, test } from "bun:test";
import type { ModelMessage, ModelReply, ToolChoice } from "../../../core/model.ts";
import { reply } from "../../../testing/models/reply.ts";
import type { ChatServer } from "../../chat/chat-server.ts";
import { createModel } from "../../create-model.ts";
import { doing } from "../flow-messages.ts";
import { rehearsalConfig } from "../rehearsal-config.ts";
import { startRehearsalModel } from "../start-rehearsal-model.ts";
import { monthEndGoal, monthEndSteps } from "./month-end-steps.ts";

type Args = Record<string, unknown>;
type Tools = Record<string, (args: Args) => string>;

let server: ChatServer;
beforeAll(async () => {
  server = await startRehearsalModel({ pace: 0 });
});
afterAll(() => server.close());

const user = (text: string): ModelMessage => ({ role: "user", parts: [{ type: "text", text }] });

function ask(messages: readonly ModelMessage[], names: readonly string[], toolChoice: ToolChoice): Promise<ModelReply> {
  const tools = names.map((name) => ({ name, description: name, inputSchema: { type: "object" } }));
  const signal = AbortSignal.timeout(60_000);
  return reply(createModel(rehearsalConfig(server.url)), { messages, tools, toolChoice }, { signal });
}

/** Plays a step to its end with these tools; returns its calls, and how it ended. */
async function play(task: string, tools: Tools) {
  const messages = [user(task)];
  const called: { name: string; args: Args }[] = [];
  for (let turn = 0; turn < 40; turn++) {
    const { text, toolCalls } = await ask(messages, [...Object.keys(tools), "terminate"], "auto");
    messages.push({ role: "assistant", text, toolCalls });
    for (const { id, name, arguments: json } of toolCalls) {
      const args = JSON.parse(json) as Args;
      if (name === "terminate") return { called, end: args as { status: string; summary: string } };
      called.push({ name, args });
      messages.push({ role: "tool", callId: id, name, text: tools[name]?.(args) ?? "", isError: false });
    }
  }
  throw new Error("the script did not end");
}

async function decide(name: string, text: string): Promise<Args> {
  const { toolCalls } = await ask([user(text)], [name], { name });
  return JSON.parse(toolCalls[0]?.arguments ?? "null") as Args;
}

const code = "    for heaviest, price in RATES:\n        if weight < heaviest:\n";
const project = (...runs: string[]): Tools => ({
  unpack: () => "Unpacked 2 files",
  repo_map: () => "shipping/shipping.py",
  str_replace_editor: () => code,
  checkpoints: () => "+        if weight <= heaviest:",
  run_tests: () => runs.shift() ?? "",
});

test("the repair is judged by the tests that ran: fixed, still failing, or nothing to fix", async () => {
  const task = doing(monthEndSteps.repair);
  const mended = await play(task, project("2 of 5 tests failed.", "All 5 tests passed."));
  expect(mended.end).toMatchObject({ status: "success", summary: expect.stringContaining("All 5 tests passed.") });
  const failing = await play(task, project("2 of 5 tests failed.", "1 of 5 tests failed."));
  expect(failing.end).toMatchObject({ status: "failure", summary: expect.stringContaining("1 of 5 tests failed.") });
  const passing = await play(task, project("All 5 tests passed."));
  expect(passing.end.status).toBe("success");
  expect(passing.called.map(({ name }) => name)).toEqual(["unpack", "repo_map", "run_tests"]);
  const again = await play(task, project("Interrupted: …", "2 of 5 tests failed.", "All 5 tests passed."));
  expect(again.end.status).toBe("success");
  const { end } = await play(task, { str_replace_editor: () => "" });
  expect(end).toMatchObject({ status: "failure", summary: expect.stringContaining("unpack and run_tests") });
});

const form = (page: number, value = "") =>
  `- heading "Page ${page}"\n- textbox "Full name" [e${page}5]${value}\n- button "${page === 3 ? "Register" : "Next"}" [e${page}8]`;
/** A step with the whole task, which flows quote. */
const register = `${doing(monthEndSteps.register)}\n> Register at http://127.0.0.1:9/ and enter:\n>    - Full name: Ada Lund\n> Then go on.`;

test("the form is filled from what the page shows: after a stale ref or a lost page it takes a new snapshot", async () => {
  const pages = [form(1), form(1), form(1, ": Ada Lund"), "Page: about:blank", form(1), form(1, ": Ada Lund")];
  const acts = ["", "Set it", "e15 is no longer valid. Look again", "Set it", "Clicked", "", "Set it", "Clicked"];
  const act = () => acts.shift() ?? "";
  const { called, end } = await play(register, {
    browser_go_to_url: act,
    browser_fill_form: act,
    browser_click_element: act,
    browser_snapshot: () => pages.shift() ?? "Your registration number is MH-7.",
    browser_screenshot: () => "Kept the picture as receipt.png",
  });
  expect(end.summary).toContain("Registration number: MH-7");
  expect(called.filter(({ name }) => name !== "browser_snapshot").map(({ name }) => name.slice(8))).toEqual([
    "go_to_url",
    "fill_form",
    "fill_form",
    "click_element",
    "go_to_url",
    "fill_form",
    "click_element",
    "screenshot",
  ]);
  expect(called.find(({ name }) => name === "browser_fill_form")?.args).toEqual({
    fields: [{ ref: "e15", value: "Ada Lund" }],
  });
});

test("a site that cannot be opened gives no registration", async () => {
  const refuse = () => "127.0.0.1 is in a private network.";
  const tools = {
    browser_fill_form: refuse,
    browser_click_element: refuse,
    browser_snapshot: () => "No page is open.",
  };
  const { end } = await play(register, { ...tools, browser_go_to_url: refuse });
  expect(end).toMatchObject({ status: "failure", summary: expect.stringContaining("private network") });
});

const brief = (agents: string) =>
  `The agents:\n${agents}\n\nThe task:\n${monthEndGoal}\n1. Analyse orders.csv.\n2. Register at http://127.0.0.1:9/ as Ada.`;

test("the plan has a step for each agent that can do its part, and names what is omitted", async () => {
  const able = "- manus: Does it.\n- data-analysis: Counts.\n- browser: Operates pages.";
  const whole = await decide("planning", brief(able));
  expect(whole.steps).toMatchObject([{ id: "analyse" }, { id: "register" }, { depends_on: ["analyse", "register"] }]);
  const without = await decide("planning", brief(able.replace("Operates", "Cannot operate")));
  expect(without).toMatchObject({ title: expect.stringContaining("without the registration") });
  expect(without.steps).toMatchObject([{ id: "analyse" }, { agent: "manus" }]);
});

/** The end of the task, given what came of its steps: what is not done, or the answer. */
async function end(results: string) {
  const task = brief("").replace("The agents:\n\n\n", "");
  const { text, toolCalls } = await ask(
    [user(`${task}\n\nWhat came of the steps:\n\n${results}`)],
    ["check_task"],
    "auto",
  );
  return toolCalls.length === 0 ? text : (JSON.parse(toolCalls[0]?.arguments ?? "null") as Args);
}

test("the completed steps are checked against the whole task", async () => {
  const results = (outcome: string) => `Step a by data-analysis, completed: A\n\nStep r by browser, ${outcome}: R`;
  expect(await end(results("completed"))).toContain("Everything that was planned is done.");
  expect(await end(results("blocked"))).toMatchObject({ not_done: [], missing: [{ what: "the registration" }] });
});

test("a step is done if its files show it, not if its report claims it", async () => {
  const figures = (cents: number) =>
    JSON.stringify({
      rows: 1,
      cancelled: 0,
      duplicates: [],
      returns: [],
      unpriced: [],
      regions: { Moon: { cents, orders: 1 } },
      months: { "2026-01": cents },
    });
  const step = (id: string, agent: string, text: string, report = "done") =>
    `Step ${id} by ${agent}, completed: ${text}\n<report>\n${report}\n</report>`;
  const others = step("r", "browser", "R");
  const told = "Revenue is 10.00 from 1 orders; the best month is 2026-01. By two ways; both agree exactly.";
  const evidence = (cents: number) =>
    `${step("a", "data-analysis", monthEndSteps.analyse, told)}\n\n${others}\n\n<file name="figures.json" bytes="9">\n${figures(cents)}\n</file>\n\n<file name="a.png" bytes="9">\n[not shown]\n</file>`;
  expect(await end(evidence(1000))).toContain("Everything that was planned is done.");
  expect(await end(evidence(2000))).toMatchObject({
    not_done: [{ step: "a", reason: expect.stringContaining("20.00") }],
  });
  const repair = step("s", "swe", monthEndSteps.repair, "Tests after: All 5 tests passed.");
  expect(await end(`${step("a", "data-analysis", "A")}\n\n${repair}\n\n${others}`)).toMatchObject({
    not_done: [{ step: "s", reason: "There is no change in changes.patch." }],
  });
});

test("figures that differ the third time give no report", async () => {
  const counted = (cents: number) =>
    `RESULT {"rows": 1, "cancelled": 0, "duplicates": [], "returns": [], "unpriced": [], "regions": {"Moon": {"cents": ${cents}, "orders": 1}}, "months": {"2026-01": ${cents}}}`;
  const { end } = await play(doing(monthEndSteps.report), {
    bash: ({ command }) => counted(command === "cat figures.json" ? 1000 : 1001),
  });
  expect(end).toMatchObject({ status: "failure", summary: expect.stringContaining("10.01 against 10.00") });
});

test("a refusal lists the known tasks", async () => {
  const { text } = await ask([user("Write a poem.")], [], "auto");
  for (const known of ["Summarise orders.csv", monthEndGoal, "(flow debate)"]) expect(text).toContain(known);
});
