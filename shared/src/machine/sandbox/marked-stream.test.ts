import { expect, test } from "bun:test";
import { createMarkScanner } from "./marked-stream.ts";

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

test("a marker that never ends is output after all", () => {
  const text = `\x1etoken:${"x".repeat(20_000)}`;
  const { output, payload } = scan(text, 1000);
  expect(payload).toBeUndefined();
  expect(output.length).toBeGreaterThan(10_000);
});
