import type { Config } from "../config/config.ts";
import { createSandbox } from "../sandbox/create-sandbox.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import { findPython } from "../tools/python/find-python.ts";
import { createPythonSessions, pythonExecute } from "../tools/python/python-execute.ts";
import { bashTool, createShellSessions } from "../tools/shell/bash-tool.ts";
import type { Tool } from "../tools/tool.ts";
import { type OpenedBrowser, openBrowser } from "./open-browser.ts";
import { openWeb } from "./open-web.ts";

/** What a model may ask for at most. */
const longestTimeoutSeconds = 600;

/** What the agents of this machine can be given. */
export type Toolbox = {
  readonly sandbox: Sandbox;
  /** Domains that commands reach; none where there is no network. */
  readonly domains: readonly string[];
  /** `bash` and, where there is a Python, `python_execute`; none without a sandbox. */
  readonly shell: readonly Tool[];
  /** `web_search` and `web_fetch`; none where they are switched off. */
  readonly web: readonly Tool[];
  /** The browser, or why there is none. */
  readonly browser: OpenedBrowser;
  /** Ends every session and process. */
  close(): Promise<void>;
};

/** Finds out how commands can be confined here, below `folder`, and makes the tools that run them and those that read the web. */
export async function openToolbox(
  folder: string,
  config: Pick<Config, "home" | "sandbox" | "search" | "egress" | "browser">,
): Promise<Toolbox> {
  const { tier, memoryBytes, timeoutMs, allowDomains } = config.sandbox;
  const browser = await openBrowser(config);
  const web = openWeb(config, browser.browsers);
  const sandbox = await createSandbox({
    mode: tier,
    folder,
    network: { allow: allowDomains },
    limits: { ...(memoryBytes !== undefined && { memoryBytes }) },
  });
  const closeBrowser = async () => await browser.browsers?.close();
  if (sandbox.tier === "none") {
    const close = async () => void (await Promise.all([closeBrowser(), sandbox.close()]));
    return { sandbox, domains: [], shell: [], web, browser, close };
  }
  const shells = createShellSessions(sandbox);
  const interpreters = createPythonSessions(sandbox);
  const python = await findPython(sandbox);
  const timeout = timeoutMs === undefined ? {} : { timeoutSeconds: Math.min(timeoutMs / 1000, longestTimeoutSeconds) };
  return {
    sandbox,
    domains: sandbox.tier === "srt" ? allowDomains : [],
    shell: [
      bashTool({ sessions: shells, ...timeout }),
      ...(python === undefined ? [] : [pythonExecute({ sandbox, sessions: interpreters, ...timeout })]),
    ],
    web,
    browser,
    async close() {
      await Promise.all([shells.close(), interpreters.close(), closeBrowser()]);
      await sandbox.close();
    },
  };
}
