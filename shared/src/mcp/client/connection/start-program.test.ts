import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { chmod, mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { withinTrace } from "../../../core/trace.ts";
import { createSandbox } from "../../../machine/confinement/create-sandbox.ts";
import type { SandboxCommand } from "../../../machine/sandbox/sandbox.ts";
import { processByHand } from "../../../testing/sandbox/process-by-hand.ts";
import { networkOf, type ProgramDeps, startProgram } from "./start-program.ts";

test("a program is told the trace in which it was started", async () => {
  const folder = await mkdtemp(join(tmpdir(), "manyhands-program-"));
  await chmod(folder, 0o755);
  const sandbox = await createSandbox({ mode: "off", folder });
  const entry = {
    name: "told",
    shown: "sh",
    command: "sh",
    args: ["-c", "echo $TRACEPARENT"],
    env: {},
    read: [],
    write: [],
  };
  const deps = { sandbox, unconfined: async () => sandbox, folder } as unknown as ProgramDeps;
  const server = { ...entry, trust: "unconfined" } as unknown as Parameters<typeof startProgram>[0];
  const traceparent = `00-${"1".repeat(32)}-${"2".repeat(16)}-01`;
  const program = await withinTrace({ traceparent }, () => startProgram(server, deps));
  expect(await new Response(program.stdout).text()).toBe(`${traceparent}\n`);
  await sandbox.close();
  await rm(folder, { recursive: true });
});

test("a program that fetches itself reaches its registry; an entry that names hosts allows only those", () => {
  const reached = (command: string, network?: string[]) => networkOf({ command, network });
  expect(reached("npx")).toEqual(["registry.npmjs.org"]);
  expect(reached("/usr/local/bin/uvx")).toEqual(["pypi.org", "files.pythonhosted.org"]);
  expect(reached("node")).toEqual([]);
  expect(reached("npx", [])).toEqual([]);
  expect(reached("npx", ["npm.example"])).toEqual(["npm.example"]);
  expect(reached("constructor")).toEqual([]);
});

/** Starts a program by hand, of this name and entry, and returns what it was started with. */
async function starting(name: string, entry: object, { fails = false } = {}) {
  const folder = await mkdtemp(join(tmpdir(), "manyhands-start-"));
  const program = processByHand();
  const commands: SandboxCommand[] = [];
  const spawn = async (command: SandboxCommand) => {
    commands.push(command);
    if (fails) throw new Error("no room");
    return program.process;
  };
  const user = process.getuid?.() === 0 ? { uid: 12_345, gid: 12_346 } : undefined;
  const deps = {
    sandbox: { tier: "bwrap", user, spawn },
    unconfined: async () => ({ tier: "off", user: undefined, spawn }),
    ...{ folder, kept: { home: join(folder, "home"), others: [] }, policy: { allow: [], deny: [], only: [] } },
    ...{ proxy: undefined, log: { warn: () => undefined }, refused: () => undefined },
  } as unknown as ProgramDeps;
  const server = { name, shown: "sh", command: "sh", args: [], env: {}, read: [], write: [], ...entry };
  const going = startProgram(server as unknown as Parameters<typeof startProgram>[0], deps);
  const outcome = await going.then(
    () => "started",
    ({ message }) => message,
  );
  const [{ network, workspace } = {} as never] = commands;
  const socket = typeof network === "object" ? network.socket : undefined;
  const owner = async (path: string) => (await stat(path)).uid;
  const own = user?.uid ?? process.getuid?.();
  return { folder, program, outcome, network, workspace, socket, owner, own };
}

test("a program has a folder of its own user's, whatever its server is called", async () => {
  for (const [name, at] of [
    ["../../over there", "over_there"],
    ["plain", "plain"],
  ] as const) {
    const { folder, workspace, owner, own } = await starting(name, {});
    expect(workspace).toBe(join(folder, at));
    expect(await owner(join(folder, at))).toBe(own as number);
    await rm(folder, { recursive: true });
  }
});

test("a program's way to its hosts is its user's, and ends with it or with its failed start", async () => {
  const network = ["a.example"];
  const { folder, program, outcome, socket = "", owner, own } = await starting("s", { network });
  expect([outcome, existsSync(socket)]).toEqual(["started", true]);
  expect(await owner(socket)).toBe(own as number);
  program.exits(0);
  while (existsSync(socket)) await Bun.sleep(1);
  const failed = await starting("s", { network }, { fails: true });
  expect([failed.outcome, existsSync(failed.socket ?? "")]).toEqual(["no room", false]);
  expect(failed.socket).toBeDefined();
  // Nothing stands between a trusted program and the network, so it gets no way of ours.
  const trusted = await starting("s", { network, trust: "unconfined" });
  expect([trusted.outcome, trusted.network]).toEqual(["started", "none"]);
  expect(await owner(join(trusted.folder, "s"))).toBe(process.getuid?.() as number);
  for (const each of [folder, failed.folder, trusted.folder]) await rm(each, { recursive: true });
});
