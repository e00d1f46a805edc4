import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { inContainerArgv } from "../../testing/sandbox/covered-proc.ts";
import { availableTiers } from "../../testing/sandbox/tiers.ts";

const program = resolve(import.meta.dir, "../../testing/sandbox/covered-proc-process.ts");
const can = process.platform === "linux" && (await availableTiers()).includes("bwrap") && (await ended(["true"])) === 0;
const inContainer = test.skipIf(!can);

let cache: string;
beforeAll(async () => {
  cache = await mkdtemp(join(tmpdir(), "manyhands-cache-"));
});
afterAll(() => rm(cache, { recursive: true }));

async function ended(argv: readonly string[]): Promise<number> {
  return Bun.spawn([...inContainerArgv, ...argv], { stdout: "ignore", stderr: "ignore" }).exited;
}

/** What a server finds out, and a script of its agent says, where /proc is covered or not. */
async function found(before: readonly string[], script: string) {
  const child = Bun.spawn([...before, process.execPath, program, script], {
    env: { ...process.env, XDG_CACHE_HOME: cache },
    stdout: "pipe",
  });
  const [text] = await Promise.all([child.stdout.text(), child.exited]);
  return JSON.parse(text) as { tier: string; profile?: string; description: string; said: string };
}

inContainer("where parts of /proc are covered, commands keep bubblewrap's view, without /proc", async () => {
  const { tier, profile, description } = await found(inContainerArgv, "true");
  expect([tier, profile]).toEqual(["bwrap", "no-proc"]);
  expect(description).toStartWith("bwrap: own file system view, own namespaces, no /proc, no network");
  expect(description).toMatch(/\| bwrap: bwrap: .*\/proc\b/);
});

inContainer("what is remembered there does not count where /proc is whole, nor the other way round", async () => {
  expect(await found([], "ls -d /proc/self")).toMatchObject({ profile: "own-proc", said: "/proc/self\n" });
  expect((await found(inContainerArgv, "true")).profile).toBe("no-proc");
  expect((await readdir(join(cache, "manyhands"))).length).toBe(1);
  const kept = await readFile(join(cache, "manyhands", (await readdir(join(cache, "manyhands")))[0] ?? ""), "utf8");
  expect(JSON.parse(kept).found).toMatchObject({ tier: "bwrap", profile: "no-proc" });
});

inContainer("no process is to be seen there, nor its environment, memory or files, by any number", async () => {
  const script = `
ls -A /proc
for pid in self thread-self 1 ${process.pid} ${process.ppid} $$ $PPID; do
  for name in environ cmdline mem maps status fd root/etc/shadow cwd; do
    cat /proc/$pid/$name /proc/$pid/task/$pid/$name 2>/dev/null && echo "SEEN $pid $name"
  done
done
find / -xdev -name environ 2>/dev/null
kill -0 ${process.pid} 2>/dev/null && echo SIGNALLED
cat /proc/sysvipc/shm | wc -l
`;
  const { said } = await found(inContainerArgv, script);
  expect(said.trim().split(/\s+/)).toEqual([
    ...["cpuinfo", "filesystems", "loadavg", "meminfo", "stat", "sysvipc", "uptime", "version"],
    "1",
  ]);
});

inContainer("every escape that is tried of tier bwrap is refused there too", async () => {
  const tests = resolve(import.meta.dir, "confinement.test.ts");
  const argv = [process.execPath, "test", "--timeout", "180000", "-t", "tier bwrap", tests];
  const child = Bun.spawn([...inContainerArgv, ...argv], { stdout: "pipe", stderr: "pipe" });
  const [said] = await Promise.all([child.stderr.text(), child.exited]);
  expect(said.split("\n").filter((line) => line.startsWith("(fail)"))).toEqual([]);
  expect(Number(/^ *(\d+) pass$/m.exec(said)?.[1])).toBeGreaterThan(15);
  expect(child.exitCode).toBe(0);
});
