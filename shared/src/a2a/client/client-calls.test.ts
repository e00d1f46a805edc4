import { expect, spyOn, test } from "bun:test";
import { TaskState } from "@a2a-js/sdk";
import { principalHeader } from "../../core/caller.ts";
import { type Answer, agentOf, codeOf, reply, type State, statusIn, taskIn } from "../../testing/a2a/asked-agent.ts";
import { agentExtension, cancelMessageExtension } from "../extensions.ts";
import { type A2aClient, createA2aClient } from "./client.ts";

test.each<readonly [State, readonly string[]]>([
  ["COMPLETED", ["SendMessage"]],
  ["CANCELED", ["SendMessage"]],
  ["INPUT_REQUIRED", ["SendMessage"]],
  ["AUTH_REQUIRED", ["SendMessage", "SubscribeToTask", "GetTask"]],
  ["WORKING", ["SendMessage", "SubscribeToTask", "GetTask"]],
])("a task of ours that is %s when its message was sent is asked for so", async (state, methods) => {
  await using agent = agentOf({
    SendMessage: () => ({ task: taskIn(state) }),
    // What comes after the question is no part of the turn.
    SubscribeToTask: (_, count) =>
      (count === 1 ? (["INPUT_REQUIRED", "WORKING"] as const) : (["COMPLETED"] as const)).map((one) => ({
        statusUpdate: statusIn(one),
      })),
    GetTask: () => taskIn("INPUT_REQUIRED"),
  });
  const client = await agent.connect();
  const task = await client.send({ text: "Hi" });
  expect(agent.methods()).toEqual([...methods]);
  const left = methods.length === 1 ? `TASK_STATE_${state}` : "TASK_STATE_INPUT_REQUIRED";
  expect(TaskState[task.status?.state ?? 0]).toBe(left);
  expect(agent.asked[0]?.params).toMatchObject({
    configuration: { returnImmediately: true },
    metadata: { "manyhands/wait": 2_000 },
  });
  expect(agent.asked.slice(1).map(({ params }) => params.id)).toEqual(methods.slice(1).map(() => "t"));
});

test("an agent of another make that streams is read along from the beginning", async () => {
  await using agent = agentOf(
    { SendStreamingMessage: () => [{ task: taskIn("COMPLETED") }], GetTask: () => taskIn("COMPLETED") },
    { extensions: [] },
  );
  await (await agent.connect()).send({ text: "Hi" });
  expect(agent.methods()).toEqual(["SendStreamingMessage", "GetTask"]);
});

test("a reply of ours is the end of its message, and an answer is a message to its task", async () => {
  await using agent = agentOf({ SendMessage: () => ({ message: reply }) });
  const client = await agent.connect();
  expect((await client.send({ text: "Hi" })).artifacts[0]?.name).toBe("answer");
  await client.answer("t", "yes");
  expect(agent.methods()).toEqual(["SendMessage", "SendMessage"]);
  expect(agent.asked[1]?.params).toMatchObject({ message: { taskId: "t", parts: [{ text: "yes" }] } });
});

test("an agent that streams nothing is asked again and again, less and less often, until its task waits or ends", async () => {
  const states: State[] = [...Array<State>(7).fill("WORKING"), "INPUT_REQUIRED", "COMPLETED"];
  await using agent = agentOf(
    {
      SendMessage: () => ({ task: taskIn("WORKING") }),
      GetTask: (_, count) => taskIn(states[count - 1] ?? "CANCELED"),
    },
    { extensions: [], streaming: false },
  );
  const client = await agent.connect();
  const wait = globalThis.setTimeout;
  using timer = spyOn(globalThis, "setTimeout").mockImplementation(((then: () => void, ms: number) =>
    wait(then, ms < 10_000 ? 1 : ms)) as typeof setTimeout);
  const task = await client.send({ text: "Hi" });
  const pauses = timer.mock.calls.map(([, ms]) => ms ?? 0).filter((ms) => ms >= 500 && ms < 10_000);
  expect(pauses.map(Math.floor)).toEqual([500, 750, 1125, 1687, 2531, 3796, 5000, 5000]);
  expect(task.status?.state).toBe(TaskState.TASK_STATE_INPUT_REQUIRED);
  expect(agent.asked[0]?.params).toMatchObject({ configuration: { returnImmediately: true } });
});

