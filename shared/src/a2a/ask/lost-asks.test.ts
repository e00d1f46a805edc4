import { expect, test } from "bun:test";
import { AppError } from "../../core/errors.ts";
import type { Part } from "../../core/message.ts";
import type { Run } from "../../core/runs/run.ts";
import { agentServerForTest } from "../../testing/a2a/agent-server.ts";
import { type AskerForTest, askerForTest } from "../../testing/a2a/asker.ts";
import { badAgentForTest, badTask } from "../../testing/a2a/bad-agent.ts";
import { gateForTest } from "../../testing/a2a/gate.ts";
import type { AskRequest } from "./ask.ts";
import { askAgent } from "./ask-agent.ts";
import { cancelOpen } from "./cancel-remote-tasks.ts";
import type { Peers } from "./peers.ts";

const parts: Part[] = [{ type: "text", text: "Pay the bill." }];
const never = { text: "never ending", stallAfter: 1 } as const;
const to = (url: string): AskRequest => ({ agent: { name: "helper", url }, parts, hops: 0, budget: { steps: 5 } });

async function eventually(check: () => Promise<boolean> | boolean): Promise<void> {
  for (const deadline = Date.now() + 60_000; Date.now() < deadline; await Bun.sleep(10)) if (await check()) return;
  throw new Error("It did not happen within fifteen seconds");
}

/** Waits until nothing is left to cancel. */
async function recalled({ engine }: AskerForTest): Promise<void> {
  const open = { kind: "asker/recall", statuses: ["queued", "running", "waiting"] as const, limit: 1 };
  await eventually(async () => (await engine.list({ kind: "asker/recall", limit: 1 })).total > 0);
  await eventually(async () => (await engine.list(open)).total === 0);
}

test("runs canceled while their agent was unreachable start nothing when it comes back", async () => {
  await using helper = await agentServerForTest({ script: () => ({ text: "paid" }) });
  await using gate = gateForTest(helper.url);
  await using asker = await askerForTest((run, peers) => askAgent(run, to(gate.url), peers), { patienceMs: 60_000 });
  // The agent is resolved before it goes away, so only the message is lost.
  gate.loses("SendMessage", true);
  await asker.peers.client({ name: "helper", url: gate.url });
  await gate.close();
  const ids = await Promise.all(Array.from({ length: 5 }, () => asker.start()));
  for (const id of ids) {
    await eventually(async () => (await asker.events(id)).some(({ type }) => type === "agent-asked"));
    await asker.engine.cancel(id);
  }
  gate.loses("SendMessage", false);
  // Away for longer than a few attempts take.
  await Bun.sleep(1_500);
  gate.open();
  await recalled(asker);
  expect((await helper.tasks()).map(({ status }) => status)).toEqual(Array(5).fill("canceled"));
  expect(helper.model.requests).toHaveLength(0);
});

test("a failed cancel is retried as soon as the agent is reachable again, however long the pause had become", async () => {
  await using helper = await agentServerForTest({ script: () => never });
  await using gate = gateForTest(helper.url);
  const seen = new AbortController();
  let looks = 0;
  const retrySignal = () => {
    looks++;
    return seen.signal;
  };
  const body = (run: Run, peers: Peers) => askAgent(run, to(gate.url), peers);
  await using asker = await askerForTest(body, { patienceMs: 60_000 }, { retrySignal });
  const id = await asker.start();
  await eventually(() => helper.model.requests.length === 1);
  await gate.close();
  const before = looks;
  await asker.engine.cancel(id);
  // Its pauses double: after this many polls the next pause is 6 seconds.
  await eventually(() => looks >= before + 7);
  await Bun.sleep(1_000);
  gate.open();
  const from = performance.now();
  seen.abort();
  await recalled(asker);
  expect(performance.now() - from).toBeLessThan(4_500);
  expect((await helper.tasks()).map(({ status }) => status)).toEqual(["canceled"]);
});

