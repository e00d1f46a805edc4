import { expect, test } from "bun:test";
import { callerNamed, localCaller, principalHeader, type Scope } from "../core/caller.ts";
import { AppError } from "../core/errors.ts";
import { identifyBy, refusal } from "./identify.ts";

const asked = (headers: Record<string, string> = {}) => ({
  ...{ headers: new Headers(headers), method: "GET", url: "http://127.0.0.1/" },
});
const bearer = (authorization?: string) => asked(authorization === undefined ? {} : { authorization });
const store = {
  find: async (secret: string) => {
    const granted: Record<string, Scope[]> = { "alices-token": ["read"], "admins-token": ["admin"] };
    const scopes = granted[secret];
    return scopes && callerNamed(secret.slice(0, secret.indexOf("s-")), scopes);
  },
};

test("without a token everyone is admitted, as the only caller", () => {
  expect(identifyBy({ token: undefined })(bearer())).toBe(localCaller);
  expect(identifyBy({ token: undefined })(bearer("Bearer whatever"))).toBe(localCaller);
});

test("with a token only that token admits, its scheme in any case", async () => {
  const reasons: string[] = [];
  const identify = identifyBy({ token: "the-token", refused: ({ reason }) => reasons.push(reason) });
  for (const right of ["Bearer the-token", "bearer the-token"]) expect(await identify(bearer(right))).toBe(localCaller);
  const wrong = [
    "Bearer wrong",
    "Bearer the-token2",
    "Bearer the-toke",
    "Bearer of.a.jwt",
    "Bearer ",
    "Bearer",
    "Basic the-token",
    "the-token",
    "",
  ];
  for (const one of [undefined, ...wrong]) {
    const refused = identify(bearer(one));
    await expect(refused).rejects.toThrow(AppError);
    await expect(refused).rejects.toThrow("Send this server's token");
    await Promise.allSettled([refused]);
  }
  expect(reasons).toHaveLength(wrong.length + 1);
  expect(reasons.join()).not.toContain("the-token");
});

test("a token of the table lets its principal in, as a bearer token or as an API key", async () => {
  const identify = identifyBy({ token: "the-token", store });
  const alice = callerNamed("alice", ["read"]);
  const known = { ...alice, byToken: true, isStillValid: expect.any(Function) };
  expect(await identify(bearer("Bearer alices-token"))).toEqual(known);
  expect(await identify(asked({ "X-API-Key": "alices-token" }))).toEqual(known);
  expect(await identify(asked({ "X-API-Key": "the-token" }))).toBe(localCaller);
  await expect(identify(asked({ "X-API-Key": "alices-token", authorization: "Bearer wrong" }))).rejects.toThrow(
    AppError,
  );
});

test("the table is asked whatever the secret, so that time does not tell which are there", async () => {
  const found: string[] = [];
  const counting = { find: async (secret: string) => void found.push(secret) };
  const identify = identifyBy({ token: "the-token", store: counting });
  await identify(bearer("Bearer the-token"));
  await Promise.allSettled([identify(bearer("Bearer wrong"))]);
  expect(found).toEqual(["the-token", "wrong"]);
});

test("a session counts for our own pages only", async () => {
  const alice = callerNamed("alice", ["read"]);
  const sessions = { session: async (secret: string) => (secret === "alices" ? alice : undefined) };
  const identify = identifyBy({ token: "the-token", sessions });
  const cookie = "other=1; manyhands-session=alices";
  const host = "our.example";
  for (const own of [
    {},
    { "sec-fetch-site": "same-origin" },
    { "sec-fetch-site": "none" },
    { origin: "https://our.example" },
  ])
    expect(await identify(asked({ cookie, host, ...own }))).toEqual({ ...alice, isStillValid: expect.any(Function) });
  for (const foreign of [
    { "sec-fetch-site": "cross-site" },
    { "sec-fetch-site": "same-site" },
    { origin: "https://evil.example" },
    { origin: "https://our.example:8443" },
    { origin: "null" },
    { authorization: "Bearer wrong" },
  ])
    await expect(identify(asked({ cookie, host, ...foreign }))).rejects.toMatchObject({ code: "unauthorized" });
  await expect(identifyBy({ token: "the-token" })(asked({ cookie, host }))).rejects.toThrow(AppError);
  for (const none of [{ host }, { host, cookie: "other=1" }])
    await expect(identify(asked(none))).rejects.toMatchObject({ code: "unauthorized" });
});

