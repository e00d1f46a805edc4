import { expect, test } from "bun:test";
import { emptyState, MemoryRunStore } from "../../testing/durable/memory-run-store.ts";
import { Journal } from "./journal.ts";

/**
 * A journal with a finished step at each of these paths, and the races and `all`s at `closed` over.
 */
async function journalOf(paths: readonly string[], closed: readonly string[]): Promise<Journal> {
  const state = emptyState();
  for (const path of paths) state.journal.set(path, { path, kind: "step", name: "work", state: "done" });
  const journal = await Journal.load(new MemoryRunStore(state));
  for (const path of closed) journal.close(path);
  return journal;
}

test("what is left below a race that is over is not missed, however deep; what is left anywhere else is", async () => {
  const left = async (path: string, closed: readonly string[]) => {
    const journal = await journalOf([path], closed);
    try {
      journal.assertAllTaken();
      return "nothing missed";
    } catch (error) {
      return (error as Error).message.includes(`at ${path} and now ends without it`) ? "missed" : error;
    }
  };
  const cases = [
    ["0/1/0", "0", "nothing missed"],
    ["0/0/3/1/2", "0", "nothing missed"],
    ["0/0/3/1/2", "0/0/3", "nothing missed"],
    ["12/0/7", "12", "nothing missed"],
    ["0", "0", "missed"],
    ["1/0/0", "0", "missed"],
    ["12/0/0", "1", "missed"],
    ["2/0/0", "2/0/1", "missed"],
  ] as const;
  for (const [path, closed, expected] of cases)
    expect([path, closed, await left(path, [closed])]).toEqual([path, closed, expected]);
});

test("an operation is handed out once, and only to the same kind and name", async () => {
  const journal = await journalOf(["0"], []);
  expect(() => journal.take("0", "sleep", "work")).toThrow("now asks for sleep");
  expect(() => journal.take("0", "step", "rest")).toThrow('now asks for step "rest"');
  expect(journal.take("0", "step", "work")).toMatchObject({ path: "0" });
  expect(journal.take("0", "step", "work")).toBeUndefined();
  journal.assertAllTaken();
});