test("a run canceled after its message's answer was lost: the task it started is canceled, and no other is started", async () => {
  await using helper = await agentServerForTest({ script: () => never });
  await using gate = gateForTest(helper.url);
  await using asker = await askerForTest((run, peers) => askAgent(run, to(gate.url), peers), { patienceMs: 60_000 });
  gate.loses("SendMessage", true);
  const id = await asker.start();
  await eventually(() => helper.model.requests.length === 1);
  await asker.engine.cancel(id);
  await recalled(asker);
  expect((await helper.tasks()).map(({ status }) => status)).toEqual(["canceled"]);
  expect(helper.model.requests).toHaveLength(1);
});

for (const verb of ["race", "all"] as const)
  test(`the branch that lost in \`${verb}\` and could not reach its agent begins nothing there later`, async () => {
    await using helper = await agentServerForTest({ script: () => ({ text: "paid" }) });
    await using gate = gateForTest(helper.url);
    await using asker = await askerForTest(
      async (run, peers) => {
        const decided = run[verb]<unknown>([
          (own) => askAgent(own, to(gate.url), peers),
          async (own) => {
            await own.sleep(300);
            if (verb === "all") throw await own.step("fail", async () => null).then(() => new Error("no"));
            return "first";
          },
        ]);
        return await decided.catch(() => "failed");
      },
      { patienceMs: 60_000 },
    );
    await asker.peers.client({ name: "helper", url: gate.url });
    await gate.close();
    await asker.run();
    gate.open();
    await recalled(asker);
    expect((await helper.tasks()).map(({ status }) => status)).toEqual(["canceled"]);
    expect(helper.model.requests).toHaveLength(0);
  });

test("a branch that settles its own asks leaves those of others alone", async () => {
  await using helper = await agentServerForTest({
    script: ({ messages }) => (JSON.stringify(messages).includes("slowly") ? { text: "paid", delayMs: 1_500 } : never),
  });
  await using asker = await askerForTest((run, peers) =>
    run.all<unknown>([
      (own) => askAgent(own, { ...to(helper.url), parts: [{ type: "text", text: "slowly" }] }, peers),
      async (own) => {
        await own.race<unknown>([
          (loser) => askAgent(loser, to(helper.url), peers),
          (winner) =>
            winner.step("until both are at work", () =>
              eventually(() => helper.model.requests.length === 2).then(() => 1),
            ),
        ]);
        return cancelOpen(own, peers);
      },
    ]),
  );
  expect(await asker.run()).toMatchObject([{ state: "completed", answer: "paid" }, 0]);
  expect((await helper.tasks()).map(({ status }) => status).toSorted()).toEqual(["canceled", "completed"]);
});

test("an accepted clean-up run cancels its run too: the process may have died before it did so itself", async () => {
  await using helper = await agentServerForTest({ script: () => never });
  await using asker = await askerForTest((run, peers) => askAgent(run, to(helper.url), peers));
  const id = await asker.start();
  await eventually(() => helper.model.requests.length === 1);
  const input = { runId: id, why: "canceled" };
  await asker.engine.start({ kind: "asker/recall", input, principal: "alice", contextId: "c1" });
  await asker.until(id, "canceled");
  await recalled(asker);
  expect((await helper.tasks()).map(({ status }) => status)).toEqual(["canceled"]);
});

const listed = (id: string, messageId: string, state = "WORKING") =>
  badTask(state, { id, history: [{ messageId, role: "ROLE_USER", parts: [{ text: "x" }] }] });
const lost = () => new Response("<h1>Bad gateway</h1>", { status: 502 });

test("at an agent of another make a message whose answer was lost is looked up and canceled, never sent again", async () => {
  let askId = "";
  using agent = badAgentForTest(
    {},
    {
      SendMessage: ({ message }) => {
        askId = message.messageId;
        return lost();
      },
      ListTasks: ({ pageToken }) =>
        pageToken === "2"
          ? { tasks: [listed("t2", "other"), listed("t1", askId)], nextPageToken: "", pageSize: 100, totalSize: 3 }
          : { tasks: [listed("t0", "mine-not")], nextPageToken: "2", pageSize: 100, totalSize: 3 },
      CancelTask: ({ id }) => badTask("CANCELED", { id }),
    },
  );
  const request = { ...to(agent.url), contextId: "k9" };
  await using asker = await askerForTest((run, peers) => askAgent(run, request, peers));
  expect(await asker.run()).toMatchObject({ state: "failed", error: { code: "unavailable" } });
  const pages = agent.calls.filter(({ method }) => method === "ListTasks");
  expect(pages.map(({ params }) => params.contextId)).toEqual(["k9", "k9"]);
  const after = agent.calls.map(({ method, params }) => `${method} ${params.id ?? ""}`.trim());
  expect(after).toEqual(["SendMessage", "ListTasks", "ListTasks", "CancelTask t1"]);
});

