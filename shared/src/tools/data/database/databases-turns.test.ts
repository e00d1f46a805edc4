import { expect, spyOn, test } from "bun:test";
import { AppError } from "../../../core/errors.ts";
import { eventually } from "../../../testing/sandbox/tiers.ts";
import * as starting from "./database-process.ts";
import type { DatabaseReply, DatabaseRequest } from "./database-protocol.ts";
import { createDatabases } from "./databases.ts";

const workspace = (root: string) => ({ root }) as never;
const rows: DatabaseReply = { ok: true, columns: [], rows: [], total: 0, notes: [], files: [] };
const failed = (message: string): DatabaseReply => ({ ok: false, message, timeout: false });
const { signal } = new AbortController();

/** Databases whose processes answer as they are told, and what happens to these. */
function scene(
  answer: (request: DatabaseRequest) => Promise<DatabaseReply> | DatabaseReply,
  idleMs?: number,
  ending?: Promise<void>,
) {
  const [asked, log]: [DatabaseRequest[], string[]] = [[], []];
  const dead = new Set<string>();
  let count = 0;
  const spy = spyOn(starting, "startDatabase").mockImplementation((folder) => {
    const name = `${folder} ${++count}`;
    log.push(`start ${name}`);
    return {
      staging: "/staging",
      async ask(request) {
        asked.push(request);
        return await answer(request);
      },
      alive: () => !dead.has(name),
      async end() {
        log.push(`end ${name}`);
        await ending;
        dead.add(name);
      },
    };
  });
  const databases = createDatabases(idleMs === undefined ? {} : { idleMs });
  return { databases, asked, log, dead, [Symbol.dispose]: () => spy.mockRestore() };
}

test("a statement has a minute and 200,000 characters unless it is said, and each conversation its own process", async () => {
  using at = scene(() => rows);
  const { query } = at.databases;
  await query(workspace("/a"), "SELECT 1", { signal });
  await query(workspace("/b"), "SELECT 2", { signal, timeoutMs: 5, maxCharacters: 6 });
  await query(workspace("/a"), "SELECT 3", { signal });
  expect(at.asked).toEqual([
    { sql: "SELECT 1", timeoutMs: 60_000, maxCharacters: 200_000 },
    { sql: "SELECT 2", timeoutMs: 5, maxCharacters: 6 },
    { sql: "SELECT 3", timeoutMs: 60_000, maxCharacters: 200_000 },
  ]);
  expect(at.log).toEqual(["start /a 1", "start /b 2"]);
  await at.databases.release(workspace("/a"));
  expect(at.log.slice(2)).toEqual(["end /a 1"]);
  await query(workspace("/a"), "SELECT 4", { signal });
  await at.databases.close();
  expect(at.log.slice(3)).toEqual(["start /a 3", "end /b 2", "end /a 3"]);
});

test("a statement that is not for here, or whose task has ended, starts nothing", async () => {
  using at = scene(() => rows);
  const refused = at.databases.query(workspace("/a"), "SET threads = 1", { signal });
  await expect(refused).rejects.toMatchObject({ code: "rejected" });
  const ended = at.databases.query(workspace("/a"), "SELECT 1", { signal: AbortSignal.abort("the end") });
  expect(await ended.catch((error) => error)).toBe("the end");
  expect(at.log).toEqual([]);
});

test("a process that ended is replaced, one that only refused a statement is kept", async () => {
  let reply: DatabaseReply | Error = failed("Parser Error: no");
  using at = scene(() => {
    if (reply instanceof Error) throw reply;
    return reply;
  });
  const query = () => at.databases.query(workspace("/a"), "SELECT 1", { signal });
  await expect(query()).rejects.toMatchObject({ code: "rejected", message: "Parser Error: no" });
  reply = { ok: false, message: "stopped", timeout: true };
  await expect(query()).rejects.toMatchObject({
    code: "timeout",
    message: "The query was stopped at its limit of 60 s.",
  });
  expect(at.log).toEqual(["start /a 1"]);
  reply = new AppError("unavailable", "It ended.");
  await expect(query()).rejects.toThrow("It ended.");
  expect(at.log).toEqual(["start /a 1"]);
  at.dead.add("/a 1");
  await expect(query()).rejects.toThrow("It ended.");
  reply = rows;
  await query();
  expect(at.log).toEqual(["start /a 1", "end /a 1", "start /a 2"]);
});

