import { AppError } from "../../core/errors.ts";
import { attributeCalls } from "./attribute-calls.ts";
import { filterProgram, type RefusedCall } from "./filter-program.ts";
import { knownProcessor, type SystemCall } from "./syscall-numbers.ts";

const notPermitted = 1;
const notForThisFile = 25;
const noSuchCall = 38;
const notSupported = 95;
const familyNotSupported = 97;

const all = (errno: number, calls: readonly SystemCall[]): RefusedCall[] => calls.map((call) => ({ call, errno }));

/**
 * UNIX, INET, INET6 and NETLINK (which lists a sandbox's own interfaces); not VSOCK (the machine's
 * host) or ALG (the kernel's ciphers).
 */
const families = [1, 2, 10, 16];
const unixFamily = 1;
/** STREAM and SEQPACKET stay connected to the other end; a DGRAM socket can send to any address. */
const connectedTypes = [1, 5];
const typeBits = 0xf;

/**
 * Every CLONE_NEW* flag. TIME shares its bit with the exit signal of `clone`, so it exists only for
 * `unshare`.
 */
const newNamespaces = 0x7e020000;
const newTimeNamespace = 0x80;

/** TIOCSTI and TIOCLINUX type into the terminal from which the server was started. */
const typing = [0x5412, 0x541c];

/**
 * Calls that no tool needs, and that are used to break out of sandboxes or to change the machine.
 */