test("only an administrator may ask for another principal, who then has no say over the server", async () => {
  const identify = identifyBy({ token: "the-token", store });
  const as = (secret: string, principal: string) =>
    Promise.resolve(identify(asked({ authorization: `Bearer ${secret}`, [principalHeader]: principal })));
  const alice = { ...callerNamed("alice", ["read", "run"]), relayed: true };
  expect(await as("the-token", "alice")).toEqual(alice);
  expect(await as("admins-token", "alice")).toEqual({ ...alice, isStillValid: expect.any(Function) });
  expect(await as("the-token", "local")).toEqual({ ...localCaller, relayed: true });
  await expect(as("alices-token", "bob")).rejects.toMatchObject({ code: "forbidden", scope: "admin" });
  await expect(as("alices-token", "alice")).rejects.toMatchObject({ code: "forbidden" });
  for (const name of ["", "two words", "x".repeat(201), "caf\u00e9"])
    await expect(as("the-token", name)).rejects.toMatchObject({ code: "invalid_input" });
  expect(identifyBy({ token: undefined })(asked({ "Manyhands-Principal": "alice" }))).toEqual({
    ...callerNamed("alice", ["read", "run"]),
    relayed: true,
  });
});

test("only what looks like a JWT, and is no token of ours, is verified as one; the log learns why it was refused", async () => {
  const reasons: string[] = [];
  const verified: string[] = [];
  const bob = callerNamed("bob", ["run"]);
  const jwt = async (token: string) => {
    verified.push(token);
    if (token === "good.jwt.x") return bob;
    throw refusal("JWT: expired");
  };
  const known = { find: async (secret: string) => (secret === "in.our.table" ? callerNamed("alice") : undefined) };
  const identify = identifyBy({
    token: "our.own.token",
    store: known,
    jwt,
    refused: ({ reason }) => reasons.push(reason),
  });
  expect(await identify(bearer("Bearer good.jwt.x"))).toEqual({ ...bob, isStillValid: expect.any(Function) });
  expect(await identify(bearer("Bearer our.own.token"))).toBe(localCaller);
  expect((await identify(bearer("Bearer in.our.table"))).principal).toBe("alice");
  for (const none of ["a.b", "a.b.c.d", "a..c", ".a.b", "a.b.", "a b.c.d"])
    await expect(identify(bearer(`Bearer ${none}`))).rejects.toThrow("Send this server's token");
  await expect(identify(bearer("Bearer bad.jwt.x"))).rejects.toMatchObject({ code: "unauthorized" });
  await expect(identify(bearer())).rejects.toMatchObject({ code: "unauthorized" });
  expect(verified).toEqual(["good.jwt.x", "bad.jwt.x"]);
  expect(reasons.slice(-2)).toEqual(["JWT: expired", "no credentials"]);
  expect(new Set(reasons.slice(0, -2))).toEqual(new Set(["unknown or expired credentials"]));
});

test("a browser that has two session cookies shows the nearer one first", async () => {
  const sessions = { session: async (secret: string) => callerNamed(secret, ["read"]) };
  const cookie = "not-manyhands-session=no; manyhands-session=near; manyhands-session=far";
  expect((await identifyBy({ token: "t", sessions })(asked({ cookie }))).principal).toBe("near");
});

test("the operator gets in while the store of tokens fails, and nobody else does", async () => {
  const find = () => Promise.reject(new AppError("storage_unavailable", "It is away."));
  const identify = identifyBy({ token: "the-token", store: { find } });
  expect(await identify(bearer("Bearer the-token"))).toBe(localCaller);
  await expect(identify(bearer("Bearer alices-token"))).rejects.toMatchObject({ code: "storage_unavailable" });
});

test("a caller counts while its token, session or JWT is valid or cannot be looked up, also for whom it acts", async () => {
  const there = new Set(["admins-token", "a-session"]);
  let isDown = false;
  const admin = callerNamed("admin", ["admin"]);
  const find = async (secret: string) => {
    if (isDown) throw new Error("The disk is gone.");
    return there.has(secret) ? admin : undefined;
  };
  const identify = identifyBy({ token: "the-token", store: { find }, sessions: { session: find } });
  const headers = { authorization: "Bearer admins-token" };
  const callers = await Promise.all([
    identify(asked(headers)),
    identify(asked({ ...headers, [principalHeader]: "ann" })),
    identify(asked({ cookie: "manyhands-session=a-session", host: "our.example" })),
  ]);
  const count = () => Promise.all(callers.map(({ isStillValid }) => isStillValid?.()));
  expect(await count()).toEqual([true, true, true]);
  there.clear();
  isDown = true;
  expect(await count()).toEqual([true, true, true]);
  isDown = false;
  expect(await count()).toEqual([false, false, false]);
  let fault: AppError | undefined;
  const jwt = async () => {
    if (fault !== undefined) throw fault;
    return callerNamed("alice", ["read"]);
  };
  const { isStillValid } = await identifyBy({ token: "the-token", jwt })(bearer("Bearer a.b.c"));
  expect(await isStillValid?.()).toBe(true);
  fault = new AppError("unavailable", "The issuer's keys are gone.");
  expect(await isStillValid?.()).toBe(true);
  fault = new AppError("unauthorized", "It has expired.");
  expect(await isStillValid?.()).toBe(false);
  expect((await identify(bearer("Bearer the-token"))).isStillValid).toBeUndefined();
});
