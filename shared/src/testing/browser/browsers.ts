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

/** A browser with a separate home, which `await using` removes. For tests. */
export type BrowsersForTest = AsyncDisposable & {
  readonly home: string;
  readonly browsers: BrowserHost;
  /** The requests that reached the proxy. */
  readonly requests: readonly ProxiedRequest[];
  workspace(conversation: string): Promise<Workspace>;
  open(conversation: string): Promise<Browsing>;
};

/**
 * Starts one. `hosts` stand for the internet: the policy protects every other address of this
 * machine.
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

/** The processes whose command line names a folder, except this one. */
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
