import { afterAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createEmbeddedEngine } from "../../durable/sqlite/embedded-engine.ts";
import { FieldViolationsError } from "../wire-error.ts";
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
