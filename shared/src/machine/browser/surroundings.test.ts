import { afterAll, beforeAll, expect, test } from "bun:test";
import { EventEmitter } from "node:events";
import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { BrowserContext, Page } from "playwright";
import type { Workspace } from "../../core/workspace.ts";
import { workspaceForTest } from "../../testing/machine/workspace.ts";
import { type BrowserSettings, browserDefaults } from "../browser-process/settings.ts";
import { createNotices } from "./notices.ts";
import { openSurroundings } from "./surroundings.ts";

let place: Awaited<ReturnType<typeof workspaceForTest>>;
beforeAll(async () => {
  place = await workspaceForTest();
});
afterAll(() => place[Symbol.asyncDispose]());

type Changes = {
  readonly settings?: Partial<BrowserSettings>;
  readonly workspace?: Workspace | undefined;
  readonly own?: "started" | "running";
  readonly kind?: "chromium" | "playwright";
  readonly here?: boolean;
  /** The call that fails. */
  readonly fails?: string;
  readonly profile?: object;
};

/** A browser, and everything that was done with it, in its order. */
function scene({ settings, own, kind = "playwright", here = true, fails, profile, ...more }: Changes = {}) {
  const done: string[] = [];
  const options: Record<string, unknown>[] = [];
  const pages: Page[] = [];
  const downloads = join(place.home, crypto.randomUUID());
  const attempt = (what: string) => {
    done.push(what);
    if (what.split(" ")[0] === fails) throw new Error(`No ${what}.`);
  };
  const session = Object.assign(new EventEmitter(), {
    send: async (method: string) => ({ method, targetInfo: {} }),
    detach: async () => undefined,
  });
  const newPage = async () => {
    attempt("newPage");
    const main = {};
    const page = Object.assign(new EventEmitter(), {
      url: () => "about:blank",
      mainFrame: () => main,
      isClosed: () => false,
      goto: async (url: string) => attempt(`goto ${url}`),
      route: async () => undefined,
      routeWebSocket: async () => undefined,
      context: () => context,
      close: async () => {
        done.push("page closed");
        page.emit("close");
      },
    });
    pages.push(page as unknown as Page);
    context.emit("page", page);
    return page;
  };
  const context = Object.assign(new EventEmitter(), {
    newPage,
    newCDPSession: async () => session,
    route: async (pattern: unknown) => attempt(`route ${pattern}`),
    routeWebSocket: async () => undefined,
    grantPermissions: async (granted: string[]) => attempt(`grantPermissions ${granted}`),
    close: async () => void done.push("context closed"),
  }) as EventEmitter & { newPage: typeof newPage };
  const browser = {
    version: () => "140.0.1",
    newBrowserCDPSession: async () => session,
    newContext: async (how: Record<string, unknown>) => {
      options.push(how);
      attempt("newContext");
      return context;
    },
  };
  const listeners = new Set<never>();
  const ownContext = own && { context, listeners: own === "started" ? listeners : undefined };
  const running = {
    ...{ browser, kind, here, own: ownContext, sandbox: "" },
    folder: async (name: string) => {
      done.push(`folder ${name.replace(/-.*/, "")}`);
      await mkdir(downloads);
      return downloads;
    },
  };
  const proxy = {
    url: "http://127.0.0.1:1",
    admit: () => ({ username: "name", password: "word", revoke: () => void done.push("revoked") }),
  };
  let id = 0;
  const open = () =>
    openSurroundings({
      ...{ running, proxy, notices: createNotices(), nextId: () => ++id, profile },
      settings: {
        ...{ ...browserDefaults, folder: "/nonexistent", policy: { allow: [], deny: [], only: [] } },
        ...settings,
      },
      workspace: "workspace" in more ? more.workspace : place.workspace,
    } as never);
  const of = context as unknown as BrowserContext & EventEmitter;
  return { open, done, options, pages, context: of, listeners, hasFolder: () => existsSync(downloads) };
}
const local = () => ({ ...place.workspace, principal: "local" });

