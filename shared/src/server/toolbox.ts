import type { Config } from "../config/config.ts";
import { createSandbox } from "../sandbox/create-sandbox.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import { findPython } from "../tools/python/find-python.ts";
import { createPythonSessions, pythonExecute } from "../tools/python/python-execute.ts";
import { bashTool, createShellSessions } from "../tools/shell/bash-tool.ts";
import type { Tool } from "../tools/tool.ts";

/** What a model may ask for at most. */
const longestTimeoutSeconds = 600;

/** What runs code on this machine. */
export type Toolbox = {
  readonly sandbox: Sandbox;
  /** Domains that commands reach; none where there is no network. */
  readonly domains: readonly string[];
  /** `bash` and, where there is a Python, `python_execute`; none without a sandbox. */
  readonly shell: readonly Tool[];
  /** Ends every session and process. */
  close(): Promise<void>;
};

/** Finds out how commands can be confined here, below `folder`, and makes the tools that run them. */
export async function openToolbox(folder: string, settings: Config["sandbox"]): Promise<Toolbox> {
  const { memoryBytes, timeoutMs, allowDomains } = settings;
  const sandbox = await createSandbox({
    mode: settings.tier,
    folder,
    network: { allow: allowDomains },
    limits: { ...(memoryBytes !== undefined && { memoryBytes }) },
  });
  if (sandbox.tier === "none") return { sandbox, domains: [], shell: [], close: () => sandbox.close() };
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
    async close() {
      await Promise.all([shells.close(), interpreters.close()]);
      await sandbox.close();
    },
  };
}
