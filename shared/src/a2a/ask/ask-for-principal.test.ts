import { expect, test } from "bun:test";
import type { AskOutcome } from "../../core/events/ask-outcome.ts";
import { agentServerForTest } from "../../testing/a2a/agent-server.ts";
import { askerForTest } from "../../testing/a2a/asker.ts";
import { askAgent } from "./ask-agent.ts";

const create = {
  calls: [{ name: "str_replace_editor", args: { command: "create", path: "out.txt", file_text: "made here" } }],
};
const question = { calls: [{ name: "ask_human", args: { inquire: "Which year?" } }] };
const request = (url: string) => ({ agent: { name: "helper", url }, parts: [], hops: 0 });
const parts = [{ type: "text" as const, text: "Do it." }];

test("an agent of this system works for the principal of the asking run, through question, answer and files", async () => {
  await using helper = await agentServerForTest({ script: [question, create, { text: "It is 2026." }] });
  await using asker = await askerForTest(
    (run, peers) => askAgent(run, { ...request(helper.url), parts }, peers),
    {},
    { isOwn: ({ url }) => url === helper.url },
  );
  const id = await asker.start();
  await asker.until(id, "waiting");
  await asker.say(id, "2026");
  const outcome = (await asker.until(id, "completed")).output as unknown as AskOutcome;
  expect(outcome).toMatchObject({ state: "completed", answer: "It is 2026.", files: [{ name: "out.txt" }] });
  expect((await helper.tasks()).map(({ principal }) => principal)).toEqual(["alice"]);
});

test("what a canceled run asked of an agent of this system is canceled there, in its principal's name", async () => {
  await using helper = await agentServerForTest({ script: [{ text: "never ending", stallAfter: 1 }] });
  await using asker = await askerForTest(
    (run, peers) => askAgent(run, { ...request(helper.url), parts }, peers),
    {},
    { isOwn: () => true },
  );
  const id = await asker.start();
  const task = async () => (await helper.tasks())[0];
  for (const end = Date.now() + 60_000; (await task()) === undefined && Date.now() < end; ) await Bun.sleep(10);
  await asker.engine.cancel(id);
  await asker.until(id, "canceled");
  for (const end = Date.now() + 60_000; (await task())?.status !== "canceled" && Date.now() < end; )
    await Bun.sleep(10);
  expect(await task()).toMatchObject({ principal: "alice", status: "canceled" });
});

test("an agent that is not of this system does not learn the principal, whatever its card says", async () => {
  await using helper = await agentServerForTest({ script: [{ text: "yes" }] });
  await using asker = await askerForTest((run, peers) => askAgent(run, { ...request(helper.url), parts }, peers));
  expect(await asker.run<AskOutcome>()).toMatchObject({ state: "completed" });
  expect((await helper.tasks()).map(({ principal }) => principal)).toEqual(["local"]);
});

test("a task of somebody else is not waited for in our own store, though its events are there", async () => {
  await using helper = await agentServerForTest({ script: [{ text: "yes", delayMs: 500 }] });
  let executions = 0;
  await using asker = await askerForTest(
    (run, peers) => {
      executions++;
      return askAgent(run, { ...request(helper.url), parts }, peers);
    },
    { followMs: 50 },
    { store: helper.store },
  );
  expect(await asker.run<AskOutcome>()).toMatchObject({ state: "completed", answer: "yes" });
  expect((await helper.tasks()).find(({ kind }) => kind === "helper")?.principal).toBe("local");
  expect(executions).toBe(1);
});
