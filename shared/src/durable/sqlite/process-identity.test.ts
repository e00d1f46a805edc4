import { expect, test } from "bun:test";
import { isGone, ownIdentity } from "./process-identity.ts";

const own = ownIdentity();

test("a living process is not gone, even if its start time is unknown", () => {
  expect(isGone(own, own)).toBe(false);
  expect(isGone({ ...own, processStart: "" }, own)).toBe(false);
});

test("a process that ended is gone, and so is one whose id now belongs to another", async () => {
  const child = Bun.spawn(["true"]);
  await child.exited;
  expect(isGone({ ...own, pid: child.pid }, own)).toBe(true);
  expect(isGone({ ...own, processStart: "another start" }, own)).toBe(true);
});

test("processes of another machine, boot or container are not judged", () => {
  expect(isGone({ host: "elsewhere", pid: 999_999_999, processStart: "1" }, own)).toBe(false);
});