test("a task that ends in the middle of a statement ends its process, and one that ends later does not", async () => {
  const stop = new AbortController();
  const going = Promise.withResolvers<DatabaseReply>();
  using at = scene(({ sql }) => (sql === "SELECT 1" ? going.promise : rows));
  const query = (sql: string, by: AbortSignal) => at.databases.query(workspace("/a"), sql, { signal: by });
  const later = new AbortController();
  await query("SELECT 0", later.signal);
  const running = query("SELECT 1", stop.signal).catch((error) => error);
  await eventually("it is asked", async () => at.asked.length === 2);
  later.abort();
  expect(at.log).toEqual(["start /a 1"]);
  stop.abort("the end");
  expect(at.log).toEqual(["start /a 1", "end /a 1"]);
  going.reject(new AppError("unavailable", "It ended."));
  expect(await running).toBe("the end");
  await query("SELECT 2", signal);
  expect(at.log.at(-1)).toBe("start /a 2");
});

test("a process that is still ending is used no more, and closing waits for the end of each", async () => {
  const ending = Promise.withResolvers<void>();
  const stop = new AbortController();
  const going = Promise.withResolvers<DatabaseReply>();
  using at = scene(({ sql }) => (sql === "SELECT 1" ? going.promise : rows), undefined, ending.promise);
  const running = at.databases.query(workspace("/a"), "SELECT 1", { signal: stop.signal }).catch((error) => error);
  await eventually("it is asked", async () => at.asked.length === 1);
  stop.abort("the end");
  going.resolve(rows);
  await running;
  await at.databases.query(workspace("/a"), "SELECT 2", { signal });
  expect(at.log).toEqual(["start /a 1", "end /a 1", "start /a 2"]);
  let isClosed = false;
  const closing = at.databases.close().then(() => {
    isClosed = true;
  });
  await Bun.sleep(0);
  expect([isClosed, at.log.at(-1)]).toEqual([false, "end /a 2"]);
  ending.resolve();
  await closing;
});

test("statements of one conversation wait for each other, those of another do not", async () => {
  const going = Promise.withResolvers<DatabaseReply>();
  using at = scene(({ sql }) => (sql === "SELECT 1" ? going.promise : rows));
  const query = (root: string, sql: string) => at.databases.query(workspace(root), sql, { signal });
  const first = query("/a", "SELECT 1");
  const second = query("/a", "SELECT 2");
  await query("/b", "SELECT 3");
  expect(at.asked.map(({ sql }) => sql)).toEqual(["SELECT 1", "SELECT 3"]);
  going.resolve(rows);
  await Promise.all([first, second]);
  expect(at.asked.at(-1)?.sql).toBe("SELECT 2");
});

test("a process without statements ends after its time", async () => {
  using at = scene(() => rows, 20);
  await at.databases.query(workspace("/a"), "SELECT 1", { signal });
  await eventually("it has ended", async () => at.log.at(-1) === "end /a 1");
});

test("the time of an idle process ends with the process, and keeps no server alive", async () => {
  using later = spyOn(globalThis, "setTimeout");
  using ended = spyOn(globalThis, "clearTimeout");
  using at = scene(() => rows);
  await at.databases.query(workspace("/a"), "SELECT 1", { signal });
  const place = later.mock.calls.findIndex(([, ms]) => ms === 5 * 60_000);
  const timer = later.mock.results[place]?.value as unknown as ReturnType<typeof setTimeout>;
  expect(timer.hasRef()).toBe(false);
  await at.databases.release(workspace("/a"));
  expect(ended.mock.calls.some(([one]) => (one as unknown) === timer)).toBe(true);
});

test("a message is told without advice that does not apply here, in twelve lines of 300 letters", async () => {
  let message = "";
  using at = scene(() => failed(message));
  const told = async (text: string) => {
    message = text;
    const query = at.databases.query(workspace("/a"), "SELECT 1", { signal });
    return (await query.catch((error) => error)).message;
  };
  expect(await told("no\nDatabase is launched in in-memory mode and more\nof it")).toBe("no");
  const lines = (count: number) => Array.from({ length: count }, (_, at) => `line ${at}`).join("\n");
  expect((await told(lines(13))).split("\n").at(-1)).toBe("line 11");
  expect(await told("x".repeat(300))).toBe("x".repeat(300));
  expect(await told("x".repeat(301))).toBe(`${"x".repeat(300)}…`);
  const encoded =
    "Invalid Input Error: not utf-8 encoded\nPossible Solution: utf-16\nPossible Solution: ignore_errors\nthe end";
  expect(await told(encoded)).toMatch(/^Invalid Input Error: not utf-8 encoded\nName its encoding, [^\n]*\nthe end$/);
  expect(await told("other\nPossible Solution: set the delimiter")).toBe("other\nPossible Solution: set the delimiter");
  for (const unit of ["months", "Day"])
    expect(await told(`Parser Error: syntax error at or near "${unit}"`)).toEndWith(
      `\n"${unit}" is a unit of time here: as a name it needs AS before it.`,
    );
  expect(await told('Parser Error: syntax error at or near "monthly"')).not.toContain("unit of time");
});
