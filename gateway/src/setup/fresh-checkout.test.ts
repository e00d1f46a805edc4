import { expect, test } from "bun:test";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const root = resolve(import.meta.dir, "../../..");

test("set-up of a checkout that has no packages yet does all it does and ends well, the first time", async () => {
  const checkout = await mkdtemp(join(tmpdir(), "manyhands-checkout-"));
  await Bun.$`git ls-files -z --cached --others --exclude-standard | tar --null --ignore-failed-read -T - -cf - | tar -xf - -C ${checkout}`
    .cwd(root)
    .quiet();
  // What is said of the settings shows that they were read, with the packages that were just
  // installed.
  await writeFile(join(checkout, "manyhands.toml"), "[python]\npackages = 1\n");
  const setUp = Bun.spawn([process.execPath, "gateway/src/main.ts", "setup"], {
    cwd: checkout,
    env: { ...process.env, MANYHANDS_HOME: join(checkout, "home") },
    stdin: "ignore",
    stdout: "ignore",
    stderr: "pipe",
  });
  const said = await setUp.stderr.text();
  expect([await setUp.exited, said]).toEqual([0, expect.stringContaining("not looked at: manyhands.toml, line 2")]);
  await rm(checkout, { recursive: true });
}, 240_000);
