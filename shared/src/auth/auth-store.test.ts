import { Database } from "bun:sqlite";
import { afterAll, expect, test } from "bun:test";
import { mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { callerNamed } from "../core/caller.ts";
import { openAuthStore } from "./auth-store.ts";

const folder = await mkdtemp(join(tmpdir(), "manyhands-auth-"));
afterAll(() => rm(folder, { recursive: true }));
const fresh = () => join(folder, crypto.randomUUID(), "auth.db");
const alice = { name: "laptop", principal: "alice", scopes: ["read", "run"] } as const;

test("a token lets its principal in until it is revoked, in every process that has the home open", () => {
  const path = fresh();
  const [one, other] = [openAuthStore(path), openAuthStore(path)];
  expect(other.find("mh_unknown")).toBeUndefined();
  const secret = one.add(alice);
  expect(other.find(secret)).toEqual(callerNamed("alice", ["read", "run"]));
  one.revoke("laptop");
  expect(other.find(secret)).toBeUndefined();
  expect(() => one.revoke("laptop")).toThrow("no token");
  one.close();
  other.close();
});

test("no file holds a secret, and nobody else can read the files", async () => {
  const path = fresh();
  const store = openAuthStore(path);
  const secret = store.add(alice);
  for (const name of await readdir(join(path, ".."))) {
    const file = join(path, "..", name);
    const bytes = Buffer.from(await Bun.file(file).arrayBuffer());
    expect(bytes.includes(secret)).toBe(false);
    expect((await stat(file)).mode & 0o077).toBe(0);
  }
  expect(JSON.stringify(store.list())).not.toContain(secret);
  store.close();
});

test("a token expires, and its last use is known to the minute", () => {
  let now = 1_000_000;
  const store = openAuthStore(fresh(), () => now);
  const secret = store.add({ ...alice, lifeMs: 200_000 });
  expect(store.list()).toEqual([
    { name: "laptop", principal: "alice", scopes: ["read", "run"], createdAt: 1_000_000, expiresAt: 1_200_000 },
  ]);
  store.find(secret);
  now += 59_000;
  store.find(secret);
  expect(store.list()[0]?.usedAt).toBe(1_000_000);
  now += 1_000;
  store.find(secret);
  expect(store.list()[0]?.usedAt).toBe(1_060_000);
  now = 1_199_999;
  expect(store.find(secret)).toBeDefined();
  now = 1_200_000;
  expect(store.find(secret)).toBeUndefined();
  store.close();
});

test("a name is taken once, and a principal may have several tokens, so that one can follow another", () => {
  const store = openAuthStore(fresh());
  const first = store.add(alice);
  expect(() => store.add(alice)).toThrow("already");
  const second = store.add({ ...alice, name: "laptop-2" });
  store.revoke("laptop");
  expect([store.find(first), store.find(second)?.principal]).toEqual([undefined, "alice"]);
  store.close();
});

test("a session lasts for its time or until its end, and is no token", () => {
  let now = 0;
  const store = openAuthStore(fresh(), () => now);
  const [one, other] = ["alice", "bob"].map((name) => store.signIn(callerNamed(name, ["read"]), 10));
  expect(store.session(one ?? "")).toEqual(callerNamed("alice", ["read"]));
  expect(store.find(one ?? "")).toBeUndefined();
  store.signOut(one ?? "");
  expect([store.session(one ?? ""), store.session(other ?? "")?.principal]).toEqual([undefined, "bob"]);
  now = 10;
  expect(store.session(other ?? "")).toBeUndefined();
  expect(() => store.signIn(callerNamed("local", []), 10)).toThrow("operator");
  store.close();
});

test("nobody becomes the operator by a token", () => {
  const store = openAuthStore(fresh());
  expect(() => store.add({ ...alice, principal: "local" })).toThrow("operator");
  expect(() => store.add({ ...alice, principal: "two words" })).toThrow("ASCII");
  store.close();
});

test("a secret has 256 bits and is safe in a header, and sessions that ended do not stay in the file", () => {
  const path = fresh();
  let now = 0;
  const store = openAuthStore(path, () => now);
  const secrets = [store.add(alice), store.signIn(callerNamed("alice"), 10), store.signIn(callerNamed("bob"), 20)];
  for (const secret of secrets) expect(secret).toMatch(/^mh_[\w-]{43}$/);
  expect(new Set(secrets).size).toBe(3);
  now = 10;
  store.signIn(callerNamed("carol"), 10);
  const db = new Database(path);
  const kept = db.query<{ principal: string }, []>("SELECT principal FROM sessions ORDER BY principal").all();
  db.close();
  expect(kept.map(({ principal }) => principal)).toEqual(["bob", "carol"]);
  store.close();
});
