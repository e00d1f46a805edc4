import { expect, test } from "bun:test";
import { createMarkedStream, createMarkScanner } from "./marked-stream.ts";

/** Feeds a text in pieces of `size` and returns what came out. */
function scan(text: string, size: number, token = "token") {
  const scanner = createMarkScanner();
  scanner.expect(token);
  const whole = Buffer.from(text);
  let output = "";
  let payload: string | undefined;
  let at = 0;
  for (; at < whole.length && payload === undefined; at += size) {
    const scanned = scanner.feed(whole.subarray(at, at + size));
    output += Buffer.from(scanned.output).toString();
    payload = scanned.payload;
  }
  return { output, payload };
}

test("the marker is found and cut out however the stream is split", () => {
  const text = "one\x1e two \x1etoken\x1e \x1etok\x1etoken:3:/a b\x1e";
  for (let size = 1; size <= text.length; size++) {
    expect(scan(text, size)).toEqual({ output: "one\x1e two \x1etoken\x1e \x1etok", payload: "3:/a b" });
  }
});

test("output is passed on at once as long as it cannot be the marker", () => {
  const scanner = createMarkScanner();
  scanner.expect("token");
  const feed = (text: string) => Buffer.from(scanner.feed(Buffer.from(text)).output).toString();
  expect(feed("no newline")).toBe("no newline");
  expect(feed("\x1etok")).toBe("");
  expect(feed("yo")).toBe("\x1etokyo");
});

test("text after the marker belongs to the next token", () => {
  const scanner = createMarkScanner();
  scanner.expect("one");
  expect(scanner.feed(Buffer.from("a\x1eone:\x1eb\x1etwo:9\x1e")).payload).toBe("");
  scanner.expect("two");
  const { output, payload } = scanner.feed(new Uint8Array(0));
  expect([Buffer.from(output).toString(), payload]).toEqual(["b", "9"]);
});

test("a marker in two pieces is found after much output in the same piece", () => {
  const text = `${"x".repeat(9000)}\x1etoken:0:/a\x1e`;
  expect(scan(text, text.length - 2)).toEqual({ output: "x".repeat(9000), payload: "0:/a" });
});

test("a marker that never ends is output after all", () => {
  const text = `\x1etoken:${"x".repeat(20_000)}`;
  const { output, payload } = scan(text, 1000);
  expect(payload).toBeUndefined();
  expect(output.length).toBeGreaterThan(10_000);
});

/** A stream of chunks; `taken()` is how many were asked for. */
function chunksOf(chunks: readonly string[], { ends }: { readonly ends: boolean }) {
  let taken = 0;
  const readable = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        const chunk = chunks[taken];
        if (chunk !== undefined) {
          taken++;
          controller.enqueue(Buffer.from(chunk));
        } else if (ends) controller.close();
      },
    },
    { highWaterMark: 0 },
  );
  return { readable, taken: () => taken };
}

test("what background jobs wrote since the last call comes first, once, and each call has its own mark", async () => {
  const { readable } = chunksOf(["idle ", "", "one\x1ea:0\x1emore ", "two\x1eb:1\x1e", "rest"], { ends: true });
  const stream = createMarkedStream(readable);
  await Bun.sleep(0);
  const heard: string[] = [];
  const until = (token: string) => stream.until(token, (bytes) => void heard.push(Buffer.from(bytes).toString()));
  expect(await until("a")).toBe("0");
  expect(heard.join("")).toBe("idle one");
  await Bun.sleep(0);
  expect(await until("b")).toBe("1");
  expect(heard.join("")).toBe("idle onemore two");
  expect(await until("c")).toBeUndefined();
  expect(heard.join("")).toBe("idle onemore tworest");
  expect(heard).not.toContain("");
  expect(await until("d")).toBeUndefined();
});

test("an output that ends or breaks in the middle of a call ends the call without a payload", async () => {
  const ended = createMarkedStream(chunksOf(["text\x1ea"], { ends: true }).readable);
  expect(await ended.until("a", () => {})).toBeUndefined();
  const broken = new ReadableStream<Uint8Array>({ pull: (controller) => controller.error(new Error("gone")) });
  expect(await createMarkedStream(broken).until("a", () => {})).toBeUndefined();
});

test("between calls no more than 256 kB is buffered; the next call reads on, and so does the one after", async () => {
  const chunk = "x".repeat(64 * 1024);
  const stored = Array.from({ length: 7 }, () => chunk);
  const { readable, taken } = chunksOf([...stored, "\x1ea:0\x1e", ...stored, "\x1eb:1\x1e"], { ends: true });
  const stream = createMarkedStream(readable);
  await Bun.sleep(10);
  expect(taken()).toBe(5);
  for (const [token, payload, after] of [
    ["a", "0", 13],
    ["b", "1", 16],
  ] as const) {
    const heard: number[] = [];
    expect(await stream.until(token, ({ length }) => void heard.push(length))).toBe(payload);
    expect(heard.reduce((sum, length) => sum + length, 0)).toBe(7 * chunk.length);
    await Bun.sleep(10);
    expect(taken()).toBe(after);
  }
});
