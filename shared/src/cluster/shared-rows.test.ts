import { afterAll, describe, expect, spyOn, test } from "bun:test";
import { callerNamed } from "../core/caller.ts";
import { silentLog } from "../core/runs/engine.ts";
import { Database } from "../durable/postgres/database.ts";
import { systemClock } from "../models/clock.ts";
import { createLimiter } from "../models/limiter.ts";
import { createQuotas } from "../runs/quotas.ts";
import { noPostgres, postgresPrograms, startPostgres } from "../testing/durable/postgres-process.ts";
import { until } from "../testing/durable/until.ts";
import { authRows } from "./auth-rows.ts";
import { openSharedRows } from "./shared-rows.ts";

if (postgresPrograms === undefined) console.warn(noPostgres);

test("a database that cannot be brought up to date is left", async () => {
  using closing = spyOn(Database.prototype, "close");
  const away = openSharedRows({ url: "postgres://127.0.0.1:1/none", schema: "manyhands", log: silentLog });
  await expect(away).rejects.toMatchObject({ code: "storage_unavailable" });
  expect(closing).toHaveBeenCalledTimes(1);
});

const closing = <T extends { close(): Promise<void> }>(rows: T) => ({ ...rows, [Symbol.asyncDispose]: rows.close });

const secretKey = "a key that everybody here knows, 32+";

