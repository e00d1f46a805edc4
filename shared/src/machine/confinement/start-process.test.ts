import { expect, test } from "bun:test";
import { sendSignal } from "../kernel/process-table.ts";
import { defaultLimits } from "../sandbox/limits.ts";
import type { ConfinedCommand, Confinement, WrappedCommand } from "./confinement.ts";
import { startProcess } from "./start-process.ts";

const command: ConfinedCommand = { argv: [], workspace: "/", env: {}, limits: defaultLimits, group: undefined };

/**
 * Confines nothing: runs these scripts one after the other, and writes down what is done to each.
 */
function running(scripts: readonly string[], more: Partial<WrappedCommand> = {}) {
  const done: string[] = [];
  const note = (what: string) => void done.push(what);
  let at = 0;
  const confinement: Confinement = {
    ...{ tier: "off", summary: "", user: undefined, temporary: () => "/tmp" },
    async wrap() {
      note("wrap");
      return {
        ...{ argv: ["/bin/sh", "-c", scripts[at++] ?? ""], env: {}, leader: () => undefined },
        end(started) {
          note("end");
          sendSignal(started, "SIGKILL");
        },
        endRest: async () => note("end the rest"),
        release: async () => note("release"),
        ...more,
      };
    },
    close: async () => {},
  };
  return { done, note, confinement };
}

test("what has ended is released once nothing of it is left, and is not ended again", async () => {
  const { done, confinement } = running(["echo out; echo err >&2; exit 3"]);
  const process = await startProcess(confinement, command);
  expect(await Promise.all([new Response(process.stdout).text(), new Response(process.stderr).text()])).toEqual([
    "out\n",
    "err\n",
  ]);
  expect(await process.exited).toBe(3);
  process.kill();
  // Nothing comes of it, and nothing fails.
  process.stdin.write("late");
  process.stdin.end();
  process.interrupt("SIGINT");
  process.rest();
  expect(await process.resume()).toBe(false);
  expect(done).toEqual(["wrap", "end the rest", "release"]);
});

test("the bound of a process is asked and let go at its end, and its last hit is the limit; else its exit code says which", async () => {
  const hits: string[] = [];
  const bound = {
    folder: "/g",
    hit: async () => `memory ${hits.push("hit")}`,
    remove: async () => void hits.push("removed"),
  };
  const { confinement } = running(["exit 152", "exit 152", "exit 153"]);
  const grouped = await startProcess(confinement, { ...command, group: bound });
  expect([await grouped.exited, await grouped.limitHit(), hits]).toEqual([152, "memory 1", ["hit", "removed"]]);
  const watched: unknown[] = [];
  const watch = { add: (...args: unknown[]) => watched.push(args) && { ...bound, hit: async () => undefined } };
  const processor = await startProcess(confinement, { ...command, workspace: "/w" }, watch as never);
  expect(await processor.limitHit()).toBe("CPU time 60 s");
  expect(watched).toEqual([["/w", expect.any(Number)]]);
  expect(await (await startProcess(confinement, command)).limitHit()).toBe("file size 1 GB");
});

test("a command that was not admitted does not run on; its own words are told, and it is wrapped again if that may help", async () => {
  const failing = running(["echo 'no namespace' >&2; exec sleep 60"], { admit: async () => false });
  await expect(startProcess(failing.confinement, command)).rejects.toMatchObject({
    code: "sandbox_unavailable",
    message: expect.stringMatching(/^(?:no namespace|nothing was started)$/),
  });
  expect(failing.done).toEqual(["wrap", "end", "end the rest", "release"]);
  const silent = running(["exit 1"], { admit: async () => false });
  await expect(startProcess(silent.confinement, command)).rejects.toThrow("nothing was started");
  const wordy = running([`printf '${"x".repeat(600)}' >&2; exit 1`], {
    async admit() {
      await Bun.sleep(50);
      return false;
    },
  });
  await expect(startProcess(wordy.confinement, command)).rejects.toThrow(/^x{500}$/);
  const wrong = new Error("not as ordered");
  let tries = 0;
  const again = running(["exec sleep 60", "exec sleep 60", "exit 7"], {
    admit: async () => (++tries < 3 ? Promise.reject(wrong) : true),
    refused: () => true,
  });
  expect(await (await startProcess(again.confinement, command)).exited).toBe(7);
  const once = ["wrap", "end", "end the rest", "release"];
  expect(again.done).toEqual([...once, ...once, "wrap", "end the rest", "release"]);
  const hopeless = running(["exec sleep 60"], { admit: () => Promise.reject(wrong), refused: () => false });
  expect(await startProcess(hopeless.confinement, command).catch((error: unknown) => error)).toBe(wrong);
  expect(hopeless.done).toEqual(once);
});

test("what outlives a program that was not admitted does not hold up its reason", async () => {
  const { confinement } = running(["sleep 8 & exit 1"], {
    async admit() {
      await Bun.sleep(50);
      return false;
    },
  });
  const started = performance.now();
  await expect(startProcess(confinement, command)).rejects.toThrow("nothing was started");
  expect(performance.now() - started).toBeLessThan(7_000);
});