/** What is to happen at once, however slow the machine is. */
function soon<Value>(happens: Promise<Value>): Promise<Value> {
  return Promise.race([happens, Bun.sleep(10_000).then(() => Promise.reject(new Error("It did not happen")))]);
}

/** Every call of a client, by name. */
const calls: Readonly<Record<string, (client: A2aClient, signal?: AbortSignal) => Promise<unknown>>> = {
  submit: (client, signal) => client.submit({ text: "Hi" }, signal && { signal }),
  send: (client, signal) => client.send({ text: "Hi" }, signal && { signal }),
  stream: (client, signal) => Array.fromAsync(client.stream({ text: "Hi" }, signal && { signal })),
  watch: (client, signal) => Array.fromAsync(client.watch("t", { after: 3, ...(signal && { signal }) })),
  get: (client, signal) => client.get("t", signal && { signal }),
  cancel: (client, signal) => client.cancel("t", signal && { signal }),
  answer: (client, signal) => client.answer("t", "yes", signal && { signal }),
  notify: (client, signal) =>
    client.notify("t", { id: "r", url: "http://r.example", token: "k" }, signal && { signal }),
  cancelMessage: (client, signal) => client.cancelMessage("m", signal && { signal }),
};

test.each<readonly [string, boolean, number]>([
  ["submit", true, 3],
  ["submit", false, 1],
  ["send", true, 3],
  ["send", false, 1],
  ["stream", true, 3],
  ["stream", false, 1],
  ["watch", true, 3],
  ["watch", false, 3],
  ["get", true, 3],
  ["get", false, 3],
  ["cancel", true, 3],
  ["cancel", false, 3],
  ["answer", false, 1],
  ["notify", true, 1],
  ["notify", false, 1],
  ["cancelMessage", true, 3],
  ["cancelMessage", false, 3],
])("%s of an agent that is away, ours: %p, is tried %i times", async (name, ours, times) => {
  const extensions = ours ? [agentExtension, cancelMessageExtension] : [];
  await using agent = agentOf({ any: () => new Response(null, { status: 503 }) }, { extensions });
  expect(await codeOf(calls[name]?.(await agent.connect()))).toBe("unavailable");
  expect(agent.asked).toHaveLength(times);
});

test.each(Object.keys(calls))(
  "a caller of %s that gives up has its own reason, and lets the agent go",
  async (name) => {
    for (const about of [{ extensions: [agentExtension, cancelMessageExtension] }, { extensions: [] }]) {
      const caller = new AbortController();
      const [came, gone] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const any: Answer = (_, _count, signal) => {
        signal.addEventListener("abort", () => gone.resolve());
        came.resolve();
        return new Promise<Response>(() => undefined);
      };
      await using agent = agentOf({ any }, about);
      const call = codeOf(calls[name]?.(await agent.connect(), caller.signal));
      await came.promise;
      caller.abort("enough");
      expect(await soon(call)).toBe("enough");
      await soon(gone.promise);
    }
  },
);

