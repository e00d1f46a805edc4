import { expect, test } from "bun:test";
import { callerNamed, localCaller, principalName, requireScope, scopes } from "./caller.ts";

test("a caller may do what its scopes allow, and an administrator everything", () => {
  requireScope(callerNamed("alice", ["read"]), "read");
  for (const scope of scopes) {
    requireScope(callerNamed("alice", ["admin"]), scope);
    requireScope(localCaller, scope);
  }
});

test("a missing scope is named", () => {
  for (const scope of scopes)
    expect(() => requireScope(callerNamed("alice", []), scope)).toThrow(`This takes the scope \`${scope}\``);
  expect(() => requireScope(callerNamed("alice", ["run"]), "admin")).toThrow("admin");
});

test("a caller has its name and just the scopes it is given; all of them if none are said", () => {
  expect(callerNamed("alice", ["run"])).toEqual({ principal: "alice", scopes: new Set(["run"]) });
  expect(callerNamed("alice")).toEqual({ principal: "alice", scopes: new Set(scopes) });
  expect(localCaller).toEqual(callerNamed("local"));
  const lacking = () => requireScope(callerNamed("alice", ["read", "run"]), "admin");
  expect(lacking).toThrow(expect.objectContaining({ code: "forbidden", scope: "admin" }));
});

test.each<[string, boolean]>([
  ["a", true],
  ["alice@example.com", true],
  ["!~", true],
  ["x".repeat(200), true],
  ["x".repeat(201), false],
  ["", false],
  ["two words", false],
  ["a\n", false],
  ["caf\u00e9", false],
])("%p may be the name of a principal: %p", (name, allowed) => {
  if (allowed) expect(principalName(name)).toBe(name);
  else expect(() => principalName(name)).toThrow(expect.objectContaining({ code: "invalid_input" }));
});
