import { expect, test } from "bun:test";
import * as fc from "fast-check";
import { mountedName, serverId } from "./tool-name.ts";

test("a name that fits is the server's and the tool's own", () => {
  expect(mountedName("github", "create_issue")).toBe("github__create_issue");
});

test("a name that is too long is shortened in the server's part, never in the tool's", () => {
  const name = mountedName(`/usr/local/lib/${"very-long-".repeat(6)}`, "read_multiple_files");
  expect(name.length).toBeLessThanOrEqual(64);
  expect(name).toMatch(/^usr_local_lib_very.*__read_multiple_files_[0-9a-f]{6}$/);
});

test("the tools of two servers whose long names start alike have different names", () => {
  const tool = "read_the_contents_of_many_files_of_a_repository_at_once";
  const names = ["files-of-ann", "files-of-bob"].map((server) => mountedName(server, tool));
  expect(new Set(names).size).toBe(2);
});

test("characters that providers refuse are replaced, without merging two tools", () => {
  const [one, two, three] = ["a.b", "a/b", "a_b"].map((tool) => mountedName("s", tool));
  expect(new Set([one, two, three]).size).toBe(3);
  expect(one).toMatch(/^s__a_b_[0-9a-f]{6}$/);
});

test("every name is one that providers accept, and no two pairs share one", async () => {
  const part = fc.string({ unit: fc.constantFrom(..."ab_-. 1"), minLength: 1, maxLength: 70 });
  const taken = new Map<string, string>();
  await fc.assert(
    fc.property(part, part, (server, tool) => {
      fc.pre(serverId(server) !== "");
      const name = mountedName(server, tool);
      expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
      const pair = JSON.stringify([serverId(server), tool]);
      const hashed = /_[0-9a-f]{6}$/.test(name);
      if (!hashed) expect(taken.get(name) ?? pair).toBe(pair);
      taken.set(name, pair);
    }),
  );
});

test("a name of exactly 64 characters is kept, one more is shortened; a tool without a name has a hash", () => {
  const tool = "t".repeat(64 - "files__".length);
  expect(mountedName("files", tool)).toBe(`files__${tool}`);
  expect(mountedName("files", `${tool}t`)).toMatch(/_[0-9a-f]{6}$/);
  expect(mountedName("files", `${tool}t`)).toHaveLength(64);
  expect(mountedName("files", "")).toMatch(/^files___[0-9a-f]{6}$/);
});

test("a server's part never has two underscores in a row, nor one at an end", () => {
  expect(["a__b", "a  b", "_a_", "-a-", "a._b"].map(serverId)).toEqual(["a_b", "a_b", "a", "a-", "a_b"]);
});
