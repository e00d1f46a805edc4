import { expect, test } from "bun:test";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

const server = [process.execPath, join(import.meta.dir, "../../testing/browser/try-browser-process.ts")];
/** A user namespace in which no further one may be created, as in many containers. */
const without = ["unshare", "--user", "--map-user=1000", "--keep-caps", "sh", "-c"];
const then = 'echo 0 >/proc/sys/user/max_user_namespaces && exec "$@"';

async function tried(command: readonly string[], ...args: readonly string[]): Promise<string> {
  const home = await mkdtemp(join(tmpdir(), "manyhands-sandboxes-"));
  try {
    const child = Bun.spawn([...command, home, ...args], { stdout: "pipe", stderr: "inherit" });
    return (await new Response(child.stdout).text()).trim();
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}

const wrapped = [...without, then, "sh", ...server];

test("the browser needs none of the tools' sandboxes: its own works with user namespaces", async () => {
  const broken = await mkdtemp(join(tmpdir(), "manyhands-bwrap-"));
  await writeFile(join(broken, "bwrap"), "#!/bin/sh\nexit 1\n", { mode: 0o755 });
  const path = `PATH=${broken}:${process.env.PATH}`;
  expect(await tried(["env", path, ...server])).toMatch(/^sandbox: Chromium's own(?:, as uid \d+)?$/);
  await rm(broken, { recursive: true });
});

test("without user namespaces the browser does not start unconfined: the error says what is missing and how to do without", async () => {
  expect(await tried(wrapped)).toMatch(
    /did not start: its own sandbox does not work here \(it needs user namespaces\)\. browser\.extra_chromium_args = \["--no-sandbox"\] does without\.$/,
  );
});

test("with its sandbox disabled on request the browser works and reports that it has none", async () => {
  expect(await tried(wrapped, "--no-sandbox")).toBe("sandbox: none (--no-sandbox)");
});
