import { afterEach, expect, mock, spyOn, test } from "bun:test";
import type { LiveFrame, LivePage, LiveState } from "../../core/live-page.ts";
import type { Workspace } from "../../core/workspace.ts";
import type { Holds } from "./holds.ts";
import { createLivePages } from "./live-pages.ts";

afterEach(() => mock.restore());

/** Looks that a test makes happen, in place of those four times a second; and how many ended. */
function looksByHand() {
  const looks: (() => void)[] = [];
  const ended: unknown[] = [];
  spyOn(globalThis, "setInterval").mockImplementation(((look: () => void) => looks.push(look)) as never);
  spyOn(globalThis, "clearInterval").mockImplementation(((timer: unknown) => ended.push(timer)) as never);
  return { ended, look: (at = 0) => looks[at]?.() };
}

/** Whether something has been heard by now. */
const hasHeard = (next: Promise<unknown>) => Promise.race([next.then(() => true), Bun.sleep(20).then(() => false)]);

const workspaceOf = (root: string) => ({ root }) as Workspace;
const frameOf = (frame: string): LiveFrame => ({ frame, width: 1, height: 1 });
const closed: LiveState = { page: "none", held: false };
const opened: LiveState = { page: "open", url: "http://a.example/", held: false };

/** A page that is looked at, and what was done to it; `show` changes what there is. */
function watched() {
  const orders: string[] = [];
  const films: { shown: object; send: (frame: LiveFrame) => void; stopped: boolean }[] = [];
  const state = {
    told: closed as LiveState,
    shown: undefined as object | undefined,
    fails: false,
    waits: undefined as Promise<void> | undefined,
  };
  const holds: Pick<Holds, "take" | "handBack" | "input"> = {
    take: async ({ root }) => void orders.push(`take ${root}`),
    handBack: async ({ root }) => void orders.push(`back ${root}`),
    input: async (_, inputs, burst) => void orders.push(`${inputs.length} ${burst?.id} ${burst?.number}`),
  };
  const pages = createLivePages(
    {
      look: () => ({ told: state.told, ...(state.shown && { shown: state.shown }) }),
      async film(shown, send) {
        if (state.fails) throw new Error("no picture");
        await state.waits;
        const film = { shown, send, stopped: false };
        films.push(film);
        return () => {
          film.stopped = true;
        };
      },
    },
    holds as Holds,
  );
  return { pages, state, orders, films };
}

/** A viewer: its next items, and an end. */
function view(page: LivePage) {
  const leaving = new AbortController();
  const items = page.watch(leaving.signal);
  const next = async () => (await items.next()).value;
  return { next, leave: () => leaving.abort(), items };
}

async function until(check: () => boolean): Promise<void> {
  for (const end = performance.now() + 30_000; !check(); await Bun.sleep(5))
    if (performance.now() > end) throw new Error("It did not happen in time");
}

test("a viewer sees what is at once, then what changes and the newest picture, until it leaves", async () => {
  const { pages, state, films } = watched();
  const viewer = view(pages(workspaceOf("/a")));
  expect(await viewer.next()).toEqual(closed);
  Object.assign(state, { told: opened, shown: {} });
  expect(await viewer.next()).toEqual(opened);
  const waiting = viewer.next();
  await until(() => films.length === 1);
  films[0]?.send(frameOf("1"));
  expect(await waiting).toEqual(frameOf("1"));
  films[0]?.send(frameOf("2"));
  films[0]?.send(frameOf("3"));
  expect(await viewer.next()).toEqual(frameOf("3"));
  const last = viewer.next();
  viewer.leave();
  expect(await last).toBeUndefined();
  expect(films).toMatchObject([{ stopped: true }]);
});

test("of a page that another has replaced no picture is shown any more, and its film ends", async () => {
  const { pages, state, films } = watched();
  const [one, other] = [{}, {}];
  Object.assign(state, { told: opened, shown: one });
  const viewer = view(pages(workspaceOf("/a")));
  expect(await viewer.next()).toEqual(opened);
  await until(() => films.length === 1);
  const filmed = Promise.withResolvers<void>();
  state.waits = filmed.promise;
  Object.assign(state, { told: { ...opened, held: true }, shown: other });
  expect(await viewer.next()).toEqual({ ...opened, held: true });
  films[0]?.send(frameOf("old"));
  // Replaced again before its film had begun.
  state.waits = undefined;
  Object.assign(state, { told: opened, shown: one });
  expect(await viewer.next()).toEqual(opened);
  await until(() => films.length === 2);
  filmed.resolve();
  await until(() => films.length === 3);
  expect(films.map(({ shown, stopped }) => [shown === one, stopped])).toEqual([
    [true, true],
    [true, false],
    [false, true],
  ]);
  films[2]?.send(frameOf("of the other"));
  films[1]?.send(frameOf("now"));
  expect(await viewer.next()).toEqual(frameOf("now"));
  viewer.leave();
  expect(await viewer.next()).toBeUndefined();
  expect(films[1]?.stopped).toBe(true);
});

