import { expect, spyOn, test } from "bun:test";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { AppError } from "manyhands/internal/core/errors";
import * as sessions from "../../session/open-session.ts";
import { cliForTest } from "../../testing/cli.ts";

test("an agent's server is asked with its credentials, for twenty runs unless others are wanted, and not without end", async () => {
  using limits = spyOn(AbortSignal, "timeout");
  await using cli = await cliForTest({ env: { MANYHANDS_TOKEN: "of-this-test" } });
  expect(await cli.run("runs", "list", "--agent", "manus")).toBe(0);
  expect(await cli.run("runs", "--agent", "manus", "--limit", "3")).toBe(0);
  expect(cli.listed).toEqual([20, 3]);
  const credentials = { identity: { kind: "bearer", secret: { text: "of-this-test" } } };
  expect(cli.shown).toMatchObject([credentials, credentials]);
  expect(limits.mock.calls.filter(([ms]) => ms === 15_000).length).toBeGreaterThanOrEqual(2);
  limits.mockClear();
  expect(await cli.run("runs", "cancel", "t1", "--agent", "manus")).toBe(0);
  expect([cli.canceled, limits.mock.calls.some(([ms]) => ms === 30_000)]).toEqual([["t1"], true]);
});

test("an answer goes to its task with its files", async () => {
  await using cli = await cliForTest({
    play: async function* () {
      yield { kind: "state", taskId: "t1", contextId: "c1", state: "completed" };
    },
  });
  await writeFile(join(cli.cwd, "a.txt"), "a");
  expect(await cli.run("runs", "answer", "t1", "Yes.", "--agent", "manus", "--file", "a.txt")).toBe(0);
  expect(cli.sent).toMatchObject([{ text: "Yes.", taskId: "t1", files: [{ name: "a.txt" }] }]);
});

test("a flow is opened with the agents that are named, or with all if none is", async () => {
  using opening = spyOn(sessions, "openFlow").mockRejectedValue(new AppError("unavailable", "It is away."));
  await using cli = await cliForTest({});
  expect(await cli.run("flow", "debate", "Go.", "--agents", "swe, manus")).toBe(1);
  expect(await cli.run("flow", "debate", "Go.")).toBe(1);
  expect(opening.mock.calls.map(([name, , , agents]) => [name, agents])).toEqual([
    ["debate", ["swe", "manus"]],
    ["debate", undefined],
  ]);
});

test.each([
  [["flow", "debate", "Go.", "--option", "=1"], "NAME=VALUE"],
  [["flow", "debate", "Go.", "--option", "rounds"], "NAME=VALUE"],
  [["run", "Go.", "--budget-usd", "-1"], "US dollars"],
  [["run", "Go.", "--budget-usd", " "], "US dollars"],
  [["runs", "list", "--limit", "0"], "1 to 9999"],
  [["tokens", "add", "x", "--scopes", "read,all"], "read, run and admin"],
  [["tokens", "add", "x", "--expires", "0d"], "90m, 12h or 30d"],
])("%j is refused before anything is done", async (args, why) => {
  await using cli = await cliForTest({});
  expect([await cli.run(...args), cli.sent]).toEqual([2, []]);
  expect(cli.said()).toContain(why);
});

test("a token reads and runs unless more is asked for, for who has its name, without end", async () => {
  await using cli = await cliForTest({});
  expect(await cli.run("tokens", "add", "ci", "--json")).toBe(0);
  expect(JSON.parse(cli.out())).toMatchObject({ name: "ci", principal: "ci", scopes: ["read", "run"] });
  const before = cli.out().length;
  expect(await cli.run("tokens", "list", "--json")).toBe(0);
  expect(JSON.parse(cli.out().slice(before))).toEqual([
    { name: "ci", principal: "ci", scopes: ["read", "run"], createdAt: expect.any(String) },
  ]);
});

test("settings that name a file that is not there are not shown as if all were well", async () => {
  await using cli = await cliForTest({});
  await writeFile(join(cli.cwd, "manyhands.toml"), '[agents.mine]\nentry = "none.ts"\n');
  expect([await cli.run("config"), cli.out()]).toEqual([2, ""]);
  expect(cli.said()).toContain("none.ts");
});
