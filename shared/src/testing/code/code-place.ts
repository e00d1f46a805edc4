import { chmod, mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Tool, ToolResult } from "../../core/tools/tool.ts";
import type { Workspace } from "../../core/workspace.ts";
import { createSandbox } from "../../machine/confinement/create-sandbox.ts";
import type { Sandbox } from "../../machine/sandbox/sandbox.ts";
import { openWorkspace } from "../../machine/workspace/open-workspace.ts";
import { contextForTest } from "../tool-context.ts";

/** A sandbox over workspaces opened as the server opens them. */
export type CodePlace = {
  readonly sandbox: Sandbox;
  /** A separate workspace with these files, which belong to the tools' user. */
  project(files: Readonly<Record<string, string | Uint8Array>>): Promise<Workspace>;
  close(): Promise<void>;
};

/** The strongest sandbox of this machine, in a new folder. */
export async function openCodePlace(): Promise<CodePlace> {
  const home = await mkdtemp(join(tmpdir(), "manyhands-code-"));
  await chmod(home, 0o755);
  const sandbox = await createSandbox({ mode: "auto", folder: home });
  return {
    sandbox,
    async project(files) {
      const request = { home, principal: "alice", contextId: crypto.randomUUID(), user: sandbox.user };
      const workspace = await openWorkspace(request);
      for (const [path, content] of Object.entries(files)) {
        await mkdir(dirname(join(workspace.root, path)), { recursive: true });
        await Bun.write(join(workspace.root, path), content);
      }
      await workspace.adopt(".");
      return workspace;
    },
    async close() {
      await sandbox.close();
      await rm(home, { recursive: true, force: true });
    },
  };
}

/** Calls a tool and returns what the model would read. */
export function callIn(workspace: Workspace): (tool: Tool, input: Record<string, unknown>) => Promise<ToolResult> {
  return (tool, input) => tool.call(input, contextForTest(workspace));
}
