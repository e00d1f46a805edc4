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

test("work that comes while others wait is the last of them, also after the first is done", async () => {
  const queue = createKeyedQueue();
  const done: string[] = [];
  const gates = new Map(["a", "b", "c"].map((name) => [name, Promise.withResolvers<void>()]));
  const work = (name: string) =>
    queue("key", async () => {
      done.push(`${name} begins`);
      await gates.get(name)?.promise;
      done.push(`${name} ends`);
    });
  const [a, b] = [work("a"), work("b")];
  gates.get("a")?.resolve();
  await a;
  const c = work("c");
  gates.get("c")?.resolve();
  // Time for "c" to begin, if it did not wait.
  for (let turn = 0; turn < 10; turn++) await Promise.resolve();
  gates.get("b")?.resolve();
  await Promise.all([b, c]);
  expect(done).toEqual(["a begins", "a ends", "b begins", "b ends", "c begins", "c ends"]);
});