test("a conversation has a context of its own, behind the proxy under its own credentials, which end with it", async () => {
  const { open, done, options, context, hasFolder } = scene();
  const now = await open();
  expect(done.splice(0)).toEqual([
    "newContext",
    "grantPermissions ",
    "route file:///**",
    "folder downloads",
    "newPage",
    "goto http://proxy.invalid/",
    "goto about:blank",
  ]);
  expect(options).toEqual([
    expect.objectContaining({
      proxy: { server: "http://127.0.0.1:1", username: "name", password: "word", bypass: "<-loopback>" },
      userAgent: expect.stringContaining("Chrome/140.0.0.0"),
      acceptDownloads: true,
      serviceWorkers: "block",
    }),
  ]);
  expect(options[0]).not.toHaveProperty("storageState");
  expect([now.tabs.all().length, hasFolder()]).toEqual([1, true]);
  await now.close();
  expect([done, hasFolder()]).toEqual([["context closed", "revoked"], false]);
  expect(context.listenerCount("request")).toBe(0);
});

test("what the settings and the profile say is what the context begins with", async () => {
  const state = { cookies: [{ name: "a" }], origins: [] };
  const geolocation = { latitude: 1, longitude: 2, accuracy: 3 };
  const { open, done, options } = scene({
    profile: { state: () => state },
    kind: "chromium",
    settings: { geolocation, timezone: "Europe/Rome", locale: "it" },
    workspace: undefined,
  });
  await open();
  expect(options[0]).toMatchObject({
    ...{ storageState: state, geolocation, timezoneId: "Europe/Rome", locale: "it", acceptDownloads: false },
  });
  expect(done).toContain("grantPermissions geolocation");
  // Without a workspace there are no downloads.
  expect(done).not.toContain("folder downloads");
});

test.each([
  ["newContext", ["revoked"]],
  ["grantPermissions", ["context closed", "revoked"]],
  ["route", ["context closed", "revoked"]],
  ["newPage", ["context closed", "revoked"]],
  ["goto", ["context closed", "revoked"]],
])("when %s fails, nothing of the context is left", async (fails, after) => {
  const { open, done, context } = scene({ fails });
  await expect(open()).rejects.toThrow("No ");
  expect(done.filter((one) => /closed|revoked/.test(one))).toEqual(after);
  expect(context.listenerCount("request")).toBe(0);
});

test("in its user's own browser a conversation has a tab, and closes only what is its own", async () => {
  const { open, done, options, listeners, context, pages } = scene({ own: "started", workspace: local() });
  const strange = await context.newPage();
  done.length = 0;
  const now = await open();
  expect([options, listeners.size, now.tabs.all().length, now.tabs.of(strange)]).toEqual([[], 1, 1, undefined]);
  expect(done.splice(0)).toEqual(["folder downloads", "newPage", "goto http://proxy.invalid/", "goto about:blank"]);
  expect([...pages.map((page) => (page as unknown as EventEmitter).listenerCount("dialog"))]).toEqual([0, 1]);
  await now.close();
  expect([done, listeners.size, context.listenerCount("request")]).toEqual([["page closed"], 0, 0]);
});

test("where its browser is run by the user, its requests are judged here, and its downloads are the user's", async () => {
  const { open, done } = scene({ own: "running", kind: "playwright", workspace: local() });
  const now = await open();
  expect(done).toEqual(["newPage"]);
  expect(now.downloads).toBeUndefined();
  await now.close();
});

test("another principal has a context of its own, also where its user's browser is used", async () => {
  const { open, done, listeners } = scene({ own: "started" });
  await open();
  expect([done[0], listeners.size]).toEqual(["newContext", 0]);
  const rendered = scene({ own: "started", workspace: undefined });
  await rendered.open();
  expect([rendered.done[0], rendered.hasFolder()]).toEqual(["newContext", false]);
});

test("a browser elsewhere, which does not reach the proxy, has the policy at each request", async () => {
  const { open, done, options } = scene({ here: false });
  await open();
  expect(options[0]).not.toHaveProperty("proxy");
  expect(done.filter((one) => /route|goto/.test(one))).toEqual(["route /^https?:/", "route file:///**"]);
});