describe.skipIf(postgresPrograms === undefined)("what two processes share in a database", async () => {
  const server = postgresPrograms === undefined ? undefined : await startPostgres();
  const url = (await server?.createDatabase()) ?? "";
  afterAll(() => server?.[Symbol.asyncDispose]());

  /** Two processes, as far as the database can tell. */
  async function two() {
    const open = (key = secretKey, otherSecretKeys: string[] = []) =>
      openSharedRows({ url, schema: "manyhands", log: silentLog, secretKey: key, otherSecretKeys });
    const [one, other] = await Promise.all([open(), open()]);
    const sql = new Bun.SQL({ url, max: 1, connection: { search_path: "manyhands" } });
    return {
      one,
      other,
      sql,
      open,
      url,
      async [Symbol.asyncDispose]() {
        await Promise.all([one.close(), other.close(), sql.close({ timeout: 0 })]);
        await server?.emptyDatabase(url);
      },
    };
  }

  test("a text changes for both at once, and no change is lost", async () => {
    await using pair = await two();
    const [mine, theirs] = [pair.one.text("counter"), pair.other.text("counter")];
    expect([await mine.read(), await mine.version()]).toEqual([undefined, ""]);
    const count = (text: string | undefined) => String(Number(text ?? 0) + 1);
    await Promise.all(Array.from({ length: 10 }, (_, n) => (n % 2 === 0 ? mine : theirs).change(count)));
    expect([await mine.read(), await theirs.read()]).toEqual(["10", "10"]);
    const before = await theirs.version();
    await mine.change(count);
    expect(await theirs.version()).not.toBe(before);
    // A text that is again what it was has changed since.
    const versions = [];
    for (const body of ["10", "9", "10"]) {
      await mine.change(() => body);
      versions.push(await theirs.version());
    }
    expect(new Set(versions).size).toBe(3);
    await mine.change(() => "11");
    await expect(
      mine.change(() => {
        throw new Error("no");
      }),
    ).rejects.toThrow("no");
    expect(await theirs.read()).toBe("11");
  });

  test("a secret text is nowhere in the clear, and opens only with its key and under its name", async () => {
    await using pair = await two();
    await pair.one.secretText("agents")?.change(() => "the-token");
    expect(await pair.other.secretText("agents")?.read()).toBe("the-token");
    const rows = await pair.sql`SELECT * FROM kept_texts`;
    expect(JSON.stringify(rows)).not.toContain("the-token");
    expect(Buffer.from(rows[0].body, "base64").includes("the-token")).toBe(false);
    await pair.sql`INSERT INTO kept_texts SELECT 'mcp-credentials', body, version FROM kept_texts`;
    await expect(pair.other.secretText("mcp-credentials")?.read()).rejects.toThrow("another key");
    const stranger = await pair.open("other");
    await expect(stranger.secretText("agents")?.read()).rejects.toMatchObject({
      code: "config_invalid",
      message: expect.stringContaining("MANYHANDS_ENGINE_SECRET_KEY"),
    });
    await expect(stranger.secretText("agents")?.change(() => "mine")).rejects.toThrow("another key");
    expect(await pair.other.secretText("agents")?.read()).toBe("the-token");
    await stranger.close();
    const keyless = await openSharedRows({ url: pair.url, schema: "manyhands", log: silentLog });
    expect(keyless.secretText("agents")).toBeUndefined();
    await keyless.close();
  });

  test("browser profiles are sealed rows that come and go, for all that share the database", async () => {
    await using pair = await two();
    const [mine, theirs] = [pair.one.profiles, pair.other.profiles];
    await mine?.text("ada/profile-main").change(() => "sesame");
    await mine?.text("bob/profile-main").change(() => "other");
    await mine?.text("eve/browser-profiles/ada/profile").change(() => "not Ada's");
    expect(await theirs?.names("ada/")).toEqual(["ada/profile-main"]);
    await mine?.text("ada/a-profile").change(() => "earlier in the alphabet");
    expect(await theirs?.names("ada/")).toEqual(["ada/a-profile", "ada/profile-main"]);
    await theirs?.remove("ada/a-profile");
    expect(await theirs?.remove("ada/profile")).toBe(false);
    await theirs?.remove("eve/browser-profiles/ada/profile");
    expect(await theirs?.text("ada/profile-main").read()).toBe("sesame");
    expect(JSON.stringify(await pair.sql`SELECT * FROM kept_texts`)).not.toContain("sesame");
    expect(await pair.one.reseal()).toEqual(["browser-profiles/ada/profile-main", "browser-profiles/bob/profile-main"]);
    expect(await theirs?.remove("ada/profile-main")).toBe(true);
    expect(await theirs?.remove("ada/profile-main")).toBe(false);
    expect(await mine?.names("")).toEqual(["bob/profile-main"]);
  });

  test("a profile is removed when whoever changes it is done", async () => {
    await using pair = await two();
    await pair.one.profiles?.text("ann/p").change(() => "kept");
    let removing: Promise<unknown> | undefined;
    await pair.sql.begin(async (held) => {
      await held`SELECT pg_advisory_xact_lock(hashtextextended('browser-profiles/ann/p', 6))`;
      removing = pair.other.profiles?.remove("ann/p");
      const waits = async () => (await held`SELECT 1 FROM pg_locks WHERE NOT granted`).length > 0;
      const first = [removing?.then(() => "removed"), until(waits).then(() => "waits")];
      expect(await Promise.race(first)).toBe("waits");
    });
    expect(await removing).toBe(true);
  });

  test("while one key replaces another both open, the new one seals, and what is sealed anew needs no other", async () => {
    await using pair = await two();
    const next = "the key that comes after it, 32 characters";
    await pair.one.secretText("agents")?.change(() => "known");
    // Those that still seal with the former key open also what those ahead of them seal.
    await using ahead = closing(await pair.open(next, [secretKey]));
    await using behind = closing(await pair.open(secretKey, [next]));
    expect(await ahead.secretText("agents")?.read()).toBe("known");
    await ahead.secretText("card-key")?.change(() => "the-key");
    expect(await behind.secretText("card-key")?.read()).toBe("the-key");
    await expect(pair.one.secretText("card-key")?.read()).rejects.toThrow("another key");
    expect(await ahead.reseal()).toEqual(["agents", "card-key"]);
    const others = ["mcp-credentials", "former-card-keys", "mcp-mount-key", "doorbell-key"] as const;
    for (const name of others) await behind.secretText(name)?.change(() => name);
    expect((await ahead.reseal()).toSorted()).toEqual(["agents", "card-key", ...others].toSorted());
    await using alone = closing(await pair.open(next));
    expect([await alone.secretText("agents")?.read(), await alone.secretText("card-key")?.read()]).toEqual([
      "known",
      "the-key",
    ]);
    await expect(pair.one.secretText("agents")?.read()).rejects.toThrow("another key");
  });

  test("what another process changes while it is sealed anew stays changed", async () => {
    await using pair = await two();
    const text = pair.one.secretText("agents");
    await text?.change(() => "before");
    await using sql = new Bun.SQL({ url: pair.url, max: 1, connection: { search_path: "manyhands" } });
    const waiting = async (count: number) =>
      (await pair.sql`SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted`).length === count;
    let done: Promise<unknown> | undefined;
    await sql.begin(async (held) => {
      await held`SELECT pg_advisory_xact_lock(hashtextextended('agents', 6))`;
      const changed = pair.other.secretText("agents")?.change(() => "after");
      await until(() => waiting(1));
      // By then it has read what is there.
      done = Promise.all([changed, pair.one.reseal()]);
      await until(() => waiting(2));
    });
    await done;
    expect(await text?.read()).toBe("after");
  });

  test("work done alone may change its text meanwhile, and so may others", async () => {
    await using pair = await two();
    const [mine, theirs] = [pair.one.text("credentials"), pair.other.text("credentials")];
    await mine.alone("a", async () => {
      await mine.change(() => "mine");
      await theirs.change((now) => `${now} and theirs`);
    });
    expect(await mine.read()).toBe("mine and theirs");
    // However many wait for their turn, those whose turn it is get to the database.
    const added = () => mine.alone("a", () => mine.change((now) => `${now}!`));
    await Promise.all(Array.from({ length: 6 }, added));
    expect(await theirs.read()).toBe("mine and theirs!!!!!!");
  });

  test("when a token was used last is kept to the minute, for that token alone", async () => {
    await using pair = await two();
    const database = new Database({ url: pair.url, schema: "manyhands", connections: 1, log: silentLog });
    const tokens = authRows(database, silentLog);
    const [secret] = [
      await tokens.add({ name: "one", principal: "alice", scopes: [] }),
      await tokens.add({ name: "other", principal: "alice", scopes: [] }),
    ];
    /**
     * How long ago the tokens were used, after the first is used again so long after its last use.
     */
    const used = async (agoMs: number) => {
      await database.query("UPDATE tokens SET used = now_ms() - $1::bigint", [agoMs]);
      await tokens.find(secret);
      // Statements of one connection are carried out in turn.
      const rows = await database.query<{ ago: string }>("SELECT now_ms() - used AS ago FROM tokens ORDER BY name");
      return rows.map(({ ago }) => Math.round(Number(ago) / 10_000) * 10);
    };
    expect([await used(50_000), await used(70_000)]).toEqual([
      [50, 50],
      [0, 70],
    ]);
    await database.close();
  });

  test("a token and a session let nobody in from the moment at which they are over, and until then they do", async () => {
    await using pair = await two();
    const { tokens } = pair.one;
    const secret = await tokens.add({ name: "t", principal: "alice", scopes: [], lifeMs: 60_000 });
    const session = await tokens.signIn(callerNamed("bob", []), 60_000);
    await tokens.signIn(callerNamed("bob", []), 60_000);
    const found = async () => [(await tokens.find(secret))?.principal, (await tokens.session(session))?.principal];
    expect(await found()).toEqual(["alice", "bob"]);
    await pair.sql`UPDATE tokens SET expires = now_ms() - 1`;
    await pair.sql`UPDATE sessions SET expires = now_ms() - 1`;
    expect(await found()).toEqual([undefined, undefined]);
    // What is over is still listed, until somebody revokes it.
    expect((await tokens.list()).map(({ name }) => name)).toEqual(["t"]);
  });

  test("work that must not happen twice at once takes turns", async () => {
    await using pair = await two();
    let inside = 0;
    let most = 0;
    const work = async () => {
      inside += 1;
      most = Math.max(most, inside);
      await Bun.sleep(20);
      inside -= 1;
    };
    const [mine, theirs] = [pair.one.text("credentials"), pair.other.text("credentials")];
    await Promise.all([mine.alone("a", work), theirs.alone("a", work), theirs.alone("a", work)]);
    expect(most).toBe(1);
    // Other work of the same text, and the same work of another, need not wait.
    const gate = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    const held = mine.alone("a", async () => {
      begun.resolve();
      await gate.promise;
    });
    await begun.promise;
    await Promise.all([theirs.alone("b", work), pair.other.text("others").alone("a", work)]);
    gate.resolve();
    await held;
  }, 20_000);

  test("a token or session made at one lets its principal in at the other, until it is revoked or over", async () => {
    await using pair = await two();
    const [mine, theirs] = [pair.one.tokens, pair.other.tokens];
    const secret = await mine.add({ name: "laptop", principal: "alice", scopes: ["read", "run"] });
    expect(await theirs.find(secret)).toEqual(callerNamed("alice", ["read", "run"]));
    await expect(theirs.add({ name: "laptop", principal: "bob", scopes: [] })).rejects.toThrow("already");
    await expect(theirs.add({ name: "x", principal: "local", scopes: [] })).rejects.toThrow("operator");
    const [listed] = await theirs.list();
    expect(JSON.stringify([listed, await pair.sql`SELECT * FROM tokens`])).not.toContain(secret);
    expect(listed).toMatchObject({ name: "laptop", principal: "alice", createdAt: expect.any(Number) });
    for (const deadline = performance.now() + 5_000; (await theirs.list())[0]?.usedAt === undefined; ) {
      expect(performance.now()).toBeLessThan(deadline);
      await Bun.sleep(5);
    }
    await theirs.revoke("laptop");
    expect(await mine.find(secret)).toBeUndefined();
    await expect(mine.revoke("laptop")).rejects.toThrow("no token");
    const brief = await mine.add({ name: "brief", principal: "alice", scopes: [], lifeMs: 1 });
    await expect(mine.signIn(callerNamed("local", ["read"]), 60_000)).rejects.toThrow("operator");
    const session = await mine.signIn(callerNamed("bob", ["read"]), 60_000);
    const over = await mine.signIn(callerNamed("bob", ["read"]), 1);
    await Bun.sleep(5);
    expect(await theirs.find(brief)).toBeUndefined();
    expect([await theirs.session(session), await theirs.session(over)]).toEqual([
      callerNamed("bob", ["read"]),
      undefined,
    ]);
    const later = await mine.signIn(callerNamed("bob", ["read"]), 60_000);
    // What is over is gone by then.
    expect((await pair.sql`SELECT 1 FROM sessions`).length).toBe(2);
    await theirs.signOut(session);
    expect([await mine.session(session), await mine.session(later)]).toEqual([undefined, callerNamed("bob", ["read"])]);
    for (const name of ["b", "a"]) await mine.add({ name, principal: "alice", scopes: [] });
    expect((await theirs.list()).map(({ name }) => name)).toEqual(["a", "b", "brief"]);
    await mine.revoke("b");
    expect((await theirs.list()).map(({ name }) => name)).toEqual(["a", "brief"]);
  });

  test("a limit of requests a minute holds for both together", async () => {
    await using pair = await two();
    const limits = { named: { alice: { requestsPerMinute: 4 } } };
    const both = [createQuotas(limits, pair.one.requests), createQuotas(limits, pair.other.requests)];
    // A minute of the database may begin in between.
    const left = 60_000 - (Date.now() % 60_000);
    if (left < 3_000) await Bun.sleep(left + 100);
    const asked = Array.from({ length: 10 }, async (_, n) => both[n % 2]?.admit({ principal: "alice" }));
    const answers = await Promise.allSettled(asked);
    expect(answers.filter(({ status }) => status === "fulfilled")).toHaveLength(4);
    const refused = answers.find(({ status }) => status === "rejected") as PromiseRejectedResult;
    expect(refused.reason).toMatchObject({ code: "quota_exceeded" });
    expect(refused.reason.retryAfter).toBeLessThanOrEqual(60);
    expect(await both[0]?.requests("alice")).toBe(4);
    await pair.sql`INSERT INTO requests VALUES ('carol', now_ms() / 60000 - 1, 7)`;
    expect(await both[0]?.requests("carol")).toBe(0);
    for (let n = 0; n < 5; n++) await both[0]?.admit({ principal: "bob" });
    expect(await both[0]?.requests("bob")).toBe(5);
    // Of who has no limit the database learns nothing.
    expect((await pair.sql`SELECT 1 FROM requests WHERE principal = 'bob'`).length).toBe(0);
  });

  test("calls of a model in flight are limited for both together, and those of a dead process end", async () => {
    await using pair = await two();
    const limits = { endpoint: "e", concurrency: 2, tokensPerMinute: undefined };
    const limiterOf = ({ shareLimits }: typeof pair.one) =>
      shareLimits(limits, createLimiter({ concurrency: 9 }, systemClock));
    const [mine, theirs] = [limiterOf(pair.one), limiterOf(pair.other)];
    const signal = AbortSignal.timeout(10_000);
    const first = await mine.enter(1, signal);
    const second = await theirs.enter(1, signal);
    const short = AbortSignal.timeout(400);
    await expect(theirs.enter(1, short)).rejects.toMatchObject({ name: "TimeoutError" });
    const third = theirs.enter(1, signal);
    first.end(1);
    (await third).end(1);
    second.end(1);
    // One whose process is gone renews no lease.
    await pair.sql`INSERT INTO model_calls SELECT n::text, 'e', 1, now_ms(), now_ms() + 300 FROM generate_series(1, 2) n`;
    const began = performance.now();
    (await mine.enter(1, signal)).end(1);
    expect(performance.now() - began).toBeGreaterThan(100);
  });

  test("tokens of a model in a minute are limited for both together, by what was spent", async () => {
    await using pair = await two();
    const limits = { endpoint: "t", concurrency: undefined, tokensPerMinute: 1000 };
    const limiterOf = ({ shareLimits }: typeof pair.one) =>
      shareLimits(limits, createLimiter({ concurrency: 9 }, systemClock));
    const [mine, theirs] = [limiterOf(pair.one), limiterOf(pair.other)];
    const signal = AbortSignal.timeout(10_000);
    (await mine.enter(900, signal)).end(400);
    const spent = async () =>
      Number((await pair.sql`SELECT sum(tokens) AS sum FROM model_calls WHERE lease_until IS NULL`)[0].sum);
    while ((await spent()) !== 400) await Bun.sleep(5);
    const place = await theirs.enter(600, signal);
    const short = AbortSignal.timeout(300);
    await expect(mine.enter(100, short)).rejects.toMatchObject({ name: "TimeoutError" });
    await pair.sql`UPDATE model_calls SET began = began - 60000 WHERE tokens = 400`;
    (await mine.enter(100, signal)).end(100);
    place.end(600);
  });

  test("a refused request and a call of a model without room learn how long it takes until there is some", async () => {
    await using pair = await two();
    const now = async () => Number((await pair.sql`SELECT now_ms() AS now`)[0].now);
    const limit = { endpoint: "w", concurrency: 9, tokensPerMinute: 100, leaseMs: 15_000 };
    const begin = async (id: string, tokens: number) =>
      JSON.parse(
        (await pair.sql`SELECT begin_model_call(${JSON.stringify({ ...limit, id, tokens })}) AS answer`)[0].answer,
      );
    expect(await begin("first", 90)).toEqual({ left: 0 });
    await pair.sql`UPDATE model_calls SET began = began - 20000 WHERE id = 'first'`;
    const { left } = await begin("second", 20);
    expect(left).toBeWithin(30_000, 40_001);
    await pair.sql`UPDATE model_calls SET began = now_ms() - 60000 WHERE id = 'first'`;
    expect(await begin("second", 20)).toEqual({ left: 0 });
    await pair.sql`UPDATE model_calls SET lease_until = now_ms() + 60000`;
    limit.concurrency = 2;
    expect(await begin("third", 1)).toEqual({ left: null });
    for (const counted of [true, false]) {
      const before = await now();
      const [row] = await pair.sql`SELECT count_request('carol', 1) AS answer`;
      const answer = JSON.parse(row.answer);
      const after = await now();
      // The next minute may have begun in between.
      if (Math.floor(before / 60_000) === Math.floor(after / 60_000))
        expect(answer.left).toBeWithin(60_000 - (after % 60_000), 60_001 - (before % 60_000));
      if (counted) expect(answer.counted).toBe(true);
    }
  });

  test("without its database a limit is each process's own", async () => {
    await using pair = await two();
    const limits = { endpoint: "d", concurrency: 1, tokensPerMinute: undefined };
    const limiter = pair.one.shareLimits(limits, createLimiter({ concurrency: 1 }, systemClock));
    await pair.one.close();
    (await limiter.enter(1, AbortSignal.timeout(5_000))).end(1);
  });
});
