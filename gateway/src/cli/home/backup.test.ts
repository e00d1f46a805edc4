import { expect, test } from "bun:test";
import { existsSync, statSync } from "node:fs";
import { mkdir, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { openAuthStore } from "manyhands/internal/auth/auth-store";
import type { Engine } from "manyhands/internal/core/engine";
import type { Run } from "manyhands/internal/core/run";
import { createEmbeddedEngine } from "manyhands/internal/durable/sqlite/embedded-engine";
import { createArtifactStore } from "manyhands/internal/machine/workspace/artifact-store";
import { openWorkspace } from "manyhands/internal/machine/workspace/open-workspace";
import { authFile } from "manyhands/internal/server/open-shared";
import { cliForTest } from "../../testing/cli.ts";

const steps = 8;

/** A server of a home: each run stores a file, and writes to its workspace, in every step. */
function serverOf(home: string): Engine {
  const engine = createEmbeddedEngine({ path: join(home, "runs.db") });
  const artifacts = createArtifactStore(join(home, "artifacts"));
  const execute = async (run: Run) => {
    for (let n = 0; n < steps; n++)
      await run.step("s", async (step) => {
        const content = `${run.id} ${n} `.repeat(500);
        const file = await artifacts.put(new TextEncoder().encode(content), { name: "a.txt" });
        const { root } = await openWorkspace({ home, principal: "manus/local", contextId: run.contextId });
        await writeFile(join(root, `${n}.txt`), content);
        step.emit({ type: "artifact-added", artifactId: `${n}`, name: `${n}`, parts: [{ type: "file", ...file }] });
        await Bun.sleep(5);
        return n;
      });
    return null;
  };
  engine.work([{ kind: "manus", execute }]);
  return engine;
}

const start = async (engine: Engine, n: number) =>
  (await engine.start({ kind: "manus", input: null, principal: "local", contextId: `c${n}` })).run.id;

async function untilEnded(engine: Engine, ids: readonly string[]): Promise<void> {
  for (const id of ids) for await (const _ of engine.follow(id, { signal: AbortSignal.timeout(60_000) }));
}

test("a backup under load is whole: the restored home opens, its runs go on, every file it names is there", async () => {
  await using cli = await cliForTest({});
  const home = join(cli.cwd, ".manyhands");
  await mkdir(home, { mode: 0o711 });
  await writeFile(join(cli.cwd, "manyhands.toml"), '[llm]\nmodel = "m"\nbase_url = "http://127.0.0.1:9"\n');
  await writeFile(join(home, "card-key"), "secret", { mode: 0o600 });
  const tokens = openAuthStore(authFile(home));
  const secret = await tokens.add({ name: "laptop", principal: "ann", scopes: ["read"] });
  await tokens.close();
  const engine = serverOf(home);
  const ids: string[] = [];
  let isLoaded = true;
  const load = (async () => {
    while (isLoaded) {
      ids.push(await start(engine, ids.length));
      await Bun.sleep(10);
    }
  })();
  while (ids.length < 20) await Bun.sleep(5);
  const { root } = await openWorkspace({ home, principal: "manus/local", contextId: "c0" });
  await symlink("/nowhere", join(root, "link"));
  expect(await cli.run("backup", "home.tar.gz")).toBe(0);
  isLoaded = false;
  await load;
  expect(statSync(join(cli.cwd, "home.tar.gz")).mode & 0o777).toBe(0o600);
  expect((await readdir(cli.cwd)).filter((name) => name.startsWith("home.tar.gz"))).toEqual(["home.tar.gz"]);
  expect(await cli.run("backup", "home.tar.gz")).toBe(1);

  expect(await cli.run("restore", "home.tar.gz", "--replace")).toBe(1);
  expect(cli.said()).toContain("Servers are at work in");
  await untilEnded(engine, ids);
  await engine.close();
  expect(await cli.run("restore", "home.tar.gz")).toBe(1);
  expect(cli.said()).toContain("use --replace");
  await rm(home, { recursive: true });
  expect(await cli.run("restore", "home.tar.gz")).toBe(0);

  const restored = serverOf(home);
  const { runs } = await restored.list({ limit: 1_000 });
  expect(runs.length).toBeGreaterThanOrEqual(20);
  expect(runs.some(({ status }) => status !== "completed")).toBe(true);
  await untilEnded(
    restored,
    runs.map(({ id }) => id),
  );
  const artifacts = createArtifactStore(join(home, "artifacts"));
  for (const { id } of runs) {
    expect((await restored.get(id))?.status).toBe("completed");
    const stored = (await restored.events(id)).filter(({ event }) => event.type === "artifact-added");
    expect(stored).toHaveLength(steps);
    for (const { event } of stored) {
      const [{ sha256 }] = event.parts as unknown as [{ sha256: string }];
      const bytes = await (await artifacts.get(sha256))?.bytes();
      expect(new Bun.CryptoHasher("sha256").update(bytes ?? "").digest("hex")).toBe(sha256);
    }
  }
  await restored.close();
  const again = openAuthStore(authFile(home));
  expect((await again.list()).map(({ name }) => name)).toEqual(["laptop"]);
  expect(secret.length).toBeGreaterThan(8);
  await again.close();
  expect(await Bun.file(join(home, "card-key")).text()).toBe("secret");
  expect(statSync(join(home, "card-key")).mode & 0o777).toBe(0o600);
  expect(await Bun.file(join(home, "settings/manyhands.toml")).text()).toContain("[llm]");
}, 120_000);

test("what is no backup, or a damaged one, makes no home; a home that is replaced stays beside it", async () => {
  await using cli = await cliForTest({});
  const home = join(cli.cwd, ".manyhands");
  await mkdir(home);
  const engine = createEmbeddedEngine({ path: join(home, "runs.db") });
  await engine.start({ kind: "manus", input: null, principal: "local", contextId: "c" });
  await engine.close();
  expect(await cli.run("backup", "home.tgz")).toBe(0);
  await writeFile(join(home, "later"), "x");
  expect(await cli.run("restore", "home.tgz", "--replace")).toBe(0);
  const aside = (await readdir(cli.cwd)).filter((name) => name.startsWith(".manyhands.before-"));
  expect(aside).toHaveLength(1);
  expect([existsSync(join(home, "later")), existsSync(join(cli.cwd, aside[0] ?? "", "later"))]).toEqual([false, true]);
  await rm(home, { recursive: true });

  await writeFile(join(cli.cwd, "x"), "x");
  Bun.spawnSync(["tar", "-czf", join(cli.cwd, "other.tgz"), "-C", cli.cwd, "x"]);
  const whole = await Bun.file(join(cli.cwd, "home.tgz")).bytes();
  await writeFile(join(cli.cwd, "half.tgz"), whole.slice(0, whole.length / 2));
  for (const name of ["other.tgz", "half.tgz", "missing.tgz"]) {
    expect(await cli.run("restore", name)).toBeGreaterThan(0);
    expect(existsSync(home)).toBe(false);
  }
  expect((await readdir(cli.cwd)).filter((name) => name.includes("restoring"))).toEqual([]);
}, 60_000);
