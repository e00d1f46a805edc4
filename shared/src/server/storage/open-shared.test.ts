import { afterAll, expect, spyOn, test } from "bun:test";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { keyFiles, openHomeKeys, rotateHomeKey } from "../../a2a/signing/home-keys.ts";
import * as rowsOf from "../../cluster/shared-rows.ts";
import { noPostgres, postgresPrograms, startPostgres } from "../../testing/durable/postgres-process.ts";
import { skipped } from "../../testing/durable/skipped.ts";
import { showMountKey } from "../protocols/mount-key.ts";
import { openShared, openTokens } from "./open-shared.ts";

/** What machines share, as a double by whose names it is told; `read` is what the texts hold. */
function rowsFor(held: Readonly<Record<string, string>> = {}, sealed = true) {
  const changed: string[] = [];
  const closed: string[] = [];
  const text = (name: string) => ({
    name,
    read: async () => held[name],
    async change(next: (now: string | undefined) => string) {
      // Another machine has come first.
      changed.push(`${name}: ${next("theirs")}`);
    },
  });
  const rows = {
    text,
    secretText: (name: string) => (sealed ? text(name) : undefined),
    ...(sealed && { profiles: { name: "profiles" } }),
    tokens: { name: "tokens", close: async () => void closed.push("tokens") },
    ...{ memory: { name: "memory" }, requests: { name: "requests" }, shareLimits: { name: "limits" } },
    reseal: async () => [],
    close: async () => void closed.push("rows"),
  };
  const opening = spyOn(rowsOf, "openSharedRows").mockResolvedValue(rows as never);
  return { rows, changed, closed, [Symbol.dispose]: () => opening.mockRestore() };
}
const postgres = (home: string, secretKey?: string) => ({
  home,
  engine: {
    kind: "postgres",
    url: "postgres://x",
    schema: "m",
    connections: 1,
    otherSecretKeys: [],
    ...(secretKey && { secretKey }),
  } as const,
});

test("what machines share is in the rows of its own name, sealed or not, and all of it is closed", async () => {
  using at = rowsFor();
  const shared = await openShared(postgres(tmpdir(), "a secret"));
  const namesOf = Object.entries(shared).flatMap(([key, one]) =>
    typeof one === "object" && "name" in one ? [[key, one.name]] : [],
  );
  expect(Object.fromEntries(namesOf)).toEqual({
    ...{ agents: "agents", shares: "shares", schedules: "schedules", pins: "mcp-pins", skillPins: "skill-pins" },
    ...{
      credentials: "mcp-credentials",
      profiles: "profiles",
      mountKey: "mcp-mount-key",
      pushCallbackKey: "doorbell-key",
    },
    ...{ requests: "requests", shareLimits: "limits" },
  });
  const { current, former } = shared.signing;
  expect([current, former].map((one) => Reflect.get(one, "name"))).toEqual(["card-key", "former-card-keys"]);
  expect([shared.tokens(), shared.memory()]).toEqual([at.rows.tokens, at.rows.memory] as never);
  expect([shared.note, shared.reseal]).toEqual([undefined, at.rows.reseal]);
  await shared.close();
  const tokens = await openTokens(postgres(tmpdir(), "a secret"));
  await tokens.close();
  expect(at.closed).toEqual(["rows", "tokens", "rows"]);
});

test("without a secret key what is secret stays in the home, and the rest is shared", async () => {
  using _ = rowsFor({}, false);
  const shared = await openShared(postgres(tmpdir()));
  const named = Object.entries(shared).flatMap(([key, one]) => (typeof one === "object" && "name" in one ? [key] : []));
  expect(named.toSorted()).toEqual(["pins", "requests", "schedules", "shareLimits", "shares", "skillPins"]);
  expect([shared.note?.includes("engine.secret_key is not set"), shared.reseal]).toEqual([true, undefined]);
});

