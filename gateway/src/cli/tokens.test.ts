import { expect, spyOn, test } from "bun:test";
import * as files from "node:fs";
import { join } from "node:path";
import { openAuthStore } from "manyhands/internal/auth/auth-store";
import { callerNamed } from "manyhands/internal/core/caller";
import { cliForTest } from "../testing/cli.ts";
import { lifeOf, scopesOf } from "./tokens.ts";

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
  // One that could start nothing takes nothing away.
  expect(cli.said()).not.toContain("has no token left");
  await cli.run("tokens", "add", "desk", "--principal", "alice");
  expect(await cli.run("tokens", "revoke", "desk")).toBe(0);
  expect(cli.said()).toContain("alice has no token left that may start runs: schedules added with one start nothing.");
  expect(await server.find(secret)).toBeUndefined();
  expect(await cli.run("tokens", "revoke", "laptop")).not.toBe(0);
  await server.close();
});

test("a database that is damaged, or a machine that refuses, is one sentence with its cause, and exit code 1", async () => {
  await using cli = await cliForTest({ env: { MANYHANDS_TOKEN: "the-operators" } });
  const path = join(cli.cwd, ".manyhands/auth.db");
  await Bun.write(path, "no database".repeat(1000));
  expect(await cli.run("tokens")).toBe(1);
  expect(cli.said()).toContain(`${path} cannot be used: it is not a database, or damaged (SQLITE_NOTADB).`);
  await Bun.file(path).delete();
  using _ = spyOn(files, "openSync").mockImplementation(() => {
    throw Object.assign(new Error("read-only"), { code: "EROFS", syscall: "open", path });
  });
  expect(await cli.run("tokens")).toBe(1);
  expect(cli.said()).toContain(`${path} cannot be used: the disk is read-only (open, EROFS). `);
});

test("a system without tokens says so, and that one of them would have no effect without authentication", async () => {
  await using cli = await cliForTest({});
  expect(await cli.run("tokens")).toBe(0);
  expect(cli.out()).toMatch(/^There are no tokens\. Make one: .* tokens add NAME\n$/);
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
  expect(cli.out()).toStartWith("There are no tokens.");
});

test("who can still start runs after a token is revoked hears nothing of schedules that no longer do", async () => {
  await using cli = await cliForTest({ env: { MANYHANDS_TOKEN: "the-operators" } });
  for (const [name, scopes] of [
    ["one", "read,run"],
    ["two", "run"],
    ["three", "read"],
  ] as const)
    expect(await cli.run("tokens", "add", name, "--principal", "ann", "--scopes", scopes)).toBe(0);
  expect(await cli.run("tokens", "add", "ann", "--principal", "bob")).toBe(0);
  const revoked = async (name: string) => {
    const before = cli.said().length;
    expect(await cli.run("tokens", "revoke", name)).toBe(0);
    return cli.said().slice(before).includes("ann has no token left that may start runs");
  };
  // Another principal's token says nothing of hers, nor does one that only reads.
  expect([await revoked("one"), await revoked("two")]).toEqual([false, true]);
});

test("a life is told in minutes, hours or days, and scopes by their names", () => {
  const lives = ["1m", "12h", "30d", "0d", "1w", "1.5h", "1234567d", ""].map(lifeOf);
  expect(lives).toEqual([60_000, 43_200_000, 2_592_000_000, ...Array(5).fill(undefined)]);
  expect(["read, run", "admin", "read,all", ""].map(scopesOf)).toEqual([
    ...[["read", "run"], ["admin"], undefined, undefined],
  ] as never);
});
