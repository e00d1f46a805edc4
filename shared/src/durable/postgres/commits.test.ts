import { expect, test } from "bun:test";
import { AppError } from "../../core/errors.ts";
import { LeaseLost } from "../replay/run-store.ts";
import { commitsOf } from "./commits.ts";
import type { Database } from "./database.ts";

type Batch = { readonly batch: number; readonly ops: readonly { readonly do: string }[] };
type Answer = (batch: Batch) => object | Promise<object>;

/** The commits of one claim in a database that answers as it is told. */
function commitsForTest(answer: Answer = () => ({})) {
  const sent: (Batch & { readonly keep: boolean })[] = [];
  const committed: unknown[] = [];
  let canceled = 0;
  const database = {
    async call(name: string, text: string, { keep = false } = {}) {
      expect(name).toBe("commit_run");
      const batch = JSON.parse(text);
      sent.push({ ...batch, keep });
      const given = await answer(batch);
      return {
        last: 0,
        signaled: [],
        canceled: false,
        answers: batch.ops.map((op: Batch["ops"][0]) => op.do),
        ...given,
      };
    },
  } as unknown as Database;
  const write = commitsOf({
    ...{ database, claim: { n: "7", owner: "me", epoch: "3" } },
    onCommitted: (last, signaled) => void committed.push([last, signaled]),
    onCanceled: () => void canceled++,
  });
  return {
    ...{ sent, committed, write },
    put: (name: string, afterFault = false) => write<string>(() => ({ do: name }), { afterFault }),
    named: () => sent.map(({ ops }) => ops.map((op) => op.do).join(" ")),
    cancellations: () => canceled,
  };
}

const outcome = (promise: Promise<unknown>) => promise.catch((error: Error) => `${error.name}: ${error.message}`);

test("what a run asks for in one turn is one commit, what it asks for meanwhile the next, each with its answer", async () => {
  const gate = Promise.withResolvers<void>();
  const all = commitsForTest(({ batch }) =>
    batch === 1 ? gate.promise.then(() => ({ last: 4, signaled: ["w"] })) : {},
  );
  const first = ["a", "b"].map((name) => all.put(name));
  while (all.sent.length === 0) await Bun.sleep(1);
  const later = ["c", "d"].map((name) => all.put(name));
  await Bun.sleep(5);
  expect(all.named()).toEqual(["a b"]);
  gate.resolve();
  expect(await Promise.all([...first, ...later])).toEqual(["a", "b", "c", "d"]);
  expect(await all.put("e")).toBe("e");
  expect(all.named()).toEqual(["a b", "c d", "e"]);
  expect(all.sent.map(({ batch, keep }) => [batch, keep])).toEqual([1, 2, 3].map((batch) => [batch, true]));
  expect(all.sent[0]).toMatchObject({ run: "7", owner: "me", epoch: "3" });
  expect(all.committed).toEqual([
    [4, ["w"]],
    [0, []],
    [0, []],
  ]);
});

test("behind a write that can never be made, in its commit and after it, only what says so is written", async () => {
  const all = commitsForTest();
  const bad = () => ({ do: "bad", amount: 1n as never });
  const [before, failed, same] = [all.put("before"), all.write(bad), all.put("same")].map(outcome);
  expect(await before).toBe("before");
  expect([await failed, await same]).toEqual(Array.from({ length: 2 }, () => expect.stringContaining("TypeError")));
  expect(await outcome(all.put("after"))).toContain("TypeError");
  expect(await all.put("pause", true)).toBe("pause");
  expect(await outcome(all.put("later"))).toContain("TypeError");
  expect(all.named()).toEqual(["before", "pause"]);
});

test("a commit that the database refuses fails what was in it and all that comes behind it, but for what says so", async () => {
  const all = commitsForTest(({ batch }) => (batch === 1 ? Promise.reject(new Error("It is too large.")) : {}));
  const refused = ["a", "b"].map((name) => outcome(all.put(name)));
  expect(await Promise.all(refused)).toEqual(Array.from({ length: 2 }, () => "Error: It is too large."));
  expect(await outcome(all.put("c"))).toBe("Error: It is too large.");
  expect(await all.put("pause", true)).toBe("pause");
  expect(all.named()).toEqual(["a b", "pause"]);
  expect(all.committed).toHaveLength(1);
});

test("a claim that is lost, or an engine that closes, says so to each write and is no fault of the run", async () => {
  const lost = commitsForTest(() => ({ lost: true }));
  for (const name of ["a", "b"]) await expect(lost.put(name)).rejects.toBeInstanceOf(LeaseLost);
  expect([lost.named(), lost.committed]).toEqual([["a", "b"], []]);
  const closed = commitsForTest(() => Promise.reject(new AppError("unavailable", "It is closed.")));
  for (const name of ["a", "b"]) await expect(closed.put(name)).rejects.toMatchObject({ code: "unavailable" });
  expect(closed.named()).toEqual(["a", "b"]);
});

test("a commit that finds the run canceled says so, whatever it wrote", async () => {
  const all = commitsForTest(({ batch }) => ({ canceled: batch === 2 }));
  await all.put("a");
  expect(all.cancellations()).toBe(0);
  expect(await all.put("b")).toBe("b");
  expect(all.cancellations()).toBe(1);
});
