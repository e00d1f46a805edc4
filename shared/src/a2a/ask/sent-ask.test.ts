import { expect, test } from "bun:test";
import type { AskOutcome } from "../../core/events/ask-outcome.ts";
import { readTrace, spanId, withinTrace } from "../../core/trace.ts";
import { askerForTest } from "../../testing/a2a/asker.ts";
import { badAgentForTest, badArtifact, badTask } from "../../testing/a2a/bad-agent.ts";
import type { AskRequest } from "./ask.ts";
import { askAgent } from "./ask-agent.ts";

const done = badTask("COMPLETED", { artifacts: [badArtifact({ text: "done" })] });

/** Asks an agent; the outcome, the messages it received, and the journal's `agent-asked`. */
async function asked(more: Partial<AskRequest>, bounds: { hops?: number } = {}) {
  using agent = badAgentForTest({ ours: true }, { SendMessage: () => ({ task: done }), GetTask: () => done });
  const request: AskRequest = {
    agent: { name: "helper", url: agent.url },
    parts: [{ type: "text", text: "Do it." }],
    hops: 0,
    ...more,
  };
  await using asker = await askerForTest((run, peers) => askAgent(run, request, peers), bounds);
  const id = await asker.start();
  const outcome = (await asker.until(id, "completed")).output as unknown as AskOutcome;
  const sent = agent.calls.filter(({ method }) => method === "SendMessage").map(({ params }) => params);
  const event = (await asker.events(id)).find(({ type }) => type === "agent-asked");
  return { outcome, sent, event };
}

test.each([
  [0, 1],
  [2, 3],
  [7, 8],
])("a task that has passed through %d agents is sent as one that has passed through %d", async (hops, counted) => {
  const { outcome, sent, event } = await asked({ hops });
  // Known at once, and remembered as if it had taken longer.
  expect(outcome).toMatchObject({ state: "completed", answer: "done", remembers: true });
  expect(sent.map(({ metadata }) => metadata["manyhands/hops"])).toEqual([counted]);
  expect(event).toMatchObject({ hops: counted });
});

test("through more than eight, or as many as are set, it is not sent on", async () => {
  for (const [hops, most] of [
    [8, 8],
    [3, 3],
  ] as const) {
    const { outcome, sent } = await asked({ hops }, { hops: most });
    const message = `The task has passed through ${hops} agents, and ${most} is the most: helper was not asked.`;
    expect([outcome.error, sent]).toEqual([{ code: "hop_limit", message }, []]);
  }
  expect((await asked({ hops: 2 }, { hops: 3 })).sent).toHaveLength(1);
});

test("all that is known of a task goes with it, each under its own name", async () => {
  const { sent } = await asked({
    contextId: "k0",
    budget: { steps: 3, tokens: 500, usd: 0.5, wallMs: 60_000 },
    outputSchema: { type: "object" },
    flow: { agents: ["swe"], options: { rounds: 2 } },
    said: ["Buy it.", "Now."],
    given: ["https://a.example/x"],
    takenIn: ["web", "bash"],
  });
  const [{ message, metadata }] = sent as [(typeof sent)[number]];
  expect(message).toMatchObject({ contextId: "k0", parts: [{ text: "Do it." }] });
  expect(message.metadata).toEqual({ "manyhands/flow": { agents: ["swe"], options: { rounds: 2 } } });
  expect(metadata).toEqual({
    "manyhands/budget": { steps: 3, tokens: 500, usd: 0.5, wallMs: 60_000 },
    "manyhands/outputSchema": { type: "object" },
    "manyhands/said": ["Buy it.", "Now."],
    "manyhands/given": ["https://a.example/x"],
    "manyhands/takenIn": ["web", "bash"],
    "manyhands/hops": 1,
    "manyhands/wait": 50,
  });
});

test("links and data are sent as they are, and files that a message cannot carry are not sent at all", async () => {
  const { sent } = await asked({
    parts: [
      { type: "data", data: { a: [1] }, mediaType: "application/json" },
      { type: "url", url: "https://a.example/x.png", name: "x.png", mediaType: "image/png" },
    ],
  });
  expect(sent[0].message.parts).toMatchObject([
    { data: { a: [1] }, mediaType: "application/json" },
    { url: "https://a.example/x.png", filename: "x.png", mediaType: "image/png" },
  ]);
  const half = { type: "file", sha256: "0".repeat(64), name: "a.bin", mediaType: "x/y", size: 3.5 * 2 ** 20 } as const;
  const heavy = await asked({ parts: [half, { ...half, size: half.size + 1 }] });
  expect([heavy.outcome.error?.code, heavy.sent]).toEqual(["too_large", []]);
  expect((await asked({ parts: [half, half] })).outcome.error?.code).toBe("not_found");
});

test("nothing is said of what is not known", async () => {
  const { sent } = await asked({});
  expect(sent[0].metadata).toEqual({ "manyhands/hops": 1, "manyhands/wait": 50 });
  expect(sent[0].message.metadata).toBeUndefined();
});

test("the ids that an agent makes up are kept within bounds, in the outcome and in the record", async () => {
  const message = {
    ...{ messageId: "r1", role: "ROLE_AGENT", parts: [{ text: "at once" }] },
    ...{ taskId: "t".repeat(300), contextId: "k".repeat(1_100) },
  };
  using agent = badAgentForTest({}, { SendMessage: () => ({ message }) });
  const parts = [{ type: "text" as const, text: "Do it." }];
  const request: AskRequest = { agent: { name: "far", url: agent.url }, parts, hops: 0 };
  const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  await using asker = await askerForTest((run, peers) =>
    withinTrace({ traceparent }, () => askAgent(run, request, peers)),
  );
  const id = await asker.start();
  const ids = { taskId: "t".repeat(256), contextId: "k".repeat(1_024) };
  expect((await asker.until(id, "completed")).output).toMatchObject({ ...ids, answer: "at once", isReply: true });
  const [asked, accepted] = await asker.events(id);
  expect(accepted).toMatchObject({ type: "agent-accepted", ...ids });
  // What is sent belongs to the ask's span of the asker's trace.
  const askId = asked?.type === "agent-asked" ? asked.askId : "";
  const sent = agent.calls.map(({ headers }) => readTrace({ traceparent: headers.get("traceparent") ?? "" }));
  expect(sent).toEqual([{ traceId: readTrace({ traceparent }).traceId, parentId: spanId(askId), isSampled: true }]);
});
