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

test("a reader always finds the record whole, and concurrent calls lose nothing of what they spent", async () => {
  const book = createScopeBook([]);
  const spend = () => book.spend(workspace, [{ site: "site.example", bits: 1 }]);
  await spend();
  await using early = await open(join(workspace.metaRoot, "browser-scope.json"));
  await Promise.all(Array.from({ length: 30 }, spend));
  expect(JSON.parse(await early.readFile("utf8")).spent).toEqual({ "site.example": 1 });
  expect((await createScopeBook([]).of(workspace)).spent.get("site.example")).toBe(31);
});
