import { expect, test } from "bun:test";
import { untilRevoked } from "./until-revoked.ts";

const stream = { headers: { "Content-Type": "text/event-stream; charset=utf-8", "X-Kept": "yes" }, status: 201 };

/** An open body, and whether its source was told that nobody reads any more. */
function openBody(first = "data: 1\n\n") {
  const seen = { canceled: false };
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(new TextEncoder().encode(first)),
    cancel() {
      seen.canceled = true;
    },
  });
  return { body, seen };
}

test("a stream goes on while its link counts and ends when it does not, or nobody can tell, with its source", async () => {
  for (const verdict of [() => Promise.resolve(false), () => Promise.reject(new Error("The disk is gone."))]) {
    const { body, seen } = openBody();
    let looks = 0;
    const isValid = () => (++looks === 1 ? Promise.resolve(true) : verdict());
    const guarded = untilRevoked(new Response(body, stream), isValid, 5);
    expect([guarded.status, guarded.headers.get("X-Kept")]).toEqual([201, "yes"]);
    expect(await guarded.text()).toBe("data: 1\n\n");
    expect([looks, seen.canceled]).toEqual([2, true]);
  }
});

test("nobody looks after a stream that has ended, or that its reader has left", async () => {
  let looks = 0;
  const isValid = async () => ++looks > 0;
  const ended = untilRevoked(new Response("data: 1\n\n", stream), isValid, 5);
  expect(await ended.text()).toBe("data: 1\n\n");
  const { body, seen } = openBody();
  const left = untilRevoked(new Response(body, stream), isValid, 5).body?.getReader();
  await left?.read();
  await left?.cancel();
  const before = looks;
  await Bun.sleep(25);
  expect([looks, seen.canceled]).toEqual([before, true]);
});

test("nobody looks after a stream whose source failed: its reader is told why", async () => {
  let looks = 0;
  const isValid = async () => ++looks > 0;
  const body = new ReadableStream<Uint8Array>({
    pull: () => Promise.reject(new Error("The source failed.")),
  });
  await expect(untilRevoked(new Response(body, stream), isValid, 5).text()).rejects.toThrow("The source failed.");
  const before = looks;
  await Bun.sleep(25);
  expect(looks).toBe(before);
});

test("an answer that is no stream is passed on as it is", () => {
  for (const answer of [new Response(null, stream), Response.json({}), new Response("text")])
    expect(untilRevoked(answer, () => Promise.reject(new Error("no look")))).toBe(answer);
});
