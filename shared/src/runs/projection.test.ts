import { expect, test } from "bun:test";
import type { RunEvent } from "../core/runs/run.ts";
import { applyEvent, emptyProjection, type TaskProjection } from "./projection.ts";

const after = (...events: readonly RunEvent[]): TaskProjection =>
  events.reduce<TaskProjection>(
    (before, event, at) => applyEvent(before, { runId: "r", seq: at + 1, at: at + 101, event }),
    emptyProjection,
  );
const parts = [{ type: "text", text: "go" }];
const received = { type: "message-received", messageId: "m1", parts };
const step = { type: "step-started", step: 1, maxSteps: 9 };
const notice = (text: string) => ({ type: "notice-given", kind: "budget", text });
const approval = { id: "c", callId: "1", name: "bash", arguments: "{}" };
const asked = { type: "question-asked", question: "May I?", kind: "approval", askId: "a", approval };
const answered = (askId: string) => ({ type: "agent-answered", askId, agent: askId, state: "completed", files: [] });
const paused = { type: "run-paused", error: { message: "The code changed" } };
const resumed = { type: "run-resumed" };
const ended = { type: "run-ended", status: "completed" };

/** What is asked, by whom and about which call, and the line that is shown. */
const shown = ({ question, asker, approval: about, status }: TaskProjection) => [
  question,
  asker,
  about?.id,
  status?.text,
];
const open = ["approval", "a", "c", "May I?"];

test.each<readonly [string, readonly RunEvent[], readonly unknown[]]>([
  ["is asked", [], open],
  ["stays while others work, whose lines are not shown", [notice("at it"), answered("b")], open],
  [
    "gives way to the next one, with all that belongs to it",
    [{ type: "question-asked", question: "Who?", kind: "question" }],
    ["question", undefined, undefined, "Who?"],
  ],
  ["shows that the run is paused", [paused], ["approval", "a", "c", "Paused: The code changed"]],
  ["ends with an answer", [{ ...received, messageId: "m2" }], [undefined, undefined, undefined, undefined]],
  ["ends with the next step", [step], [undefined, undefined, undefined, undefined]],
  ["ends with the ask it came from", [answered("a")], [undefined, undefined, undefined, "a completed"]],
  ["ends with the run", [ended], [undefined, undefined, undefined, undefined]],
])("an open question %s", (_, events, expected) => {
  expect(shown(after(received, asked, ...events))).toEqual(expected as never);
});

test("a question of the run itself does not end with an ask", () => {
  const own = { type: "question-asked", question: "May I?", kind: "approval", approval };
  expect(shown(after(received, own, answered("a")))).toEqual(["approval", undefined, "c", "May I?"]);
});

test("a question names the task it came from, until the next question or the end of this one", () => {
  const from = { agent: "swe", taskId: "t", contextId: "c" };
  const next = { type: "question-asked", question: "Who?", kind: "question" };
  const ofTask = (...events: readonly RunEvent[]) => after(received, { ...asked, from }, ...events).from;
  expect([ofTask(), ofTask(next), ofTask(step)]).toEqual([from as never, undefined, undefined]);
  expect(after(received, asked).from).toBeUndefined();
});

test("a run without an event has neither begun nor paused, and no time", () => {
  expect(emptyProjection).toMatchObject({ seq: 0, at: 0, started: false, paused: false, history: [], artifacts: [] });
});

test("an artifact is there once, as it was added last, after those that were not replaced", () => {
  const artifact = (artifactId: string, name: string) => ({ type: "artifact-added", artifactId, name, parts: [] });
  const { artifacts } = after(received, artifact("a", "old"), artifact("b", "other"), artifact("a", "new"));
  expect(artifacts).toEqual([
    { artifactId: "b", name: "other", parts: [] },
    { artifactId: "a", name: "new", parts: [] },
  ]);
});

test("a step leaves the line of the work before it, a resumption removes the one that says why it paused", () => {
  expect(after(received, notice("at it"), step).status).toEqual({ seq: 2, text: "at it" });
  const [pausing, resuming, ending] = [[paused], [paused, resumed], [paused, ended]].map((events) =>
    after(received, notice("at it"), ...events),
  );
  expect([pausing?.paused, pausing?.status?.text]).toEqual([true, "Paused: The code changed"]);
  expect([resuming?.paused, resuming?.status]).toEqual([false, undefined]);
  expect([ending?.paused, ending?.end?.status]).toEqual([false, "completed"]);
});

test("a run has started once anything but messages is there, and stands where its newest event is", () => {
  const message = { ...received, messageId: "m2" };
  expect(emptyProjection.started).toBe(false);
  expect(after(received, message)).toMatchObject({ started: false, seq: 2, at: 102 });
  expect(after(received, step, message)).toMatchObject({ started: true, seq: 3, at: 103 });
});

test("the conversation has each message and each question in its place, metadata only where there was some", () => {
  const metadata = { from: "x" };
  const { history } = after(received, asked, { ...received, messageId: "m2", metadata });
  expect(history).toEqual([
    { seq: 1, role: "user", messageId: "m1", parts } as never,
    { seq: 2, role: "agent", parts: [{ type: "text", text: "May I?" }] },
    { seq: 3, role: "user", messageId: "m2", parts, metadata } as never,
  ]);
});

test("an agent that was asked twice is named once, in the order of the first asks", () => {
  const asks = (agent: string) => ({
    type: "agent-asked",
    askId: agent,
    agent,
    url: "u",
    text: "",
    parts: [],
    hops: 1,
  });
  expect(after(received, asks("swe"), asks("manus"), asks("swe")).agents).toEqual(["swe", "manus"]);
});
