import { afterAll, expect, spyOn, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TaskNotFoundError } from "@a2a-js/sdk/errors";
import { AppError } from "../../core/errors.ts";
import type { RunRecord } from "../../core/runs/engine.ts";
import { createEmbeddedEngine } from "../../durable/sqlite/embedded-engine.ts";
import { FieldViolationsError } from "../wire-error.ts";
import type { PushInput } from "./push-run.ts";
import { createReceivers } from "./receivers.ts";

const home = await mkdtemp(join(tmpdir(), "manyhands-receivers-"));
const engine = createEmbeddedEngine({ path: join(home, "runs.db") });
afterAll(async () => {
  await engine.close();
  await rm(home, { recursive: true });
});

const receivers = createReceivers({ kind: "greeter", engine, webhooks: { admit: async () => undefined } });
const asked = (id: string) => ({
  tenant: "",
  taskId: "",
  id,
  url: `https://receiver.example/${id}`,
  token: "",
  authentication: undefined,
});
const newTask = async () => (await engine.start({ kind: "greeter", input: {}, principal: "ann", contextId: "c" })).run;
const idsOf = async (task: Awaited<ReturnType<typeof newTask>>) =>
  (await receivers.list(task)).map(({ id }) => id).sort();

test("a task has ten receivers at once, and one that was removed makes room and can come back", async () => {
  const task = await newTask();
  for (let n = 0; n < 10; n++) await receivers.add(task, asked(`r${n}`), "1.0");
  await expect(receivers.add(task, asked("r10"), "1.0")).rejects.toThrow(FieldViolationsError);
  await receivers.add(task, asked("r3"), "1.0");
  await receivers.remove(task, "r3");
  expect(await idsOf(task)).not.toContain("r3");
  await receivers.add(task, asked("r3"), "1.0");
  expect(await idsOf(task)).toHaveLength(10);
  const other = await newTask();
  await receivers.add(other, asked("only"), "1.0");
  await receivers.remove(other, "only");
  await receivers.add(other, asked("only"), "1.0");
  expect(await idsOf(other)).toEqual(["only"]);
});

test("a task has a hundred receivers in all its life, however often they are replaced", async () => {
  const task = await newTask();
  for (let n = 0; n < 100; n++) {
    await receivers.add(task, asked(`r${n}`), "1.0");
    await receivers.remove(task, `r${n}`);
  }
  await expect(receivers.add(task, asked("one more"), "1.0")).rejects.toThrow(FieldViolationsError);
  expect(await idsOf(task)).toEqual([]);
});

/** What the receivers' runs of a task were given, oldest first. */
const inputsOf = async (task: RunRecord) =>
  (await engine.list({ kind: "greeter/push", contextId: task.id, limit: 100 })).runs
    .map(({ input, status }) => ({ ...(input as PushInput), status }))
    .reverse();

test.each<readonly [string, Partial<RunRecord>, boolean]>([
  ["is at work", { status: "running" }, false],
  ["waits its turn", { status: "queued" }, false],
  ["has ended", { status: "completed" }, true],
  ["failed", { status: "failed" }, true],
  ["was canceled", { status: "canceled" }, true],
  ["waits for an answer", { status: "waiting", waiting: { signal: "m", reason: "input-required" } }, true],
])("who registers with a task that %s is told of it at once, or of what comes next", async (_, state, snapshot) => {
  const task = { ...(await newTask()), lastEvent: 7, ...state } as RunRecord;
  await receivers.add(task, asked("r"), "1.0");
  expect(await inputsOf(task)).toMatchObject([
    { taskId: task.id, after: 7, snapshot, config: { id: "r", wire: "1.0" } },
  ]);
});

test("a receiver replaces the one with its id, also among ten, and no other", async () => {
  const task = await newTask();
  for (let n = 0; n < 10; n++) await receivers.add(task, asked(`r${n}`), "1.0");
  const moved = { ...asked("r3"), url: "https://elsewhere.example/" };
  expect(await receivers.add(task, moved, "1.0")).toMatchObject({ id: "r3", url: moved.url, taskId: task.id });
  expect(await receivers.get(task, "r3")).toMatchObject({ url: moved.url });
  expect(await idsOf(task)).toHaveLength(10);
  await receivers.add(task, moved, "1.0");
  const runs = await inputsOf(task);
  expect(runs.filter(({ status }) => status === "canceled").map(({ config }) => config.url)).toEqual([asked("r3").url]);
  expect(runs).toHaveLength(11);
});

