import { expect, test } from "bun:test";
import type { Frame } from "playwright";
import { callIsolated, isolatedElement } from "./isolated-world.ts";

const program = { id: "reader", source: "({ read: () => 1 })" };

/** A document that answers as a test says, and what it was asked, with its time limit. */
function frameThat(answer: (call: { readonly source?: string }) => string | Error) {
  const asked: unknown[] = [];
  const callIn = (selector: string) => JSON.parse(selector.replace(/^isolated\d*=/, ""));
  const frame = {
    async textContent(selector: string, { timeout }: { readonly timeout: number }) {
      const call = callIn(selector);
      asked.push({ ...call, timeout });
      const said = answer(call);
      if (said instanceof Error) throw said;
      return said;
    },
    async $(selector: string) {
      asked.push(callIn(selector));
      return null;
    },
  };
  return { asked, frame: frame as unknown as Frame };
}

test("a document gets a program with its first call, and no more after that", async () => {
  let hasIt = false;
  const { asked, frame } = frameThat(({ source }) => {
    hasIt ||= source !== undefined;
    return hasIt ? JSON.stringify({ value: [1, "two"] }) : "unknown program";
  });
  const call = { name: "read", arg: { a: 1 }, timeoutMs: 50 };
  const asks = { id: "reader", name: "read", arg: { a: 1 }, timeout: 50 };
  expect(await callIsolated<unknown>(frame, program, call)).toEqual([1, "two"]);
  expect(asked).toEqual([asks, { ...asks, source: program.source }]);
  await callIsolated(frame, program, call);
  expect(asked.slice(2)).toEqual([asks]);
  expect(await isolatedElement(frame, program, 7)).toBeNull();
  expect(asked.at(-1)).toEqual({ id: "reader", name: "element", arg: 7 });
});

test("what a program throws is an error, and an error of the browser does not quote the program", async () => {
  const call = { name: "read", timeoutMs: 50 };
  const failing = frameThat(() => JSON.stringify({ error: "TypeError: no" })).frame;
  await expect(callIsolated(failing, program, call)).rejects.toThrow("TypeError: no");
  const late = Object.assign(new Error(`Timeout 50ms exceeded.\n  waiting for ${program.source}`), {
    name: "TimeoutError",
  });
  const told = callIsolated(frameThat(() => late).frame, program, call);
  await expect(told).rejects.toMatchObject({ name: "TimeoutError", message: "Timeout 50ms exceeded." });
});
