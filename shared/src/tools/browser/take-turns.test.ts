import { afterEach, expect, test } from "bun:test";
import type { LiveFrame, LiveOrder, LiveState } from "../../core/live-page.ts";
import type { Tool } from "../../core/tools/tool.ts";
import { sharedPages } from "../../machine/browser/live/shared-pages.ts";
import { watchedPages } from "../../machine/browser/live/watched-pages.ts";
import { createHolds, type HoldBounds, type Holds } from "../../machine/live/holds.ts";
import { createLivePages } from "../../machine/live/live-pages.ts";
import { browsersForTest } from "../../testing/browser/browsers.ts";
import { until } from "../../testing/durable/until.ts";
import { contextForTest } from "../../testing/tool-context.ts";
import { startSite } from "../../testing/web/site.ts";
import type { Observe } from "../family.ts";
import { createSnapshotStates } from "../observation/elements/snapshot-state.ts";
import { observe } from "../observation/observe.ts";
import { browserTools } from "./browser-tools.ts";
import { guided } from "./guided.ts";
import { lookingInTurn, takingTurns } from "./take-turns.ts";

const form = `<title>Sign in</title><style>input,button{position:fixed;left:20px;width:200px;height:30px}</style>
  <input aria-label="Name" style="top:20px"><input aria-label="Word" style="top:60px">
  <textarea aria-label="Note" style="position:fixed;left:20px;top:140px;width:200px;height:30px"></textarea>
  <div id=host></div><script>host.attachShadow({ mode: "open" }).innerHTML =
    '<input aria-label="Shaded" style="position:fixed;left:20px;top:180px;width:200px;height:30px">'</script>
  <button style="top:100px" onclick="document.querySelector('p').textContent = 'Pressed'">Go</button><p></p>`;

const opened: AsyncDisposable[] = [];
afterEach(async () => {
  for (const one of opened.splice(0).reverse()) await one[Symbol.asyncDispose]();
});

/** An agent at a form, its tools and looks taking turns with a person. */
async function startAtForm(bounds: Partial<HoldBounds> = {}) {
  const site = startSite({ "/": () => new Response(form, { headers: { "content-type": "text/html" } }) });
  const lab = await browsersForTest([site.host]);
  opened.push(site, lab);
  const workspace = await lab.workspace("one");
  const looks = createSnapshotStates();
  const typedAt: string[] = [];
  const onHandBack = async (_: unknown, urls: readonly URL[]) => void typedAt.push(...urls.map(({ host }) => host));
  const holds = createHolds(sharedPages(lab.browsers, onHandBack), bounds);
  const pages = createLivePages(watchedPages(lab.browsers, holds), holds);
  const progress: string[] = [];
  const context = { ...contextForTest(workspace), progress: (text: string) => void progress.push(text) };
  const tools = browserTools({ browsers: lab.browsers, looks }).map((tool) => takingTurns(tool, holds));
  const call = async (name: string, input: object = {}) => {
    const tool = tools.find((one) => one.name === `browser_${name}`);
    if (tool === undefined) throw new Error(`no tool ${name}`);
    return tool.call(input, context);
  };
  const look = lookingInTurn(async (place, { signal, since, vision }) => {
    const browsing = lab.browsers.peek(place);
    return browsing && observe(browsing, { looks, vision, since, signal });
  }, holds);
  const see = async () =>
    (await look(workspace, { signal: context.signal, vision: false, since: undefined, recent: [], isFirst: true }))
      ?.text ?? "";
  await call("go_to_url", { url: site.url });
  return { lab, site, workspace, holds, live: pages(workspace), call, see, progress, typedAt, pages };
}

const press = (x: number, y: number) =>
  (["down", "up"] as const).map((act) => ({ type: "pointer", act, x, y, button: "left", clicks: 1 }) as const);

async function firstOf<T extends LiveState | LiveFrame>(
  items: AsyncIterable<LiveState | LiveFrame>,
  isWanted: (item: LiveState | LiveFrame) => item is T,
): Promise<T> {
  for await (const item of items) if (isWanted(item)) return item;
  throw new Error("the view ended");
}

const isFrame = (item: LiveState | LiveFrame): item is LiveFrame => "frame" in item;

