import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtemp, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Workspace } from "../../core/workspace.ts";
import { openWorkspace } from "../../machine/workspace/open-workspace.ts";
import { createScopeBook } from "./scope-book.ts";

let home: string;
let workspace: Workspace;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "manyhands-scope-book-"));
  workspace = await openWorkspace({ home, principal: "alice", contextId: "c" });
});
afterEach(() => rm(home, { recursive: true }));

const early = new URL("https://early.example/a");
const late = new URL("https://late.example/a");

test("a host is the agent's own choice only before anything was read, in the next process too", async () => {
  const book = createScopeBook([]);
  await book.choose(workspace, early);
  await book.read(workspace, [late.href]);
  await book.choose(workspace, late);
  await book.choose(workspace, early);
  expect((await book.of(workspace)).chosen).toEqual(["*.early.example"]);
  const next = createScopeBook([]);
  await next.choose(workspace, late);
  expect(await next.of(workspace)).toMatchObject({ read: true, chosen: ["*.early.example"] });
});

test("a damaged record counts no host as chosen and allows no new choices", async () => {
  await createScopeBook([]).choose(workspace, early);
  await Bun.write(join(workspace.metaRoot, "browser-scope.json"), "{");
  const book = createScopeBook([]);
  await book.choose(workspace, late);
  expect(await book.of(workspace)).toMatchObject({ read: true, chosen: [] });
});

test("the spent budget and the hosts that got a secret are known to the next process too", async () => {
  const book = createScopeBook([]);
  await book.spend(workspace, [{ site: "late.example", bits: 5 }]);
  await book.spend(workspace, [{ site: "late.example", bits: 2 }]);
  await book.signIn(workspace, early);
  const next = createScopeBook([]);
  expect((await next.of(workspace)).spent).toEqual(new Map([["late.example", 7]]));
  expect(await Promise.all([early, late].map((url) => next.isSignedIn(workspace, url)))).toEqual([true, false]);
});

test("a port of a host that got a secret is a host of its own, and so is the host of a port that did", async () => {
  const book = createScopeBook([]);
  const port = new URL("https://early.example:8443/");
  await book.signIn(workspace, early);
  expect(await book.isSignedIn(workspace, port)).toBe(false);
  await book.signIn(workspace, port);
  expect(await createScopeBook([]).isSignedIn(workspace, port)).toBe(true);
  await book.signIn(workspace, new URL("https://late.example:8443/"));
  expect(await book.isSignedIn(workspace, late)).toBe(false);
});

test("a reader always finds the record whole, and concurrent calls lose nothing of what they spent", async () => {
  const book = createScopeBook([]);
  const spend = () => book.spend(workspace, [{ site: "site.example", bits: 1 }]);
  await spend();
  await using early = await open(join(workspace.metaRoot, "browser-scope.json"));
  await Promise.all(Array.from({ length: 30 }, spend));
  expect(JSON.parse(await early.readFile("utf8")).spent).toEqual({ "site.example": 1 });
  expect((await createScopeBook([]).of(workspace)).spent.get("site.example")).toBe(31);
});

test("a choice is known to the next process before anything was read, and is recorded once", async () => {
  const book = createScopeBook([]);
  await book.choose(workspace, early);
  await book.choose(workspace, new URL("https://www.early.example/b"));
  const next = createScopeBook(["trusted.example"]);
  expect(await next.of(workspace)).toMatchObject({
    read: false,
    chosen: ["*.early.example"],
    trusted: ["trusted.example"],
  });
});

test("addresses given together count as a choice among all of them, times the pages and results so far", async () => {
  const book = createScopeBook([]);
  const shown = async () => Object.fromEntries((await book.of(workspace)).shown);
  await book.read(workspace, ["https://a.example/1", "https://a.example/2", "https://a.example/2"]);
  expect(await shown()).toEqual({ "https://a.example/1": 2, "https://a.example/2": 2 });
  // The same page once more is no further choice, and a known address keeps its lowest count.
  await book.read(workspace, ["https://a.example/2"]);
  await book.read(workspace, ["https://a.example/2", "https://a.example/3", "https://a.example/4"]);
  expect(await shown()).toEqual({
    "https://a.example/1": 2,
    "https://a.example/2": 2,
    "https://a.example/3": 6,
    "https://a.example/4": 6,
  });
  await book.opened(workspace, new URL("https://a.example/3"));
  expect((await shown())["https://a.example/3"]).toBe(0);
});

