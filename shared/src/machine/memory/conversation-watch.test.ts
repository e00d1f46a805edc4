import { afterEach, expect, test } from "bun:test";
import { eventually } from "../../testing/sandbox/tiers.ts";
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
