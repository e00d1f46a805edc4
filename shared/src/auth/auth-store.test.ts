import { Database } from "bun:sqlite";
import { afterAll, expect, spyOn, test } from "bun:test";
import { mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { callerNamed } from "../core/caller.ts";
import { openAuthStore, scopesOf } from "./auth-store.ts";

const folder = await mkdtemp(join(tmpdir(), "manyhands-auth-"));
afterAll(() => rm(folder, { recursive: true }));
const fresh = () => join(folder, crypto.randomUUID(), "auth.db");
const alice = { name: "laptop", principal: "alice", scopes: ["read", "run"] } as const;

test("a token lets its principal in until it is revoked, in every process that has the home open", async () => {
  const path = fresh();
  const [one, other] = [openAuthStore(path), openAuthStore(path)];
  expect(await other.find("mh_unknown")).toBeUndefined();
  const secret = await one.add(alice);
  expect(await other.find(secret)).toEqual(callerNamed("alice", ["read", "run"]));
  await one.revoke("laptop");
  expect(await other.find(secret)).toBeUndefined();
  await expect(one.revoke("laptop")).rejects.toThrow("no token");
  await one.close();
  await other.close();
});

test("a process that writes is waited for, and who reads waits for nobody", async () => {
  using ran = spyOn(Database.prototype, "run");
  await openAuthStore(fresh()).close();
  const said = ran.mock.calls.map(([statement]) => statement);
  expect(said).toEqual(expect.arrayContaining(["PRAGMA busy_timeout = 1000", "PRAGMA journal_mode = WAL"]));
});

test("every token is listed, by name, and each is let in by its own secret with its own scopes", async () => {
  const store = openAuthStore(fresh());
  const robot = await store.add({ name: "robot", principal: "bob", scopes: ["read"] });
  const laptop = await store.add(alice);
  expect((await store.list()).map(({ name, principal }) => [name, principal])).toEqual([
    ["laptop", "alice"],
    ["robot", "bob"],
  ]);
  expect([await store.find(robot), await store.find(laptop)]).toEqual([
    callerNamed("bob", ["read"]),
    callerNamed("alice", ["read", "run"]),
  ]);
  await store.revoke("robot");
  expect([await store.find(robot), (await store.list()).length]).toEqual([undefined, 1]);
  await store.close();
});

test("no file holds a secret, and nobody else can read the files", async () => {
  const path = fresh();
  const store = openAuthStore(path);
  const secret = await store.add(alice);
  for (const name of await readdir(join(path, ".."))) {
    const file = join(path, "..", name);
    const bytes = Buffer.from(await Bun.file(file).arrayBuffer());
    expect(bytes.includes(secret)).toBe(false);
    expect((await stat(file)).mode & 0o077).toBe(0);
  }
  expect(Object.keys((await store.list())[0] ?? {})).toEqual(["name", "principal", "scopes", "createdAt"]);
  expect(JSON.stringify(await store.list())).not.toContain(secret);
  await store.close();
});

test("a token expires, and its last use is known to the minute", async () => {
  let now = 1_000_000;
  const store = openAuthStore(fresh(), () => now);
  const secret = await store.add({ ...alice, lifeMs: 200_000 });
  expect(await store.list()).toEqual([
    { name: "laptop", principal: "alice", scopes: ["read", "run"], createdAt: 1_000_000, expiresAt: 1_200_000 },
  ]);
  await store.find(secret);
  now += 59_000;
  await store.find(secret);
  expect((await store.list())[0]?.usedAt).toBe(1_000_000);
  now += 1_000;
  await store.find(secret);
  expect((await store.list())[0]?.usedAt).toBe(1_060_000);
  now = 1_199_999;
  expect(await store.find(secret)).toBeDefined();
  now = 1_200_000;
  expect(await store.find(secret)).toBeUndefined();
  await store.close();
});

test("a name is taken once, and a principal may have several tokens, so that one can follow another", async () => {
  const store = openAuthStore(fresh());
  const first = await store.add(alice);
  await expect(store.add(alice)).rejects.toThrow("already");
  const second = await store.add({ ...alice, name: "laptop-2" });
  await store.revoke("laptop");
  expect([await store.find(first), (await store.find(second))?.principal]).toEqual([undefined, "alice"]);
  await store.close();
});

test("a name is taken once also by two that add it at the same moment, and readers do not wait for writers", async () => {
  const path = fresh();
  const store = openAuthStore(path);
  await store.add(alice);
  const db = new Database(path);
  const again =
    "INSERT INTO tokens (hash, name, principal, scopes, created) SELECT x'00', name, principal, scopes, 0 FROM tokens";
  expect(() => db.run(again)).toThrow("UNIQUE");
  expect(db.query("PRAGMA journal_mode").get()).toEqual({ journal_mode: "wal" });
  db.close();
  await store.close();
});

test("a scope that only begins as one of ours is none", () => {
  expect(["read run", "reader run", "administrator", ""].map((scopes) => scopesOf({ scopes }))).toEqual([
    ["read", "run"],
    ["run"],
    [],
    [],
  ]);
});

test("a session lasts for its time or until its end, and is no token", async () => {
  let now = 0;
  const store = openAuthStore(fresh(), () => now);
  const [one, other] = await Promise.all(["alice", "bob"].map((name) => store.signIn(callerNamed(name, ["read"]), 10)));
  expect(await store.session(one ?? "")).toEqual(callerNamed("alice", ["read"]));
  expect(await store.find(one ?? "")).toBeUndefined();
  await store.signOut(one ?? "");
  expect([await store.session(one ?? ""), (await store.session(other ?? ""))?.principal]).toEqual([undefined, "bob"]);
  now = 10;
  expect(await store.session(other ?? "")).toBeUndefined();
  await expect(store.signIn(callerNamed("local", []), 10)).rejects.toThrow("operator");
  await store.close();
});

test("nobody becomes the operator by a token", async () => {
  const store = openAuthStore(fresh());
  await expect(store.add({ ...alice, principal: "local" })).rejects.toThrow("operator");
  await expect(store.add({ ...alice, principal: "two words" })).rejects.toThrow("ASCII");
  await store.close();
});

test("a secret has 256 bits and is safe in a header, and sessions that ended do not stay in the file", async () => {
  const path = fresh();
  let now = 0;
  const store = openAuthStore(path, () => now);
  const secrets = [
    await store.add(alice),
    await store.signIn(callerNamed("alice"), 10),
    await store.signIn(callerNamed("bob"), 20),
  ];
  for (const secret of secrets) expect(secret).toMatch(/^mh_[\w-]{43}$/);
  expect(new Set(secrets).size).toBe(3);
  now = 10;
  await store.signIn(callerNamed("carol"), 10);
  const db = new Database(path);
  const kept = db.query<{ principal: string }, []>("SELECT principal FROM sessions ORDER BY principal").all();
  db.close();
  expect(kept.map(({ principal }) => principal)).toEqual(["bob", "carol"]);
  await store.close();
});