test("who gives up while a task is at work is not followed to its end, however the agent tells of it", async () => {
  const over = { SubscribeToTask: () => [{ statusUpdate: statusIn("COMPLETED") }] };
  for (const [about, answers, last] of [
    [{}, {}, "SubscribeToTask"],
    [{}, over, "GetTask"],
    [{ extensions: [] }, {}, "SubscribeToTask"],
    [{ extensions: [], streaming: false }, {}, "GetTask"],
  ] as const) {
    const caller = new AbortController();
    const [came, gone] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const hangs: Answer = (_, _count, signal) => {
      signal.addEventListener("abort", () => gone.resolve());
      came.resolve();
      return new Promise<Response>(() => undefined);
    };
    const task = taskIn("WORKING");
    await using agent = agentOf(
      { SendMessage: () => ({ task }), SendStreamingMessage: () => [{ task }], ...answers, [last]: hangs },
      about,
    );
    const call = codeOf((await agent.connect()).send({ text: "Hi" }, { signal: caller.signal }));
    await came.promise;
    caller.abort("enough");
    expect(await soon(call)).toBe("enough");
    await soon(gone.promise);
  }
});

test("who gives up between two attempts, or two looks at a task, waits for neither", async () => {
  const task = taskIn("WORKING");
  for (const [about, any] of [
    [{}, () => new Response(null, { status: 503 })],
    [{ extensions: [], streaming: false }, () => task],
  ] as const) {
    const caller = new AbortController();
    await using agent = agentOf({ SendMessage: () => ({ task }), any }, about);
    const client = await agent.connect({ retry: { retries: 2, firstPauseMs: 10_000 } });
    const pausing = Promise.withResolvers<void>();
    const wait = globalThis.setTimeout;
    using _ = spyOn(globalThis, "setTimeout").mockImplementation(((then: () => void, ms: number) => {
      if (ms !== 500 && (ms < 5_000 || ms > 10_000)) return wait(then, ms);
      pausing.resolve();
      return wait(then, 60_000);
    }) as typeof setTimeout);
    const call = codeOf(client.send({ text: "Hi" }, { signal: caller.signal }));
    await pausing.promise;
    caller.abort("enough");
    expect(await soon(call)).toBe("enough");
  }
});

test("a client that is told nothing tries five times, waits a minute for an answer and half of one in a stream", async () => {
  let tries = 0;
  await using agent = agentOf({
    SendStreamingMessage: () => [{ task: taskIn("COMPLETED") }],
    any: () => taskIn("COMPLETED"),
  });
  const inner = async (...given: Parameters<typeof fetch>) => {
    if (++tries < 5) throw new TypeError("reset");
    return fetch(...given);
  };
  const wait = globalThis.setTimeout;
  using timer = spyOn(globalThis, "setTimeout").mockImplementation(((then: () => void, ms: number) =>
    wait(then, ms < 10_000 ? 0 : ms)) as typeof setTimeout);
  const client = await createA2aClient(agent.url, { fetch: inner });
  expect(tries).toBe(5);
  const waits = () => timer.mock.calls.map(([, ms]) => ms ?? 0);
  const pauses = waits().filter((ms) => ms < 10_000);
  for (const [at, pause] of pauses.entries())
    expect([pause >= 125 * 2 ** at, pause <= 250 * 2 ** at]).toEqual([true, true]);
  expect(new Set(waits().filter((ms) => ms >= 10_000))).toEqual(new Set([60_000]));
  await Array.fromAsync(client.stream({ text: "Hi" }));
  expect(new Set(waits().filter((ms) => ms >= 10_000))).toEqual(new Set([60_000, 30_000]));
});

test("who submits a message does not wait for its task, or for no longer than it says", async () => {
  await using agent = agentOf({ SendMessage: () => ({ task: taskIn("WORKING") }) });
  const client = await agent.connect();
  await client.submit({ text: "Hi" });
  await client.submit({ text: "Hi" }, { waitMs: 7 });
  const configuration = { returnImmediately: true };
  expect(agent.asked.map(({ params }) => params)).toMatchObject([
    { configuration },
    { configuration, metadata: { "manyhands/wait": 7 } },
  ]);
  expect(agent.asked[0]?.params).not.toHaveProperty("metadata");
});

