import type { Config } from "../config/config.ts";
import { createSandbox } from "../sandbox/create-sandbox.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import { findPython } from "../tools/python/find-python.ts";
import { createPythonSessions, pythonExecute } from "../tools/python/python-execute.ts";
import { bashTool, createShellSessions } from "../tools/shell/bash-tool.ts";
import type { Tool } from "../tools/tool.ts";

/** What runs code on this machine. */
export type Toolbox = {
  readonly sandbox: Sandbox;
  /** `bash` and, where there is a Python, `python_execute`; none without a sandbox. */
  readonly shell: readonly Tool[];
  /** Ends every session and process. */
  close(): Promise<void>;
};

/** Finds out how commands can be confined here, below `folder`, and makes the tools that run them. */
export async function openToolbox(folder: string, settings: Config["sandbox"]): Promise<Toolbox> {
  const { memoryBytes, timeoutMs } = settings;
  const sandbox = await createSandbox({
    mode: settings.tier,
    folder,
    limits: {
      ...(memoryBytes !== undefined && { memoryBytes }),
      ...(timeoutMs !== undefined && { wallMs: timeoutMs }),
    },
  });
  if (sandbox.tier === "none") return { sandbox, shell: [], close: () => sandbox.close() };
  const shells = createShellSessions(sandbox);
  const interpreters = createPythonSessions(sandbox);
  const python = await findPython(sandbox);
  return {
    sandbox,
    shell: [
      bashTool({ sessions: shells }),
      ...(python === undefined ? [] : [pythonExecute({ sandbox, sessions: interpreters })]),
    ],
    async close() {
      await Promise.all([shells.close(), interpreters.close()]);
      await sandbox.close();
    },
  };
}
