import { expect, test } from "bun:test";
import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const source = resolve(import.meta.dir, "..");

async function ended(command: string[], cwd: string) {
  const child = Bun.spawn(command, { cwd, stdin: "ignore", stdout: "ignore", stderr: "pipe", timeout: 20_000 });
  const said = await child.stderr.text();
  return { exitCode: await child.exited, said };
}

test("compiled into one executable, or copied out of its checkout, the program says that it cannot run that way, and starts nothing", async () => {
  const folder = await mkdtemp(join(tmpdir(), "manyhands-compiled-"));
  const program = join(folder, "manyhands");
  const build = await ended(
    [process.execPath, "build", "--compile", join(source, "main.ts"), "--outfile", program],
    folder,
  );
  expect(build.exitCode).toBe(0);
  await cp(join(source, "main.ts"), join(folder, "copied/src/main.ts"));
  await cp(join(source, "setup"), join(folder, "copied/src/setup"), { recursive: true });
  const copied = [process.execPath, join(folder, "copied/src/main.ts")];
  for (const command of [[program], copied])
    for (const args of [["run", "x"], ["start"], ["setup"], []]) {
      const { exitCode, said } = await ended([...command, ...args], folder);
      expect([args, exitCode]).toEqual([args, 1]);
      expect(said).toStartWith("Manyhands runs from its own folder");
      expect(said.trim().split("\n").length).toBe(1);
    }
  await rm(folder, { recursive: true });
});
