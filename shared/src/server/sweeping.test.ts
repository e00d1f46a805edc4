import { expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "../config/config.ts";
import { createEmbeddedEngine } from "../durable/sqlite/embedded-engine.ts";
import { startSweeping } from "./sweeping.ts";

async function configured(home: string, retention: Record<string, string>) {
  const env = Object.fromEntries(
    Object.entries(retention).map(([key, value]) => [`MANYHANDS_RETENTION_${key.toUpperCase()}`, value]),
  );
  return await loadConfig({ cwd: home, file: undefined, env: { MANYHANDS_HOME: home, ...env } });
}

const request = { kind: "manus", input: null, principal: "ann", contextId: "c", canceled: true } as const;

test("a server says what it keeps, sweeps at its start and from then on", async () => {
  const home = await mkdtemp(join(tmpdir(), "sweeping-"));
  const engine = createEmbeddedEngine({ path: join(home, "runs.db") });
  const said: unknown[] = [];
  const log = {
    info: (...about: unknown[]) => void said.push(about),
    error: (about: unknown) => void said.push(about),
  };
  const config = await configured(home, { runs: "0", workspaces: "never", every: "1s" });
  const a2a = { ...config.a2a, dedupeMs: 0 };
  const first = (await engine.start(request)).run.id;
  const stop = startSweeping({ ...config, a2a }, { engine, log: log as never });
  const gone = async (id: string) => {
    for (const deadline = performance.now() + 20_000; performance.now() < deadline; await Bun.sleep(20))
      if ((await engine.get(id)) === undefined) return true;
    return false;
  };
  expect(said[0]).toEqual([
    "Retention: ended runs are deleted at once, their journals are deleted after 7d, workspaces nobody opens are kept, files of no run are deleted after 1d ([retention]).",
  ]);
  expect(await gone(first)).toBe(true);
  expect(await gone((await engine.start(request)).run.id)).toBe(true);
  stop();
  expect(said[1]).toEqual([{ runs: 1, journals: 0, workspaces: 0, artifacts: 0 }, "deleted what retention lets go"]);
  await engine.close({ graceMs: 0 });
  await rm(home, { recursive: true });
});

test("a time that is none is refused, with what is allowed", async () => {
  await expect(configured("/nowhere", { runs: "90 days" })).rejects.toThrow(/"never".*"0".*"90d"/);
  expect((await configured("/nowhere", { runs: "never", journals: "0" })).retention).toMatchObject({
    runsMs: undefined,
    journalsMs: 0,
    workspacesMs: 90 * 86_400_000,
  });
});