test("a viewer sees the page as a JPEG with the size of its window, and a change of it as a new one", async () => {
  const { live, lab, workspace } = await startAtForm();
  const gone = new AbortController();
  const items = live.watch(gone.signal);
  const first = await items.next();
  expect(first.value).toMatchObject({ page: "open", held: false });
  const frame = await firstOf({ [Symbol.asyncIterator]: () => ({ next: () => items.next() }) }, isFrame);
  expect(Buffer.from(frame.frame, "base64").subarray(0, 2).toString("hex")).toBe("ffd8");
  expect(frame.width).toBe(lab.browsers.peek(workspace)?.active().page.viewportSize()?.width ?? 0);
  await lab.browsers.peek(workspace)?.active().page.evaluate("document.body.style.background = 'red'");
  const next = await firstOf(items, isFrame);
  expect(next.frame).not.toBe(frame.frame);
  gone.abort();
}, 60_000);

test("while a person has the page the agent's calls wait; then the agent is told, and acts on nothing it has not seen", async () => {
  const { live, lab, workspace, call, see, progress, typedAt, site } = await startAtForm();
  await see();
  await live.order({ do: "take" });
  expect(await see()).toContain("A person has the browser's page");
  let isDone = false;
  const waiting = call("go_to_url", { url: `${site.url}/?elsewhere` }).finally(() => {
    isDone = true;
  });
  await live.order({ do: "input", inputs: [...press(60, 35), { type: "text", text: "hunter-two" }] });
  await live.order({
    do: "input",
    inputs: [
      { type: "key", key: "Tab" },
      { type: "text", text: "swordfish" },
    ],
  });
  for (const [y, text] of [
    [155, "note-of-mine"],
    [195, "shaded-word"],
  ] as const)
    await live.order({ do: "input", inputs: [...press(60, y), { type: "text", text }] });
  await live.order({ do: "input", inputs: press(60, 115) });
  expect(isDone).toBe(false);
  expect(progress.join()).toContain("A person has the page");
  await live.order({ do: "hand-back" });
  const refused = await waiting;
  expect(refused.isError).toBe(true);
  expect(refused.text).toContain("a person used the page");
  const seen = await see();
  expect(seen).toContain("Pressed");
  expect(seen).toMatch(/A person used the browser for \d+ s and handed it back, on http/);
  for (const secret of ["hunter-two", "swordfish", "note-of-mine", "shaded-word"])
    expect(seen + refused.text + progress.join()).not.toContain(secret);
  expect(seen.match(/•••/g)?.length).toBe(4);
  const page = lab.browsers.peek(workspace)?.active().page;
  const drawn = `[...document.querySelectorAll("input, textarea"), host.shadowRoot.querySelector("input")]
    .map((field) => getComputedStyle(field).webkitTextSecurity).join()`;
  expect(await page?.evaluate(drawn)).toBe("disc,disc,disc,disc");
  expect(typedAt).toEqual([site.host]);
  expect((await call("snapshot", { full: true })).text).not.toContain("swordfish");
  expect((await call("go_to_url", { url: `${site.url}/?again` })).isError).toBe(false);
}, 90_000);

test("a page that a person leaves alone is handed back; what comes then is refused, and so is a page nobody took", async () => {
  const { live, holds, workspace } = await startAtForm({ idleMs: 300 });
  const text: LiveOrder = { do: "input", inputs: [{ type: "text", text: "x" }] };
  await expect(live.order(text)).rejects.toMatchObject({ code: "conflict" });
  await live.order({ do: "take" });
  expect(holds.isHeld(workspace)).toBe(true);
  await until(() => !holds.isHeld(workspace));
  await expect(live.order(text)).rejects.toMatchObject({ code: "conflict" });
}, 60_000);

test("a fifth viewer is refused, and when the last has left no picture is taken any more", async () => {
  const { live, lab, workspace } = await startAtForm();
  const gone = new AbortController();
  const views = Array.from({ length: 4 }, () => live.watch(gone.signal));
  for (const view of views) await view.next();
  await expect(live.watch(gone.signal).next()).rejects.toMatchObject({ code: "rate_limited" });
  gone.abort();
  for (const view of views) await view.return();
  const again = live.watch(new AbortController().signal);
  expect((await again.next()).value).toMatchObject({ page: "open" });
  await again.return();
  await lab.browsers.release(workspace);
  const nothing = live.watch(new AbortController().signal);
  expect((await nothing.next()).value).toEqual({ page: "none", held: false });
  await nothing.return();
}, 60_000);

