import { expect, test } from "bun:test";
import { startCallback } from "./callback.ts";

const { signal } = new AbortController();

test("of those who come back with a state the first is believed; the state is worth nothing after that, nor is any other", async () => {
  using callback = startCallback();
  const come = async (query: string) => (await fetch(`${callback.url}?${query}`)).status;
  expect(await come("state=mine&code=early")).toBe(404);
  const answer = callback.answer("mine", signal);
  expect(await come("state=another&code=wrong")).toBe(404);
  expect(await come("state=mine&code=first&iss=https%3A%2F%2Fsigns.example")).toBe(200);
  expect(await come("state=mine&code=second")).toBe(404);
  expect(await answer).toEqual({ code: "first", iss: "https://signs.example" });
});

test("who comes back without a code has refused, in one line of plain words", async () => {
  using callback = startCallback();
  const answer = callback.answer("mine", signal);
  answer.catch(() => undefined);
  await fetch(`${callback.url}?state=mine&error=access%1B%5B2Jdenied`);
  expect(answer).rejects.toMatchObject({ code: "unauthorized", message: expect.not.stringContaining("\u001b") });
});
