import { expect, spyOn, test } from "bun:test";
import * as watching from "../../../machine/process/memory-watch.ts";
import * as scripts from "../../../machine/process/own-script.ts";
import { eventually } from "../../../testing/sandbox/tiers.ts";
import type { DatabaseServer } from "./database-server.ts";
import { createDatabaseServers } from "./database-servers.ts";

const server = (url: string, more: Partial<DatabaseServer> = {}): DatabaseServer => ({
  ...{ url, description: undefined, readOnly: true, timeoutMs: 30_000, rows: 7 },
  ...more,
});
const asking = (write = false, signal = new AbortController().signal) => ({ write, signal, maxCharacters: 99 });
const reply = (more: object = {}) =>
  JSON.stringify({ ok: true, columns: [], rows: [], more: false, changed: 3, ...more });
/** A program that says this. */
const saying = (text: string) => ["echo", text];

test("a database is told by its kind and what it holds", () => {
  const { listed } = createDatabaseServers({
    a: server("postgres://h/d", { description: "orders" }),
    b: server("postgresql://h/d", { readOnly: false }),
    c: server("mysql://h/d"),
    d: server("mariadb://h/d"),
    e: server("sqlite:///d.db"),
  });
  expect(listed).toEqual([
    { name: "a", about: "PostgreSQL: orders", readOnly: true },
    { name: "b", about: "PostgreSQL", readOnly: false },
    { name: "c", about: "MySQL", readOnly: true },
    { name: "d", about: "MariaDB", readOnly: true },
    { name: "e", about: "SQLite", readOnly: true },
  ]);
});

test("a server is reached over the network, a file in its folder only", async () => {
  using argv = spyOn(scripts, "ownScriptArgv").mockReturnValue(saying(reply()));
  const servers = createDatabaseServers({
    ...{ net: server("postgres://u:p@h/d"), mine: server("mysql://h/d") },
    file: server("sqlite:///srv/my%20data/a.db"),
  });
  using spawned = spyOn(Bun, "spawn");
  for (const name of ["net", "mine", "file"]) await servers.query(name, "SELECT 1", asking());
  expect(argv.mock.calls.map(([script, options]) => [script.split("/").at(-1), options])).toEqual([
    ["server-worker.ts", { network: true }],
    ["server-worker.ts", { network: true }],
    ["server-worker.ts", { folder: "/srv/my data" }],
  ] as never);
  // A server ends its statement itself; what does not end is killed. None of our variables is
  // theirs.
  const own = { cwd: "/", env: { LANG: "C.UTF-8", TZ: "UTC" }, killSignal: "SIGKILL" };
  const waits = [45_000, 45_000, 31_000].map((timeout) => ({ ...own, timeout }));
  expect(spawned.mock.calls.map(([, options]) => options)).toMatchObject(waits);
  expect(spawned.mock.calls.map(([, options]) => Object.keys(Object(options).env))).toEqual(
    Array(3).fill(["LANG", "TZ"]),
  );
});

test("a process is asked with the statement and its limits, and what it says is the answer", async () => {
  // What it is asked with, as the name of a column.
  const echo = `read -r asked; printf '%s' '{"ok":true,"columns":[{"name":"' ; printf '%s' "$asked" | base64 -w0 ; printf '%s' '","type":"t"}],"rows":[],"more":true,"changed":0}'`;
  using _ = spyOn(scripts, "ownScriptArgv").mockReturnValue([
    "bash",
    "-c",
    `${echo.replace("read -r asked", "asked=$(cat)")}`,
  ]);
  const servers = createDatabaseServers({ shop: server("sqlite:///a.db", { readOnly: false, timeoutMs: 12 * 1000 }) });
  const { columns, more } = await servers.query("shop", "DELETE FROM t", asking(true));
  expect(JSON.parse(Buffer.from(columns[0]?.name ?? "", "base64").toString())).toEqual({
    ...{ url: "sqlite:///a.db", sql: "DELETE FROM t", write: true, timeoutMs: 12_000, rows: 7, maxCharacters: 99 },
  });
  expect(more).toBe(true);
});

