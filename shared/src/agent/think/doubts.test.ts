import { expect, test } from "bun:test";
import * as z from "zod";
import { createKeyedQueue } from "../../core/async/keyed-queue.ts";
import { defineTool } from "../../core/tools/define-tool.ts";
import { agentForTest } from "../../testing/agent/agent.ts";
import type { ScriptedReply } from "../../testing/models/scripted-model.ts";
import { createStrReplaceEditor } from "../../tools/files/str-replace-editor.ts";
import { terminate } from "../../tools/human/terminate.ts";

const act = defineTool({
  name: "act",
  description: "Does something.",
  input: z.strictObject({}),
  effect: "once",
  run: async () => "done",
});

const called: ScriptedReply = { calls: [{ name: "act", args: {} }] };
const making: ScriptedReply = {
  calls: [{ name: "str_replace_editor", args: { command: "create", path: "sub/report.md", file_text: "x" } }],
};
const spelled: ScriptedReply = { text: 'I do it now:\n<tool_call>{"name":"act","arguments":{}}</tool_call>' };
const claimed: ScriptedReply = { text: "It is in report.md." };
const toMake = "Write report.md.";
const toAct = "Act.";

const saysCall = expect.stringMatching(/^Your message has a call of act in its text.*Make the call itself/);
const saysFile = expect.stringMatching(/^You have called no tool, and the task asks for report\.md, which does not/);
const madeNone = expect.stringMatching(/^The task asks for report\.md, which does not exist: no call has made it/);
const failedAs = (what: string) => ({ failed: expect.stringContaining(`The model called no tool: ${what}.`) });
const onlyWritten = failedAs("its calls were only written as text");
const notMade = failedAs("report.md was to be made and does not exist");

/** What came of a task: what the model was told on the way, and the end. */
async function played(text: string, script: readonly ScriptedReply[], more: { tools?: []; before?: string } = {}) {
  await using agent = await agentForTest({
    script,
    tools: more.tools ?? [act, createStrReplaceEditor(createKeyedQueue()), terminate],
  });
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
  [
    "after calls a file that none made is told once and then stands",
    toMake,
    [called, claimed, claimed],
    [madeNone],
    "stands",
  ],
  ["after calls a file that one made is believed", toMake, [making, claimed], [], claimed.text],
  ["a file that is told of, then made", toMake, [called, claimed, making, claimed], [madeNone], claimed.text],
  ["of both the call is told, and the file is what failed", toMake, [spelled, claimed], [saysCall], notMade],
  ["the other doubt gets no second hint", toMake, [claimed, spelled], [saysFile], notMade],
  ["an answer that is cut off raises no doubt", toAct, [{ ...spelled, finish: "length" }, { text: "Ok." }], [], "Ok."],
])("%s", async (_, text, script, told, end) => {
  const last = script.at(-1)?.text;
  const ended = typeof end !== "string" ? end : { answer: end === "stands" ? last : end };
  expect<unknown>(await played(text, script)).toEqual({ told, end: ended });
});

test("an end as a success with a file that no call made is refused once, and not with one made beside it", async () => {
  const end = (status: string) => ({ name: "terminate", args: { status, summary: `${status} at report.md` } });
  const asked = async (...script: ScriptedReply[]) => {
    await using agent = await agentForTest({
      script,
      tools: [act, createStrReplaceEditor(createKeyedQueue()), terminate],
    });
    const { record, events } = await agent.run(toMake);
    const refused = events.filter(
      (event) => event.type === "tool-ended" && event.name === "terminate" && event.isError,
    );
    return [record.status, refused.length, agent.model.requests.length];
  };
  expect(await asked(called, { calls: [end("success")] }, { calls: [end("success")] })).toEqual(["completed", 1, 3]);
  expect(await asked(called, { calls: [end("success")] }, making, { calls: [end("success")] })).toEqual([
    "completed",
    1,
    4,
  ]);
  expect(await asked({ calls: [...(making.calls ?? []), end("success")] })).toEqual(["completed", 0, 1]);
  expect(await asked({ calls: [end("failure")] })).toEqual(["failed", 0, 1]);
});

test("an agent without tools is believed", async () => {
  expect<unknown>(await played(toMake, [spelled], { tools: [] })).toEqual({ told: [], end: { answer: spelled.text } });
});

test("the calls of an earlier task in the conversation count for nothing", async () => {
  const script = [called, { text: "Acted." }, claimed, claimed];
  expect<unknown>(await played(toMake, script, { before: toAct })).toEqual({ told: [saysFile], end: notMade });
});
