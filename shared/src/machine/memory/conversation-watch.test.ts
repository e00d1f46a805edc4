import { afterEach, expect, spyOn, test } from "bun:test";
import { eventually } from "../../testing/sandbox/tiers.ts";
import * as processes from "../kernel/process-table.ts";
import { createConversationWatch } from "./conversation-watch.ts";

const megabyte = 2 ** 20;
const linux = process.platform === "linux";

const started: { kill(signal: "SIGKILL"): void; readonly exited: Promise<number> }[] = [];
afterEach(async () => {
  for (const child of started) child.kill("SIGKILL");
  await Promise.all(started.splice(0).map(({ exited }) => exited));
});

/**
 * A process that holds this much memory until it is ended, and has printed so; with `copies`, other
 * processes share it, and end with it.
 */
async function holder(megabytes: number, copies = 0) {
  const text = `
import os, sys
end, held = os.pipe()
x = b"1" * (${megabytes} * 2 ** 20)
for _ in range(${copies}):
    if os.fork() == 0:
        os.close(held)
        os.read(end, 1)
        os._exit(0)
print("held", flush=True)
sys.stdin.read()`;
  const env = { PATH: "/usr/local/bin:/usr/bin:/bin" };
  const child = Bun.spawn(["python3", "-c", text], { stdin: "pipe", stdout: "pipe", stderr: "ignore", env });
  started.push(child);
  await child.stdout.getReader().read();
  return child;
}

test.if(linux)("a conversation's largest process is ended, and its command reports why, once", async () => {
  const watch = createConversationWatch(300 * megabyte);
  const [small, large, alone] = [await holder(120), await holder(220), await holder(250)];
  const [first, second, other] = [watch.add("a", small.pid), watch.add("a", large.pid), watch.add("b", alone.pid)];
  await eventually("one has ended", () => large.exitCode !== null || large.signalCode !== null);
  expect(await second.hit()).toBe("memory 300 MB of all commands of the conversation together");
  expect([await second.hit(), await first.hit(), await other.hit()]).toEqual([undefined, undefined, undefined]);
  expect([small.exitCode, alone.exitCode]).toEqual([null, null]);
  for (const bound of [first, second, other]) await bound.remove();
});

test.if(linux)("memory that processes share counts once", async () => {
  const watch = createConversationWatch(300 * megabyte);
  const many = await holder(150, 4);
  const bound = watch.add("a", many.pid);
  // Long enough for several checks: that something does not happen can only be seen over time.
  await Bun.sleep(1000);
  expect([await bound.hit(), many.exitCode]).toEqual([undefined, null]);
  await bound.remove();
});

test.if(linux)("what ends leaves the commands beside it watched", async () => {
  const watch = createConversationWatch(100 * megabyte);
  const [small, large] = [await holder(1), await holder(220)];
  const [first, second] = [watch.add("a", small.pid), watch.add("b", large.pid)];
  await first.remove();
  await eventually("the other has ended", () => large.exitCode !== null || large.signalCode !== null);
  expect(await second.hit()).toBe("memory 100 MB of all commands of the conversation together");
  await second.remove();
});

test("what a command's processes have started counts with it, and nothing is looked at while no command runs", async () => {
  let look = () => {};
  const timer = { unref: () => timer };
  using beginning = spyOn(globalThis, "setInterval").mockImplementation(((act: () => void) => {
    look = act;
    return timer;
  }) as never);
  using ending = spyOn(globalThis, "clearInterval").mockReturnValue(undefined);
  using killing = spyOn(processes, "sendSignal").mockReturnValue(undefined);
  // No machine has so many processes, so their shares of memory cannot be read.
  const [root, child, grandchild, other] = [1, 2, 3, 4].map((n) => 2 ** 30 + n) as [number, number, number, number];
  const entry = (pid: number, parent: number, megabytes: number) =>
    [pid, { pid, parent, state: "S", startedAt: 1, residentBytes: megabytes * megabyte }] as const;
  const table = new Map([
    entry(root, 1, 60),
    entry(child, root, 10),
    entry(grandchild, child, 240),
    entry(other, 1, 290),
  ]);
  using _ = spyOn(processes, "readProcessTable").mockReturnValue(table);
  const watch = createConversationWatch(300 * megabyte);
  const [first, second] = [watch.add("a", root), watch.add("b", other)];
  look();
  expect(killing.mock.calls).toEqual([[grandchild, "SIGKILL"]]);
  expect([await first.hit(), await first.hit(), await second.hit()]).toEqual([
    "memory 300 MB of all commands of the conversation together",
    undefined,
    undefined,
  ]);
  await first.remove();
  look();
  expect([killing.mock.calls.length, ending.mock.calls.length]).toEqual([1, 0]);
  await second.remove();
  expect([beginning.mock.calls.length, ending.mock.calls]).toEqual([1, [[timer as never]]]);
  await watch.add("a", root).remove();
  expect(beginning.mock.calls.length).toBe(2);
});
