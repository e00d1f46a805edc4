import { expect, test } from "bun:test";
import { callerNamed } from "manyhands/internal/core/caller";
import { noting, restForTest } from "../../testing/rest.ts";
import { type TokenRoutesDeps, tokenRoutes } from "./token-routes.ts";

const token = { name: "ci", principal: "ann", scopes: ["read"], createdAt: 1_000 };

function routes(asksForTokens = true) {
  const list = [token, { ...token, name: "old", expiresAt: 2_000, usedAt: 3_000 }];
  const { asked, functions } = noting({ add: "mh_secret", list, revoke: undefined });
  const deps = { tokens: functions as unknown as TokenRoutesDeps["tokens"], asksForTokens };
  return { ...restForTest(tokenRoutes(deps), callerNamed("local")), asked };
}

test("a token is made for whom, for what and for how long it is wanted, by default to read and run without end", async () => {
  const { ask, asked } = routes();
  const made = await ask("POST", "/settings/tokens", { json: { name: "ci" } });
  expect([made.status, made.headers.get("Cache-Control"), await made.json()]).toEqual([
    201,
    "no-store",
    { name: "ci", secret: "mh_secret" },
  ]);
  await ask("POST", "/settings/tokens", { json: { name: "ci", principal: "ann", scopes: ["admin"], days: 2 } });
  await ask("DELETE", "/settings/tokens/ci");
  expect(asked).toEqual([
    ["add", { name: "ci", principal: "ci", scopes: ["read", "run"] }],
    ["add", { name: "ci", principal: "ann", scopes: ["admin"], lifeMs: 172_800_000 }],
    ["revoke", "ci"],
  ]);
  for (const over of [{ scopes: [] }, { scopes: ["all"] }, { days: 0 }, { days: 3_651 }, { name: "a b" }, { x: 1 }])
    expect([over, (await ask("POST", "/settings/tokens", { json: { name: "ci", ...over } })).status]).toEqual([
      ...[over, 400],
    ]);
  expect(asked).toHaveLength(3);
});

test("tokens are listed with their dates, and whether servers ask for any", async () => {
  for (const count of [true, false]) {
    const listed = await (await routes(count).ask("GET", "/settings/tokens")).json();
    const dated = { name: "ci", principal: "ann", scopes: ["read"], createdAt: "1970-01-01T00:00:01.000Z" };
    const old = { expiresAt: "1970-01-01T00:00:02.000Z", usedAt: "1970-01-01T00:00:03.000Z" };
    expect(listed).toEqual({ tokens: [dated, { ...dated, name: "old", ...old }], count });
  }
});
