import { afterEach, beforeEach, expect, spyOn, test } from "bun:test";
import { EventEmitter } from "node:events";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as processes from "../browser-process/running-browser.ts";
import { type BrowserSettings, browserDefaults } from "../browser-process/settings.ts";
import * as proxies from "../egress/proxy.ts";
import { shareBrowser } from "./shared-browser.ts";

let folder = "";
let log: string[] = [];
let spies: { mockRestore(): void }[] = [];
let fails: string | undefined;
let started: { readonly browser: EventEmitter; readonly running: object }[] = [];
let given: object[] = [];
let own: object | undefined;
let here = true;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "manyhands-shared-"));
  [log, fails, started, given, own, here] = [[], undefined, [], [], undefined, true];
  spies = [
    spyOn(proxies, "startEgressProxy").mockImplementation((async (options: object) => {
      given.push(options);
      return { url: "http://127.0.0.1:1", close: async () => void log.push("proxy closed") };
    }) as never),
    spyOn(processes, "startBrowser").mockImplementation((async (serverFolder: () => Promise<string>) => {
      await serverFolder();
      if (fails !== undefined) throw new Error(fails);
      const n = started.length + 1;
      const browser = Object.assign(new EventEmitter(), { version: () => `14${n}.0` });
      const running = {
        ...{ browser, kind: "chromium", sandbox: "its own", own, here },
        close: async () => {
          log.push(`browser ${n} closed`);
          browser.emit("disconnected");
        },
      };
      started.push({ browser, running });
      return running;
    }) as never),
  ];
});
afterEach(async () => {
  for (const one of spies) one.mockRestore();
  await rm(folder, { recursive: true, force: true });
});

function share(changes: Partial<BrowserSettings> = {}) {
  const lost: string[] = [];
  const settings = { ...browserDefaults, folder, policy: { allow: [], deny: [], only: [] }, ...changes };
  return { lost, shared: shareBrowser(settings, (why) => void lost.push(why)) };
}

test("one browser is started for all who need it, again when it has rested, and nothing of it is left at the end", async () => {
  const { shared, lost } = share();
  const [one, same] = await Promise.all([shared.get(), shared.get()]);
  expect([one === same, started.length]).toEqual([true, 1]);
  expect(await readdir(folder)).toHaveLength(1);
  await shared.rest();
  expect(log.splice(0)).toEqual(["browser 1 closed", "proxy closed"]);
  await shared.rest();
  expect(log).toEqual([]);
  expect((await shared.get()) === one).toBe(false);
  expect(shared.describe().version).toBe("142.0");
  await shared.close();
  expect([log, await readdir(folder), lost]).toEqual([["browser 2 closed", "proxy closed"], [], []]);
});

test("a browser that ended by itself is told once and not used again; that an earlier one ends is no news", async () => {
  const { shared, lost } = share();
  await shared.get();
  started[0]?.browser.emit("disconnected");
  expect(lost).toEqual([
    "The browser crashed or was ended: the tabs, cookies and logins of this conversation are gone.",
  ]);
  const again = await shared.get();
  expect([started.length, again.running]).toEqual([2, started[1]?.running as never]);
  await Bun.sleep(0);
  // What belonged to the first one is gone, and the second has its own.
  expect(log).toEqual(["browser 1 closed", "proxy closed"]);
  started[0]?.browser.emit("disconnected");
  expect([lost.length, (await shared.get()) === again]).toEqual([1, true]);
  await shared.close();
});

test("one that did not start is tried again with the next use, and leaves no proxy behind", async () => {
  const { shared } = share();
  fails = "no display";
  await expect(shared.get()).rejects.toThrow("no display");
  expect([log.splice(0), shared.describe().version]).toEqual([["proxy closed"], undefined]);
  fails = undefined;
  await shared.close();
  // Where its folder belongs there is a file.
  const place = join(folder, "taken");
  await writeFile(place, "");
  const { shared: other } = share({ folder: place });
  await expect(other.get()).rejects.toThrow("EEXIST");
  await rm(place);
  await other.get();
  expect(other.describe()).toEqual({
    ...{ kind: "chromium", version: "141.0", sandbox: "its own" },
    egress: "every request, on the address connected to",
  });
  await other.close();
});

test("the proxy has the policy, the operator's proxy and names, and tells of requests of strangers", async () => {
  const [onRequest, resolve] = [() => undefined, async () => []];
  const policy = { allow: ["a.example"], deny: [], only: [] };
  const upstream = { server: "http://p.example" };
  await share({ policy, upstream, resolve, onRequest }).shared.get();
  await share({ policy }).shared.get();
  expect(given).toEqual([
    { policy, upstream, resolve, onStranger: onRequest },
    { policy, upstream: undefined, resolve: undefined },
  ]);
});

test.each([
  [{}, "chromium"],
  [{ cdpUrl: "http://127.0.0.1:1" }, "cdp"],
  [{ wssUrl: "ws://127.0.0.1:1" }, "playwright"],
] as const)("before it is started, a browser of %j is described as %s", (changes, kind) => {
  const nothing = { version: undefined, sandbox: undefined, egress: undefined };
  expect(share(changes).shared.describe()).toEqual({ kind, ...nothing });
});

test.each([
  [undefined, true, "every request, on the address connected to"],
  [undefined, false, "each hop of every request that the browser tells of"],
  [{ listeners: new Set() }, true, "every request, on the address connected to"],
  [{ listeners: undefined }, true, "each hop of the requests of an agent's tabs in its user's own context"],
] as const)("what of a browser the policy covers is told as it is: %#", async (context, isHere, egress) => {
  [own, here] = [context, isHere];
  const { shared } = share();
  await shared.get();
  expect(shared.describe().egress).toBe(egress);
});
