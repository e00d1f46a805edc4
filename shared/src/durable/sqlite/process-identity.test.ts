import { expect, spyOn, test } from "bun:test";
import * as fs from "node:fs";
import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";
import { until } from "../../testing/durable/until.ts";
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

test("a process that has ended and that nobody asked for how is gone", async () => {
  // The parent of the process that ends becomes a program that never asks.
  const parent = Bun.spawn(["sh", "-c", "sleep 0.1 & echo $!; exec sleep 60"], { stdout: "pipe" });
  const { value } = await parent.stdout.getReader().read();
  const pid = Number(new TextDecoder().decode(value));
  const fields = () => {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  };
  await until(() => fields()[0] === "Z");
  expect(isGone({ ...own, pid, processStart: fields()[19] ?? "" }, own)).toBe(true);
  parent.kill();
  await parent.exited;
});

test("processes of another machine, boot or container are not judged", () => {
  expect(isGone({ host: "elsewhere", pid: 999_999_999, processStart: "1" }, own)).toBe(false);
});

test("a process says on which machine, since which start of it and in which container its number counts", () => {
  const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
  expect(own.host.split(" ")).toEqual([hostname(), boot, readlinkSync("/proc/self/ns/pid")]);
});

test("a process that belongs to somebody else is not gone", () => {
  using _ = spyOn(process, "kill").mockImplementation(() => {
    throw Object.assign(new Error("not yours"), { code: "EPERM" });
  });
  expect(isGone({ ...own, processStart: "another start" }, own)).toBe(false);
});

test("who has no descriptor left to look with takes no living process for gone", () => {
  using _ = spyOn(fs, "readFileSync").mockImplementation(() => {
    throw Object.assign(new Error("too many open files"), { code: "EMFILE" });
  });
  expect(isGone(own, own)).toBe(false);
});
