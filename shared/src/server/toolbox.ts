import type { Config } from "../config/config.ts";
import { createSandbox } from "../sandbox/create-sandbox.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import { findPython } from "../tools/python/find-python.ts";
import { createPythonSessions, pythonExecute } from "../tools/python/python-execute.ts";
import { bashTool, createShellSessions } from "../tools/shell/bash-tool.ts";
import type { Tool } from "../tools/tool.ts";
import { openWeb } from "./open-web.ts";

/** What the agents of this machine can be given. */
export type Toolbox = {
  readonly sandbox: Sandbox;
  /** `bash` and, where there is a Python, `python_execute`; none without a sandbox. */
  readonly shell: readonly Tool[];
  /** `web_search` and `web_fetch`; none where they are switched off. */
  readonly web: readonly Tool[];
  /** Ends every session and process. */
  close(): Promise<void>;
};

/** Finds out how commands can be confined here, below `folder`, and makes the tools that run them and those that read the web. */
export async function openToolbox(
  folder: string,
  config: Pick<Config, "sandbox" | "search" | "egress">,
): Promise<Toolbox> {
  const { tier, memoryBytes, timeoutMs } = config.sandbox;
  const web = openWeb(config);
  const sandbox = await createSandbox({
    mode: tier,
    folder,
    limits: {
      ...(memoryBytes !== undefined && { memoryBytes }),
      ...(timeoutMs !== undefined && { wallMs: timeoutMs }),
    },
  });
  if (sandbox.tier === "none") return { sandbox, shell: [], web, close: () => sandbox.close() };
  const shells = createShellSessions(sandbox);
  const interpreters = createPythonSessions(sandbox);
  const python = await findPython(sandbox);
  return {
    sandbox,
    shell: [
      bashTool({ sessions: shells }),
      ...(python === undefined ? [] : [pythonExecute({ sandbox, sessions: interpreters })]),
    ],
    web,
    async close() {
      await Promise.all([shells.close(), interpreters.close()]);
      await sandbox.close();
    },
  };
}
