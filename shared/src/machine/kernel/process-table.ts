import { existsSync, readdirSync, readFileSync } from "node:fs";
import { errnoOf } from "../../core/errors.ts";

/** A process of this machine as /proc reports it at one moment. */
export type ProcessEntry = {
  readonly pid: number;
  readonly parent: number;
  readonly state: string;
  /** In clock ticks since the machine was started. */
  readonly startedAt: number;
  /** The memory it uses, including everything it shares with others. */
  readonly residentBytes: number;
};

/**
 * `num_threads`, `starttime` and `rss` are the 20th, 22nd and 24th fields; indexes here start at
 * the third.
 */
const threadsField = 17;
const startTimeField = 19;
const residentPagesField = 21;
const pageSizeEntry = 6n;
const usualPageBytes = 4096;
const pageBytes = readPageBytes();
/** Some kernels are built without these lists. */
const listsChildren = existsSync(`/proc/${process.pid}/task/${process.pid}/children`);

/**
 * Every visible process, by pid. Read synchronously, for a tree that forks while it is being
 * killed.
 */
export function readProcessTable(): Map<number, ProcessEntry> {
  const table = new Map<number, ProcessEntry>();
  for (const pid of processIds()) {
    const entry = entryOf(pid);
    if (entry !== undefined) table.set(pid, entry);
  }
  return table;
}

/** The pids of every visible process. */
export function processIds(): number[] {
  return readdirSync("/proc").map(Number).filter(Number.isInteger);
}

/**
 * The processes below `root`, by pid, as the kernel lists the children of each. That takes a
 * moment, where a table of all processes can take longer than a short command lives.
 */
export function readProcessesBelow(root: number): Map<number, ProcessEntry> {
  if (!listsChildren) return readProcessTable();
  const table = new Map<number, ProcessEntry>();
  for (const queue = [root]; queue.length > 0; ) {
    for (const pid of childrenOf(queue.shift() ?? root)) {
      const entry = entryOf(pid);
      if (entry === undefined) continue;
      table.set(pid, entry);
      queue.push(pid);
    }
  }
  return table;
}

/** Each thread has the children that it started. */
function childrenOf(pid: number): number[] {
  const threads = namesIn(`/proc/${pid}/task`);
  const lists = threads.map((thread) => readOrNothing(`/proc/${pid}/task/${thread}/children`));
  return lists.join(" ").split(" ").filter(Boolean).map(Number);
}

/** A process whose first thread has ended lives on in its others, which hold what it holds. */
function entryOf(pid: number): ProcessEntry | undefined {
  const first = statIn(`/proc/${pid}`, pid);
  if (first?.state !== "Z" || first.threads < 2) return first;
  const threads = namesIn(`/proc/${pid}/task`).map((thread) => statIn(`/proc/${pid}/task/${thread}`, pid));
  const living = threads.find((thread) => thread !== undefined && thread.state !== "Z");
  return living && { ...living, startedAt: first.startedAt };
}

function statIn(folder: string, pid: number): (ProcessEntry & { readonly threads: number }) | undefined {
  const stat = readOrNothing(`${folder}/stat`);
  // The command's name, in parentheses, may contain spaces and parentheses itself.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const [state, parent] = fields;
  if (state === undefined || parent === undefined) return undefined;
  const number = (field: number) => Number(fields[field]);
  return {
    ...{ pid, parent: Number(parent), state, startedAt: number(startTimeField), threads: number(threadsField) },
    residentBytes: number(residentPagesField) * pageBytes,
  };
}

/**
 * When a process was started, in clock ticks; 0 when it does not run, or where the system does not
 * report it.
 */
export function startOf(pid: number): number {
  return entryOf(pid)?.startedAt ?? 0;
}

/** The parent of a process; 0 when it does not run, or where the system does not report it. */
export function parentOf(pid: number): number {
  return entryOf(pid)?.parent ?? 0;
}

/** The words of a process's command line, each ended by NUL; "" for one that has ended. */
export function commandLineOf(pid: number): string {
  return readOrNothing(`/proc/${pid}/cmdline`);
}

/** The user that a process runs as; NaN for one that has ended. */
export function userOf(pid: number): number {
  return Number(/^Uid:\s*(\d+)/m.exec(readOrNothing(`/proc/${pid}/status`))?.[1]);
}

/** Whether the process with that pid is the one that was started then, and still runs. */
export function isRunning(pid: number, startedAt: number): boolean {
  return process.platform === "linux" ? startOf(pid) === startedAt : isThere(pid);
}

/** Whether any process has that pid, whoever it belongs to. */
export function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return errnoOf(error) === "EPERM";
  }
}

/** The living descendants of `root`, parents before children, without `root`. */
export function descendants(table: ReadonlyMap<number, ProcessEntry>, root: number): number[] {
  const children = new Map<number, number[]>();
  for (const { pid, parent, state } of table.values()) {
    if (state === "Z") continue;
    const siblings = children.get(parent);
    if (siblings) siblings.push(pid);
    else children.set(parent, [pid]);
  }
  const found: number[] = [];
  const queue = [root];
  for (let at = 0; at < queue.length; at++) {
    const next = children.get(queue[at] ?? root) ?? [];
    found.push(...next);
    queue.push(...next);
  }
  return found;
}

/** A process's pid inside its own PID namespace. */
export function innerPid(pid: number): number {
  const line = /^NSpid:(.*)$/m.exec(readOrNothing(`/proc/${pid}/status`))?.[1] ?? "";
  return Number(line.trim().split(/\s+/).at(-1));
}

/**
 * How many tasks a user runs now, counting each thread, as the kernel counts them against a bound
 * of that user.
 */
export function tasksOf(uid: number): number {
  const status = (name: string) => (/^\d+$/.test(name) ? readOrNothing(`/proc/${name}/status`) : "");
  return readdirSync("/proc").reduce((sum, name) => {
    const [, owner, tasks] = /^Uid:\s*(\d+)[\s\S]*^Threads:\s*(\d+)/m.exec(status(name)) ?? [];
    return Number(owner) === uid ? sum + Number(tasks) : sum;
  }, 0);
}

/** Whether a process ignores SIGINT, as a shell makes its background jobs do. */
export function ignoresInterrupt(pid: number): boolean {
  return holdsInterrupt(pid, "SigIgn");
}

/** Whether SIGINT was sent to a process that has had no turn since in which to notice it. */
export function isInterruptPending(pid: number): boolean {
  return holdsInterrupt(pid, "ShdPnd") || holdsInterrupt(pid, "SigPnd");
}

function holdsInterrupt(pid: number, set: "SigIgn" | "ShdPnd" | "SigPnd"): boolean {
  const status = readOrNothing(`/proc/${pid}/status`);
  const mask = new RegExp(`^${set}:\\s*([0-9a-f]+)$`, "m").exec(status)?.[1] ?? "0";
  return (BigInt(`0x${mask}`) & 2n) !== 0n;
}

/** Sends a signal to a process that may already have ended. */
export function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // The process has already ended.
  }
}

/**
 * Reads the page size from the auxiliary vector, which the kernel passes to a process at its start:
 * pairs of an entry and its value.
 */
function readPageBytes(): number {
  if (process.platform !== "linux") return usualPageBytes;
  const bytes = Uint8Array.from(readFileSync("/proc/self/auxv"));
  const words = new BigUint64Array(bytes.buffer, 0, Math.floor(bytes.length / 8));
  const at = words.findIndex((word, index) => index % 2 === 0 && word === pageSizeEntry);
  return at < 0 ? usualPageBytes : Number(words[at + 1]);
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function readOrNothing(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