const everywhere: readonly RefusedCall[] = [
  ...all(notPermitted, ["add_key", "request_key", "keyctl"]),
  ...all(notPermitted, ["bpf", "perf_event_open", "userfaultfd", "fanotify_init", "fanotify_mark", "lookup_dcookie"]),
  // Programs that would use it fall back to other calls where the kernel lacks it.
  ...all(noSuchCall, ["io_uring_setup", "io_uring_enter", "io_uring_register"]),
  ...all(notPermitted, ["ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "process_mrelease"]),
  ...all(notPermitted, ["pidfd_getfd", "kcmp", "migrate_pages", "move_pages"]),
  ...all(notPermitted, ["mount", "umount2", "pivot_root", "chroot", "open_by_handle_at", "quotactl", "quotactl_fd"]),
  ...all(notPermitted, ["open_tree", "open_tree_attr", "move_mount", "mount_setattr"]),
  ...all(notPermitted, ["fsopen", "fsconfig", "fsmount", "fspick", "setns"]),
  ...all(notPermitted, ["init_module", "finit_module", "delete_module", "kexec_load", "kexec_file_load", "reboot"]),
  ...all(notPermitted, ["settimeofday", "clock_settime", "clock_adjtime", "adjtimex", "acct", "swapon", "swapoff"]),
  ...all(notPermitted, ["syslog", "iopl", "ioperm", "sethostname", "setdomainname", "vhangup"]),
  // Its flags are in memory, where no filter sees them; without it the C library calls `clone`.
  ...all(noSuchCall, ["clone3"]),
  unless("clone", 0, [0], newNamespaces),
  unless("unshare", 0, [0], newNamespaces | newTimeNamespace),
  { call: "ioctl", errno: notPermitted, when: { argument: 1, values: typing, refuse: "these" } },
];

const ownNetwork: readonly RefusedCall[] = [
  { call: "socket", errno: familyNotSupported, when: { argument: 0, values: families, refuse: "others" } },
  { call: "socketpair", errno: familyNotSupported, when: { argument: 0, values: [unixFamily], refuse: "others" } },
];

/**
 * FS_IOC_SETFLAGS and its 32-bit form, FSSETXATTR, SETVERSION and ENABLE_VERITY: a file's owner
 * needs no writable descriptor for them.
 */
const fileFlags = [0x40086602, 0x40046602, 0x401c5820, 0x40087602, 0x40806685];

const messageQueues = all(noSuchCall, [
  "mq_open",
  "mq_unlink",
  "mq_timedsend",
  "mq_timedreceive",
  "mq_notify",
  "mq_getsetattr",
]);

/** These take the process they act on as their first argument, or 0 for the caller. */
const actsOnOne = ["prlimit64", "sched_setaffinity", "sched_setattr", "sched_setparam", "sched_setscheduler"] as const;

/**
 * What namespaces prevent on other tiers: sockets, objects that processes share by number, and
 * acting on other processes by their numbers.
 */
const withoutNamespaces: readonly RefusedCall[] = [
  ...all(notPermitted, ["socket", "connect", "bind", "listen"]),
  unless("socketpair", 0, [unixFamily]),
  unless("socketpair", 1, connectedTypes, typeBits),
  ...all(noSuchCall, ["shmget", "shmat", "shmctl", "shmdt", "semget", "semop", "semctl", "semtimedop"]),
  ...all(noSuchCall, ["msgget", "msgsnd", "msgrcv", "msgctl"]),
  ...messageQueues,
  // Landlock covers neither attributes, including access lists, which a file system need not
  // support …
  ...all(notSupported, ["setxattr", "lsetxattr", "fsetxattr", "setxattrat"]),
  ...all(notSupported, ["removexattr", "lremovexattr", "fremovexattr", "removexattrat"]),
  // … nor acts on other processes: one could stop another process of the same user through its
  // limits or its scheduling.
  ...all(notPermitted, ["file_setattr"]),
  { call: "ioctl", errno: notForThisFile, when: { argument: 1, values: fileFlags, refuse: "these" } },
  ...actsOnOne.map((call) => unless(call, 0, [0])),
  // 0 is the caller, its group or, in the widest form of both calls, all processes of its user.
  ...(["setpriority", "ioprio_set"] as const).map((call) => unless(call, 1, [0])),
  unless("setpriority", 0, [0, 1]),
  unless("ioprio_set", 0, [1, 2]),
];

const firstProcess = 1;

/**
 * What would reach the first process of a namespace, or outlast the processes it starts: limits and
 * priorities of that process, alone or with its group or user, and message queues.
 */
const ofFirstProcess: readonly RefusedCall[] = [
  ...messageQueues,
  ...actsOnOne.map((call) => naming(call, 0, firstProcess)),
  ...(["setpriority", "ioprio_set"] as const).map((call) => naming(call, 1, firstProcess)),
  // Of one process only: the first has the group and the user of those it starts.
  unless("setpriority", 0, [0]),
  unless("ioprio_set", 0, [1]),
];

/**
 * The seccomp program of tiers with their own namespaces. All filters throw `sandbox_unavailable`
 * on processors whose call numbers we do not have.
 */
export function namespaceFilter(processor: string = process.arch): Uint8Array<ArrayBuffer> {
  return programFor(processor, [...everywhere, ...ownNetwork]);
}

/**
 * The same for a command that is the first process of its namespace and outlives what it starts.
 */
export function firstProcessFilter(processor: string = process.arch): Uint8Array<ArrayBuffer> {
  return programFor(processor, [...everywhere, ...ownNetwork, ...ofFirstProcess]);
}

/**
 * The seccomp program where there are no namespaces: no socket of any family, and no acts on
 * processes by their number. Changes of a file's mode, owner and times, which Landlock does not
 * cover, are refused, or `asked` of the listener.
 */
export function landlockFilter(
  processor: string = process.arch,
  changes: "asked" | "refused" = "refused",
): Uint8Array<ArrayBuffer> {
  const answer = changes === "asked" ? changes : notPermitted;
  const ofFiles = attributeCalls.map((call): RefusedCall => ({ call, errno: answer }));
  return programFor(processor, [...everywhere, ...withoutNamespaces, ...ofFiles]);
}

function programFor(processor: string, refusals: readonly RefusedCall[]): Uint8Array<ArrayBuffer> {
  const known = knownProcessor(processor);
  if (known === undefined)
    throw new AppError("sandbox_unavailable", `there is no filter of system calls for ${processor}`);
  return filterProgram(known, refusals);
}

function unless(call: SystemCall, argument: number, values: readonly number[], mask?: number): RefusedCall {
  return {
    call,
    errno: notPermitted,
    when: { argument, values, refuse: "others", ...(mask !== undefined && { mask }) },
  };
}

function naming(call: SystemCall, argument: number, process: number): RefusedCall {
  return { call, errno: notPermitted, when: { argument, values: [process], refuse: "these" } };
}
