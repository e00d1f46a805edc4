import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { firstProcessFilter, landlockFilter, namespaceFilter } from "./syscall-filter.ts";
import { callNumber, firstUnknownCall, type Processor, type SystemCall, systemCalls } from "./syscall-numbers.ts";

const audit = { x64: 0xc000003e, arm64: 0xc00000b7, i386: 0x40000003, arm: 0x40000028 };
const processors: readonly Processor[] = ["x64", "arm64"];
const permitted = "allow";

/**
 * The kernel's answer: runs a seccomp program as `net/core/filter.c` does, with the few
 * instructions that ours use.
 */
function answerOf(program: Uint8Array, arch: number, number: number, args: readonly number[] = []): string {
  const data = new DataView(new ArrayBuffer(64));
  data.setUint32(0, number, true);
  data.setUint32(4, arch, true);
  for (const [index, word] of args.entries()) data.setBigUint64(16 + 8 * index, BigInt.asUintN(64, BigInt(word)), true);
  const view = new DataView(program.buffer);
  let held = 0;
  for (let at = 0; ; at++) {
    const [code, operand] = [view.getUint16(at * 8, true), view.getUint32(at * 8 + 4, true)];
    const jump = (holds: boolean) => view.getUint8(at * 8 + (holds ? 2 : 3));
    if (code === 0x20) held = data.getUint32(operand, true);
    else if (code === 0x54) held = (held & operand) >>> 0;
    else if (code === 0x15) at += jump(held === operand);
    else if (code === 0x35) at += jump(held >= operand);
    else if (code === 0x06) return said(operand);
    else throw new Error(`an instruction of no kind we use: ${code}`);
  }
}

function said(answer: number): string {
  if (answer === 0x7fff0000) return permitted;
  if (answer === 0x80000000) return "kill";
  if (answer === 0x7fc00000) return "asked";
  return `errno ${answer & 0xffff}`;
}

test.each(processors)("on %s the calls of ordinary programs pass, by that architecture's numbers", (processor) => {
  // read, write, openat, execve, exit_group, mmap, futex, wait4, fcntl, getdents64
  const ordinary = {
    x64: [0, 1, 257, 59, 231, 9, 202, 61, 72, 217],
    arm64: [63, 64, 56, 221, 94, 222, 98, 260, 25, 61],
  };
  for (const program of [namespaceFilter, firstProcessFilter, landlockFilter].map((filter) => filter(processor)))
    for (const number of ordinary[processor])
      expect([number, answerOf(program, audit[processor], number)]).toEqual([number, permitted]);
});

