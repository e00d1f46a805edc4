import { afterEach, beforeEach, expect, setDefaultTimeout, spyOn, test } from "bun:test";
import { chmod, mkdir, mkdtemp, readdir, rm, utimes } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as making from "../../machine/confinement/create-sandbox.ts";
import { pythonFingerprint } from "../../machine/confinement/fingerprint.ts";
import * as probing from "../../machine/confinement/probe-folder.ts";
import { runCommand } from "../../machine/sandbox/run-command.ts";
import { availableTiers } from "../../testing/sandbox/tiers.ts";
import * as looking from "../../tools/python/find-python.ts";
import { openMachine } from "./open-machine.ts";
import * as remembering from "./remembered-machine.ts";

setDefaultTimeout(60_000);

const settings = { tier: "auto", memoryBytes: undefined, timeoutMs: undefined, allowDomains: [] } as const;
const withBwrap = test.skipIf(!(await availableTiers()).includes("bwrap") || Bun.which("python3") === null);
const { PATH = "", XDG_CACHE_HOME } = process.env;

let folder: string;
/** How often bwrap has been started since the last call. */
let started: () => Promise<number>;

/** A machine whose bwrap notes that it was started, and fails while there is a file `broken`. */
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "manyhands-machine-"));
  await chmod(folder, 0o755);
  await mkdir(join(folder, "starts"));
  await chmod(join(folder, "starts"), 0o777);
  const bwrap = join(folder, "bin/bwrap");
  const script = `#!/bin/sh\n: >"${folder}/starts/$$"\ntest -e "${folder}/broken" && exit 1\nexec ${Bun.which("bwrap")} "$@"\n`;
  await Bun.write(bwrap, script);
  await chmod(bwrap, 0o755);
  started = async () => {
    const names = await readdir(join(folder, "starts"));
    for (const name of names) await rm(join(folder, "starts", name));
    return names.length;
  };
  process.env.PATH = `${join(folder, "bin")}:${PATH}`;
  process.env.XDG_CACHE_HOME = join(folder, "cache");
});

afterEach(async () => {
  process.env.PATH = PATH;
  if (XDG_CACHE_HOME === undefined) delete process.env.XDG_CACHE_HOME;
  else process.env.XDG_CACHE_HOME = XDG_CACHE_HOME;
  await rm(folder, { recursive: true, force: true });
});

const open = () => openMachine(join(folder, "workspaces"), settings);

/** Starts on a machine that nothing is known of, and ends. */
async function firstStart() {
  const { sandbox, python, kept } = await open();
  const found = { tier: sandbox.tier, description: sandbox.description, python: await python.found };
  await kept;
  await sandbox.close();
  expect(await started()).toBeGreaterThan(0);
  return found;
}

async function ownWorkspace() {
  const workspace = await mkdtemp(join(folder, "workspaces/own-"));
  await chmod(workspace, 0o777);
  return workspace;
}

withBwrap("the next start knows the tier and the Python without starting anything", async () => {
  const found = await firstStart();
  const { sandbox, python } = await open();
  expect({ tier: sandbox.tier, description: sandbox.description, python: await python.found }).toEqual(found);
  expect(await started()).toBe(0);
  await sandbox.close();
});

withBwrap("no command runs before the remembered tier was tried out again", async () => {
  await firstStart();
  const { sandbox } = await open();
  const command = { argv: ["/bin/sh", "-c", "echo $((6 * 7))"], workspace: await ownWorkspace() };
  const { stdout } = await runCommand(sandbox, command, { signal: AbortSignal.timeout(30_000) });
  expect(stdout).toBe("42\n");
  // The trial, and the command.
  expect(await started()).toBe(2);
  await sandbox.close();
});

withBwrap(
  "where the remembered tier fails, no command runs in a weaker one, and the next start looks again",
  async () => {
    await firstStart();
    const { sandbox } = await open();
    await Bun.write(join(folder, "broken"), "");
    const workspace = await ownWorkspace();
    const argv = ["/bin/sh", "-c", ": >ran"];
    const refusal = await sandbox.spawn({ argv, workspace }).catch((error) => error);
    expect(refusal).toMatchObject({ code: "sandbox_unavailable", message: expect.stringContaining("bwrap") });
    expect(await readdir(workspace)).toEqual([]);
    await sandbox.close();
    const next = await open();
    expect(next.sandbox.tier).not.toBe("bwrap");
    await next.sandbox.close();
  },
);

withBwrap("another bwrap is tried out at the start", async () => {
  await firstStart();
  await utimes(join(folder, "bin/bwrap"), 1, 1);
  const { sandbox } = await open();
  expect(await started()).toBeGreaterThan(0);
  await sandbox.close();
});

withBwrap("a weaker tier than the machine has is not remembered", async () => {
  await Bun.write(join(folder, "broken"), "");
  const first = await open();
  await first.kept;
  await first.sandbox.close();
  await rm(join(folder, "broken"));
  await started();
  const { sandbox } = await open();
  expect(sandbox.tier).toBe("bwrap");
  expect(await started()).toBeGreaterThan(0);
  await sandbox.close();
});

/**
 * A start while programs are refused for want of files, until it has paused so often; its pauses.
 */
async function startWhileShort(pauses: number) {
  const { spawn, sleep } = Bun;
  const waited: number[] = [];
  using _ = spyOn(Bun, "spawn").mockImplementation(((...given: Parameters<typeof spawn>) => {
    if (waited.length >= pauses) return spawn(...given);
    throw Object.assign(new Error("EMFILE: too many open files, socketpair"), { code: "EMFILE" });
  }) as never);
  using __ = spyOn(Bun, "sleep").mockImplementation(async (ms) => {
    if (typeof ms !== "number" || ms < 250) return sleep(ms);
    waited.push(ms);
  });
  return { machine: await open(), waited };
}

