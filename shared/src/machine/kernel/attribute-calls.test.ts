import { expect, test } from "bun:test";
import { type AttributeCall, attributeCallReader, attributeCalls, workingFolder } from "./attribute-calls.ts";
import { callNumber, type SystemCall } from "./syscall-numbers.ts";

const noFollow = 0x100n;
const emptyPath = 0x1000n;
const here = BigInt.asUintN(32, BigInt(workingFolder));

/** What a call with these words asks for, in the names of the processor. */
function readCall(call: SystemCall, ...words: bigint[]): AttributeCall | undefined {
  const [a = 0n, b = 0n, c = 0n, d = 0n, e = 0n, f = 0n] = words;
  return attributeCallReader("x64")(callNumber(call, "x64") ?? -1, [a, b, c, d, e, f]);
}
const path = 0x7f00_0000_1000n;
const at = 0x7f00_0000_2000n;
const named = { folder: workingFolder, path, follow: true, mayBeEmpty: false };
const below = { ...named, folder: 9 };
const held = { folder: 9, follow: true, mayBeEmpty: false };
const mode = { of: "mode", mode: 0o4755 } as const;
const owner = { of: "owner", uid: 1, gid: -1 } as const;
const times = (form: "seconds" | "microseconds" | "nanoseconds") => ({ of: "times", at, form }) as const;
const ids = [1n, 0xffff_ffffn] as const;

test.each<[SystemCall, bigint[], Omit<AttributeCall, "flagsKnown">]>([
  ["chmod", [path, 0o104755n], { file: named, change: mode }],
  ["fchmod", [9n, 0o4755n], { file: held, change: mode }],
  ["fchmodat", [9n, path, 0o4755n, noFollow], { file: below, change: mode }],
  ["fchmodat2", [9n, path, 0o4755n, noFollow], { file: { ...below, follow: false }, change: mode }],
  ["fchmodat2", [9n, path, 0o4755n, emptyPath], { file: { ...below, mayBeEmpty: true }, change: mode }],
  ["chown", [path, ...ids], { file: named, change: owner }],
  ["lchown", [path, ...ids], { file: { ...named, follow: false }, change: owner }],
  ["fchown", [9n, ...ids], { file: held, change: owner }],
  ["fchownat", [here, path, ...ids, noFollow], { file: { ...named, follow: false }, change: owner }],
  ["fchownat", [9n, path, ...ids, emptyPath], { file: { ...below, mayBeEmpty: true }, change: owner }],
  ["utime", [path, at], { file: named, change: times("seconds") }],
  ["utimes", [path, at], { file: named, change: times("microseconds") }],
  ["futimesat", [9n, path, at], { file: below, change: times("microseconds") }],
  ["futimesat", [9n, 0n, at], { file: held, change: times("microseconds") }],
  ["utimensat", [9n, path, at, noFollow], { file: { ...below, follow: false }, change: times("nanoseconds") }],
  ["utimensat", [9n, 0n, at, 0n], { file: held, change: times("nanoseconds") }],
])("%s of %p is read as the file and the change that it asks for", (call, words, expected) => {
  expect(readCall(call, ...words)).toEqual({ ...expected, flagsKnown: true });
});

test.each<[SystemCall, number]>([
  ["fchmodat2", 3],
  ["fchownat", 4],
  ["utimensat", 3],
])("a flag of %s that is not known is told", (call, place) => {
  const words = Array.from({ length: 6 }, () => 0n);
  words[place] = noFollow | 0x2n;
  expect(readCall(call, ...words)?.flagsKnown).toBe(false);
  words[place] = noFollow | emptyPath;
  expect(readCall(call, ...words)?.flagsKnown).toBe(true);
});

test("any other call is not one of these", () => {
  const others: readonly SystemCall[] = ["keyctl"];
  for (const call of others) expect(readCall(call, 9n, path)).toBeUndefined();
  expect(attributeCalls).toHaveLength(12);
});
