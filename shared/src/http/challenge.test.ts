import { expect, test } from "bun:test";
import { Hono } from "hono";
import { ScopeError } from "../core/caller.ts";
import { AppError } from "../core/errors.ts";
import { QuotaError } from "../core/runs/quota.ts";
import { auditRefusals, challengeOf, protectedResource } from "./challenge.ts";

const unauthorized = new AppError("unauthorized", "Who are you?");

test.each<readonly [string, unknown, Record<string, string>]>([
  ["unknown", unauthorized, { "WWW-Authenticate": "Bearer" }],
  ["without a scope", new ScopeError("run"), { "WWW-Authenticate": 'Bearer error="insufficient_scope", scope="run"' }],
  ["at its limit", new QuotaError("1 run at once", 5), { "Retry-After": "5" }],
  ["unknown, by an error of the wire", new Error("x", { cause: unauthorized }), { "WWW-Authenticate": "Bearer" }],
  ["at its limit, by an error of the wire", new Error("x", { cause: new QuotaError("1", 7) }), { "Retry-After": "7" }],
  [
    "unknown for a reason",
    new AppError("unauthorized", "x", { cause: new Error("expired") }),
    { "WWW-Authenticate": "Bearer" },
  ],
  ["forbidden", new AppError("forbidden", "No."), {}],
  ["in no way refused", new AppError("not_found", "No."), {}],
  ["met by a bug", new Error("unauthorized"), {}],
  ["met by no error at all", undefined, {}],
])("a caller that is %s is told what it lacks", (_, error, headers) => {
  expect(challengeOf(error)).toEqual(headers);
});

test("the refusals of credentials and scopes are reported, with a path that is no longer than it has to be", async () => {
  const seen: unknown[] = [];
  const app = new Hono();
  app.use(auditRefusals((request) => seen.push(request)));
  app.get("/:status/*", (c) => c.body(null, Number(c.req.param("status")) as 200));
  for (const status of [200, 400, 401, 402, 403, 404, 429]) await app.request(`/${status}/x?token=secret`);
  await app.request(`/401/${"x".repeat(500)}`);
  expect(seen.slice(0, 2)).toEqual([
    { method: "GET", path: "/401/x", status: 401 },
    { method: "GET", path: "/403/x", status: 403 },
  ]);
  expect(seen.slice(2)).toEqual([{ method: "GET", path: `/401/${"x".repeat(195)}`, status: 401 }]);
});

test("every challenge says where the metadata of its resource is, and the metadata name the issuer", async () => {
  const app = new Hono();
  app.route("/", protectedResource("https://a.example/team//", "https://issuer.example"));
  const refuse = (path: string, status: 200 | 401, challenge?: string) =>
    app.all(path, (c) => c.body(null, status, challenge === undefined ? {} : { "WWW-Authenticate": challenge }));
  refuse("/runs", 401, "Bearer");
  refuse("/mcp", 401, "Bearer");
  refuse("/scope", 401, 'Bearer error="insufficient_scope", scope="run"');
  refuse("/other", 401, "Basic");
  refuse("/fine", 200);
  const metadata = "https://a.example/team/.well-known/oauth-protected-resource";
  const challenge = async (path: string) => (await app.request(path)).headers.get("WWW-Authenticate");
  expect(await Promise.all(["/runs", "/mcp", "/scope", "/other", "/fine"].map(challenge))).toEqual([
    `Bearer resource_metadata="${metadata}"`,
    `Bearer resource_metadata="${metadata}/mcp"`,
    `Bearer error="insufficient_scope", scope="run", resource_metadata="${metadata}"`,
    "Basic",
    null,
  ]);
  for (const path of ["", "/mcp"])
    expect(await (await app.request(`/.well-known/oauth-protected-resource${path}`)).json()).toEqual({
      resource: `https://a.example/team${path}`,
      authorization_servers: ["https://issuer.example"],
      scopes_supported: ["read", "run", "admin"],
      bearer_methods_supported: ["header"],
    });
});
