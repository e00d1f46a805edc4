import { expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

test("a stalled reader does not keep a process alive once its engine is closed", async () => {
  const folder = await mkdtemp(join(tmpdir(), "standing-reader-"));
  const program = new URL("../../testing/durable/follower-process.ts", import.meta.url).pathname;
  const child = Bun.spawn([process.execPath, program, join(folder, "runs.db")], {
    stdout: "pipe",
    stderr: "inherit",
    timeout: 10_000,
    killSignal: "SIGKILL",
  });
  expect(await child.stdout.text()).toBe("closed\n");
  expect([await child.exited, child.signalCode]).toEqual([0, null]);
  await rm(folder, { recursive: true });
});
