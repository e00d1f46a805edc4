import { expect, spyOn, test } from "bun:test";
import {
  descendants,
  ignoresInterrupt,
  innerPid,
  isInterruptPending,
  isRunning,
  isThere,
  type ProcessEntry,
  readProcessesBelow,
  readProcessTable,
  sendSignal,
  startOf,
  tasksOf,
} from "./process-table.ts";

const linux = process.platform === "linux";
const entry = (pid: number, parent: number, state = "S"): [number, ProcessEntry] => [
  pid,
  { pid, parent, state, startedAt: 1, residentBytes: 1 },
];

test("the living descendants of a process are all below it, parents first, without itself, its siblings and the dead", () => {
  const table = new Map([
    entry(7, 5),
    entry(1, 0),
    entry(2, 1),
    entry(3, 1),
    entry(4, 2, "Z"),
    entry(5, 2, "R"),
    entry(6, 3),
    entry(8, 2, "T"),
  ]);
  expect(descendants(table, 2)).toEqual([5, 8, 7]);
  expect(descendants(table, 1).toSorted()).toEqual([2, 3, 5, 6, 7, 8]);
  expect(descendants(table, 7)).toEqual([]);
});

/** A child that runs until it is ended. */
function childForTest(...argv: string[]) {
  const child = Bun.spawn(argv, { stdout: "pipe", stderr: "ignore" });
  return {
    child,
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await child.exited;
    },
  };
}

test.skipIf(!linux)("the processes below one are those that the whole table has below it", async () => {
  await using shell = childForTest("sh", "-c", "sleep 60 & sh -c 'sleep 60; :' & echo begun; wait");
  await shell.child.stdout.getReader().read();
  const { pid } = shell.child;
  const below = () => descendants(readProcessesBelow(pid), pid).toSorted();
  while (below().length < 3) await Bun.sleep(5);
  const all = readProcessTable();
  expect(below()).toEqual(descendants(all, pid).toSorted());
  expect([...readProcessesBelow(pid)].every(([one, { parent }]) => all.get(one)?.parent === parent)).toBe(true);
  for (const one of below()) sendSignal(one, "SIGKILL");
  expect(readProcessesBelow(2 ** 22 + 1).size).toBe(0);
});

test.skipIf(!linux)("a process is known by its pid and its start, while it runs", async () => {
  await using one = childForTest("sleep", "60");
  const { pid } = one.child;
  const start = startOf(pid);
  expect(readProcessTable().get(pid)).toMatchObject({ pid, parent: process.pid, startedAt: start });
  expect([start > 0, isRunning(pid, start), isRunning(pid, start + 1)]).toEqual([true, true, false]);
  expect(startOf(process.pid)).toBeLessThanOrEqual(start);
  sendSignal(pid, "SIGKILL");
  await one.child.exited;
  expect([startOf(pid), isRunning(pid, start)]).toEqual([0, false]);
  sendSignal(pid, "SIGKILL");
});

test.skipIf(!linux)(
  "a process that calls itself something odd is still known by its parent and its start",
  async () => {
    await using odd = childForTest(
      "bash",
      "-c",
      `printf 'x) Z 1 (' >/proc/$$/comm; echo named; while :; do sleep 60; done`,
    );
    await odd.child.stdout.getReader().read();
    const { pid } = odd.child;
    const entry = readProcessTable().get(pid);
    expect(entry).toMatchObject({ pid, parent: process.pid, startedAt: startOf(pid) });
    expect([entry?.state === "Z", startOf(pid) > 0]).toEqual([false, true]);
    for (const one of descendants(readProcessTable(), pid)) sendSignal(one, "SIGKILL");
  },
);

test.skipIf(!linux)("a process whose first thread has ended lives, and holds what its others hold", async () => {
  const text = `import ctypes, threading, time
library, first = ctypes.CDLL(None), ctypes.c_ulong(threading.get_ident())
def stay():
    library.pthread_join(first, None)
    held = bytearray(64 << 20)
    print("alone", flush=True)
    time.sleep(60)
threading.Thread(target=stay).start()
library.pthread_exit(None)`;
  await using one = childForTest("python3", "-c", text);
  await one.child.stdout.getReader().read();
  const { pid } = one.child;
  const table = readProcessTable();
  expect(table.get(pid)).toMatchObject({ pid, parent: process.pid, startedAt: startOf(pid) });
  expect(table.get(pid)?.residentBytes).toBeGreaterThan(64 << 20);
  expect(descendants(table, process.pid)).toContain(pid);
});

test.skipIf(!linux)("this process holds memory that its table tells, and has threads that its user's count has", () => {
  const own = readProcessTable().get(process.pid);
  const told = process.memoryUsage.rss();
  expect((own?.residentBytes ?? 0) / told).toBeGreaterThan(0.5);
  expect((own?.residentBytes ?? 0) / told).toBeLessThan(2);
  expect(tasksOf(process.getuid?.() ?? 0)).toBeGreaterThan(1);
  expect(tasksOf(4_000_000_000)).toBe(0);
  expect(innerPid(process.pid)).toBe(process.pid);
});

test.skipIf(!linux)("who ignores SIGINT is told from who does not", async () => {
  for (const [trap, ignores] of [
    ["''", true],
    ["-", false],
  ] as const) {
    await using one = childForTest("sh", "-c", `trap ${trap} INT; echo set; exec sleep 60`);
    await one.child.stdout.getReader().read();
    expect(ignoresInterrupt(one.child.pid)).toBe(ignores);
  }
  expect(ignoresInterrupt(4_000_000)).toBe(false);
});

test.skipIf(!linux)("an interrupt waits for a process that has no turn, and no longer once it has one", async () => {
  await using one = childForTest("sh", "-c", "trap 'echo heard' INT; echo set; while :; do sleep 0.05; done");
  const reader = one.child.stdout.getReader();
  await reader.read();
  process.kill(one.child.pid, "SIGSTOP");
  expect(isInterruptPending(one.child.pid)).toBe(false);
  process.kill(one.child.pid, "SIGINT");
  expect(isInterruptPending(one.child.pid)).toBe(true);
  process.kill(one.child.pid, "SIGCONT");
  await reader.read();
  expect(isInterruptPending(one.child.pid)).toBe(false);
  expect(isInterruptPending(4_000_000)).toBe(false);
});

test("a process that may not be signalled is there, whoever it belongs to, and one that has ended is not", () => {
  using killing = spyOn(process, "kill");
  for (const [code, there] of [
    ["EPERM", true],
    ["ESRCH", false],
  ] as const) {
    killing.mockImplementation(() => {
      throw Object.assign(new Error(code), { code });
    });
    expect(isThere(5)).toBe(there);
  }
  killing.mockReturnValue(true);
  expect([isThere(5), killing.mock.calls.at(-1)]).toEqual([true, [5, 0]]);
});
