import { expect, test } from "bun:test";
import { join } from "node:path";
import { openAuthStore } from "manyhands/internal/auth/auth-store";
import { callerNamed } from "manyhands/internal/core/caller";
import { cliForTest } from "../testing/cli.ts";

test("a token is shown once, listed without its secret, counts at once and no longer after it is revoked", async () => {
  await using cli = await cliForTest({ env: { MANYHANDS_TOKEN: "the-operators" } });
  expect(await cli.run("tokens", "add", "laptop", "--principal", "alice", "--scopes", "read", "--expires", "30d")).toBe(
    0,
  );
  const secret = cli.out().trim();
  expect(secret).toMatch(/^mh_[\w-]{43}$/);
  const server = openAuthStore(join(cli.cwd, ".manyhands/auth.db"));
  expect(await server.find(secret)).toEqual(callerNamed("alice", ["read"]));
  expect(await cli.run("tokens")).toBe(0);
  expect(cli.out()).toMatch(/laptop {2}· {2}alice {2}· {2}read {2}· {2}expires 20\d\d-\S+ {2}· {2}used 20\d\d/);
  expect(cli.out().split(secret)).toHaveLength(2);
  expect(await cli.run("tokens", "add", "laptop")).not.toBe(0);
  expect(cli.said()).toContain("already");
  expect(await cli.run("tokens", "revoke", "laptop")).toBe(0);
  expect(cli.said()).toContain("alice has no token left that may start runs: neither do its schedules.");
  expect(await server.find(secret)).toBeUndefined();
  expect(await cli.run("tokens", "revoke", "laptop")).not.toBe(0);
  await server.close();
});

test("a token of a system without authentication is said to have no effect", async () => {
  await using cli = await cliForTest({});
  expect(await cli.run("tokens", "add", "alice")).toBe(0);
  expect(cli.said()).toContain("no effect yet");
});

test("a wrong scope, time, name or principal is a usage error", async () => {
  await using cli = await cliForTest({});
  for (const wrong of [
    ["alice", "--scopes", "write"],
    ["alice", "--expires", "soon"],
    ["two words"],
    ["alice", "--principal", "local"],
  ])
    expect([wrong, await cli.run("tokens", "add", ...wrong)]).toEqual([wrong, 2]);
  expect(await cli.run("tokens", "list")).toBe(0);
  expect(cli.out()).toBe("");
});
