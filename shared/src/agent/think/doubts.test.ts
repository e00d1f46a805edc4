import { expect, test } from "bun:test";
import * as z from "zod";
import { defineTool } from "../../core/tools/define-tool.ts";
import { agentForTest } from "../../testing/agent/agent.ts";
import type { ScriptedReply } from "../../testing/models/scripted-model.ts";

const act = defineTool({
  name: "act",
  description: "Does something.",
  input: z.strictObject({}),
  effect: "once",
  run: async () => "done",
});

const called: ScriptedReply = { calls: [{ name: "act", args: {} }] };
const spelled: ScriptedReply = { text: 'I do it now:\n<tool_call>{"name":"act","arguments":{}}</tool_call>' };
const claimed: ScriptedReply = { text: "It is in report.md." };
const toMake = "Write report.md.";
const toAct = "Act.";

const saysCall = expect.stringMatching(/^Your message has a call of act in its text.*Make the call itself/);
const saysFile = expect.stringMatching(/^You have called no tool, and the task asks for report\.md, which does not/);
const failedAs = (what: string) => ({ failed: expect.stringContaining(`The model called no tool: ${what}.`) });
const onlyWritten = failedAs("its calls were only written as text");
const notMade = failedAs("report.md was to be made and does not exist");

/** What came of a task: what the model was told on the way, and the end. */
async function played(text: string, script: readonly ScriptedReply[], more: { tools?: []; before?: string } = {}) {
  await using agent = await agentForTest({ script, tools: more.tools ?? [act] });
  if (more.before !== undefined) await agent.run(more.before);
  const { record, events } = await agent.run(text);
  const told = events.flatMap((event) => (event.type === "notice-given" && event.kind === "stuck" ? [event.text] : []));
  const requests = agent.model.requests.map(({ body }) => JSON.stringify(body.messages.at(-1)));
  // What a person is told, the model reads in its next request.
  for (const one of told) expect(requests.filter((sent) => sent?.includes(one))).toHaveLength(1);
  const end = record.status === "failed" ? { failed: record.error?.message } : record.output;
  return { told, end };
}

test.each<[string, string, readonly ScriptedReply[], unknown[], unknown]>([
  ["a call in its text is told once", toAct, [spelled, { text: "Nothing to do." }], [saysCall], "Nothing to do."],
  ["a call in its text twice ends the task as failed", toAct, [spelled, spelled], [saysCall], onlyWritten],
  ["a call in its text, then the call itself", toAct, [spelled, called, { text: "Done." }], [saysCall], "Done."],
  [
    "after a call, one in its text is told once and then stands",
    toAct,
    [called, spelled, spelled],
    [saysCall],
    "stands",
  ],
  ["a file that nobody made is told once", toMake, [claimed, called, claimed], [saysFile], claimed.text],
  ["a file that nobody made, twice, ends the task as failed", toMake, [claimed, claimed], [saysFile], notMade],
  ["no file is missed after any call", toMake, [called, claimed], [], claimed.text],
  ["of both the call is told, and the file is what failed", toMake, [spelled, claimed], [saysCall], notMade],
  ["the other doubt gets no second hint", toMake, [claimed, spelled], [saysFile], notMade],
  ["an answer that is cut off raises no doubt", toAct, [{ ...spelled, finish: "length" }, { text: "Ok." }], [], "Ok."],
])("%s", async (_, text, script, told, end) => {
  const last = script.at(-1)?.text;
  const ended = typeof end !== "string" ? end : { answer: end === "stands" ? last : end };
  expect<unknown>(await played(text, script)).toEqual({ told, end: ended });
});

test("an agent without tools is believed", async () => {
  expect<unknown>(await played(toMake, [spelled], { tools: [] })).toEqual({ told: [], end: { answer: spelled.text } });
});

test("the calls of an earlier task in the conversation count for nothing", async () => {
  const script = [called, { text: "Acted." }, claimed, claimed];
  expect<unknown>(await played(toMake, script, { before: toAct })).toEqual({ told: [saysFile], end: notMade });
});
