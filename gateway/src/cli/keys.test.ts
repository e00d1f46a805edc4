import { expect, test } from "bun:test";
import { cliForTest } from "../testing/cli.ts";

test("the keys of a home are shown and replaced, never their private halves", async () => {
  await using cli = await cliForTest({});
  expect(await cli.run("keys")).toBe(0);
  expect(cli.out()).toMatch(/^\S+ {2}· {2}ES256 {2}· {2}current\n$/);
  expect(await cli.run("keys", "rotate", "--algorithm", "EdDSA")).toBe(0);
  const [, until = ""] = /EdDSA {2}· {2}current\n\S+ {2}· {2}ES256 {2}· {2}until (\S+)\n/.exec(cli.out()) ?? [];
  expect(Date.parse(until)).toBeGreaterThan(Date.now());
  await using fresh = await cliForTest({});
  expect(await fresh.run("keys", "rotate", "--drop-former", "--json")).toBe(0);
  const { keys } = JSON.parse(fresh.out());
  expect(keys).toEqual([expect.objectContaining({ kty: "EC", use: "sig", kid: expect.any(String) })]);
  expect(keys[0]).not.toHaveProperty("d");
  expect(await fresh.run("keys", "rotate", "--algorithm", "HS256")).toBe(2);
});
