import { afterAll, beforeAll, expect, spyOn, test } from "bun:test";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sendSignal } from "../kernel/process-table.ts";
import type { Confinement } from "./confinement.ts";
import { probe } from "./probe.ts";

let home: string;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "manyhands-probe-"));
});
afterAll(() => rm(home, { recursive: true }));

/** Confines nothing, and runs this script in place of every command. */
function running(script: string): Confinement {
  return {
    tier: "off",
    summary: "",
    user: undefined,
    temporary: () => "/tmp",
    wrap: async ({ workspace, env }) => ({
      argv: ["/bin/sh", "-c", `cd "$1"\n${script}`, "sh", workspace],
      env,
      leader: () => undefined,
      end: (started) => sendSignal(started, "SIGKILL"),
      release: async () => {},
    }),
    close: async () => {},
  };
}

const ownFile = "echo written > allowed; chmod 0640 allowed";

test.each([
  ["a command ran as root", `echo 0; ${ownFile}`],
  ["a forbidden file could be read", `echo 1000; cat "$SECRET"; ${ownFile}`],
  ["a forbidden file could be written", `echo 1000; echo escaped > "$OUTSIDE"; ${ownFile}`],
  ["the mode of a forbidden file could be changed", `echo 1000; chmod 0666 "$SECRET"; ${ownFile}`],
  ["the workspace could not be written", "echo 1000"],
  ["it does not work here", "echo 'it does not work here' >&2; exit 3"],
  ["a command ended with exit code 4", "exit 4"],
  ["the trial was killed, as where a machine is out of memory", "kill -9 $$"],
])("a tier is not used when %s", async (reason, script) => {
  await expect(probe(running(script), home)).rejects.toMatchObject({ code: "sandbox_unavailable", message: reason });
  expect(await readdir(home)).toEqual([]);
});

test("a tier that passes is used, and what it lacks is said", async () => {
  expect(await probe(running(`echo 1000; ${ownFile}`), home)).toEqual([]);
  const [lack] = await probe(running("echo 1000; echo written > allowed; chmod 0600 allowed"), home);
  expect(lack).toStartWith("modes, owners and times of files cannot be changed");
});

test("a tier whose command does not end is given up, and its command ended", async () => {
  const { setTimeout } = globalThis;
  using waits = spyOn(globalThis, "setTimeout").mockImplementation(((act: () => void, ms: number) =>
    setTimeout(act, ms / 100)) as never);
  await expect(probe(running("exec sleep 600"), home)).rejects.toThrow("a command ended with exit code 137");
  expect(waits.mock.calls.map(([, ms]) => ms)).toContain(10_000);
  expect(await readdir(home)).toEqual([]);
});
