import { expect, test } from "bun:test";
import { onInterrupt } from "./interrupts.ts";

test("the echo of a Ctrl-C is not a second one; a later one is, each time", () => {
  let now = 1_000;
  const heard: string[] = [];
  const interrupts = onInterrupt(
    () => heard.push("first"),
    () => heard.push("again"),
    () => now,
  );
  process.emit("SIGINT");
  now += 250;
  process.emit("SIGTERM");
  expect(heard).toEqual(["first"]);
  now += 100;
  process.emit("SIGINT");
  process.emit("SIGINT");
  expect(heard).toEqual(["first", "again", "again"]);
  interrupts.dispose();
  const others = process.listenerCount("SIGINT");
  expect(others).toBe(0);
});
