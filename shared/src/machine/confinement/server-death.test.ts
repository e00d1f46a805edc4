import { expect, test } from "bun:test";
import { chmod, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { availableTiers, eventually, openTier, processesNamed } from "../../testing/sandbox/tiers.ts";
import { runCommand } from "../sandbox/run-command.ts";

const tiers = await availableTiers();
const modes = [...tiers, "off" as const];

const cases = modes.flatMap((mode) => [
  { mode, parent: 0o755 },
  // The tiers without a mount namespace cannot open a closed parent folder.
  ...(mode === "srt" || mode === "bwrap" ? [{ mode, parent: 0o700 }] : []),
]);

test.each(cases)(
  "tier $mode, below a folder of mode $parent: the commands of a killed server end with it, and the next one cleans up",
  async ({ mode, parent }) => {
    const mark = `5${Math.floor(Math.random() * 1e9)}`;
    const within = await mkdtemp(join(tmpdir(), "manyhands-parent-"));
    await chmod(within, parent);
    const temporary = await mkdtemp(join(tmpdir(), "manyhands-temporary-"));
    await chmod(temporary, 0o711);
    const { sandbox, workspace, close } = await openTier(mode === "srt" ? "bwrap" : mode, { within });
    const script = join(import.meta.dir, "../../testing/sandbox/sandbox-process.ts");
    const server = Bun.spawn([process.execPath, script, mode, join(workspace, ".."), workspace, mark], {
      // The sandbox runtime's own socket lies there.
      env: { ...process.env, TMPDIR: temporary },
      stdout: "pipe",
      stderr: "inherit",
    });
    const { value } = await server.stdout.getReader().read();
    expect(Buffer.from(value ?? []).toString()).toBe("started\n");
    server.kill("SIGKILL");
    await server.exited;
    await eventually("everything is gone", async () => (await processesNamed(mark)).length === 0);
    await eventually("also what relays to a proxy", async () => (await processesNamed(temporary)).length === 0);

    await runCommand(sandbox, { argv: ["true"], workspace }, { signal: AbortSignal.timeout(60_000) });
    expect(await readdir(workspace)).toEqual([]);
    await close();
    await Promise.all([within, temporary].map((path) => rm(path, { recursive: true })));
  },
);

test.each(modes.filter((mode) => mode === "landlock" || mode === "off"))(
  "tier %s: a command whose supervisor is killed as well ends with it, also one that would stay",
  async (mode) => {
    const mark = `6${Math.floor(Math.random() * 1e9)}`;
    const { sandbox, workspace, close } = await openTier(mode);
    await sandbox.spawn({ argv: ["sleep", mark], workspace });
    const commandOf = (pid: number) => readFile(`/proc/${pid}/comm`, "utf8").catch(() => "");
    const sleeping = async () => {
      const named = await processesNamed(mark);
      return (await Promise.all(named.map(async (pid) => ((await commandOf(pid)) === "sleep\n" ? [pid] : [])))).flat();
    };
    await eventually("it runs", async () => (await sleeping()).length === 1);
    const [command = 0] = await sleeping();
    const supervisor = Number(/^PPid:\s+(\d+)$/m.exec(await readFile(`/proc/${command}/status`, "utf8"))?.[1]);
    expect((await processesNamed(mark)).includes(supervisor)).toBe(true);
    process.kill(supervisor, "SIGKILL");
    await eventually("it is gone", async () => (await sleeping()).length === 0);
    await close();
  },
);
