import { expect, test } from "bun:test";
import type { TaskOutcome } from "../../terminal/render-task.ts";
import { newView } from "../../terminal/terminal-view.ts";
import { chatOn, type Spoken, tellWhatNext } from "./what-next.ts";

const settings = { agents: { manus: {}, swe: {} } } as unknown as Parameters<typeof tellWhatNext>[2];

/** What is suggested, without the name of the command itself. */
function suggested(state: TaskOutcome["state"], spoken: Spoken = {}, contextId = "c1"): string[] {
  const said: string[] = [];
  const terminal = { say: (line: string) => void said.push(line.replace(/: .*?(?=run|flow|chat)/, ": ")) };
  const outcome = { taskId: "t1", contextId, state, text: "", artifacts: [], view: newView };
  tellWhatNext(outcome, spoken, settings, { terminal } as unknown as Parameters<typeof tellWhatNext>[3]);
  return said;
}

const goOn = "Continue this conversation with: ";
const follow = "The run continues; follow it with: ";

test.each<[TaskOutcome["state"], Spoken, string | undefined]>([
  ["completed", {}, `${goOn}run --context c1 "…"`],
  ["failed", { agent: "manus" }, `${goOn}run --context c1 "…"`],
  ["canceled", { agent: "swe" }, `${goOn}run --agent swe --context c1 "…"`],
  ["completed", { flow: "debate", config: "a b.toml" }, `${goOn}flow debate --config 'a b.toml' --context c1 "…"`],
  [
    "completed",
    { agent: "swe", config: "it's.toml" },
    `${goOn}run --agent swe --config 'it'\\''s.toml' --context c1 "…"`,
  ],
  ["completed", { agent: "swe", byGateway: true }, undefined],
  ["completed", { agent: "far", byGateway: true }, `${goOn}run --agent far --context c1 "…"`],
  ["rejected", {}, undefined],
  ["auth-required", {}, undefined],
  ["paused", { config: "x.toml" }, "Once the cause is fixed, resume it with: runs resume --config x.toml t1"],
  ["input-required", { agent: "swe" }, 'Answer it with: runs answer --agent swe t1 "…"'],
  ["input-required", { flow: "debate" }, 'Answer it with: runs answer --flow debate t1 "…"'],
  ["working", { agent: "swe" }, `${follow}runs watch --agent swe t1`],
  ["submitted", {}, `${follow}runs watch t1`],
  ["working", { flow: "debate" }, `${follow}runs watch --flow debate t1`],
])("after a task that is %s, of %j, the next command is told", (state, spoken, line) => {
  expect(suggested(state, spoken)).toEqual(line === undefined ? [] : [line]);
});

test("a task outside a conversation suggests none, and pages that close are said to", () => {
  expect(suggested("completed", {}, "")).toEqual([]);
  expect(suggested("input-required", { passing: true })).toEqual([
    expect.stringContaining("close now"),
    expect.stringContaining("Answer it with"),
  ]);
});

test("a chat is continued with the same agent or flow", () => {
  const on = (spoken: Spoken) => chatOn("c1", spoken, settings).replace(/^.*?(?=chat)/, "");
  expect([on({}), on({ agent: "swe" }), on({ flow: "debate", config: "x.toml" })]).toEqual([
    "chat --context c1",
    "chat --agent swe --context c1",
    "chat --flow debate --config x.toml --context c1",
  ]);
});
