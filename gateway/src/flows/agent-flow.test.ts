import { afterAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createEmbeddedEngine } from "manyhands/internal/durable/sqlite/embedded-engine";
import { flowForTest } from "manyhands/internal/testing/flow";
import { agentFlow, agentKind } from "./agent-flow.ts";
import { runnablesOf } from "./runnables.ts";

const home = await mkdtemp(join(tmpdir(), "manyhands-agent-flow-"));
afterAll(() => rm(home, { recursive: true }));

const noRuns = { list: async () => ({ runs: [], total: 0 }), events: async () => [] };

test("a message without a text goes to the agent as it came", async () => {
  await using flow = await flowForTest(agentFlow("one", noRuns), { agents: { one: () => ({ text: "read" }) } });
  const file = await flow.artifacts.put(Buffer.from("a,b"), { name: "a.csv" });
  const { answer } = await flow.run({ text: "", files: [{ type: "file", ...file }] });
  expect(answer).toBe("read");
  const [task] = await flow.agent("one").tasks();
  expect(task?.input).toMatchObject({ message: { parts: [{ type: "file", name: "a.csv" }] } });
});

test("an agent can be started by a file alone, by nothing it cannot; a flow needs a text", () => {
  const agents = [{ name: "one", source: "registered" as const }];
  const { all } = runnablesOf([], { list: () => agents as never });
  const admit = (parts: readonly object[]) => () => all()[0]?.admit({ messageId: "m", parts: parts as never });
  const file = { type: "file", sha256: "0", name: "a.csv", mediaType: "text/csv", size: 1 };
  expect(admit([file])()).toEqual({});
  expect(admit([{ type: "data", data: 1 }])()).toEqual({});
  expect(admit([])).toThrow("say in a text what is to be done");
});

test("a run goes on in its own principal's conversation, though another has used the same name since", async () => {
  const earlier = createEmbeddedEngine({ path: join(home, "runs.db") });
  for (const principal of ["alice", "bob"]) {
    const accepted = { type: "agent-accepted", askId: "a", agent: "one", taskId: "t", contextId: `${principal}-there` };
    const begun = { kind: agentKind("one"), input: null, principal, contextId: "c1", events: [accepted] };
    await earlier.start(begun);
    await Bun.sleep(2);
  }
  await using flow = await flowForTest(agentFlow("one", earlier), { agents: { one: () => ({ text: "read" }) } });
  const { record } = await flow.run({ text: "And then?" });
  await earlier.close();
  expect([record.principal, record.contextId]).toEqual(["alice", "c1"]);
  expect((await flow.agent("one").tasks()).map(({ contextId }) => contextId)).toEqual(["alice-there"]);
});
