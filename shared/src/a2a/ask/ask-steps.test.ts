import { expect, test } from "bun:test";
import type { AskOutcome } from "../../core/events/ask-outcome.ts";
import { messageSignal } from "../../core/message.ts";
import type { Run } from "../../core/runs/run.ts";
import { agentServerForTest } from "../../testing/a2a/agent-server.ts";
import { askerForTest } from "../../testing/a2a/asker.ts";
import { badAgentForTest, badArtifact, badTask } from "../../testing/a2a/bad-agent.ts";
import { until } from "../../testing/durable/until.ts";
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

test("a task that somebody answered directly has its outcome, with the calls that it made before", async () => {
  const made = { command: "create", path: "a.txt", file_text: "x" };
  await using helper = await agentServerForTest({
    script: [
      { calls: [{ name: "str_replace_editor", args: made }] },
      { calls: [{ name: "ask_human", args: { inquire: "Which year?" } }] },
      { text: "It is 2026." },
    ],
  });
  await using asker = await askerForTest((run, peers) =>
    askAgent(
      run,
      { agent: { name: "helper", url: helper.url }, parts: [{ type: "text", text: "Do it." }], hops: 0 },
      peers,
    ),
  );
  const id = await asker.start();
  await asker.until(id, "waiting");
  const [task] = await helper.tasks();
  const answer = { messageId: "m", parts: [{ type: "text", text: "2026" }] };
  await helper.engine.deliver(task?.id ?? "", messageSignal, answer, { id: "m" });
  await until(async () => (await helper.tasks())[0]?.status === "completed");
  await asker.say(id, "2025");
  const outcome = (await asker.until(id, "completed")).output as unknown as AskOutcome;
  expect(outcome).toMatchObject({ state: "completed", answer: "It is 2026." });
  expect(outcome.made?.calls.map(({ name }) => name)).toContain("str_replace_editor");
});
