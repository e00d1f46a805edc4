import { expect, test } from "bun:test";
import { startCallback } from "./callback.ts";

const { signal } = new AbortController();

test("the first callback with a state is accepted; that state is invalid afterwards, and so is any other", async () => {
  using callback = startCallback();
  const come = async (query: string) => (await fetch(`${callback.url}?${query}`)).status;
  expect(await come("state=mine&code=early")).toBe(404);
  const answer = callback.answer("mine", signal);
  expect(await come("state=another&code=wrong")).toBe(404);
  expect(await come("state=mine&code=first&iss=https%3A%2F%2Fsigns.example")).toBe(200);
  expect(await come("state=mine&code=second")).toBe(404);
  expect(await answer).toEqual({ code: "first", iss: "https://signs.example" });
});

test("a callback without a code is a refusal, in one line of plain words", async () => {
  using callback = startCallback();
  const answer = callback.answer("mine", signal);
  answer.catch(() => undefined);
  await fetch(`${callback.url}?state=mine&error=access%1B%5B2Jdenied`);
  expect(answer).rejects.toMatchObject({ code: "unauthorized", message: expect.not.stringContaining("\u001b") });
});
