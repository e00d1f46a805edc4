import { readdirSync } from "node:fs";
import { chmod, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { descendants, innerPid, readProcessTable, sendSignal } from "../../machine/kernel/process-table.ts";
import { findProgram } from "../../machine/process/find-program.ts";
import { runCommand } from "../../machine/sandbox/run-command.ts";
import { eventually, openTier, processesNamed } from "./tiers.ts";

/**
 * Starts sandboxes and kills each during its start, in a process of its own, so that all its
 * children and descriptors belong to them. Prints what is left as JSON. `any`: each at another
 * moment; the others hold bwrap back where its first process does not yet die with it: `untold`
 * before it names that process, `told` after it, `shown` when the view is complete.
 */
async function main(moment: string): Promise<void> {
  const bwrap = await heldBwrap(moment);
  // Nobody else's commands have it; each outlasts what is looked at.
  const mark = `60.${process.pid}${process.hrtime()[1]}`;
  const below = () => descendants(readProcessTable(), process.pid);
  const descriptors = () => {
    Bun.gc(true);
    return readdirSync("/proc/self/fd").length;
  };
  const { sandbox, workspace, close } = await openTier("bwrap");
  const run = (argv = ["true"]) =>
    runCommand(sandbox, { argv, workspace }, { signal: AbortSignal.timeout(60_000) }).then(
      ({ exitCode }) => exitCode,
      () => undefined,
    );
  const first = await run();
  const staying = new Set(below());
  const fresh = () => below().filter((pid) => !staying.has(pid));
  await eventually("the first one is gone", async () => fresh().length === 0);
  const before = descriptors();
  const [outcomes, outlived]: [(number | undefined)[], number[]] = [[], []];
  await bwrap.hold();
  for (const milliseconds of moment === "any" ? [0, 1, 2, 3, 5, 8, 12, 20, 30, 45, 70, 100] : [0]) {
    const outcome = run(["sleep", mark]);
    if (moment === "any") {
      await eventually("it is started", async () => fresh().length > 0);
      await Bun.sleep(milliseconds);
      for (const pid of fresh().slice(0, 1)) sendSignal(pid, "SIGKILL");
    } else if (moment !== "untold") {
      // An untold bwrap is ended by the start itself.
      await eventually("its view is begun", async () => fresh().some((pid) => innerPid(pid) === 1));
      const held = fresh().find((pid) => innerPid(pid) === 1) ?? 0;
      sendSignal(readProcessTable().get(held)?.parent ?? 0, "SIGKILL");
    }
    outcomes.push(await outcome);
    outlived.push(...(await processesNamed(mark)));
  }
  for (const pid of outlived) sendSignal(pid, "SIGKILL");
  await bwrap.release();
  await eventually("all of it is gone", async () => fresh().length === 0 && descriptors() <= before);
  const files = await readdir(workspace);
  const last = await run();
  await close();
  await bwrap.remove();
  const killed = outcomes.filter((outcome) => outcome !== 0).length;
  process.stdout.write(JSON.stringify({ first, killed, outlived: outlived.length, files, last }));
}

/** A bwrap in front of the real one, which waits at that moment once it is told to. */
export async function heldBwrap(moment: string) {
  const folder = await mkdtemp(join(tmpdir(), "manyhands-bwrap-"));
  // Bubblewrap runs as another user.
  await chmod(folder, 0o777);
  const [gate, armed] = [join(folder, "gate"), join(folder, "armed")];
  Bun.spawnSync(["mkfifo", "-m", "666", gate]);
  const real = findProgram("bwrap");
  // Bubblewrap waits for no user namespace that it is to close.
  const open = 'for given; do shift; [ "$given" = --disable-userns ] || set -- "$@" "$given"; done';
  const waits: Readonly<Record<string, string>> = {
    // What it tells is kept in a file, and its pipe for that ends then.
    untold: `${open}; shift 2; info=${folder}/info; (until grep -q child-pid $info; do sleep 0.01; done 2>/dev/null) &
exec ${real} --info-fd 9 --userns-block-fd 8 "$@" 3>&- 9>$info 8<>${gate}`,
    told: `${open}; exec ${real} --userns-block-fd 8 "$@" 8<>${gate}`,
    shown: `exec ${real} --block-fd 8 "$@" 8<>${gate}`,
  };
  const script = `#!/bin/sh\n[ -e ${armed} ] || exec ${real} "$@"\n${waits[moment] ?? `exec ${real} "$@"`}\n`;
  await writeFile(join(folder, "bwrap"), script, { mode: 0o755 });
  process.env.PATH = `${folder}:${process.env.PATH}`;
  return {
    hold: () => writeFile(armed, ""),
    release: () => rm(armed),
    remove: () => rm(folder, { recursive: true }),
  };
}

if (import.meta.main) await main(process.argv[2] ?? "any");
