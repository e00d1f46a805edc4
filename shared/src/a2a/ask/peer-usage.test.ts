import { expect, test } from "bun:test";
import type { AskOutcome } from "../../core/events/ask-outcome.ts";
import type { Engine } from "../../core/runs/engine.ts";
import { applyEvent, emptyProjection, projectedUsage } from "../../runs/projection.ts";
import { agentServerForTest } from "../../testing/a2a/agent-server.ts";
import { askerForTest } from "../../testing/a2a/asker.ts";
import { badAgentForTest, badArtifact, badTask } from "../../testing/a2a/bad-agent.ts";
import { until } from "../../testing/durable/until.ts";
import { budgetExtension, usageExtension } from "../extensions.ts";
import { askAgent } from "./ask-agent.ts";

const usage = { tokens: 120, outputTokens: 20, usd: 0.5, unpriced: false };
const metadata = { "manyhands/usage": usage };
const extensions = [{ uri: usageExtension }, { uri: "urn:other:1" }, { uri: budgetExtension }];

/** Asks a foreign agent that replies so; the outcome, and what the agent received. */
async function asked(reply: { task?: object; message?: object }, declared: typeof extensions) {
  using agent = badAgentForTest(
    { extensions: declared },
    { SendMessage: () => reply, GetTask: () => reply.task ?? {} },
  );
  const parts = [{ type: "text" as const, text: "Do it." }];
  const request = { agent: { name: "bad", url: agent.url }, parts, hops: 0, budget: { tokens: 500 } };
  await using asker = await askerForTest((run, peers) => askAgent(run, request, peers));
  const outcome = await asker.run<AskOutcome>();
  return { outcome, call: agent.calls[0] };
}

const done = badTask("COMPLETED", { artifacts: [badArtifact({ text: "done" })], metadata });

test("a foreign agent that declares usage and budget has both activated, gets the budget, and its usage counts", async () => {
  const { outcome, call } = await asked({ task: done }, extensions);
  expect(outcome.usage).toEqual(usage);
  expect(call?.headers.get("a2a-extensions")).toBe(`${usageExtension},${budgetExtension}`);
  expect(call?.params.metadata["manyhands/budget"]).toEqual({ tokens: 500 });
});

test("usage on a bare Message counts too", async () => {
  const message = { messageId: "r1", role: "ROLE_AGENT", parts: [{ text: "at once" }], metadata };
  const { outcome } = await asked({ message }, extensions);
  expect(outcome).toMatchObject({ answer: "at once", usage });
});

test("an agent that declares neither has none activated", async () => {
  const { call } = await asked({ task: done }, []);
  expect(call?.headers.get("a2a-extensions")).toBeNull();
});

test("usage that is not of the documented shape is left out", async () => {
  const odd = badTask("COMPLETED", { metadata: { "manyhands/usage": { tokens: -1, usd: "free" } } });
  const { outcome } = await asked({ task: odd }, extensions);
  expect(outcome.state).toBe("completed");
  expect(outcome.usage).toBeUndefined();
});

const waitingTask = (tokens: number) =>
  badTask("INPUT_REQUIRED", { metadata: { "manyhands/usage": { ...usage, tokens } } });

/** What the run has used so far, as its journal tells. */
const soFar = async (engine: Engine, id: string) =>
  projectedUsage((await engine.events(id)).reduce(applyEvent, emptyProjection)).tokens;

test("what an agent has used counts while its question waits, also where another's question is asked first", async () => {
  const script = [{ calls: [{ name: "ask_human", args: { inquire: "Which year?" } }] }];
  await using one = await agentServerForTest({ script });
  await using other = await agentServerForTest({ script });
  const parts = [{ type: "text" as const, text: "Do it." }];
  await using asker = await askerForTest((run, peers) =>
    run.all(
      [one, other].map(({ url }, n) => (own) => {
        return askAgent(own, { agent: { name: `helper-${n}`, url }, parts, hops: 0 }, peers);
      }),
    ),
  );
  const id = await asker.start();
  const tasks = async () => (await Promise.all([one.tasks(), other.tasks()])).flat();
  await until(async () => (await tasks()).filter(({ status }) => status === "waiting").length === 2);
  const [first, second] = await tasks();
  const used = (await soFar(one.engine, first?.id ?? "")) + (await soFar(other.engine, second?.id ?? ""));
  expect(used).toBeGreaterThan(0);
  await until(async () => (await soFar(asker.engine, id)) === used, 4_000);
});

test("what an agent of another system has used so far counts while its question waits", async () => {
  using agent = badAgentForTest(
    { extensions },
    { SendMessage: () => ({ task: badTask("WORKING") }), GetTask: () => waitingTask(120) },
  );
  const request = { agent: { name: "bad", url: agent.url }, parts: [{ type: "text" as const, text: "Go" }], hops: 0 };
  await using asker = await askerForTest((run, peers) => askAgent(run, request, peers));
  const id = await asker.start();
  await asker.until(id, "waiting");
  expect(await soFar(asker.engine, id)).toBe(120);
  expect((await asker.events(id)).filter(({ type }) => type === "agent-used")).toHaveLength(1);
});
