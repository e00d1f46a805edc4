import { expect, test } from "bun:test";
import { flowForTest } from "manyhands/internal/testing/flow";
import { agentFlow } from "./agent-flow.ts";
import { runnablesOf } from "./runnables.ts";

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
