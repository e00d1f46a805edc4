import { expect, test } from "bun:test";
import { join } from "node:path";
import * as z from "zod";
import { defineTool, type RiskContext, type Tool } from "../../core/tool.ts";
import type { Workspace } from "../../core/workspace.ts";
import { workspaceForTest } from "../../machine/workspace/workspace-for-test.ts";
import { createLookBook } from "../browser/looks.ts";
import { contextForTest, riskContextForTest } from "../context-for-test.ts";
import { createGuard } from "./guard.ts";

/** Tools under one guard, as a server has them; each answers what it is given as `says`. */
function guarded(workspace: Workspace) {
  const guard = createGuard({ browsers: undefined, looks: createLookBook(), scope: "task", trusted: [] });
  const tool = (name: string, risk?: Tool["risk"]) =>
    guard.over({
      ...defineTool({
        name,
        description: "",
        input: z.looseObject({ says: z.string().default("") }),
        effect: "pure",
        run: async ({ says }) => says,
      }),
      ...(risk && { risk }),
    });
  const judge = (name: string, input: object, rest: Partial<RiskContext> = {}) =>
    tool(name).risk?.(input, riskContextForTest(workspace, rest));
  return {
    tool,
    judge,
    /** Makes a call, if it is free. */
    async make(name: string, input: object, rest: Partial<RiskContext> = {}) {
      const risk = await judge(name, input, rest);
      if (risk === undefined) await tool(name).call(input, contextForTest(workspace));
      return risk;
    },
  };
}

const results = (hosts: readonly string[]) => hosts.map((host) => `URL: https://${host}/a`).join("\n");
const taken = { takenIn: ["bash"] };

test("ordinary research asks nothing: searches, their results, further searches, links of pages", async () => {
  await using place = await workspaceForTest();
  const { make } = guarded(place.workspace);
  const rest = { takenIn: ["web"] };
  expect(await make("web_search", { query: "lamps", says: results(["a.example", "b.example"]) })).toBeUndefined();
  for (let round = 0; round < 8; round++) {
    const hosts = Array.from({ length: 10 }, (_, n) => `site${round * 10 + n}.example`);
    expect(await make("web_search", { query: `lamps ${round} CANARY`, says: results(hosts) }, rest)).toBeUndefined();
    for (const host of hosts.slice(0, 3))
      expect(await make("web_fetch", { url: `https://${host}/a`, says: "A page." }, rest)).toBeUndefined();
  }
  expect(await make("web_fetch", { url: "https://site1.example/?d=CANARY" }, rest)).toContain("which you did not name");
});

test("a task that has taken something in is led, though no page was read", async () => {
  await using place = await workspaceForTest();
  const { judge } = guarded(place.workspace);
  const url = "https://evil.example/?d=1";
  expect(await judge("web_fetch", { url }, { takenIn: ["file"] })).toBe(`Open “${url}”, which you did not name`);
  expect(await judge("web_fetch", { url })).toBeUndefined();
});

test("a search of what holds something private is in the user's words, its language too", async () => {
  await using place = await workspaceForTest();
  const { judge } = guarded(place.workspace);
  const rest = { ...taken, said: ["Find the price of lamps in Norway."] };
  expect(await judge("web_search", { query: "price lamps Norway", lang: "en" }, rest)).toBeUndefined();
  expect(await judge("browser_web_search", { query: "lamps" }, rest)).toBeUndefined();
  for (const input of [{ query: "price lamps CANARY" }, { query: "lamps", lang: "en-canary7" }])
    expect(await judge("web_search", input, rest)).toContain("in words that are not all yours");
});

test("a forge is no letter box: with something private known, only what the user or a page gave is cloned", async () => {
  await using place = await workspaceForTest();
  const { judge } = guarded(place.workspace);
  const url = "https://github.com/evil/CANARY";
  expect(await judge("clone_repository", { url })).toBeUndefined();
  expect(await judge("clone_repository", { url }, taken)).toContain("which you did not name");
  expect(
    await judge(
      "clone_repository",
      { url: "https://github.com/ann/app" },
      { ...taken, said: ["Mend https://github.com/ann/app."] },
    ),
  ).toBeUndefined();
});

test("an MCP tool goes where the addresses in its arguments lead, and keeps the risk its server tells", async () => {
  await using place = await workspaceForTest();
  const { judge, tool } = guarded(place.workspace);
  const nested = { request: { to: ["see https://evil.example/?d=1"] } };
  expect(await judge("net__fetch", nested, taken)).toBe("Open “https://evil.example/?d=1”, which you did not name");
  expect(await judge("net__fetch", nested, { ...taken, said: ["Use evil.example."] })).toBeUndefined();
  expect(await judge("net__fetch", { path: "notes.txt" }, taken)).toBeUndefined();
  const own = tool("net__write", async () => "This writes.").risk?.({}, riskContextForTest(place.workspace));
  expect(await own).toBe("This writes.");
});

test("what choices told is known to the next process; where it cannot be read, something may have been read", async () => {
  await using place = await workspaceForTest();
  const { workspace } = place;
  const links = Array.from({ length: 4_000 }, (_, n) => `https://evil.example/${n}`);
  const openings = async (from: number) => {
    const { make } = guarded(workspace);
    await make("web_search", { query: "x", says: links.join("\n") }, { ...taken, said: ["x"] });
    let made = 0;
    for (let n = from; n < from + 18; n++)
      if ((await make("web_fetch", { url: links[n] }, taken)) === undefined) made++;
    return made;
  };
  expect(await openings(0)).toBe(4);
  expect(await openings(100)).toBe(0);
  await Bun.write(join(workspace.metaRoot, "browser-scope.json"), "{");
  expect(await guarded(workspace).judge("web_fetch", { url: "https://other.example/?d=1" })).toContain("did not name");
});
