import { Database } from "bun:sqlite";
import { expect, spyOn, test } from "bun:test";
import { existsSync, statSync } from "node:fs";
import * as files from "node:fs/promises";
import { chmod, mkdir, mkdtemp, readdir, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { openAuthStore } from "manyhands/internal/auth/auth-store";
import type { Engine } from "manyhands/internal/core/runs/engine";
import type { Run } from "manyhands/internal/core/runs/run";
import { createEmbeddedEngine } from "manyhands/internal/durable/sqlite/embedded-engine";
import { createArtifactStore } from "manyhands/internal/machine/workspace/artifacts/artifact-store";
import { openWorkspace } from "manyhands/internal/machine/workspace/open-workspace";
import { authFile } from "manyhands/internal/server/storage/open-shared";
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

test("a file that is not a backup, or is damaged, makes no home; a home that is replaced stays beside it", async () => {
  await using cli = await cliForTest({});
  const home = join(cli.cwd, ".manyhands");
  await mkdir(home);
  const engine = createEmbeddedEngine({ path: join(home, "runs.db") });
  await engine.start({ kind: "manus", input: null, principal: "local", contextId: "c" });
  await engine.close();
  expect(await cli.run("backup", "home.tgz")).toBe(0);
  await writeFile(join(home, "later"), "x");
  expect(await cli.run("restore", "home.tgz", "--replace")).toBe(0);
  // Tool processes of other users pass through it to their workspaces.
  expect(statSync(home).mode & 0o777).toBe(0o711);
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

/** A home with a run, whose store is open in a server. */
async function homeWithRun(cwd: string) {
  const home = join(cwd, ".manyhands");
  await mkdir(home, { mode: 0o711 });
  const engine = createEmbeddedEngine({ path: join(home, "runs.db") });
  await engine.start({ kind: "manus", input: null, principal: "local", contextId: "c" });
  return { home, engine };
}

test("what a backup or a restoring left that was killed is removed by the next, with the keys that are in it", async () => {
  await using cli = await cliForTest({});
  const { home, engine } = await homeWithRun(cli.cwd);
  await engine.close();
  const ended = Bun.spawn(["true"]);
  await ended.exited;
  const left = (purpose: string, pid: number) => join(cli.cwd, `${purpose}-${pid}-5-0123abcd`);
  const purposes = [".manyhands-backup", `${basename(home)}.restoring`];
  for (const purpose of purposes) await Bun.write(join(left(purpose, ended.pid), "auth.db"), "keys");
  expect(await cli.run("backup", "home.tgz")).toBe(0);
  expect(await cli.run("restore", "home.tgz", "--replace")).toBe(0);
  expect(purposes.map((purpose) => existsSync(left(purpose, ended.pid)))).toEqual([false, false]);
});

test("a backup has each database once, as it was copied, and nothing that belongs to a process or is on its way", async () => {
  await using cli = await cliForTest({});
  const { home, engine } = await homeWithRun(cli.cwd);
  const notKept = [
    ...["logs/a.log", "browser/1/x", "workspaces/.leaving/x", "artifacts/arriving/x", "artifacts/leaving/x"],
    // A program whose home it is too, a file system, and backups leave these.
    ...[".cache/x", "lost+found/x", "backups/old.tgz"],
  ];
  const kept = ["workspaces/a/files/x", "artifacts/ab/x", "agents.json"];
  for (const name of [...notKept, ...kept]) await Bun.write(join(home, name), "x");
  for (const name of ["auth.db", "memory.db"]) new Database(join(home, name)).run("CREATE TABLE t (x)");
  for (const [name, text] of [
    ["manyhands.toml", '[mcp]\nfile = "servers.json"\n'],
    ["servers.json", "{}"],
  ] as const)
    await Bun.write(join(cli.cwd, name), text);
  expect(existsSync(join(home, "runs.db-wal"))).toBe(true);
  expect(await cli.run("backup", "home.tgz")).toBe(0);
  await engine.close();
  const listed = Bun.spawnSync(["tar", "-tzf", join(cli.cwd, "home.tgz")])
    .stdout.toString()
    .trim()
    .split("\n");
  const files = listed.filter((name) => !name.endsWith("/")).map((name) => name.slice(2));
  const copied = ["runs.db", "auth.db", "memory.db", "settings/manyhands.toml", "settings/servers.json"];
  expect(files.toSorted()).toEqual([...kept, "backup.json", ...copied].toSorted());
  await writeFile(join(home, "memory.db"), "no database".repeat(1000));
  expect(await cli.run("backup", "again.tgz")).toBe(1);
  expect(cli.said()).toContain(`${join(home, "memory.db")} cannot be used: it is not a database, or damaged`);
});

test("where the home is all that can be written, its backups have a folder that none of them holds", async () => {
  await using cli = await cliForTest({});
  const { home, engine } = await homeWithRun(cli.cwd);
  await engine.close();
  await mkdir(join(home, "deeper"));
  for (const file of ["home.tgz", "deeper/home.tgz"]) {
    expect(await cli.run("backup", join(home, file))).toBe(2);
    expect(cli.said()).toContain(`Write it to ${join(home, "backups")}`);
  }
  const file = join(home, "backups", "home.tgz");
  expect(await cli.run("backup", file)).toBe(0);
  expect(statSync(join(home, "backups")).mode & 0o777).toBe(0o700);
  const listed = Bun.spawnSync(["tar", "-tzf", file]).stdout.toString().split("\n");
  expect(listed.filter((name) => name.includes("backup"))).toEqual(["./backup.json"]);
  // A new home that has received nothing else is empty.
  const fresh = join(cli.cwd, "fresh");
  await mkdir(join(fresh, "backups"), { recursive: true });
  await files.copyFile(file, join(fresh, "backups", "home.tgz"));
  await writeFile(join(cli.cwd, "manyhands.toml"), `home = ${JSON.stringify(fresh)}\n`);
  expect(await cli.run("restore", join(fresh, "backups", "home.tgz"))).toBe(0);
  expect(await readdir(fresh)).toContain("runs.db");
});

test("what set-up installed in a home and its backups stay where they are when the home is restored", async () => {
  await using cli = await cliForTest({});
  const { home, engine } = await homeWithRun(cli.cwd);
  await engine.close();
  const file = join(home, "backups", "home.tgz");
  expect(await cli.run("backup", file)).toBe(0);
  const libraries = join(home, "python", "numpy");
  await Bun.write(libraries, "x");
  expect(await cli.run("restore", file, "--replace")).toBe(0);
  expect([libraries, file].map((path) => existsSync(path))).toEqual([true, true]);
  const aside = (await readdir(cli.cwd)).filter((name) => name.includes(".before-"));
  expect(await readdir(join(cli.cwd, `${aside}`))).toEqual(["runs.db"]);
  // Where set-up came first there is nothing yet to be moved aside.
  await rm(join(home, "runs.db"));
  await rm(join(home, "backup.json"));
  await rm(join(home, "settings"), { recursive: true });
  expect(await cli.run("restore", file)).toBe(0);
  expect(existsSync(libraries)).toBe(true);
  expect((await readdir(cli.cwd)).filter((name) => name.includes(".before-"))).toEqual(aside);
});

test("a home whose folder cannot be replaced gets its contents, which only its owner may read, from a backup", async () => {
  await using cli = await cliForTest({});
  const { home, engine } = await homeWithRun(cli.cwd);
  await engine.close();
  await openAuthStore(authFile(home)).close();
  await writeFile(join(cli.cwd, "manyhands.toml"), "");
  expect(await cli.run("backup", "home.tgz")).toBe(0);
  // The cache of a program whose home it is too is no home of ours.
  await rm(home, { recursive: true });
  await Bun.write(join(home, ".bun/cache"), "x");
  const parent = (await stat(cli.cwd)).dev;
  using looking = spyOn(files, "stat").mockImplementation((async (path: string) => ({
    dev: path === home ? parent + 1 : parent,
  })) as never);
  expect(await cli.run("restore", "home.tgz")).toBe(0);
  await writeFile(join(home, "later"), "x");
  expect(await cli.run("restore", "home.tgz")).toBe(1);
  expect(await cli.run("restore", "home.tgz", "--replace")).toBe(0);
  looking.mockRestore();
  const aside = (await readdir(home)).filter((name) => name.startsWith(".before-"));
  expect(aside.map((name) => existsSync(join(home, name, "later")))).toEqual([true]);
  expect((await readdir(home)).filter((name) => !name.startsWith(".")).toSorted()).toEqual(
    ["auth.db", "backup.json", "runs.db", "settings"].toSorted(),
  );
  const modes = ["runs.db", "auth.db", "settings"].map((name) => statSync(join(home, name)).mode & 0o777);
  expect(modes).toEqual([0o600, 0o600, 0o700]);
  expect(await cli.run("backup", "again.tgz")).toBe(0);
  const listed = Bun.spawnSync(["tar", "-tzf", join(cli.cwd, "again.tgz")]).stdout.toString();
  expect(listed).not.toContain(".before-");
});

test("a damaged store, or one that is to go into PostgreSQL, is not restored", async () => {
  await using cli = await cliForTest({});
  const { home, engine } = await homeWithRun(cli.cwd);
  await engine.close();
  expect(await cli.run("backup", "home.tgz")).toBe(0);
  await rm(home, { recursive: true });
  const unpacked = join(cli.cwd, "unpacked");
  await mkdir(unpacked);
  Bun.spawnSync(["tar", "-xzf", join(cli.cwd, "home.tgz"), "-C", unpacked]);
  const store = await Bun.file(join(unpacked, "runs.db")).bytes();
  await writeFile(join(unpacked, "runs.db"), store.slice().fill(0xff, 4_096, 12_288));
  Bun.spawnSync(["tar", "-czf", join(cli.cwd, "damaged.tgz"), "-C", unpacked, "."]);
  expect(await cli.run("restore", "damaged.tgz")).toBe(2);
  expect([cli.said(), existsSync(home)]).toEqual([expect.stringContaining("is damaged"), false]);
  await writeFile(join(unpacked, "runs.db"), store);
  const about = await Bun.file(join(unpacked, "backup.json")).json();
  // What a later release writes in another way is not taken for what this one reads.
  for (const manifest of ["", JSON.stringify({ ...about, format: 2 })]) {
    await writeFile(join(unpacked, "backup.json"), manifest);
    Bun.spawnSync(["tar", "-czf", join(cli.cwd, "other.tgz"), "-C", unpacked, "."]);
    expect(await cli.run("restore", "other.tgz")).toBe(2);
    expect([cli.said(), existsSync(home)]).toEqual([expect.stringContaining("is not a backup of a home"), false]);
  }
  await writeFile(join(cli.cwd, "manyhands.toml"), '[engine]\nkind = "postgres"\nurl = "postgres://127.0.0.1:9/x"\n');
  expect(await cli.run("restore", "home.tgz")).toBe(2);
  expect([cli.said(), existsSync(home)]).toEqual([expect.stringContaining("pg_restore"), false]);
});

test("a home in which servers start while its backup is unpacked is left to them", async () => {
  await using cli = await cliForTest({});
  const { home, engine } = await homeWithRun(cli.cwd);
  await engine.close();
  expect(await cli.run("backup", "home.tgz")).toBe(0);
  // Reading it waits for who writes it.
  Bun.spawnSync(["mkfifo", join(cli.cwd, "slow.tgz")]);
  const restoring = cli.run("restore", "slow.tgz", "--replace");
  const isUnpacking = async () => (await readdir(cli.cwd)).some((name) => name.includes("restoring"));
  for (const end = Date.now() + 60_000; !(await isUnpacking()) && Date.now() < end; ) await Bun.sleep(5);
  const server = serverOf(home);
  const pipe = Bun.spawn(["cp", join(cli.cwd, "home.tgz"), join(cli.cwd, "slow.tgz")]);
  expect(await restoring).toBe(1);
  await pipe.exited;
  expect(cli.said()).toContain("Servers are at work in");
  expect((await readdir(cli.cwd)).filter((name) => /before|restoring/.test(name))).toEqual([]);
  await server.close();
});

test("an archive that tar cannot write or read whole is a failure, with what tar said", async () => {
  const folder = await mkdtemp(join(tmpdir(), "manyhands-tar-"));
  await Bun.write(
    join(folder, "tar"),
    "#!/bin/sh\nprintf 'no space left\\ntar: Error is not recoverable: exiting now\\n' >&2; exit 2\n",
  );
  await chmod(join(folder, "tar"), 0o755);
  // The PATH of a process is read when it starts.
  const code = `import { readTar, writeTar } from ${JSON.stringify(join(import.meta.dir, "tar.ts"))};
    const told = (work) => work.then(() => "done", (error) => error.code + " " + error.message);
    const source = { folder: process.cwd(), entries: ["tar"] };
    console.log(await told(writeTar("a.tgz", [source], [])));
    console.log(await told(readTar("a.tgz", process.cwd())));`;
  const child = Bun.spawn([process.execPath, "-e", code], { cwd: folder, env: { PATH: folder }, stdout: "pipe" });
  expect((await child.stdout.text()).trim().split("\n")).toEqual([
    "unavailable tar could not write a.tgz: no space left",
    "unavailable tar could not read a.tgz: no space left",
  ]);
  await rm(folder, { recursive: true });
});
