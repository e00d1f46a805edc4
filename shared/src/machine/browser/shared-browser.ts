import { rm } from "node:fs/promises";
import { closeAll } from "../../core/async/close-all.ts";
import { lazily } from "../../core/async/lazy.ts";
import { type RunningBrowser, startBrowser } from "../browser-process/running-browser.ts";
import { makeServerFolder } from "../browser-process/server-folder.ts";
import type { BrowserSettings } from "../browser-process/settings.ts";
import type { EgressProxy } from "../egress/proxy.ts";
import type { BrowserDescription } from "./browser.ts";

/** A browser and the proxy it uses, while both are alive. */
export type BrowserAndProxy = { readonly running: RunningBrowser; readonly proxy: EgressProxy };

/** The one browser of a process, started on demand. */
export interface SharedBrowser {
  /**
   * The running browser, started if there is none. Rejects with `unavailable` or `config_invalid`.
   */
  get(): Promise<BrowserAndProxy>;
  /** Ends the browser until it is needed again. */
  rest(): Promise<void>;
  describe(): BrowserDescription;
  close(): Promise<void>;
}

const lostSentence = "The browser crashed or was ended: the tabs, cookies and logins of this conversation are gone.";

/** `onLost` is called when the browser ended without being asked to. */
export function shareBrowser(settings: BrowserSettings, onLost: (why: string) => void): SharedBrowser {
  const folder = lazily(() => makeServerFolder(settings.folder));
  let current: Promise<BrowserAndProxy> | undefined;
  let description: BrowserDescription = {
    kind: kindOf(settings),
    version: undefined,
    sandbox: undefined,
    egress: undefined,
  };
  const end = async (pending: Promise<BrowserAndProxy>): Promise<void> => {
    if (current === pending) current = undefined;
    const both = await pending.catch(() => undefined);
    await closeAll(both?.running.close, both?.proxy.close);
  };
  const start = async (): Promise<BrowserAndProxy> => {
    const { policy, upstream, resolve, onRequest } = settings;
    const { startEgressProxy } = await import("../egress/proxy.ts");
    const proxy = await startEgressProxy({
      policy,
      upstream,
      resolve,
      ...(onRequest !== undefined && { onStranger: onRequest }),
    });
    try {
      const running = await startBrowser(folder.get, proxy, settings);
      const { kind, sandbox } = running;
      const egress = egressOf(running);
      description = { kind, version: running.browser.version(), sandbox, egress };
      return { running, proxy };
    } catch (error) {
      await proxy.close();
      throw error;
    }
  };
  const begin = (): Promise<BrowserAndProxy> => {
    const pending = start();
    current = pending;
    pending.then(
      ({ running }) =>
        running.browser.once("disconnected", () => {
          if (current !== pending) return;
          onLost(lostSentence);
          void end(pending);
        }),
      () => {
        if (current === pending) current = undefined;
      },
    );
    return pending;
  };
  const rest = async () => {
    if (current !== undefined) await end(current);
  };
  return {
    get: () => current ?? begin(),
    rest,
    describe: () => description,
    async close() {
      const path = await folder.made()?.catch(() => undefined);
      await closeAll(rest, async () => path && rm(path, { recursive: true, force: true }));
    },
  };
}

function egressOf({ own, here }: RunningBrowser): string {
  if (own !== undefined && own.listeners === undefined)
    return "each hop of the requests of an agent's tabs in its user's own context";
  return here ? "every request, on the address connected to" : "each hop of every request that the browser tells of";
}

function kindOf({ cdpUrl, wssUrl }: BrowserSettings): BrowserDescription["kind"] {
  if (cdpUrl !== undefined) return "cdp";
  return wssUrl === undefined ? "chromium" : "playwright";
}
