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
  await expect(answer).rejects.toMatchObject({ code: "unauthorized", message: expect.not.stringContaining("\u001b") });
});

test("it listens on this machine alone, only to its own path, and not after it was closed", async () => {
  let address = "";
  {
    using callback = startCallback();
    address = callback.url;
    expect(address).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/callback$/);
    const answer = callback.answer("mine", signal);
    expect((await fetch(`${address}/more?state=mine&code=x`)).status).toBe(404);
    // On every interface it would answer here too.
    await expect(fetch(address.replace("127.0.0.1", "127.0.0.2"))).rejects.toThrow();
    const page = await fetch(`${address}?state=mine&code=x`);
    expect([page.headers.get("cache-control"), page.headers.get("content-type")]).toEqual(["no-store", "text/plain"]);
    expect(await answer).toEqual({ code: "x", iss: undefined });
  }
  await expect(fetch(address)).rejects.toThrow();
});

test("who waits for an answer learns why nobody waits any more, or why it was refused", async () => {
  using callback = startCallback();
  const stop = new AbortController();
  const answer = callback.answer("mine", stop.signal);
  stop.abort(new Error("too late"));
  await expect(answer).rejects.toThrow("too late");
  using before = startCallback();
  const late = before.answer("mine", AbortSignal.abort(new Error("too late"))).catch(({ message }) => message);
  const came = fetch(`${before.url}?state=mine&code=x`).then(() => "it still waited");
  expect(await Promise.race([late, came])).toBe("too late");
  using other = startCallback();
  const refused = other.answer("mine", signal);
  refused.catch(() => undefined);
  await fetch(`${other.url}?state=mine`);
  await expect(refused).rejects.toThrow("(no code came back)");
});
