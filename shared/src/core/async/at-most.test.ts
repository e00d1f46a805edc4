import { expect, test } from "bun:test";
import { answerWithin } from "./at-most.ts";

test("an answer is passed on as it is, up to exactly the bytes allowed", async () => {
  const answer = (text: string) => new Response(text, { status: 201, headers: { "x-key": "k" } });
  const passed = answerWithin(4, answer("1234"));
  expect([passed.status, passed.headers.get("x-key"), await passed.text()]).toEqual([201, "k", "1234"]);
  await expect(answerWithin(4, answer("12345")).text()).rejects.toThrow("more than 4 bytes");
  expect(answerWithin(4, new Response(null, { status: 204 })).body).toBeNull();
});

test("one that never ends is read no further", async () => {
  let pulled = 0;
  const endless = new ReadableStream({
    pull(controller) {
      pulled++;
      controller.enqueue(new Uint8Array(1_000));
    },
  });
  await expect(answerWithin(10_000, new Response(endless)).bytes()).rejects.toThrow();
  expect(pulled).toBeLessThan(30);
});
