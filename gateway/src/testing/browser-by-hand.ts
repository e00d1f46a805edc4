import { mock, spyOn } from "bun:test";
import { join } from "node:path";

/** A channel to other tabs: what was sent on it, and who hears what they send. */
export type ChannelByHand = {
  readonly name: string;
  readonly posted: unknown[];
  onmessage: ((message: { readonly data: unknown }) => void) | null;
};

/**
 * What the console's modules find in a browser, for tests of what they do without a page. They are
 * typed for browsers, and so are loaded by name.
 */
export type BrowserByHand = {
  // biome-ignore lint/suspicious/noExplicitAny: typed for browsers.
  load(name: string): Promise<any>;
  /** What was asked of the gateway, and what it answers. */
  readonly asked: string[];
  readonly sent: {
    readonly token: string | null;
    readonly credentials: string | undefined;
    readonly keepalive: boolean | undefined;
    readonly signal: AbortSignal | null | undefined;
  }[];
  readonly posted: { readonly path: string; readonly body: unknown; readonly key: string | null }[];
  answer: (path: string) => Response | Promise<Response>;
  readonly kept: Map<string, string>;
  readonly channels: ChannelByHand[];
  /** The names of locks that were asked for; they are given if `givesLocks`. */
  readonly locks: string[];
  givesLocks: boolean;
  readonly document: { hidden: boolean };
  readonly location: { hash: string };
  /** Entries of the history, with how they were made. */
  readonly history: [string, string][];
  readonly notices: { readonly title: string; readonly options: object; onclick?: () => void }[];
  permission: "default" | "granted" | "denied";
  /** Tells the page and the window of an event. */
  fire(name: string, event?: object): void;
  /** What an event says that it is of. */
  element(kind: "HTMLElement" | "HTMLTextAreaElement", more?: object): object;
  /** How many listen to it. */
  listeners(name: string): number;
  reset(): void;
} & Disposable;

/** Puts it in place of this runtime's own until it is disposed. */
export function browserByHand(): BrowserByHand {
  const drawn = (type: unknown, props: unknown) => ({ type, props });
  for (const runtime of ["jsx-runtime", "jsx-dev-runtime"])
    mock.module(`react/${runtime}`, () => ({ jsx: drawn, jsxs: drawn, jsxDEV: drawn, Fragment: "" }));
  const heard = new Map<string, Set<(event: object) => void>>();
  const events = {
    addEventListener: (name: string, act: (event: object) => void) =>
      void heard.set(name, (heard.get(name) ?? new Set()).add(act)),
    removeEventListener: (name: string, act: (event: object) => void) => void heard.get(name)?.delete(act),
  };
  const hand: BrowserByHand = {
    load: (name) => import(join(import.meta.dir, "../console", name)),
    asked: [],
    sent: [],
    posted: [],
    answer: () => Response.json({ runs: [] }),
    kept: new Map(),
    channels: [],
    locks: [],
    givesLocks: true,
    document: Object.assign({ hidden: false, body: { dataset: {} }, documentElement: { dataset: {} } }, events),
    location: { hash: "" },
    history: [],
    notices: [],
    permission: "default",
    fire: (name, event = {}) => {
      for (const act of heard.get(name) ?? []) act(event);
    },
    element: (kind, more) => Object.assign(new (Reflect.get(globalThis, kind) as new () => object)(), more),
    listeners: (name) => heard.get(name)?.size ?? 0,
    reset() {
      hand.asked.length = 0;
      hand.sent.length = 0;
      hand.posted.length = 0;
      hand.answer = () => Response.json({ runs: [] });
      hand.kept.clear();
      hand.document.hidden = false;
    },
    [Symbol.dispose]() {
      for (const [name, own] of former) Object.defineProperty(globalThis, name, own ?? { value: undefined });
    },
  };
  const globals = { ...events, ...pageOf(hand), ...gatewayOf(hand) };
  const former = Object.keys(globals).map((name) => [name, Object.getOwnPropertyDescriptor(globalThis, name)] as const);
  for (const [name, value] of Object.entries(globals))
    Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
  Object.defineProperty(navigator, "languages", { value: ["en"], configurable: true });
  return hand;
}

/** What a page is and keeps. */
function pageOf(hand: BrowserByHand) {
  const storage = {
    getItem: (key: string) => hand.kept.get(key) ?? null,
    setItem: (key: string, value: string) => void hand.kept.set(key, value),
    removeItem: (key: string) => void hand.kept.delete(key),
  };
  const entry = (how: string) => (_: unknown, __: unknown, to: string) => void hand.history.push([how, to]);
  class Notice {
    onclick?: () => void;
    close(): void {}
    readonly title: string;
    readonly options: object;
    constructor(title: string, options: object) {
      this.title = title;
      this.options = options;
      hand.notices.push(this);
    }
    static get permission() {
      return hand.permission;
    }
    static async requestPermission() {
      hand.permission = "granted";
    }
  }
  return {
    ...{ sessionStorage: storage, localStorage: storage, document: hand.document, location: hand.location },
    ...{ history: { pushState: entry("push"), replaceState: entry("replace") }, isSecureContext: true },
    ...{ Notification: Notice, window: { Notification: Notice, focus: () => undefined } },
    ...{ HTMLTextAreaElement: class {}, HTMLInputElement: class {}, HTMLElement: class {} },
    requestAnimationFrame: (act: () => void) => setTimeout(act, 1),
  };
}

/** The gateway, and the other tabs of the console. */
function gatewayOf(hand: BrowserByHand) {
  const locks = {
    request(name: string, work: () => unknown) {
      hand.locks.push(name);
      if (hand.givesLocks) void work();
    },
  };
  Object.defineProperty(navigator, "locks", { value: locks, configurable: true });
  return {
    BroadcastChannel: class {
      readonly posted: unknown[] = [];
      onmessage = null;
      postMessage = (data: unknown) => void this.posted.push(data);
      readonly name: string;
      constructor(name: string) {
        this.name = name;
        hand.channels.push(this);
      }
    },
    async fetch(path: string, { method = "GET", signal, credentials, keepalive, ...init }: RequestInit = {}) {
      signal?.throwIfAborted();
      hand.asked.push(`${method} ${path}`);
      const headers = new Headers(init.headers);
      hand.sent.push({ token: headers.get("Authorization"), credentials, keepalive, signal });
      const key = headers.get("Idempotency-Key");
      if (method === "POST") hand.posted.push({ path, body: JSON.parse(String(init.body)), key });
      return await hand.answer(path);
    },
  };
}

/** Lets waits of less than half a minute take no time; how long they were to be. */
export function withoutWaiting(): { readonly waits: number[] } & Disposable {
  const own = setTimeout;
  const waits: number[] = [];
  const spy = spyOn(globalThis, "setTimeout").mockImplementation(((act: () => void, ms = 0) => {
    if (ms >= 30_000) return own(act, ms);
    waits.push(ms);
    return own(act, 0);
  }) as never);
  return { waits, [Symbol.dispose]: () => spy.mockRestore() };
}

/** Waits for what is under way. */
export async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await Bun.sleep(0);
}

/** Lets what has begun go on, as far as it waits for nothing but short timers. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 4; turn++) await Bun.sleep(1);
}
