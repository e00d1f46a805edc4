import { expect, jest, spyOn, test } from "bun:test";
import type { Frame } from "playwright";
import * as isolated from "../../machine/browser-process/isolated-world.ts";
import { numberedElement, secretInto } from "./looking.ts";

const frame = {} as Frame;
const order = { types: ["password"], sites: ["https://a.example"], codes: [104, 105] };

test("a secret is for one field of one document, and what fails or hangs counts as not typed, without its words", async () => {
  using call = spyOn(isolated, "callIsolated").mockImplementation((async () => ({ is: "filled" })) as never);
  expect(await secretInto({ frame, number: 7, origin: 0.5 }, order)).toEqual({ is: "filled" });
  const [[of, , asked] = []] = call.mock.calls;
  expect(of).toBe(frame);
  expect(asked).toEqual({ name: "secret", arg: { number: 7, document: 0.5, ...order }, timeoutMs: 5_000 });
  call.mockImplementation((() => Promise.reject(new Error("hunter2"))) as never);
  expect(await secretInto({ frame, number: 7, origin: 0.5 }, order)).toEqual({ is: "changed" });
  call.mockImplementation((() => new Promise(() => undefined)) as never);
  jest.useFakeTimers();
  try {
    const hanging = secretInto({ frame, number: 7, origin: 0.5 }, order);
    jest.advanceTimersByTime(6_000);
    expect(await hanging).toEqual({ is: "changed" });
  } finally {
    jest.useRealTimers();
  }
});

test("an element is found with what it is now, and is gone if either is", async () => {
  const self = { origin: 0.5, tag: "button", type: "submit" };
  const handle = { name: "handle" };
  let [described, found]: [object | undefined, object | null] = [self, handle];
  using _call = spyOn(isolated, "callIsolated").mockImplementation((async () => described) as never);
  using _element = spyOn(isolated, "isolatedElement").mockImplementation((async () => found) as never);
  expect(await numberedElement(frame, 7)).toEqual({ handle, self } as never);
  described = undefined;
  expect(await numberedElement(frame, 7)).toBeUndefined();
  [described, found] = [self, null];
  expect(await numberedElement(frame, 7)).toBeUndefined();
});
