import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { compiled } from "manyhands/internal/testing/bundled";
import { bareEnvironment } from "manyhands/internal/testing/machine/bare-environment";
import * as z from "zod";
import { startReady } from "../../servers/ready-process.ts";

/** The revisions the suite has scenarios for. */
export const revisions = ["2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"] as const;
export type Revision = (typeof revisions)[number];

/** A check of a scenario, and its result. */
export type Check = {
  readonly scenario: string;
  readonly check: string;
  readonly passed: boolean;
  readonly message: string;
};

const cli = await compiled(
  join(dirname(Bun.resolveSync("@modelcontextprotocol/conformance/package.json", import.meta.dir)), "dist/index.js"),
);
const command = `${process.execPath} ${join(import.meta.dir, "client.fixture.ts")}`;
const scenarioMs = 150_000;

/** The suite's results for the server at an address, in a revision. */
export function checkServer(url: string, revision: Revision): Promise<Check[]> {
  return inFolder(async (folder) => {
    const said = await suite("server", "--url", url, "--suite", "all", "--spec-version", revision, "-o", folder);
    return checksIn(folder, said, await scenarios("--server", revision));
  });
}

/**
 * Starts our client. One program uses the servers of all scenarios: a client started for each would
 * take most of what the suite takes.
 */
export function startClient(): ReturnType<typeof startReady> {
  return startReady([process.execPath, join(import.meta.dir, "client-server.fixture.ts")]);
}

/** The suite's results for our client at an address, in a revision. */
export function checkClient(url: string, revision: Revision): Promise<Check[]> {
  return inFolder(async (folder) => {
    const of = ["--suite", "all", "--spec-version", revision, "--timeout", String(scenarioMs), "-o", folder];
    const said = await suite("client", "--command", `${command} ${url}`, ...of);
    return checksIn(folder, said, await scenarios("--client", revision));
  });
}

/** Removes the suite, which no check can be asked of afterwards. */
export async function closeSuite(): Promise<void> {
  await cli[Symbol.asyncDispose]();
}

/** All scenarios except those of extensions. */
async function scenarios(of: "--client" | "--server", revision: Revision): Promise<readonly string[]> {
  const list = await suite("list", of, "--spec-version", revision);
  const names = [...list.matchAll(/^ {2}- (\S+) \[/gm)].map(([, name = ""]) => name);
  if (names.length === 0) throw new Error(`The suite has no scenarios: ${list}`);
  return names;
}

const stored = z.array(
  z.looseObject({
    id: z.string(),
    status: z.enum(["SUCCESS", "FAILURE", "WARNING", "SKIPPED", "INFO"]),
    errorMessage: z.string().optional(),
    details: z.unknown().optional(),
  }),
);

/** The checks stored in the folder. A scenario that stored nothing has failed with its output. */
async function checksIn(folder: string, said: string, wanted: readonly string[]): Promise<Check[]> {
  const checks: Check[] = [];
  const seen = new Set<string>();
  for await (const path of new Bun.Glob("**/checks.json").scan(folder)) {
    const scenario = dirname(path)
      .replace(/^server-(?=.*-\d{4}-\d\d-\d\dT)/, "")
      .replace(/-\d{4}-\d\d-\d\dT[\dZ-]+$/, "");
    const name = wanted.find((one) => one === scenario || one === `server-${scenario}`) ?? scenario;
    seen.add(name);
    for (const { id, status, errorMessage, details } of stored.parse(await Bun.file(join(folder, path)).json())) {
      if (status === "SKIPPED" || status === "INFO") continue;
      const message = `${status}: ${errorMessage ?? JSON.stringify(details)}`;
      checks.push({ scenario: name, check: id, passed: status === "SUCCESS", message });
    }
  }
  const lost = wanted.filter((name) => !seen.has(name));
  return [
    ...checks,
    ...lost.map((scenario) => ({ scenario, check: "ran", passed: false, message: said.slice(-2_000) })),
  ];
}

async function suite(...args: readonly string[]): Promise<string> {
  const child = Bun.spawn([cli.path, ...args], {
    env: { ...bareEnvironment(), NO_COLOR: "1" },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  await child.exited;
  return out + err;
}

async function inFolder<Value>(work: (folder: string) => Promise<Value>): Promise<Value> {
  const folder = await mkdtemp(join(tmpdir(), "manyhands-conformance-"));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
