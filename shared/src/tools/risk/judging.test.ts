import { expect, test } from "bun:test";
import { EventEmitter } from "node:events";
import type { RiskContext, Tool } from "../../core/tools/tool.ts";
import type { Workspace } from "../../core/workspace.ts";
import type { Browsers, Browsing } from "../../machine/browser/browser.ts";
import { workspaceForTest } from "../../testing/machine/workspace.ts";
import { contextForTest, riskContextForTest } from "../../testing/tool-context.ts";
import { createSnapshotStates } from "../observation/elements/snapshot-state.ts";
import type { Judgement, Situation } from "./acts.ts";
import type { ActionTarget } from "./judge-action.ts";
import { createJudging, type JudgingDeps } from "./judging.ts";
import type { PageTool } from "./page-tool.ts";
import { createScopeBook } from "./scope-book.ts";

/**
 * A conversation's judging; `open` says whether it has an open page, and which dialog blocks that.
 */
async function judgingForTest(deps: Partial<JudgingDeps> & { open?: boolean; dialog?: string } = {}) {
  const place = await workspaceForTest();
  const page = Object.assign(new EventEmitter(), { url: () => "https://far.example/" });
  const { open = false, dialog, ...rest } = deps;
  const browsing = {
    active: () => ({ page }),
    dialog: () => (dialog === undefined ? undefined : { kind: "confirm", message: dialog }),
  } as unknown as Browsing;
  const browsers = { peek: () => (open ? browsing : undefined) } as unknown as Browsers;
  const book = createScopeBook([]);
  const judging = createJudging(book, { browsers, looks: createSnapshotStates(), scope: "task", trusted: [], ...rest });
  return {
    book,
    page,
    judge: (tool: Tool, input: unknown = {}, more: Partial<RiskContext> = {}) =>
      judging.judge(tool, input, riskContextForTest(place.workspace, more)),
    make: (tool: Tool, input: unknown = {}) => judging.make(tool, input, contextForTest(place.workspace)),
    makeIn: (workspace: Workspace, tool: Tool, input: unknown) => judging.make(tool, input, contextForTest(workspace)),
    known: () => book.of(place.workspace),
    workspace: place.workspace,
    [Symbol.asyncDispose]: () => place[Symbol.asyncDispose](),
  };
}

const tool = (more: object = {}) =>
  ({ name: "act", call: async () => ({ text: "made", isError: false }), ...more }) as unknown as Tool;
const opening = (reach: object = {}) =>
  tool({ reach: { opens: (input: { url: string }) => [input.url], ...reach } }) as Tool;

/** A tool that acts on the open page, and how it was asked to judge. */
function acting(judgement: Judgement, more: object = {}, onPage: object = {}) {
  const asked: Situation[] = [];
  const judge = async (_: unknown, situation: Situation) => {
    asked.push(situation);
    return judgement;
  };
  return { tool: { ...tool(more), onPage: { judge, ...onPage } } as PageTool, asked };
}

const far = { url: "https://far.example/?d=1" };
test.each<[string, object, Partial<RiskContext>, boolean]>([
  ["that nothing has led", {}, {}, false],
  ["that has taken something in", {}, { takenIn: ["file"] }, true],
  ["whose tool brings what leads", { led: true }, {}, true],
])("an address of its own choice is opened by a task %s: %#", async (_, reach, more, asks) => {
  await using it = await judgingForTest();
  const risk = await it.judge(opening(reach), far, more);
  expect(risk).toEqual(asks ? `Open “${far.url}”, which you did not name` : undefined);
  expect((await it.known()).chosen).toEqual(asks ? [] : ["*.far.example"]);
});

test("all hosts that a task chooses at once before anything led it are its own choice", async () => {
  await using it = await judgingForTest();
  const opens = () => ["https://far.example/1", "no address", "https://near.example:8443/2"];
  expect(await it.judge(tool({ reach: { opens } }))).toBeUndefined();
  expect((await it.known()).chosen).toEqual(["*.far.example", "*.near.example:8443"]);
});

test("a host chosen after the task was led is not recorded as chosen, even one the user named", async () => {
  await using it = await judgingForTest();
  expect(await it.judge(opening(), far, { takenIn: ["file"], said: ["far.example"] })).toBeUndefined();
  expect((await it.known()).chosen).toEqual([]);
});

test.each([
  [{ reads: true }, true],
  [{ reads: false }, false],
  [{}, false],
])("a call whose reach is %j counts as reading: %p", async (reach, read) => {
  await using it = await judgingForTest();
  await it.judge(tool({ reach }));
  expect((await it.known()).read).toBe(read);
});

const behindDialog = "Act on a page while its dialog is open";
test.each<[string, { open?: boolean; dialog?: string }, object | undefined, boolean]>([
  ["with a dialog", { open: true, dialog: "Sure?" }, {}, true],
  ["without a dialog", { open: true }, {}, false],
  ["without a page", { dialog: "Sure?" }, {}, false],
  ["by the tool that answers the dialog", { open: true, dialog: "Sure?" }, { answersDialog: true }, false],
  ["by a tool that does not judge", { open: true, dialog: "Sure?" }, { judge: undefined }, false],
  ["by a tool that works on no page", { open: true, dialog: "Sure?" }, undefined, false],
])("an act on a page %s", async (_, page, onPage, asks) => {
  await using it = await judgingForTest(page);
  const risk = await it.judge(onPage === undefined ? tool() : acting({}, {}, onPage).tool);
  if (asks) expect(risk).toStartWith(behindDialog);
  else expect(risk).toBeUndefined();
});

