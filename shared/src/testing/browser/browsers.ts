import { readdirSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Workspace } from "../../core/workspace.ts";
import type { BrowserHost, Browsing } from "../../machine/browser/browser.ts";
import { createBrowsers } from "../../machine/browser/create-browsers.ts";
import { type BrowserSettings, browserDefaults } from "../../machine/browser-process/settings.ts";
import type { ProxiedRequest } from "../../machine/egress/proxy-access.ts";
import { openWorkspace } from "../../machine/workspace/open-workspace.ts";

/** A browser in a home of its own, which goes away with `await using`. For tests. */
export type BrowsersForTest = AsyncDisposable & {
  readonly home: string;
  readonly browsers: BrowserHost;
  /** What reached the proxy. */
  readonly requests: readonly ProxiedRequest[];
  workspace(conversation: string): Promise<Workspace>;
  open(conversation: string): Promise<Browsing>;
};

/**
 * `hosts` are the ones that stand for the internet: every other address of this machine is what the
 * policy protects.
 */
export async function browsersForTest(
  hosts: readonly string[],
  changes: Partial<BrowserSettings> = {},
): Promise<BrowsersForTest> {
  const home = await mkdtemp(join(tmpdir(), "manyhands-browser-"));
  const requests: ProxiedRequest[] = [];
  const browsers = createBrowsers({
    ...browserDefaults,
    folder: join(home, "browser"),
    policy: { allow: hosts, deny: [], only: [] },
    onRequest: (request) => requests.push(request),
    ...changes,
  });
  const workspace = (contextId: string) => openWorkspace({ home, principal: "alice", contextId });
  return {
    home,
    browsers,
    requests,
    workspace,
    open: async (conversation) => await browsers.open(await workspace(conversation), new AbortController().signal),
    async [Symbol.asyncDispose]() {
      await browsers.close();
      await rm(home, { recursive: true, force: true });
    },
  };
}

/** The processes whose command line names a folder, but this one. */
export function processesOf(folder: string): number[] {
  return readdirSync("/proc")
    .map(Number)
    .filter((pid) => {
      try {
        return pid !== process.pid && readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(folder);
      } catch {
        return false;
      }
    });
}
