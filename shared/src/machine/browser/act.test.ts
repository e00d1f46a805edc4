import { expect, jest, test } from "bun:test";
import { EventEmitter } from "node:events";
import type { Page } from "playwright";
import { AppError } from "../../core/errors.ts";
import { type ActDeps, actOn } from "./act.ts";

/** A page, what surrounds it, and everything that was asked of them, in its order. */
function scene(changes: Partial<ActDeps> = {}) {
  const done: string[] = [];
  const state = {
    closed: false,
    connected: false,
    loading: false,
    answers: true,
    left: undefined as string | undefined,
  };
  const browser = Object.assign(new EventEmitter(), { isConnected: () => state.connected });
  const page = Object.assign(new EventEmitter(), {
    setDefaultTimeout: (ms: number) => void done.push(`limit ${ms}`),
    isClosed: () => state.closed,
    evaluate: () => (state.answers ? Promise.resolve(true) : new Promise(() => undefined)),
    waitForURL: async (url: RegExp) => void done.push(`waited for ${url}`),
    context: () => ({ browser: () => browser }),
  });
  let silences = 0;
  const dialogs = {
    settle: async () => void done.push("settled"),
    opened: () => new Promise<void>(() => undefined),
    calm: () => void done.push("calm"),
  };
  const deps = {
    signal: new AbortController().signal,
    timeoutMs: 1_000,
    dialogs,
    guard: {
      left: async () => {
        const url = state.left;
        state.left = undefined;
        return url;
      },
    },
    downloads: { settled: async (began: boolean) => void done.push(`downloads ${began}`), stop: async () => undefined },
    patience: {
      maxMs: 30,
      loading: () => (state.loading ? { url: "http://slow.example/", seconds: 9 } : undefined),
      isAsking: () => false,
      leavesOpen: () => ++silences === 1,
      answered: () => {
        done.push("answered");
        silences = 0;
      },
    },
    replace: async () => "Tab 7 was closed.",
    lost: () => undefined,
    ...changes,
  } as unknown as ActDeps;
  const act = <T>(run: (page: Page) => Promise<T>) => actOn(page as unknown as Page, run, deps);
  const listeners = () => page.eventNames().reduce((sum, name) => sum + page.listenerCount(name), 0);
  return { page, browser, state, done, act, listeners, dialogs };
}
const timeout = () => Object.assign(new Error("Timeout 1000ms exceeded.\n  - call log"), { name: "TimeoutError" });
const never = () => new Promise<never>(() => undefined);
const failure = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (error: AppError) => error,
  );

test("an act that ended clears what went before: dialogs in a row, a page's silence; and leaves no listener", async () => {
  const { act, done, page, listeners } = scene();
  expect(await act(async () => 7)).toBe(7);
  expect(done.splice(0)).toEqual(["settled", "limit 1000", "answered", "calm", "downloads false"]);
  const began = await act(async () => {
    page.emit("download");
    return 8;
  });
  expect([began, done.at(-1), listeners()]).toEqual([8, "downloads true", 0]);
  await failure(act(() => Promise.reject(new Error("no"))));
  expect(listeners()).toBe(0);
});

test("a dialog that opens ends the act, which is not one without a dialog", async () => {
  const { act, done, dialogs } = scene();
  dialogs.opened = async () => undefined;
  expect(await act(never)).toBeUndefined();
  expect(done).toEqual(["settled", "limit 1000", "answered"]);
});

test("what an address that may not be opened shows is not told, whether the act failed or not", async () => {
  const { act, state, done } = scene();
  for (const work of [async () => "content", () => Promise.reject(new Error("net::ERR_ABORTED"))]) {
    state.left = "chrome://version";
    expect(await failure(act<unknown>(work))).toMatchObject({
      code: "forbidden",
      message: "The page at chrome://version was left: only http and https pages may be opened.",
    });
  }
  expect(done).not.toContain("calm");
});

test("a page is waited for that fails to load, so that its error page does not fail the next one", async () => {
  const { act, done } = scene();
  await failure(act(() => Promise.reject(new Error("net::ERR_NAME_NOT_RESOLVED at x"))));
  expect(done.at(-1)).toBe("waited for /^chrome-error:/");
  const waits = done.length;
  for (const other of ["net::ERR_ABORTED", "something else"]) {
    const error = new Error(other);
    expect(await failure(act(() => Promise.reject(error)))).toBe(error as AppError);
  }
  expect(done.slice(waits)).not.toContain("waited for /^chrome-error:/");
});

test("a page that crashed is replaced, one that closed is not, and of a browser that ended the reason is told", async () => {
  const { act, page, state } = scene();
  const crashed = act(never);
  await Bun.sleep(0);
  page.emit("crash");
  expect(await failure(crashed)).toMatchObject({ code: "unavailable", message: "The page crashed. Tab 7 was closed." });
  expect(await failure(act(() => Promise.reject(new Error("Target crashed"))))).toMatchObject({
    message: "The page crashed. Tab 7 was closed.",
  });
  const closed = act(never);
  await Bun.sleep(0);
  page.emit("close");
  const gone = { code: "unavailable", message: "The tab was closed while it was acted on." };
  expect(await failure(closed)).toMatchObject(gone);
  state.closed = true;
  expect(await failure(act(() => Promise.reject(new Error("no context"))))).toMatchObject(gone);
  const lost = scene({ lost: () => "The browser crashed or was ended." });
  expect(await failure(lost.act(() => Promise.reject(new Error("closed"))))).toMatchObject({
    code: "unavailable",
    message: "The browser crashed or was ended.",
  });
});

test("when time is up the page is asked: one that answers stays, one that loads is named, one that is silent goes the second time", async () => {
  const { act, state, done } = scene();
  expect(await failure(act(() => Promise.reject(timeout())))).toMatchObject({
    code: "timeout",
    message: "Timeout 1000ms exceeded. It may take effect late: look before you try again.",
  });
  expect(done.at(-1)).toBe("answered");
  state.loading = true;
  expect(await failure(act(() => Promise.reject(timeout())))).toMatchObject({
    code: "timeout",
    message: expect.stringContaining("The page http://slow.example/ is still loading after 9 s, and stays open"),
  });
  state.loading = false;
  state.answers = false;
  jest.useFakeTimers();
  try {
    const messages: string[] = [];
    for (let n = 0; n < 2; n++) {
      const acting = failure(act(() => Promise.reject(timeout()))).then((error) => messages.push(error?.message ?? ""));
      for (let turn = 0; turn < 30 && messages.length === n; turn++) {
        for (let step = 0; step < 20; step++) await Promise.resolve();
        jest.advanceTimersByTime(100);
      }
      await acting;
    }
    expect(messages).toEqual([
      "Timeout 1000ms exceeded. The page is too busy to answer, and stays open: wait with browser_wait, then look; or leave it.",
      "Timeout 1000ms exceeded. The page does not respond any more. Tab 7 was closed.",
    ]);
  } finally {
    jest.useRealTimers();
  }
});

test("who cancels ends an act at once, with the signal's own reason, whatever the page does", async () => {
  const control = new AbortController();
  const { act, listeners, done } = scene({ signal: control.signal, timeoutMs: 600_000 });
  const acting = failure(act(never));
  await Bun.sleep(0);
  const reason = new AppError("interrupted", "enough");
  control.abort(reason);
  expect(await acting).toBe(reason);
  expect(listeners()).toBe(0);
  const before = done.length;
  expect(await failure(act(async () => 1))).toBe(reason);
  expect(done).toHaveLength(before);
});
