import { expect, test } from "bun:test";
import { chmod, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { availableTiers, eventually } from "../../testing/sandbox/tiers.ts";
import { isThere, readProcessTable, sendSignal, startOf } from "../kernel/process-table.ts";
import { endAbandonedStarts } from "./abandoned-starts.ts";

const tiers = await availableTiers();
const program = new URL("../../testing/sandbox/abandoned-start.ts", import.meta.url).pathname;

/** A server that starts a sandbox below this folder and gets no further. */
async function starting(within: string) {
  const server = Bun.spawn([process.execPath, program, within], { stdout: "pipe", stderr: "inherit" });
  const { value } = await server.stdout.getReader().read();
  const { first } = JSON.parse(Buffer.from(value ?? []).toString()) as { readonly first: number };
  const bwrap = readProcessTable().get(first)?.parent ?? 0;
  await takeOut(first);
  return {
    first,
    isLeft: () => isThere(first),
    async kill() {
      server.kill("SIGKILL");
      await server.exited;
      await eventually("its bwrap is gone", async () => !isThere(bwrap));
    },
  };
}

/**
 * Takes a process out of its server's control group: what a killed server leaves in one is ended by
 * whichever server starts next on this machine.
 */
async function takeOut(pid: number): Promise<void> {
  const own = await readFile("/proc/self/cgroup", "utf8");
  for (const [, memory, group = ""] of own.matchAll(/^(?:0:|\d+:(?:[^:]*,)?(memory)(?:,[^:]*)?):(.*)$/gm))
    await writeFile(join("/sys/fs/cgroup", memory ?? "", group, "cgroup.procs"), `${pid}`).catch(() => undefined);
}

async function folder(...names: readonly string[]): Promise<string> {
  const made = join(await realpath(await mkdtemp(join(tmpdir(), "manyhands-abandoned-"))), ...names);
  await Bun.$`mkdir -p ${made}`;
  for (let path = made; path.includes("manyhands-abandoned-"); path = join(path, "..")) await chmod(path, 0o755);
  return made;
}

test.if(tiers.includes("bwrap"))(
  "what a killed server left in the middle of starting a sandbox is ended; a start under way and another home's are not",
  async () => {
    const ended = Bun.spawn(["true"]);
    await ended.exited;
    const [home, another] = [await folder(), await folder()];
    const [foreign, ofLiving, ofEnded] = [
      await folder(),
      await folder(`tool-${process.pid}-${startOf(process.pid)}-0123abcd`),
      await folder(`tool-${ended.pid}-5-0123abcd`),
    ];
    const places = [home, ofEnded, foreign, ofLiving];
    const all = await Promise.all(places.map(starting));
    const left = () => all.map(({ isLeft }) => isLeft());
    try {
      endAbandonedStarts(home);
      await Bun.sleep(100);
      expect(left()).toEqual([true, true, true, true]);
      for (const one of all) await one.kill();
      // The ended one's may be gone: any server that starts on this machine ends it.
      expect(left()).toEqual([true, expect.any(Boolean), true, true]);
      endAbandonedStarts(another);
      await eventually("what the ended one left is gone", async () => !all[1]?.isLeft());
      expect(left()).toEqual([true, false, true, true]);
      endAbandonedStarts(home);
      await eventually("what this home's left is gone", async () => !all[0]?.isLeft());
      expect(left()).toEqual([false, false, true, true]);
    } finally {
      for (const one of all) {
        await one.kill();
        sendSignal(one.first, "SIGKILL");
      }
      for (const place of [...places, another]) await rm(place, { recursive: true, force: true });
    }
  },
  60_000,
);
