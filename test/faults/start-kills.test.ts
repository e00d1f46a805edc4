import { expect, test } from "bun:test";
import { chmod, mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { descendants, readProcessTable } from "../../shared/src/machine/kernel/process-table.ts";
import { processesNamed } from "../../shared/src/testing/sandbox/tiers.ts";

const kills = 8;

test("servers killed while they start leave nothing that the next start does not remove", async () => {
  const base = await mkdtemp(join(tmpdir(), "manyhands-kills-"));
  const [home, temporary] = [join(base, "home"), join(base, "temporary")];
  for (const folder of [base, home, temporary]) {
    await mkdir(folder, { recursive: true });
    await chmod(folder, 0o755);
  }
  const leftovers = async () => [...(await readdir(home)), ...(await readdir(temporary))];
  const start = () =>
    Bun.spawn([process.execPath, join(import.meta.dir, "start-kills.fixture.ts"), home], {
      env: { ...process.env, TMPDIR: temporary },
      stdout: "pipe",
    });
  let left = 0;
  try {
    const beside = start();
    const besideBegan = beside.stdout.getReader().read();
    for (let kill = 0; kill < kills; kill++) {
      const server = start();
      await server.stdout.getReader().read();
      await Bun.sleep(40 * kill);
      server.kill("SIGKILL");
      await server.exited;
      left += (await leftovers()).filter((name) => name.includes(`-${server.pid}-`)).length;
    }
    await besideBegan;
    // It was running while all the others swept, and nothing of it was removed.
    expect(beside.exitCode ?? beside.signalCode).toBeNull();
    beside.kill("SIGKILL");
    await beside.exited;
    expect(left).toBeGreaterThan(0);

    const last = start();
    const deadline = performance.now() + 60_000;
    const own = (name: string) => name.includes(`-${last.pid}-`);
    while ((await leftovers()).some((name) => !own(name)) && performance.now() < deadline) await Bun.sleep(20);
    expect((await leftovers()).filter((name) => !own(name))).toEqual([]);
    const held = async () =>
      (await processesNamed(base)).filter(
        (pid) => !descendants(readProcessTable(), last.pid).includes(pid) && pid !== last.pid,
      );
    while ((await held()).length > 0 && performance.now() < deadline) await Bun.sleep(20);
    expect(await held()).toEqual([]);
    last.kill("SIGKILL");
    await last.exited;
  } finally {
    await rm(base, { recursive: true, force: true });
  }
});
