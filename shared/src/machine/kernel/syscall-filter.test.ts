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

/**
 * Each call that is refused whatever its arguments, by its error; more so where there are no
 * namespaces.
 */
const refused: Readonly<Record<"everywhere" | "withoutNamespaces" | "firstProcess", Record<number, string>>> = {
  everywhere: {
    1: "add_key request_key keyctl bpf perf_event_open userfaultfd fanotify_init fanotify_mark lookup_dcookie ptrace process_vm_readv process_vm_writev process_madvise process_mrelease pidfd_getfd kcmp migrate_pages move_pages mount umount2 pivot_root chroot open_by_handle_at quotactl quotactl_fd open_tree open_tree_attr move_mount mount_setattr fsopen fsconfig fsmount fspick setns init_module finit_module delete_module kexec_load kexec_file_load reboot settimeofday clock_settime clock_adjtime adjtimex acct swapon swapoff syslog iopl ioperm sethostname setdomainname vhangup",
    38: "io_uring_setup io_uring_enter io_uring_register clone3",
  },
  withoutNamespaces: {
    1: "socket connect bind listen file_setattr",
    38: "shmget shmat shmctl shmdt semget semop semctl semtimedop msgget msgsnd msgrcv msgctl mq_open mq_unlink mq_timedsend mq_timedreceive mq_notify mq_getsetattr",
    95: "setxattr lsetxattr fsetxattr setxattrat removexattr lremovexattr fremovexattr removexattrat",
  },
  firstProcess: { 38: "mq_open mq_unlink mq_timedsend mq_timedreceive mq_notify mq_getsetattr" },
};

test.each(processors)("on %s every call that breaks out of sandboxes is refused, each with its error", (processor) => {
  const errors = (room: keyof typeof refused) =>
    Object.entries(refused[room]).flatMap(([errno, names]) =>
      names.split(" ").map((name) => [name as SystemCall, `errno ${errno}`] as const),
    );
  const check = (filter: typeof namespaceFilter, room: keyof typeof refused) => {
    const program = filter(processor);
    for (const [call, error] of errors(room)) {
      const number = callNumber(call, processor);
      if (number !== undefined) expect([call, answerOf(program, audit[processor], number)]).toEqual([call, error]);
    }
  };
  for (const filter of [namespaceFilter, firstProcessFilter, landlockFilter]) check(filter, "everywhere");
  check(landlockFilter, "withoutNamespaces");
  check(firstProcessFilter, "firstProcess");
  for (const flag of [0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000])
    for (const call of ["clone", "unshare"] as const)
      expect([
        call,
        answerOf(namespaceFilter(processor), audit[processor], callNumber(call, processor) ?? -1, [flag]),
      ]).toEqual([call, "errno 1"]);
  const asked = (call: SystemCall, ...args: number[]) =>
    answerOf(landlockFilter(processor), audit[processor], callNumber(call, processor) ?? -1, args);
  for (const request of [0x5412, 0x541c]) expect(asked("ioctl", 0, request)).toBe("errno 1");
  for (const request of [0x40086602, 0x40046602, 0x401c5820, 0x40087602, 0x40806685])
    expect(asked("ioctl", 0, request)).toBe("errno 25");
  expect([asked("socketpair", 2, 1), asked("socketpair", 1, 1)]).toEqual(["errno 1", permitted]);
  for (const call of ["sched_setaffinity", "sched_setattr", "sched_setparam", "sched_setscheduler"] as const)
    expect([call, asked(call, 0), asked(call, 4_242)]).toEqual([call, permitted, "errno 1"]);
  // The caller and its group, no other process and no user.
  expect([asked("setpriority", 0, 0), asked("setpriority", 1, 0)]).toEqual([permitted, permitted]);
  expect([asked("setpriority", 0, 7), asked("setpriority", 2, 0)]).toEqual(["errno 1", "errno 1"]);
  expect([asked("ioprio_set", 1, 0), asked("ioprio_set", 2, 0)]).toEqual([permitted, permitted]);
  expect([asked("ioprio_set", 1, 7), asked("ioprio_set", 3, 0)]).toEqual(["errno 1", "errno 1"]);
});
