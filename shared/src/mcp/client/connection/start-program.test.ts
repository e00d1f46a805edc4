import { expect, test } from "bun:test";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { withinTrace } from "../../../core/trace.ts";
import { createSandbox } from "../../../machine/confinement/create-sandbox.ts";
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