test("what a database refuses is told without its password, and no answer is one that took too long", async () => {
  using argv = spyOn(scripts, "ownScriptArgv");
  const servers = createDatabaseServers({ shop: server("postgres://u:p%40ss@h/d", { timeoutMs: 1_500 }) });
  argv.mockReturnValue(saying(JSON.stringify({ ok: false, message: "no p%40ss, no p@ss at h" })));
  await expect(servers.query("shop", "SELECT 1", asking())).rejects.toMatchObject({
    code: "rejected",
    message: "no (secret), no (secret) at h",
  });
  for (const said of ["", "half of it", '{"ok":true}']) {
    argv.mockReturnValue(saying(said));
    await expect(servers.query("shop", "SELECT 1", asking())).rejects.toMatchObject({
      code: "timeout",
      message: "shop was stopped at its limit of 1.5 s.",
    });
  }
  const bare = createDatabaseServers({ shop: server("postgres://u@h/d") });
  argv.mockReturnValue(saying(JSON.stringify({ ok: false, message: "as it is" })));
  await expect(bare.query("shop", "SELECT 1", asking())).rejects.toThrow("as it is");
});

test("four statements of a database run at once, a fifth waits, and one that is called off ends", async () => {
  using argv = spyOn(scripts, "ownScriptArgv").mockReturnValue(["sleep", "60"]);
  const servers = createDatabaseServers({ shop: server("sqlite:///a.db"), other: server("sqlite:///b.db") });
  const stops = Array.from({ length: 5 }, () => new AbortController());
  const asked = stops.map(({ signal }) =>
    servers.query("shop", "SELECT 1", asking(false, signal)).catch((error) => error),
  );
  await eventually("four have begun", async () => argv.mock.calls.length === 4);
  const stop = new AbortController();
  const elsewhere = servers.query("other", "SELECT 1", asking(false, stop.signal)).catch((error) => error);
  await eventually("the other database has begun", async () => argv.mock.calls.length === 5);
  stops[0]?.abort("first");
  expect(await asked[0]).toBe("first");
  await eventually("the fifth has begun", async () => argv.mock.calls.length === 6);
  for (const one of [...stops.slice(1), stop]) one.abort("the end");
  const ends: unknown[] = await Promise.all([...asked.slice(1), elsewhere]);
  expect(ends).toEqual(ends.map(() => "the end"));
  expect(await servers.query("shop", "SELECT 1", asking(false, stop.signal)).catch((error) => error)).toBe("the end");
  expect(argv.mock.calls).toHaveLength(6);
});

test("a change where there may be none, and a database that is not there, start nothing", async () => {
  using argv = spyOn(scripts, "ownScriptArgv").mockReturnValue(saying(reply()));
  const servers = createDatabaseServers({
    shop: server("sqlite:///a.db"),
    open: server("sqlite:///b.db", { readOnly: false }),
  });
  const refused = async (name: string, write: boolean) => {
    try {
      return await servers.query(name, "DELETE FROM t", asking(write));
    } catch (error) {
      return (error as { readonly code?: string }).code;
    }
  };
  expect([await refused("shop", true), await refused("none", false), await refused("constructor", false)]).toEqual([
    "forbidden",
    "not_found",
    "not_found",
  ]);
  expect(argv).not.toHaveBeenCalled();
  expect([await refused("shop", false), await refused("open", true)]).toMatchObject([{ changed: 3 }, { changed: 3 }]);
});

test("a process that needs too much memory is killed and said to, and none is watched after its end", async () => {
  using argv = spyOn(scripts, "ownScriptArgv").mockReturnValue(["sleep", "60"]);
  let watched = 0;
  using watch = spyOn(watching, "watchMemory").mockImplementation(() => {
    watched++;
    return () => void watched--;
  });
  const servers = createDatabaseServers({ shop: server("sqlite:///a.db") });
  const asked = servers.query("shop", "SELECT 1", asking()).catch((error) => error);
  await eventually("it has begun", async () => watch.mock.calls.length === 1);
  expect(watch.mock.calls[0]?.[1]).toBe(512 * 2 ** 20);
  watch.mock.calls[0]?.[2]();
  const message = "The answer of shop needs more than 512 MB; ask for fewer rows or columns.";
  expect(await asked).toMatchObject({ code: "unavailable", message });
  argv.mockReturnValue(saying(reply()));
  await servers.query("shop", "SELECT 1", asking());
  expect([watch.mock.calls.length, watched]).toEqual([2, 0]);
});
