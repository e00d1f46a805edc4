import type { ToolContext, ToolResult } from "../../core/tools/tool.ts";
import { bashTool, createShellSessions } from "../../tools/shell/bash-tool.ts";
import type { SessionPool } from "../../tools/shell/session-pool.ts";
import { type OpenTier, openTier } from "./tiers.ts";

/** A conversation using the bash tool over a separate sandbox. */
export type OpenShell = {
  readonly tier: OpenTier;
  readonly sessions: SessionPool;
  readonly context: ToolContext;
  call(input: Record<string, unknown>, changes?: Partial<ToolContext>): Promise<ToolResult>;
  /** The result's text, with variable parts replaced: times by `T`, the workspace by `WS`. */
  bash(command: string, timeout?: number): Promise<string>;
  close(): Promise<void>;
};

/** Opens the bash tool over a sandbox of this tier. */
export async function openShell(mode: Parameters<typeof openTier>[0]): Promise<OpenShell> {
  const tier = await openTier(mode);
  const sessions = createShellSessions(tier.sandbox);
  const context = tier.context("conversation");
  const call: OpenShell["call"] = (input, changes = {}) =>
    bashTool({ sessions }).call(input, { ...context, ...changes });
  return {
    tier,
    sessions,
    context,
    call,
    async bash(command, timeout = 20) {
      const { text } = await call({ command, timeout });
      return text.replace(/(?<!time )\b\d+\.\d s/g, "T").replaceAll(tier.workspace, "WS");
    },
    async close() {
      await sessions.close();
      await tier.close();
    },
  };
}

/** How the result of a call with this exit code ends. */
export function ending(exitCode: number): string {
  return `[exit code ${exitCode}, T, cwd .]`;
}
