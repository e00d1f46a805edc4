import { expect, test } from "bun:test";
import { callerNamed, localCaller, principalHeader, type Scope } from "../core/caller.ts";
import { AppError } from "../core/errors.ts";
import { identifyBy } from "./identify.ts";

const asked = (headers: Record<string, string> = {}) => ({ headers: new Headers(headers) });
const bearer = (authorization?: string) => asked(authorization === undefined ? {} : { authorization });
const store = {
  find: (secret: string) => {
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
  const identify = identifyBy({ token: "the-token", refused: (reason) => reasons.push(reason) });
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
  expect(await identify(bearer("Bearer alices-token"))).toEqual(alice);
  expect(await identify(asked({ "X-API-Key": "alices-token" }))).toEqual(alice);
  expect(await identify(asked({ "X-API-Key": "the-token" }))).toBe(localCaller);
  await expect(identify(asked({ "X-API-Key": "alices-token", authorization: "Bearer wrong" }))).rejects.toThrow(
    AppError,
  );
});

test("the table is asked whatever the secret, so that time does not tell which are there", async () => {
  const found: string[] = [];
  const counting = { find: (secret: string) => void found.push(secret) };
  const identify = identifyBy({ token: "the-token", store: counting });
  await identify(bearer("Bearer the-token"));
  await Promise.allSettled([identify(bearer("Bearer wrong"))]);
  expect(found).toEqual(["the-token", "wrong"]);
});

test("a session counts for our own pages only", async () => {
  const alice = callerNamed("alice", ["read"]);
  const sessions = { session: (secret: string) => (secret === "alices" ? alice : undefined) };
  const identify = identifyBy({ token: "the-token", sessions });
  const cookie = "other=1; manyhands-session=alices";
  const host = "our.example";
  for (const own of [
    {},
    { "sec-fetch-site": "same-origin" },
    { "sec-fetch-site": "none" },
    { origin: "https://our.example" },
  ])
    expect(await identify(asked({ cookie, host, ...own }))).toEqual(alice);
  for (const foreign of [
    { "sec-fetch-site": "cross-site" },
    { "sec-fetch-site": "same-site" },
    { origin: "https://evil.example" },
    { origin: "null" },
    { authorization: "Bearer wrong" },
  ])
    await expect(identify(asked({ cookie, host, ...foreign }))).rejects.toMatchObject({ code: "unauthorized" });
  await expect(identifyBy({ token: "the-token" })(asked({ cookie, host }))).rejects.toThrow(AppError);
});

test("only an administrator may ask for another principal, who then has no say over the server", async () => {
  const identify = identifyBy({ token: "the-token", store });
  const as = (secret: string, principal: string) =>
    Promise.resolve(identify(asked({ authorization: `Bearer ${secret}`, [principalHeader]: principal })));
  for (const secret of ["the-token", "admins-token"])
    expect(await as(secret, "alice")).toEqual({ ...callerNamed("alice", ["read", "run"]), relayed: true });
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
