import { expect, test } from "bun:test";
import { callerNamed, localCaller, requireScope, scopes } from "./caller.ts";

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