test.each(processors)("on %s a call is judged by that architecture's number and by its arguments", (processor) => {
  const ask = (filter: typeof namespaceFilter, call: SystemCall, ...args: number[]) =>
    answerOf(filter(processor), audit[processor], callNumber(call, processor) ?? -1, args);
  const thread = 0x3d0f00;
  expect(ask(namespaceFilter, "keyctl", 1)).toBe("errno 1");
  expect(ask(namespaceFilter, "clone3")).toBe("errno 38");
  expect(ask(namespaceFilter, "clone", thread)).toBe(permitted);
  expect(ask(namespaceFilter, "clone", thread + 0x10000000)).toBe("errno 1");
  expect(ask(namespaceFilter, "unshare", 0x400)).toBe(permitted);
  expect(ask(namespaceFilter, "unshare", 0x80)).toBe("errno 1");
  expect(ask(namespaceFilter, "ioctl", 0, 0x5401)).toBe(permitted);
  expect(ask(namespaceFilter, "ioctl", 0, 0x5412)).toBe("errno 1");
  for (const family of [1, 2, 10, 16]) expect(ask(namespaceFilter, "socket", family)).toBe(permitted);
  for (const family of [0, 17, 38, 40]) expect(ask(namespaceFilter, "socket", family)).toBe("errno 97");
  expect(ask(namespaceFilter, "shmget")).toBe(permitted);
  expect(ask(landlockFilter, "shmget")).toBe("errno 38");
  expect(ask(landlockFilter, "socket", 1)).toBe("errno 1");
  for (const type of [1, 5, 1 | 0o2004000]) expect(ask(landlockFilter, "socketpair", 1, type)).toBe(permitted);
  for (const type of [2, 2 | 0o2004000, 3]) expect(ask(landlockFilter, "socketpair", 1, type)).toBe("errno 1");
  const asking: typeof landlockFilter = (processor) => landlockFilter(processor, "asked");
  for (const call of ["fchmod", "fchmodat", "fchmodat2", "fchownat", "utimensat"] as const)
    expect([namespaceFilter, landlockFilter, asking].map((filter) => ask(filter, call))).toEqual([
      permitted,
      "errno 1",
      "asked",
    ]);
  // FS_IOC_SETFLAGS
  expect(ask(landlockFilter, "ioctl", 0, 0x40086602)).toBe("errno 25");
  expect(ask(landlockFilter, "prlimit64", 0)).toBe(permitted);
  expect(ask(landlockFilter, "prlimit64", 4242)).toBe("errno 1");
  const acts = ["prlimit64", "sched_setaffinity", "sched_setattr", "sched_setparam", "sched_setscheduler"] as const;
  for (const call of acts) {
    expect([call, ask(firstProcessFilter, call, 1)]).toEqual([call, "errno 1"]);
    for (const other of [0, 2]) expect([call, ask(firstProcessFilter, call, other)]).toEqual([call, permitted]);
  }
  for (const [call, ofProcess, ofGroup] of [["setpriority", 0, 1] as const, ["ioprio_set", 1, 2] as const]) {
    expect([0, 2].map((who) => ask(firstProcessFilter, call, ofProcess, who))).toEqual([permitted, permitted]);
    expect([ask(firstProcessFilter, call, ofProcess, 1), ask(firstProcessFilter, call, ofGroup, 0)]).toEqual([
      "errno 1",
      "errno 1",
    ]);
  }
  expect(ask(firstProcessFilter, "mq_open")).toBe("errno 38");
  expect(ask(firstProcessFilter, "keyctl", 1)).toBe("errno 1");
});

test.each(processors)(
  "on %s another architecture's numbers end the process, and unknown ones fail as missing",
  (processor) => {
    const other = processor === "x64" ? audit.i386 : audit.arm;
    for (const program of [namespaceFilter(processor), landlockFilter(processor)]) {
      expect(answerOf(program, other, 20)).toBe("kill");
      expect(answerOf(program, audit[processor], firstUnknownCall - 1)).not.toBe("kill");
      for (const number of [firstUnknownCall, 512, 0x40000000 + 41, 0xffffffff])
        expect(answerOf(program, audit[processor], number)).toBe("errno 38");
    }
  },
);

test("an unknown architecture has no filter, and so no sandbox", () => {
  expect(() => namespaceFilter("riscv64")).toThrow("no filter of system calls for riscv64");
});

const headers = { x64: "/usr/include/x86_64-linux-gnu/asm/unistd_64.h", arm64: "/usr/include/asm-generic/unistd.h" };

test.each(processors.filter((processor) => existsSync(headers[processor])))(
  "the numbers for %s are those of the kernel's own headers",
  (processor) => {
    const text = readFileSync(headers[processor], "utf8");
    const defined = new Map(
      [...text.matchAll(/^#define __NR(?:3264)?_(\w+)\s+(\d+)/gm)].map(([, name, number]) => [name, Number(number)]),
    );
    for (const call of systemCalls) {
      const number = callNumber(call, processor);
      // Headers may be older than the newest calls, and never contain what a processor lacks.
      if (number !== undefined && number > Math.max(...defined.values())) continue;
      expect([call, number]).toEqual([call, defined.get(call)]);
    }
  },
);