test("a home that comes later brings nothing in place of what is shared, and a start that fails closes the rows", async () => {
  const home = await mkdtemp(join(tmpdir(), "manyhands-shared-"));
  for (const [name, text] of [
    ["mcp-mount-key", "mine"],
    ["doorbell-key", "mine"],
  ] as const)
    await Bun.write(join(home, name), text);
  using at = rowsFor({ "doorbell-key": "theirs" });
  await openShared(postgres(home, "a secret"));
  expect(at.changed).toEqual(["mcp-mount-key: theirs"]);
  at.rows.secretText = (() => ({ read: () => Promise.reject(new Error("sealed otherwise")) })) as never;
  await expect(openShared(postgres(home, "a secret"))).rejects.toThrow("sealed otherwise");
  expect(at.closed).toEqual(["rows"]);
  await rm(home, { recursive: true });
});

if (postgresPrograms === undefined) skipped(noPostgres);
else {
  const [server, base] = await Promise.all([startPostgres(), mkdtemp(join(tmpdir(), "manyhands-shared-"))]);
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
    await rm(base, { recursive: true });
  });

  /** A machine of a system, with a home of its own. */
  async function machine(name: string, url: string, secretKey?: string) {
    const home = join(base, `${name}-${crypto.randomUUID()}`);
    const store = { url, schema: "manyhands", connections: 2, otherSecretKeys: [], ...(secretKey && { secretKey }) };
    const open = () => openShared({ home, engine: { kind: "postgres", ...store } });
    return { home, open };
  }
  const kidsOf = async (texts: Parameters<typeof openHomeKeys>[0]) =>
    (await (await openHomeKeys(texts)).ring()).map(({ publicKey }) => publicKey.kid);
  const secret = "a secret of all machines, 32 characters";

  test("machines sign with one key, the one of the home that came first, also after it was replaced", async () => {
    const url = await server.createDatabase();
    const [one, other] = [await machine("one", url, secret), await machine("other", url, secret)];
    const before = await kidsOf(keyFiles(one.home));
    await rotateHomeKey(keyFiles(one.home));
    await openHomeKeys(keyFiles(other.home));
    const [here, there] = [await one.open(), await other.open()];
    try {
      const ring = await kidsOf(here.signing);
      expect(ring).toHaveLength(2);
      expect(ring[1]).toBe(before[0] ?? "");
      expect(await kidsOf(there.signing)).toEqual(ring);
      const keys = await openHomeKeys(there.signing);
      const [next] = await rotateHomeKey(here.signing, { algorithm: "EdDSA" });
      for (const end = performance.now() + 30_000; (await keys.ring())[0].publicKey.kid !== next.publicKey.kid; ) {
        expect(performance.now()).toBeLessThan(end);
        await Bun.sleep(50);
      }
      // Who cannot ask signs on with what it knows.
      await server.stop();
      await Bun.sleep(1_100);
      expect((await keys.ring())[0].publicKey.kid).toBe(next.publicKey.kid);
      await server.start();
    } finally {
      await Promise.all([here.close(), there.close()]);
    }
  });

  test("one key of mounting is in the file of each home, and one key of notifications is shared", async () => {
    const url = await server.createDatabase();
    const [one, other] = [await machine("one", url, secret), await machine("other", url, secret)];
    await showMountKey(other.home, (await openShared({ home: other.home, engine: { kind: "embedded" } })).mountKey);
    const [here, there] = [await one.open(), await other.open()];
    try {
      await Promise.all([showMountKey(one.home, here.mountKey), showMountKey(other.home, there.mountKey)]);
      const keys = await Promise.all([one, other].map(({ home }) => readFile(join(home, "mcp-mount-key"), "utf8")));
      expect(keys[0]).toBe(keys[1] ?? "");
      await here.pushCallbackKey.change((now) => now ?? "the bell");
      expect(await there.pushCallbackKey.read()).toBe("the bell");
    } finally {
      await Promise.all([here.close(), there.close()]);
    }
  });

  test("without a secret key each home has keys of its own, and the start says so", async () => {
    const url = await server.createDatabase();
    const [one, other] = [await machine("one", url), await machine("other", url)];
    const [here, there] = [await one.open(), await other.open()];
    try {
      expect(await kidsOf(here.signing)).not.toEqual(await kidsOf(there.signing));
      expect(here.note).toContain("engine.secret_key is not set");
    } finally {
      await Promise.all([here.close(), there.close()]);
    }
  });
}
