import { expect, test } from "bun:test";
import type { PersonInput } from "../../core/live-page.ts";
import { workspaceForTest } from "../../testing/machine/workspace.ts";
import { createHolds } from "./holds.ts";

/** A thing in a person's hands that writes down what is done to it. */
async function held() {
  const opened = await workspaceForTest();
  const done: string[] = [];
  const thing = {};
  const holds = createHolds({
    name: "page",
    peek: () => thing,
    use: async (_, input) => void done.push(input.type === "text" ? input.text : input.type),
    handedBack: async () => undefined,
  });
  await holds.take(opened.workspace);
  const send = (text: string, burst?: { id: string; number: number }) => {
    const input: PersonInput = { type: "text", text };
    return holds.input(opened.workspace, [input], burst);
  };
  return { done, send, [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose]() };
}

test("requests of one burst are carried out in order, however they arrive, and others meanwhile", async () => {
  await using page = await held();
  const last = page.send("letters", { id: "a", number: 2 });
  const second = page.send("release", { id: "a", number: 1 });
  await page.send("other", { id: "b", number: 0 });
  await page.send("press", { id: "a", number: 0 });
  await Promise.all([last, second]);
  expect(page.done).toEqual(["other", "press", "release", "letters"]);
});

test("a request whose predecessor never comes is carried out after a moment", async () => {
  await using page = await held();
  const begun = performance.now();
  await page.send("late", { id: "a", number: 1 });
  expect(performance.now() - begun).toBeLessThan(10_000);
  await page.send("next", { id: "a", number: 2 });
  expect(page.done).toEqual(["late", "next"]);
});