test("an address that the agent wrote itself does not count as given", async () => {
  const book = createScopeBook([]);
  await book.wrote(workspace, "look at HTTPS://evil.example/%3Fd=1 please");
  await book.wrote(workspace, "and more");
  await book.read(workspace, ["https://evil.example/?d=1", "https://good.example/"]);
  expect([...(await book.of(workspace)).shown.keys()]).toEqual(["https://good.example/"]);
});

test("of what the agent wrote the newest 200,000 characters are remembered", async () => {
  const book = createScopeBook([]);
  await book.wrote(workspace, "old.example/x");
  await book.wrote(workspace, `new.example/x ${"x".repeat(199_980)}`);
  await book.read(workspace, ["https://old.example/x", "https://new.example/x"]);
  expect([...(await book.of(workspace)).shown.keys()]).toEqual(["https://old.example/x"]);
});

test("what costs nothing is not recorded, and a secret's host is recorded once", async () => {
  const book = createScopeBook([]);
  await book.spend(workspace, [{ site: "a.example", bits: 0 }]);
  expect(await Bun.file(join(workspace.metaRoot, "browser-scope.json")).exists()).toBe(false);
  await book.signIn(workspace, early);
  await book.signIn(workspace, early);
  expect(await Bun.file(join(workspace.metaRoot, "browser-scope.json")).json()).toEqual({
    read: false,
    chosen: [],
    spent: {},
    signedIn: ["early.example"],
  });
});

test("of 201 conversations the one used longest ago is forgotten, but for what is stored", async () => {
  const book = createScopeBook([]);
  await book.read(workspace, [late.href]);
  const others = Array.from({ length: 199 }, (_, n) => ({ ...workspace, root: `/nowhere/${n}` }));
  for (const other of others) await book.of(other);
  expect((await book.of(workspace)).shown.size).toBe(1);
  for (const other of others) await book.of(other);
  expect((await book.of(workspace)).shown.size).toBe(1);
  await book.of({ ...workspace, root: "/nowhere/else" });
  await book.of({ ...workspace, root: "/nowhere/else/2" });
  expect((await book.of(workspace)).shown.size).toBe(1);
  for (let n = 0; n < 200; n++) await book.of({ ...workspace, root: `/another/${n}` });
  expect(await book.of(workspace)).toMatchObject({ read: true, shown: new Map() });
});

test("the newest 20,000 addresses are remembered", async () => {
  const book = createScopeBook([]);
  const links = Array.from({ length: 20_000 }, (_, n) => `https://a.example/${n}`);
  await book.read(workspace, links);
  await book.opened(workspace, new URL("https://a.example/0"));
  expect((await book.of(workspace)).shown.size).toBe(20_000);
  await book.opened(workspace, early);
  const { shown } = await book.of(workspace);
  expect([shown.size, shown.has("https://a.example/0"), shown.has("https://a.example/1")]).toEqual([
    20_000,
    true,
    false,
  ]);
});

test("a record of an earlier version, without what was spent and where secrets were typed, keeps what it has", async () => {
  const record = { read: false, chosen: ["*.early.example"] };
  await Bun.write(join(workspace.metaRoot, "browser-scope.json"), JSON.stringify(record));
  const book = createScopeBook([]);
  expect(await book.of(workspace)).toMatchObject({ ...record, spent: new Map() });
  expect(await book.isSignedIn(workspace, early)).toBe(false);
});

test("a secret belongs to a host with its port, and is known to the next process", async () => {
  const [login, shop] = ["https://early.example:8443/in", "https://early.example/in"].map((url) => new URL(url));
  if (login === undefined || shop === undefined) throw new Error("no addresses");
  await createScopeBook([]).signIn(workspace, login);
  const next = createScopeBook([]);
  expect(await Promise.all([login, shop].map((url) => next.isSignedIn(workspace, url)))).toEqual([true, false]);
  await next.signIn(workspace, shop);
  expect(await createScopeBook([]).isSignedIn(workspace, shop)).toBe(true);
});
