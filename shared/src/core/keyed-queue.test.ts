import { expect, test } from "bun:test";
import { createKeyedQueue } from "./keyed-queue.ts";

test("work with the same key runs in order, one at a time, even after a failure; other keys do not wait", async () => {
  const queue = createKeyedQueue();
  const log: string[] = [];
  const gate = Promise.withResolvers<void>();
  const first = queue("a", async () => {
    await gate.promise;
    log.push("a1");
    throw new Error("a1 failed");
  });
  const second = queue("a", async () => void log.push("a2"));
  const third = queue("a", async () => log.push("a3"));
  await queue("b", async () => void log.push("b"));
  gate.resolve();
  await expect(first).rejects.toThrow("a1 failed");
  await second;
  expect(await third).toBe(4);
  expect(log).toEqual(["b", "a1", "a2", "a3"]);
});
