import { expect, test } from "bun:test";
import type { MemoryStore } from "manyhands/internal/memory/memory-store";
import { noting, restForTest } from "../../testing/rest.ts";
import { memoryRoutes } from "./memory-routes.ts";

const entry = {
  ...{ id: "m1", kind: "fact", text: "Lilacs.", by: "agent", sources: new Set(["web"]), isPublic: false },
  ...{ createdAt: 1_000, changedAt: 2_000 },
};

test("every request reaches the caller's own memory with what was said, in a person's name", async () => {
  const { asked, functions } = noting({
    ...{ list: [entry], search: [entry], get: entry, add: entry, edit: entry, remove: undefined, clear: 1 },
  });
  const { ask } = restForTest(
    memoryRoutes({ open: async () => functions as unknown as MemoryStore, isOn: (principal) => principal === "ann" }),
  );
  const shown = {
    ...{ id: "m1", kind: "fact", text: "Lilacs.", by: "agent", sources: ["web"], public: false },
    ...{ createdAt: "1970-01-01T00:00:01.000Z", changedAt: "1970-01-01T00:00:02.000Z" },
  };
  const requests = [
    ["GET", "", undefined, 200, { on: true, entries: [shown] }],
    ["GET", "?q=lilac", undefined, 200, { on: true, entries: [shown] }],
    ["GET", "/m1", undefined, 200, shown],
    ["POST", "", { text: "Lilacs." }, 201, shown],
    ["POST", "/m1", { text: "Roses.", public: true }, 200, shown],
    ["POST", "/m1", { kind: "how-to" }, 200, shown],
    ["DELETE", "", undefined, 200, { removed: 1 }],
  ] as const;
  for (const [method, path, json, status, body] of requests) {
    const answer = await ask(method, `/memory${path}`, { json });
    expect([method, path, answer.status, await answer.json()]).toEqual([method, path, status, body]);
    expect(answer.headers.get("Cache-Control")).toBe("no-store");
  }
  expect((await ask("DELETE", "/memory/m1")).status).toBe(204);
  expect(asked).toEqual([
    ["list", "ann"],
    ["search", "ann", "lilac", 100],
    ["get", "ann", "m1"],
    ["add", "ann", { text: "Lilacs.", kind: "fact", isPublic: false, by: "person" }],
    ["edit", "ann", "m1", { text: "Roses.", isPublic: true, by: "person" }],
    ["edit", "ann", "m1", { kind: "how-to", by: "person" }],
    ["clear", "ann"],
    ["remove", "ann", "m1"],
  ]);
  for (const [path, json] of [
    ["", { text: "" }],
    ["", { text: "x".repeat(20_001) }],
    ["", { text: "x", kind: "secret" }],
    ["", { text: "x", by: "agent" }],
    ["/m1", { text: "" }],
    ["/m1", { sources: [] }],
  ] as const)
    expect([json, (await ask("POST", `/memory${path}`, { json })).status]).toEqual([json, 400]);
  expect(asked).toHaveLength(8);
});