test("a page whose picture cannot be taken is tried again", async () => {
  const { pages, state, films } = watched();
  Object.assign(state, { told: opened, shown: {}, fails: true });
  const viewer = view(pages(workspaceOf("/a")));
  expect(await viewer.next()).toEqual(opened);
  state.fails = false;
  await until(() => films.length === 1);
  await viewer.items.return(undefined);
  expect(films[0]?.stopped).toBe(true);
});

test("four watch a page and sixteen pages are watched; who leaves makes room", async () => {
  const { pages, films, state } = watched();
  Object.assign(state, { told: opened, shown: {} });
  const page = pages(workspaceOf("/a"));
  const viewers = [1, 2, 3, 4].map(() => view(page));
  for (const viewer of viewers) expect(await viewer.next()).toEqual(opened);
  const refused = { code: "rate_limited", message: expect.stringContaining("viewers of this page") };
  await expect(view(page).next()).rejects.toMatchObject(refused);
  await viewers[0]?.items.return(undefined);
  const fifth = view(page);
  expect(await fifth.next()).toEqual(opened);
  expect(films).toMatchObject([{ stopped: false }]);

  const others = Array.from({ length: 15 }, (_, at) => view(pages(workspaceOf(`/${at}`))));
  for (const viewer of others) expect(await viewer.next()).toEqual(opened);
  const tooMany = { code: "rate_limited", message: expect.stringContaining("too many pages") };
  await expect(view(pages(workspaceOf("/more"))).next()).rejects.toMatchObject(tooMany);
  await others[0]?.items.return(undefined);
  const more = view(pages(workspaceOf("/more")));
  expect(await more.next()).toEqual(opened);
  for (const viewer of [...viewers, ...others, fifth, more]) await viewer.items.return(undefined);
  expect(films.every(({ stopped }) => stopped)).toBe(true);
});

test("an order goes to what holds the page, whole, and viewers hear at once what came of it", async () => {
  const { pages, state, orders } = watched();
  const page = pages(workspaceOf("/a"));
  const viewer = view(page);
  await viewer.next();
  const next = viewer.next();
  state.told = { ...closed, held: true };
  await page.order({ do: "take" });
  expect(await next).toEqual({ ...closed, held: true });
  await page.order({ do: "input", inputs: [{ type: "back" }], burst: { id: "b", number: 7 } });
  await page.order({ do: "hand-back" });
  expect(orders).toEqual(["take /a", "1 b 7", "back /a"]);
  await viewer.items.return(undefined);
  // Without anybody watching, too.
  await page.order({ do: "take" });
  expect(orders.at(-1)).toBe("take /a");
});

test("without a look a viewer hears of an order at once, of what is as it was nothing, and of the last page no picture", async () => {
  const { ended, look } = looksByHand();
  const { pages, state, films } = watched();
  Object.assign(state, { told: opened, shown: {} });
  const page = pages(workspaceOf("/a"));
  const viewer = view(page);
  expect(await viewer.next()).toEqual(opened);
  films[0]?.send(frameOf("1"));
  expect(await viewer.next()).toEqual(frameOf("1"));
  const next = viewer.next();
  state.told = { ...opened };
  look();
  expect(await hasHeard(next)).toBe(false);
  state.told = { ...opened, held: true };
  await page.order({ do: "take" });
  expect(await next).toEqual({ ...opened, held: true });
  state.shown = {};
  look();
  const second = view(page);
  expect(await second.next()).toEqual({ ...opened, held: true });
  const first = second.next();
  expect(await hasHeard(first)).toBe(false);
  films[1]?.send(frameOf("2"));
  expect(await first).toEqual(frameOf("2"));
  await second.items.return(undefined);
  expect(ended).toEqual([]);
  await viewer.items.return(undefined);
  expect(ended).toEqual([1]);
});