/**
 * Holds by hand: who holds the page, whether it was used since, and what the agent is told to have
 * seen.
 */
function holdsByHand({ isHeld = false, wasUsed = false } = {}) {
  const done: string[] = [];
  const signals: AbortSignal[] = [];
  const holds = {
    isHeld: () => isHeld,
    seen: () => void done.push("seen"),
    turn: async (_: unknown, signal: AbortSignal, work: (wasUsed: boolean) => Promise<unknown>) => {
      signals.push(signal);
      done.push("turn");
      return await work(wasUsed);
    },
  } as unknown as Holds;
  return { holds, done, signals };
}

test.each([
  ["pure", false, "made"],
  ["pure", true, "made"],
  ["once", false, "made"],
  ["once", true, "not made"],
  ["idempotent", true, "not made"],
] as const)("a call that is %s, on a page that a person used meanwhile (%p), is %s", async (effect, wasUsed, came) => {
  const { holds, done, signals } = holdsByHand({ wasUsed, isHeld: wasUsed });
  const told: string[] = [];
  const tool = {
    ...{ name: "act", onPage: {}, effect: () => effect },
    call: async () => {
      done.push("made");
      return { text: "so", isError: false };
    },
    risk: async () => {
      done.push("judged");
      return "It pays.";
    },
  } as unknown as Tool;
  const turning = takingTurns(tool, holds);
  const context = { ...contextForTest({} as never), progress: (text: string) => void told.push(text) };
  const result = await turning.call({}, context);
  expect(result.isError).toBe(came !== "made");
  expect(done).toEqual(["turn", "seen", ...(came === "made" ? ["made"] : [])]);
  expect(told).toHaveLength(wasUsed ? 1 : 0);
  // What the page would do is judged in the same turn, and ends with the task.
  const judging = { ...contextForTest({} as never), said: [], given: [], takenIn: [] };
  expect(await turning.risk?.({}, judging)).toBe("It pays.");
  expect(done.slice(-2)).toEqual(["turn", "judged"]);
  expect([signals.length, signals[0] === context.signal, signals[1] === judging.signal]).toEqual([2, true, true]);
});

test("a tool that works on no page takes no turns, and one without a risk has none", () => {
  const { holds } = holdsByHand();
  const plain = { name: "read" } as unknown as Tool;
  expect(takingTurns(plain, holds)).toBe(plain);
  expect(takingTurns({ ...plain, onPage: {} } as unknown as Tool, holds)).not.toHaveProperty("risk");
});

test("while a person has the page nothing of it is seen, and what the agent saw before stays what it builds on", async () => {
  const looked: unknown[] = [];
  const look = async () => {
    looked.push("look");
    return { text: "The page", mark: "m" };
  };
  const options = { signal: new AbortController().signal, vision: false, recent: [], isFirst: true } as never;
  const held = lookingInTurn(look, holdsByHand({ isHeld: true }).holds);
  const nothing = "[A person has the browser's page. It is shown to you when they hand it back.]";
  expect(await held({} as never, { ...(options as object), since: "m1" } as never)).toEqual({
    text: nothing,
    since: "m1",
  });
  expect(await held({} as never, { ...(options as object), since: undefined } as never)).toEqual({ text: nothing });
  expect(looked).toEqual([]);
  const free = holdsByHand({ wasUsed: true });
  expect(await lookingInTurn(look, free.holds)({} as never, options)).toEqual({ text: "The page", mark: "m" });
  expect([looked, free.done]).toEqual([["look"], ["turn", "seen"]]);
});

test("how to browse is told with the first look alone, and only while the browser is used", async () => {
  const seen = async () => ({ text: "The page", mark: "m" });
  const told = async (recent: readonly string[], isFirst: boolean, look: Observe = seen) =>
    (await guided(look)({} as never, { recent, isFirst } as never)) as { text: string } | undefined;
  expect((await told(["browser_wait"], true))?.text).toMatch(/^This is your browser: [^\n]*\n\nThe page$/);
  expect(await told(["bash", "browser_wait"], false)).toEqual({ text: "The page", mark: "m" } as never);
  expect([await told(["bash", "my_browser_x"], true), await told([], true)]).toEqual([undefined, undefined]);
  expect(await told(["browser_wait"], true, async () => undefined)).toBeUndefined();
});
