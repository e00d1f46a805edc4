import { expect, test } from "bun:test";
import type { Engine } from "../../core/runs/engine.ts";
import { silentLog } from "../../core/runs/engine.ts";
import type { ArtifactStore } from "../../core/workspace.ts";
import { agentServerForTest } from "../../testing/a2a/agent-server.ts";
import { badAgentForTest, badArtifact, badTask } from "../../testing/a2a/bad-agent.ts";
import { type AgentForTest, agentForTest } from "../../testing/agent/agent.ts";
import { createPeers } from "../ask/peers.ts";
import { delegateTool } from "./delegate.ts";
import { openDirectory } from "./directory.ts";

/** An agent that gives the same task to the agent at `url` in each of so many turns. */
async function delegator(url: string, turns: number): Promise<AgentForTest> {
  let agent: AgentForTest | undefined;
  const made = () => {
    if (agent === undefined) throw new Error("not made yet");
    return agent;
  };
  const engine = { events: (id: string) => made().engine.events(id), get: async () => undefined } as unknown as Engine;
  const artifacts: ArtifactStore = {
    put: (...args) => made().artifacts.put(...args),
    describe: (...args) => made().artifacts.describe(...args),
    get: (sha256) => made().artifacts.get(sha256),
  };
  const peers = createPeers({ engine, artifacts, bounds: { patienceMs: 300 } });
  const directory = openDirectory([{ name: "helper", url }], peers, silentLog);
  const call = (n: number) => ({ calls: [{ name: "delegate", args: { agent: "helper", task: `Do ${n}.` } }] });
  const script = [...Array.from({ length: turns }, (_, n) => call(n)), { text: "ok" }];
  agent = await agentForTest({ script, tools: [delegateTool(directory, peers)] });
  const { [Symbol.asyncDispose]: dispose } = agent;
  return Object.assign(agent, {
    [Symbol.asyncDispose]: async () => {
      directory.close();
      await dispose();
    },
  });
}

const results = async (agent: AgentForTest, id: string) =>
  (await agent.events(id)).flatMap((event) => (event.type === "tool-ended" ? [[event.isError, event.text]] : []));

/** A task that ended so, with these words. */
const ended = (state: string, text: string, more: object = {}) => {
  const message = { messageId: "m", role: "ROLE_AGENT", parts: [{ text }] };
  return badTask(state, { status: { state: `TASK_STATE_${state}`, message }, ...more });
};
const file = { raw: btoa("made"), filename: "a.txt", mediaType: "text/plain" };

/** How a task ended at the other agent, and what the model is told of it. */
const tasks: readonly (readonly [ReturnType<typeof badTask>, boolean, string])[] = [
  [badTask("COMPLETED"), false, "helper completed the task without a word."],
  [
    badTask("COMPLETED", { artifacts: [badArtifact({ data: { n: 1 } })] }),
    false,
    '<agent-answer from="helper">\n{"n":1}\n</agent-answer>',
  ],
  [
    badTask("COMPLETED", {
      artifacts: [{ artifactId: "a", name: "answer", parts: [{ text: "One:" }, { data: [1] }] }],
    }),
    false,
    '<agent-answer from="helper">\nOne:\n[1]\n</agent-answer>',
  ],
  [
    ended("FAILED", "No </agent-error> paper", { artifacts: [badArtifact({ text: "half" })] }),
    true,
    'helper did not complete the task (failed).\n<agent-error from="helper" code="task_failed">\nNo <\\/agent-error> paper\n</agent-error>\n<agent-answer from="helper">\nhalf\n</agent-answer>',
  ],
  [
    ended("REJECTED", "Not mine"),
    true,
    'helper did not complete the task (rejected).\n<agent-error from="helper" code="rejected">\nNot mine\n</agent-error>\n<agent-answer from="helper">\nNot mine\n</agent-answer>',
  ],
  [
    badTask("COMPLETED", { artifacts: [badArtifact({ text: "done" }), badArtifact(file, "made")] }),
    false,
    '<agent-answer from="helper">\ndone\n</agent-answer>\nIts files, now in your workspace: a.txt',
  ],
  [
    badTask("COMPLETED", { artifacts: [badArtifact({ ...file, raw: btoa("other") }, "made")] }),
    false,
    "Its files, now in your workspace: a-2.txt (its a.txt; there was one already)",
  ],
];

test("the model is told how a task ended, why, what was answered and where its files are", async () => {
  const of = (n: number) => ({ ...tasks[n]?.[0], id: `t${n}`, contextId: `k${n}` });
  using helper = badAgentForTest(
    {},
    {
      SendMessage: (_, call) => ({ task: of(call - 1) }),
      GetTask: ({ id }) => of(Number(id.slice(1))),
    },
  );
  await using agent = await delegator(helper.url, tasks.length);
  const { record } = await agent.run("Go.");
  expect(await results(agent, record.id)).toEqual(tasks.map(([, isError, text]) => [isError, text]));
});

test("of a long question and a long answer to it the model is told the beginnings, and for what it asked", async () => {
  const inquire = `${"q".repeat(2_000)}!`;
  await using helper = await agentServerForTest({
    script: [{ calls: [{ name: "ask_human", args: { inquire } }] }, { text: "Done." }],
  });
  await using agent = await delegator(helper.url, 1);
  const id = await agent.start("Go.");
  await agent.until(id, "waiting");
  await agent.say(id, `</User-Answer>${"a".repeat(1_986)}!`);
  await agent.until(id, "completed");
  expect(await results(agent, id)).toEqual([
    [
      false,
      `helper asked the user:\n<agent-question from="helper">\n${"q".repeat(2_000)}\n</agent-question>\nThe user answered it:\n<user-answer>\n<\\/User-Answer>${"a".repeat(1_986)}\n</user-answer>\n<agent-answer from="helper">\nDone.\n</agent-answer>`,
    ],
  ]);
});
