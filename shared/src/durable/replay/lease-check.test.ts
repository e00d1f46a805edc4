import { expect, test } from "bun:test";
import { createLeaseCheck } from "./lease-check.ts";

/** A store whose answers come when they are given, to the questions in order. */
function answering() {
  const asked: ((answer: "held" | "lost") => void)[] = [];
  const leaseState = () =>
    new Promise<"held" | "lost">((resolve) => {
      asked.push(resolve);
    });
  return { asked, leaseState };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

test("an answer from before this process hung is not believed: others may have taken over since", async () => {
  const store = answering();
  let now = 0;
  const ours = createLeaseCheck(store, () => now)();
  await turn();
  now += 20_000;
  store.asked[0]?.("held");
  await turn();
  expect(store.asked).toHaveLength(2);
  store.asked[1]?.("lost");
  expect(await ours).toBe("lost");
});

test("a store that is slow each time is believed in the end", async () => {
  const store = answering();
  let now = 0;
  const ours = createLeaseCheck(store, () => now)();
  let isKnown = false;
  void ours.then(() => {
    isKnown = true;
  });
  await turn();
  for (let answers = 0; !isKnown; answers++) {
    expect(answers).toBeLessThan(10);
    now += 20_000;
    store.asked[answers]?.("held");
    await turn();
  }
  expect(await ours).toBe("held");
});

test("a run is held where the store cannot say, and each later question is asked anew", async () => {
  const answers = [
    () => Promise.reject(new Error("away")),
    async () => "canceled" as const,
    async () => "held" as const,
  ];
  let asked = 0;
  const ours = createLeaseCheck({ leaseState: () => (answers[asked++] ?? fail)() });
  expect([await ours(), await ours(), await ours()]).toEqual(["held", "canceled", "held"]);
  expect(asked).toBe(3);
});

function fail(): never {
  throw new Error("Nothing more was to be asked.");
}