test("an agent of another make that lists tasks endlessly is read for ten pages, and the ask ends", async () => {
  let pages = 0;
  using agent = badAgentForTest(
    {},
    {
      SendMessage: lost,
      ListTasks: () => ({
        tasks: [listed("t0", "another")],
        nextPageToken: ++pages < 30 ? `${pages}` : "",
        pageSize: 100,
        totalSize: 3_000,
      }),
    },
  );
  await using asker = await askerForTest((run, peers) => askAgent(run, to(agent.url), peers));
  expect(await asker.run()).toMatchObject({ state: "failed", error: { code: "unavailable" } });
  expect([pages, agent.count("CancelTask")]).toEqual([10, 0]);
});

for (const [what, state, messageId] of [
  ["cannot list its tasks", undefined, ""],
  ["lists no such task", "WORKING", "another"],
  ["has done it meanwhile", "COMPLETED", "the ask's"],
] as const)
  test(`at an agent of another make that ${what} nothing is canceled and nothing sent`, async () => {
    let askId = "";
    const task = () => listed("t1", messageId === "another" ? messageId : askId, state);
    using agent = badAgentForTest(
      {},
      {
        SendMessage: ({ message }) => {
          askId = message.messageId;
          return lost();
        },
        ...(state && { ListTasks: () => ({ tasks: [task()], nextPageToken: "", pageSize: 100, totalSize: 1 }) }),
      },
    );
    await using asker = await askerForTest((run, peers) => askAgent(run, to(agent.url), peers));
    await asker.run();
    expect([agent.count("SendMessage"), agent.count("ListTasks"), agent.count("CancelTask")]).toEqual([1, 1, 0]);
    expect((await asker.engine.list({ kind: "asker/recall", limit: 1 })).total).toBe(0);
  });

test("a message that an agent refuses was not delivered: nothing is looked up or canceled there", async () => {
  using agent = badAgentForTest({}, { SendMessage: () => ({ error: { code: -32602, message: "No such skill" } }) });
  await using asker = await askerForTest((run, peers) => askAgent(run, to(agent.url), peers));
  expect(await asker.run()).toMatchObject({ state: "failed", error: { code: "invalid_input" }, taskId: "" });
  expect(agent.calls.map(({ method }) => method)).toEqual(["SendMessage"]);
});

test("a task whose question got an answer of unknown fate is given up, canceled at its agent, and named in the outcome", async () => {
  const status = { state: "TASK_STATE_INPUT_REQUIRED", message: { messageId: "q", role: "ROLE_AGENT", parts: [] } };
  using agent = badAgentForTest(
    {},
    {
      SendMessage: () => ({ task: badTask("WORKING") }),
      GetTask: () => badTask("WORKING", { status }),
      CancelTask: () => badTask("CANCELED"),
    },
  );
  const fate = new AppError("interrupted", "Nobody knows whether it arrived.");
  await using asker = await askerForTest((run, peers) => {
    const step: Run["step"] = (name, ...rest) => (name === "answer" ? Promise.reject(fate) : run.step(name, ...rest));
    return askAgent(Object.assign(Object.create(run) as Run, { step }), to(agent.url), peers);
  });
  const id = await asker.start();
  await asker.until(id, "waiting");
  await asker.say(id, "2026");
  const { output } = await asker.until(id, "completed");
  expect(output).toMatchObject({ state: "failed", error: { code: "interrupted" }, taskId: "t1", contextId: "k1" });
  expect(agent.calls.filter(({ method }) => method === "CancelTask").map(({ params }) => params.id)).toEqual(["t1"]);
});