test("a message is canceled by its id at an agent that knows how, and by its task at any other", async () => {
  const cancelled = () => taskIn("CANCELED");
  for (const agentIs of [[agentExtension], []]) {
    await using agent = agentOf({ CancelTask: cancelled }, { extensions: [...agentIs, cancelMessageExtension] });
    await (await agent.connect()).cancelMessage("m");
    expect(agent.asked).toMatchObject([{ method: "CancelTask", params: { metadata: { "manyhands/messageId": "m" } } }]);
  }
  for (const [state, last] of [
    ["WORKING", ["ListTasks", "CancelTask"]],
    ["INPUT_REQUIRED", ["ListTasks", "CancelTask"]],
    ["COMPLETED", ["ListTasks"]],
  ] as const) {
    const found = {
      ...taskIn(state),
      history: [
        { ...reply, messageId: "first" },
        { ...reply, messageId: "m" },
      ],
    };
    const other = { ...taskIn("WORKING"), id: "u", history: [{ ...reply, messageId: "n" }] };
    await using agent = agentOf(
      {
        CancelTask: cancelled,
        ListTasks: () => ({ tasks: [other, found], nextPageToken: "", pageSize: 9, totalSize: 2 }),
      },
      { extensions: [] },
    );
    const task = await (await agent.connect()).cancelMessage("m", { contextId: "c" });
    expect(task?.id).toBe("t");
    expect(agent.methods()).toEqual([...last]);
    expect(agent.asked[0]?.params).toMatchObject({ contextId: "c", pageSize: 100 });
    expect(agent.asked[1]?.params.id ?? "t").toBe("t");
  }
});

test("a message is looked for page by page, and an agent that cannot list has none", async () => {
  const page = (token: string) => ({ tasks: [], nextPageToken: token, pageSize: 9, totalSize: 2 });
  await using agent = agentOf({ ListTasks: (_, count) => page(count === 3 ? "" : `p${count}`) }, { extensions: [] });
  expect(await (await agent.connect()).cancelMessage("m")).toBeUndefined();
  expect(agent.asked.map(({ params }) => params.pageToken ?? "")).toEqual(["", "p1", "p2"]);
  const unknown = { jsonrpc: "2.0", id: 1, error: { code: -32601, message: "No such method" } };
  await using other = agentOf({ ListTasks: () => Response.json(unknown) }, { extensions: [] });
  expect(await (await other.connect()).cancelMessage("m")).toBeUndefined();
});

test("a client acts for the principal that it was told last, and for none before", async () => {
  await using agent = agentOf({ any: () => taskIn("COMPLETED") });
  const client = await agent.connect();
  const acting = client.actingFor("ann");
  for (const one of [client, acting, acting.actingFor("bob"), acting]) await one.get("t");
  expect(agent.asked.map(({ headers }) => headers.get(principalHeader))).toEqual([null, "ann", "bob", "ann"]);
});

test("a task is watched from the place that was asked for, also from its beginning", async () => {
  await using agent = agentOf({
    SubscribeToTask: () => [{ task: taskIn("COMPLETED") }],
    GetTask: () => taskIn("COMPLETED"),
  });
  const client = await agent.connect();
  for (const after of [undefined, 0, 7]) await Array.fromAsync(client.watch("t", after === undefined ? {} : { after }));
  const streams = agent.asked.filter(({ method }) => method === "SubscribeToTask");
  expect(streams.map(({ headers }) => headers.get("Last-Event-ID"))).toEqual([null, "0", "7"]);
});

test("a receiver of notifications is registered as it is given, and a failure is told", async () => {
  await using agent = agentOf({ CreateTaskPushNotificationConfig: (params) => params });
  const receiver = { id: "r", url: "http://r.example/x", token: "k" };
  await (await agent.connect()).notify("t", receiver);
  expect(agent.asked).toMatchObject([{ params: { taskId: "t", ...receiver } }]);
  await using closed = agentOf({});
  expect(await codeOf((await closed.connect()).notify("t", receiver))).toBe("forbidden");
});
