import { expect, spyOn, test } from "bun:test";
import { AppError } from "manyhands/internal/core/errors";
import * as engines from "manyhands/internal/server/storage/open-engine";
import * as memories from "manyhands/internal/server/storage/open-memory";
import * as sharing from "manyhands/internal/server/storage/open-shared";
import * as sessions from "../session/open-session.ts";
import * as systems from "../session/system-session.ts";
import { cliForTest } from "../testing/cli.ts";

const away = new AppError("unavailable", "It is away.");

/** Something of which nothing can be used but its end, which is counted. */
function failing(closed: { count: number }) {
  const get = (_: object, name: string | symbol) => {
    if (name === "then" || name === Symbol.asyncDispose) return undefined;
    if (name === "close") return async () => void closed.count++;
    throw away;
  };
  return new Proxy({}, { get }) as never;
}

test.each([
  [["keys"]],
  [["keys", "rotate"]],
  [["keys", "reseal"]],
  [["profiles"]],
  [["skills"]],
  [["memory"]],
  [["mcp", "test", "x"]],
])("%j closes what servers share though it fails", async (args) => {
  const closed = { count: 0 };
  using _ = spyOn(sharing, "openShared").mockResolvedValue(failing(closed));
  await using cli = await cliForTest({});
  expect([await cli.run(...args), cli.said(), closed.count]).toEqual([1, "It is away.\n", 1]);
});

test("what is remembered is closed though it cannot be read", async () => {
  const closed = { count: 0 };
  using _ = spyOn(memories, "openMemoryStore").mockReturnValue(failing(closed));
  await using cli = await cliForTest({});
  expect([await cli.run("memory"), cli.said(), closed.count]).toEqual([1, "It is away.\n", 1]);
});

test("tokens are closed though they cannot be read", async () => {
  const closed = { count: 0 };
  using _ = spyOn(sharing, "openTokens").mockResolvedValue(failing(closed));
  await using cli = await cliForTest({});
  expect([await cli.run("tokens"), closed.count]).toEqual([1, 1]);
});

test.each([[["prune"]], [["backup", "b.tar.gz"]], [["runs", "export", "r", "r.jsonl"]], [["runs", "delete", "r"]]])(
  "%j closes the store though it fails",
  async (args) => {
    const closed = { count: 0 };
    using _ = spyOn(engines, "openStore").mockResolvedValue(failing(closed));
    await using cli = await cliForTest({});
    expect([await cli.run(...args), cli.said(), closed.count]).toEqual([1, "It is away.\n", 1]);
  },
);

test.each([
  [["run", "Go."]],
  [["chat"]],
  [["flow", "debate", "Go."]],
  [["runs", "watch", "r", "--agent", "manus"]],
  [["runs", "cancel", "r", "--agent", "manus"]],
  [["agents"]],
])("%j ends the servers that were started for it though it fails", async (args) => {
  const closed = { count: 0 };
  // biome-ignore lint/correctness/useYield: it fails before anything comes
  const nothing = async function* () {
    throw away;
  };
  const facts = { title: "Manus", model: undefined, sandbox: undefined };
  const client = { facts, send: nothing, watch: nothing, cancel: () => Promise.reject(away) };
  const session = { client, url: "http://127.0.0.1:9", passing: true, close: async () => void closed.count++ };
  using _ = spyOn(sessions, "openSession").mockResolvedValue(session as never);
  using __ = spyOn(sessions, "openFlow").mockResolvedValue(session as never);
  using ___ = spyOn(systems, "openSystem").mockResolvedValue(session as never);
  await using cli = await cliForTest({ answers: ["Go."] });
  await cli.run(...args).catch(() => undefined);
  expect(closed.count).toBe(1);
});