test("an act is judged with the page, the task's scope and the words of the user and the configuration", async () => {
  await using it = await judgingForTest({ open: true, trusted: ["ok.example"] });
  const { tool: act, asked } = acting({ risk: "It pays." });
  expect(await it.judge(act, {}, { said: ["Go."], given: ["http://given.example/"], takenIn: ["bash"] })).toBe(
    "It pays.",
  );
  const [{ browsing, scope, words } = {}] = asked;
  expect(words).toEqual({ said: ["Go."], trusted: ["ok.example"] });
  expect(scope).toMatchObject({ led: true, private: true, said: ["Go."], given: ["http://given.example/"] });
  expect(Object.keys(browsing ?? {}).toSorted()).toEqual(["browsing", "looks", "sent"]);
  await it.judge(act);
  expect(asked[1]?.scope).toMatchObject({ led: false, private: false });
  expect(asked[1]?.browsing?.sent).toBe(asked[0]?.browsing?.sent as never);
});

test("in an open scope only what an act does is judged", async () => {
  await using it = await judgingForTest({ scope: "open" });
  expect(await it.judge(opening(), far, { takenIn: ["bash"] })).toBeUndefined();
  const { tool: act, asked } = acting({ risk: "It pays." });
  expect(await it.judge(act)).toBe("It pays.");
  expect(asked[0]?.scope).toBeUndefined();
});

test("what a call reveals is what its addresses and its act reveal together, and is spent when it is made, once", async () => {
  await using it = await judgingForTest({ open: true });
  const shown = Array.from({ length: 7 }, (_, n) => `https://far.example/${n}`);
  await it.book.read(it.workspace, shown);
  const both = (bits: number) =>
    acting({ prices: [{ site: "far.example", bits }] }, { reach: { opens: () => [shown[0]] } }).tool;
  expect(await it.judge(both(93))).toBeUndefined();
  expect(await it.judge(both(94))).toStartWith("Go on at “far.example”, which you did not name");
  expect((await it.known()).spent.get("far.example")).toBeUndefined();
  await it.judge(both(5));
  expect(await it.make(both(5))).toMatchObject({ text: "made" });
  await it.make(both(5));
  expect((await it.known()).spent.get("far.example")).toBe(8);
});

test("a call is made with the finding of its own input, in its own conversation", async () => {
  await using it = await judgingForTest({ open: true });
  const { tool: act } = acting({ prices: [{ site: "far.example", bits: 5 }] });
  await it.judge(act, { n: 1 });
  await it.make(act, { n: 2 });
  await it.make({ ...act, name: "other" }, { n: 1 });
  expect((await it.known()).spent.size).toBe(0);
  await it.make(act, { n: 1 });
  expect((await it.known()).spent.get("far.example")).toBe(5);
});

test("of calls that are judged together each is made with what was found about it, in its own conversation", async () => {
  await using it = await judgingForTest({ open: true });
  const { tool: act } = acting({ prices: [{ site: "far.example", bits: 5 }] });
  for (const n of [1, 2, 3]) await it.judge(act, { n });
  const elsewhere = await workspaceForTest();
  await using _ = elsewhere;
  await it.makeIn(elsewhere.workspace, act, { n: 1 });
  expect((await it.book.of(elsewhere.workspace)).spent.size).toBe(0);
  for (const n of [3, 1, 2]) await it.make(act, { n });
  expect((await it.known()).spent.get("far.example")).toBe(15);
});

test("secrets given to pages are recorded, all of them, before the call that types it is made", async () => {
  await using it = await judgingForTest({ open: true });
  const secretsAt = ["https://shop.example/login", "https://pay.example/"].map((url) => new URL(url));
  const known: boolean[] = [];
  const call = async () => {
    for (const url of secretsAt) known.push(await it.book.isSignedIn(it.workspace, url));
    return { text: "", isError: false };
  };
  const { tool: act } = acting({ secretsAt }, { call });
  await it.judge(act);
  await it.make(act);
  expect(known).toEqual([true, true]);
});

test("what a call writes does not count as given by a page that shows it", async () => {
  await using it = await judgingForTest();
  await it.make(tool({ reach: { writes: () => "see https://evil.example/?d=1" } }));
  await it.book.read(it.workspace, ["https://evil.example/?d=1", "https://good.example/"]);
  expect([...(await it.known()).shown.keys()]).toEqual(["https://good.example/"]);
});

test("what a page sends when an element is pressed is known the next time it is judged", async () => {
  await using it = await judgingForTest({ open: true });
  const pressed = {
    action: { tag: "button", type: "", words: [], marks: [] },
    url: new URL("https://far.example/"),
  } as unknown as ActionTarget;
  const call = async () => {
    it.page.emit("request", { url: () => "https://far.example/x", method: () => "POST", resourceType: () => "fetch" });
    return { text: "", isError: false };
  };
  const { tool: act, asked } = acting({ pressed, prices: [{ site: "far.example", bits: 3 }] }, { call });
  await it.judge(act);
  await it.make(act);
  expect((await it.known()).spent.get("far.example")).toBe(3);
  await it.judge(act);
  expect(asked[1]?.browsing?.sent.before(pressed)).toEqual({ method: "POST", path: "/x" });
});
