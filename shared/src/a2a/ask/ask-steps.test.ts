import { expect, test } from "bun:test";
import type { Run } from "../../core/runs/run.ts";
import { askerForTest } from "../../testing/a2a/asker.ts";
import { badAgentForTest, badArtifact, badTask } from "../../testing/a2a/bad-agent.ts";
import { askAgent } from "./ask-agent.ts";

const done = badTask("COMPLETED", { artifacts: [badArtifact({ text: "the answer" })] });

test("an ask of an agent that is there takes three steps: begin, send and follow", async () => {
  using agent = badAgentForTest({}, { SendMessage: () => ({ task: badTask("WORKING") }), GetTask: () => done });
  const steps: string[] = [];
  await using asker = await askerForTest((run, peers) => {
    const step: Run["step"] = (name, ...rest) => {
      steps.push(name);
      return run.step(name, ...rest);
    };
    const watched = new Proxy(run, { get: (of, name) => (name === "step" ? step : Reflect.get(of, name)) });
    const request = {
      agent: { name: "bad", url: agent.url },
      parts: [{ type: "text", text: "Do it." }],
      hops: 0,
    } as const;
    return askAgent(watched, request, peers);
  });
  expect(await asker.run()).toMatchObject({ state: "completed", answer: "the answer" });
  expect(steps).toEqual(["ask", "send", "follow"]);
});