withBwrap("what runs short when a server starts is waited for, and then commands run as ever", async () => {
  const { machine, waited } = await startWhileShort(2);
  expect([machine.sandbox.tier, machine.shortage, waited]).toEqual(["bwrap", undefined, [250, 1_000]]);
  expect(await machine.python.found).toBeDefined();
  await machine.kept;
  await machine.sandbox.close();
});

withBwrap(
  "where it stays short the server starts without commands and says why, and the next looks again",
  async () => {
    const { machine } = await startWhileShort(Number.POSITIVE_INFINITY);
    const why = "as something ran short (bwrap: EMFILE: too many open files, socketpair). Allow this server more";
    expect([machine.sandbox.tier, machine.sandbox.description]).toEqual(["none", expect.stringContaining(why)]);
    expect(machine.shortage).toStartWith("This server runs no commands until it is started again. ");
    expect(machine.shortage).toContain(why);
    expect(await machine.python.found).toBe(undefined);
    await machine.kept;
    const next = await open();
    expect(next.sandbox.tier).toBe("bwrap");
    await next.sandbox.close();
  },
);

test("a library that is added to a Python's folders changes its fingerprint", async () => {
  const libraries = join(folder, "dist-packages");
  const missing = pythonFingerprint([libraries]);
  await mkdir(libraries);
  await utimes(libraries, 1, 1);
  const empty = pythonFingerprint([libraries]);
  await mkdir(join(libraries, "numpy"));
  expect(new Set([missing, empty, pythonFingerprint([libraries])]).size).toBe(3);
});

test("the settings' limits, domains and environment reach the sandbox, and another of them is another machine", async () => {
  using creating = spyOn(making, "createSandbox").mockResolvedValue({ tier: "none" } as never);
  const memory = { recall: async () => undefined, forget: async () => undefined, remember: async () => undefined };
  using opening = spyOn(remembering, "openMachineMemory").mockReturnValue(memory);
  const environment = join(folder, "environment");
  await mkdir(environment);
  const workspaces = join(folder, "workspaces");
  const bounded = { ...settings, memoryBytes: 5, allowDomains: ["a.example"] };
  await openMachine(workspaces, bounded, { environment, packages: ["x"] });
  const limits = { network: { allow: ["a.example"] }, limits: { memoryBytes: 5 } };
  expect(creating.mock.calls[0]?.[0]).toEqual({ mode: "auto", folder: workspaces, python: environment, ...limits });
  await openMachine(workspaces, bounded, { environment, packages: ["y"] });
  await openMachine(workspaces, bounded, { environment: join(folder, "none"), packages: ["y"] });
  const [first, second, none] = opening.mock.calls.map(([, facts]) => facts as { readonly environment?: string });
  const before = first?.environment;
  expect(first).toMatchObject({ tier: "auto", allowDomains: ["a.example"], environment: expect.any(String) });
  expect(second?.environment).not.toBe(first?.environment as string);
  expect(none).not.toHaveProperty("environment");
  // Made anew, it is another one in the same place.
  await chmod(environment, 0o750);
  opening.mockClear();
  await openMachine(workspaces, bounded, { environment, packages: ["x"] });
  expect((opening.mock.calls[0]?.[1] as typeof first)?.environment).not.toBe(before as string);
  opening.mockClear();
  await openMachine(workspaces, { ...settings, tier: "off" });
  expect([opening.mock.calls.length, creating.mock.calls.at(-1)?.[0].mode]).toEqual([0, "off"]);
  // What was found out in another place says nothing of this one.
  using elsewhere = spyOn(probing, "findProbeFolder").mockResolvedValue({ path: "/tmp", note: "it is full" });
  await openMachine(workspaces, settings);
  expect([opening.mock.calls.length, elsewhere.mock.calls]).toEqual([0, [[workspaces]]]);
});

test.each([
  ["auto", [], "bwrap", true],
  ["auto", [], "landlock", false],
  ["auto", ["a.example"], "bwrap", false],
  ["auto", ["a.example"], "srt", true],
  ["landlock", [], "landlock", true],
  ["bwrap", [], "none", false],
] as const)("for %s with domains %j, finding %s is remembered: %p", async (tier, allowDomains, found, isRemembered) => {
  using _ = spyOn(making, "createSandbox").mockResolvedValue({ tier: found, description: "as found" } as never);
  const python = { version: "3", libraries: [], folders: [] } as never;
  using look = spyOn(looking, "lookForPython").mockResolvedValue({ found: Promise.resolve(python) });
  const remembered: unknown[] = [];
  const remember = async (what: unknown) => void remembered.push(what);
  const memory = { recall: async () => undefined, forget: async () => undefined, remember };
  using ___ = spyOn(remembering, "openMachineMemory").mockReturnValue(memory);
  const asked = { ...settings, tier, allowDomains: [...allowDomains] };
  const open = () => openMachine(join(folder, "workspaces"), asked, { environment: "/none", packages: ["x"] });
  await (await open()).kept;
  expect(look.mock.calls[0]?.[1]).toEqual(["x"]);
  expect(remembered).toEqual(
    isRemembered ? [{ tier: found, profile: undefined, description: "as found", python }] : [],
  );
  // A Python that was not found is looked for again, and is no failure here.
  const failed = Promise.reject(new Error("no Python"));
  failed.catch(() => undefined);
  look.mockResolvedValue({ found: failed });
  await (await open()).kept;
  look.mockResolvedValue({ found: Promise.resolve(undefined) });
  await (await open()).kept;
  expect(remembered).toHaveLength(isRemembered ? 1 : 0);
});
