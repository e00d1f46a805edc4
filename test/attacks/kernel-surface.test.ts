import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { callNumber, knownProcessor, type SystemCall } from "../../shared/src/machine/kernel/syscall-numbers.ts";
import { runCommand } from "../../shared/src/machine/sandbox/run-command.ts";
import { availableTiers, type OpenTier, openTier } from "../../shared/src/testing/sandbox/tiers.ts";

const tiers = await availableTiers();
const processor = knownProcessor(process.arch);
const script = await readFile(join(import.meta.dir, "system-calls.py"), "utf8");

const vsock = 40;
const alg = 38;
const packet = 17;
const unix = 1;
const stream = 1;
const datagram = 2;
const seqpacket = 5;
const namespaces = { NEWNS: 0x20000, NEWCGROUP: 0x2000000, NEWUTS: 0x4000000, NEWIPC: 0x8000000 };
const moreNamespaces = { NEWUSER: 0x10000000, NEWPID: 0x20000000, NEWNET: 0x40000000 };
const sigchld = 17;
const noFile = -1;

/** A call and its arguments; an omitted argument is 0. */
type Attempt = readonly [call: SystemCall, ...words: readonly number[]];

const everywhere: Readonly<Record<string, readonly Attempt[]>> = {
  EPERM: [
    ["add_key"],
    ["request_key"],
    // Joins a session keyring, describes one, and asks for its number.
    ["keyctl", 1],
    ["keyctl", 6, -3],
    ["keyctl", 0, -3, 1],
    ["bpf"],
    ["perf_event_open"],
    ["userfaultfd", 1],
    ["fanotify_init"],
    // TRACEME
    ["ptrace", 0],
    ["process_vm_readv", 1],
    ["process_vm_writev", 1],
    ["process_madvise", noFile],
    ["process_mrelease", noFile],
    ["pidfd_getfd", noFile],
    ["kcmp", 1, 1],
    ["move_pages"],
    ["migrate_pages"],
    ["mount"],
    ["umount2"],
    ["pivot_root"],
    ["chroot"],
    ["open_tree", noFile],
    ["open_tree_attr", noFile],
    ["move_mount", noFile],
    ["mount_setattr", noFile],
    ["fsopen"],
    ["fsconfig", noFile],
    ["fsmount", noFile],
    ["fspick", noFile],
    ["open_by_handle_at", noFile],
    ["setns", noFile],
    ["init_module"],
    ["finit_module", noFile],
    ["delete_module"],
    ["kexec_load"],
    ["kexec_file_load", noFile, noFile],
    ["reboot"],
    ["settimeofday"],
    ["clock_settime"],
    ["swapon"],
    ["syslog", 3],
    ["sethostname"],
    // TIOCSTI and TIOCLINUX, also with other bits set in the word, which the kernel ignores.
    ["ioctl", 0, 0x5412],
    ["ioctl", 0, 0x541c],
    ["ioctl", 0, 0x5412 + 2 ** 32],
    ...Object.values({ ...namespaces, ...moreNamespaces, NEWTIME: 0x80 }).map((flag): Attempt => ["unshare", flag]),
    ...Object.values({ ...namespaces, ...moreNamespaces }).map((flag): Attempt => ["clone", flag + sigchld]),
  ],
  ENOSYS: [["io_uring_setup", 1], ["io_uring_enter", noFile], ["io_uring_register", noFile], ["clone3"]],
};

const byTier: Readonly<Record<"namespaces" | "landlock", Readonly<Record<string, readonly Attempt[]>>>> = {
  namespaces: {
    EAFNOSUPPORT: [
      ["socket", vsock, stream],
      ["socket", alg, seqpacket],
      ["socket", packet, datagram],
      ["socketpair", vsock, stream],
    ],
  },
  landlock: {
    EPERM: [
      ...[unix, 2, 10, 16, vsock].map((family): Attempt => ["socket", family, stream]),
      ["socketpair", unix, datagram],
      ["socketpair", unix, datagram + 0o2000000],
      ["socketpair", vsock, stream],
      ["connect", noFile],
      ["bind", noFile],
      ["listen", noFile],
      ["file_setattr", noFile],
      // The limits and the priority of another process; pid 1 represents all others.
      ["prlimit64", 1],
      ["setpriority", 0, 1],
      ["setpriority", 2, 0],
      ["ioprio_set", 1, 1],
      ["sched_setaffinity", 1],
      ["sched_setscheduler", 1],
    ],
    ENOTSUP: [["setxattr"], ["lsetxattr"], ["fsetxattr", noFile], ["setxattrat", noFile], ["removexattr"]],
    ENOSYS: [["shmget"], ["shmat"], ["shmctl"], ["semget"], ["semop"], ["msgget"], ["msgsnd"], ["mq_open"]],
  },
};

const open = new Map<string, OpenTier>();
beforeAll(async () => {
  for (const tier of tiers) open.set(tier, await openTier(tier));
});
afterAll(() => Promise.all([...open.values()].map((one) => one.close())));

/** Runs the attempts inside; returns the names of those with an unexpected outcome. */
async function attack(tier: string, expected: Readonly<Record<string, readonly Attempt[]>>) {
  if (processor === undefined) throw new Error(`no numbers for ${process.arch}`);
  const entries = Object.entries(expected).flatMap(([outcome, attempts]) =>
    attempts.map((attempt) => ({ name: attempt.join(" "), attempt, outcome })),
  );
  const numbered = entries.map(({ name, attempt: [call, ...words] }) => {
    const number = callNumber(call, processor);
    if (number === undefined) throw new Error(`${call} is not a call of ${processor}`);
    return [name, [number, ...words, ...Array(6 - words.length).fill(0)]];
  });
  const seen = await runPython(tier, script, JSON.stringify(Object.fromEntries(numbered)));
  const outcomes: Record<string, string> = JSON.parse(seen.stdout);
  if (process.arch === "x64") expect(outcomes.i386).toBe("SIGSYS");
  return entries
    .filter(({ name, outcome }) => outcomes[name] !== outcome)
    .map(({ name }) => `${name}: ${outcomes[name]}`);
}

async function runPython(tier: string, text: string, ...args: string[]) {
  const it = open.get(tier);
  if (it === undefined) throw new Error(`${tier} is not open`);
  const argv = ["python3", "-c", text, ...args];
  const outcome = await runCommand(
    it.sandbox,
    { argv, workspace: it.workspace },
    { signal: AbortSignal.timeout(60_000) },
  );
  expect(outcome.stderr).toBe("");
  return outcome;
}

test("this machine has a tier to attack, and a processor with a filter", () => {
  expect([tiers.length > 0, processor !== undefined]).toEqual([true, true]);
});

describe.each(tiers)("tier %s", (tier) => {
  test("calls that no tool needs are refused, each with an error that programs understand", async () => {
    expect(await attack(tier, everywhere)).toEqual([]);
    expect(await attack(tier, tier === "landlock" ? byTier.landlock : byTier.namespaces)).toEqual([]);
  });

  test("x32's numbers, and those newer than our table, fail as unknown calls", async () => {
    const x32 = 0x40000000;
    const text = `${script.slice(0, script.indexOf("attempts ="))}
print(json.dumps([call(${x32} + 39), call(${x32} + 520), call(470), call(511), call(548), call(-1)]))`;
    expect(JSON.parse((await runPython(tier, text)).stdout)).toEqual(Array(6).fill("ENOSYS"));
  });
});