test("a receiver whose token alone is another replaces the one with its id", async () => {
  const task = await newTask();
  await receivers.add(task, asked("r"), "1.0");
  await receivers.add(task, { ...asked("r"), token: "new" }, "1.0");
  expect(await receivers.list(task)).toMatchObject([{ id: "r", token: "new" }]);
});

test("of two different receivers that come at once under one id, one is told that it is not registered", async () => {
  const task = await newTask();
  const other = { ...asked("r"), url: "https://elsewhere.example/" };
  const both = await Promise.allSettled([receivers.add(task, asked("r"), "1.0"), receivers.add(task, other, "1.0")]);
  const refused = both.flatMap((one) => (one.status === "rejected" ? [one.reason] : []));
  expect(refused).toMatchObject([{ code: "conflict" }]);
  const [added] = both.flatMap((one) => (one.status === "fulfilled" ? [one.value.url] : []));
  expect((await receivers.list(task)).map(({ url }) => url)).toEqual([added ?? ""]);
});

test("who removes a receiver waits until its run has ended, also if that ends by itself just then", async () => {
  const run = { id: "r1", status: "running", input: { config: asked("r") } } as unknown as RunRecord;
  const end = Promise.withResolvers<void>();
  const ended = {
    kind: "event",
    seq: 2,
    at: 0,
    runId: "r1",
    event: { type: "run-ended", status: "canceled" },
  } as const;
  const slow = (cancel: () => Promise<void>) =>
    createReceivers({
      kind: "greeter",
      webhooks: { admit: async () => undefined },
      engine: {
        ...engine,
        list: async () => ({ runs: [run], total: 1 }),
        cancel,
        follow: async function* () {
          await end.promise;
          yield ended;
          await new Promise(() => undefined);
        } as never,
      },
    });
  let isRemoved = false;
  using patience = spyOn(AbortSignal, "timeout");
  const removing = slow(async () => undefined)
    .remove(run, "r")
    .then(() => {
      isRemoved = true;
    });
  await Bun.sleep(0);
  expect(isRemoved).toBe(false);
  end.resolve();
  await removing;
  expect(patience.mock.calls).toContainEqual([5_000]);
  await slow(() => Promise.reject(new AppError("run_ended", "It has ended."))).remove(run, "r");
  const away = slow(() => Promise.reject(new AppError("storage_unavailable", "No store.")));
  await expect(away.remove(run, "r")).rejects.toMatchObject({ code: "storage_unavailable" });
});

test("a receiver is found by its id, without one if there is any, and neither for another task nor after its end", async () => {
  const [task, other] = [await newTask(), await newTask()];
  const missing = expect.any(TaskNotFoundError);
  await expect(receivers.get(task, "")).rejects.toEqual(missing);
  const secrets = { token: "t", authentication: { scheme: "Basic", credentials: "c" } };
  await receivers.add(task, { ...asked("a"), ...secrets }, "1.0");
  expect(await receivers.get(task, "")).toEqual({ ...asked("a"), ...secrets, taskId: task.id });
  await receivers.add(task, asked("b"), "0.3");
  expect((await receivers.get(task, "a")).id).toBe("a");
  await expect(receivers.get(task, "c")).rejects.toEqual(missing);
  await expect(receivers.get(other, "a")).rejects.toEqual(missing);
  await receivers.remove(task, "a");
  await receivers.remove(task, "a");
  await expect(receivers.get(task, "a")).rejects.toEqual(missing);
  expect(await idsOf(task)).toEqual(["b"]);
});

test("an address that may not be reached is a fault in the field url, with the reason; other errors stay what they are", async () => {
  const admitting = (error: Error) =>
    createReceivers({ kind: "greeter", engine, webhooks: { admit: () => Promise.reject(error) } }).admit(asked("r"));
  const refused = await admitting(new AppError("forbidden", "No such place.")).catch((error: unknown) => error);
  expect(refused).toMatchObject({ violations: [{ field: "url", description: "No such place." }] });
  const bug = new TypeError("a bug");
  await expect(admitting(bug)).rejects.toBe(bug);
});
