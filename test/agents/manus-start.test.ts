import { expect, test } from "bun:test";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { freePort } from "manyhands/internal/http/free-port";
import { bareEnvironment } from "manyhands/internal/testing/machine/bare-environment";

const entry = resolve(import.meta.dir, "../../agents/manus/src/server.ts");

/**
 * Starts Manus in an environment in which it cannot start, and returns its exit code and standard
 * error.
 */
async function refusal(env: Record<string, string>, ...args: string[]): Promise<{ exitCode: number; said: string }> {
  const home = await mkdtemp(join(tmpdir(), "manyhands-start-"));
  await writeFile(join(home, "file"), "");
  const child = Bun.spawn([process.execPath, entry, ...args], {
    cwd: home,
    env: { ...bareEnvironment(), PORT: "0", MANYHANDS_HOME: "home", ...env },
    stdout: "ignore",
    stderr: "pipe",
    timeout: 10_000,
  });
  const said = await new Response(child.stderr).text();
  const exitCode = await child.exited;
  await rm(home, { recursive: true });
  return { exitCode, said };
}

test("a home that cannot be a folder is one sentence and exit code 2", async () => {
  const { exitCode, said } = await refusal({ MANYHANDS_HOME: "file" });
  expect(said).toMatch(/^manus: MANYHANDS_HOME cannot be .*file: the folder cannot be created \(EEXIST\)\.\n$/);
  expect(exitCode).toBe(2);
});

test("an unknown option is one sentence and exit code 2", async () => {
  const { exitCode, said } = await refusal({}, "--bogus");
  expect(said).toMatch(/^manus: Unknown option '--bogus'.* The one option is --config FILE\.\n$/);
  expect(exitCode).toBe(2);
});

test("a port in use is one sentence and exit code 1", async () => {
  const other = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response() });
  try {
    const { exitCode, said } = await refusal({ PORT: String(other.port) });
    const sentences = said.split("\n").filter((line) => line !== "" && !line.startsWith("{"));
    expect(sentences).toEqual([`manus: Failed to start server. Is port ${other.port} in use?`]);
    expect(exitCode).toBe(1);
  } finally {
    await other.stop(true);
  }
});

test("a skill that there is not is one sentence, with those that there are, and exit code 2", async () => {
  const { exitCode, said } = await refusal({ MANYHANDS_AGENTS_MANUS_SKILLS: "release-notes,relase-notes" });
  expect(said).toContain('[agents.manus] skills names "relase-notes", but the skills are: data-quality-check,');
  expect(exitCode).toBe(2);
});

test("a database that cannot be reached is named, without its password", async () => {
  const place = `127.0.0.1:${freePort()}`;
  const url = `postgres://ann:secret@${place}/runs`;
  const { exitCode, said } = await refusal({ MANYHANDS_ENGINE_KIND: "postgres", MANYHANDS_ENGINE_URL: url });
  expect(said).toContain(`manus: The run store is unavailable: PostgreSQL at ${place}/runs: `);
  expect(said).not.toContain("secret");
  expect(exitCode).toBe(1);
});
