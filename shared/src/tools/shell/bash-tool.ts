import * as z from "zod";
import { defineTool } from "../../core/tools/define-tool.ts";
import { failure, type Tool, type ToolContext, type ToolResult } from "../../core/tools/tool.ts";
import type { Workspace } from "../../core/workspace.ts";
import type { Loopbacks } from "../../machine/sandbox/loopback.ts";
import type { Sandbox } from "../../machine/sandbox/sandbox.ts";
import { shownFrom } from "./as-shown.ts";
import { openBashSession, readMark, withoutShellNoise } from "./bash-session.ts";
import { withCallOutput } from "./call-output.ts";
import { createSessionPool, type PooledOutcome, type SessionPool } from "./session-pool.ts";

const input = z.strictObject({
  command: z
    .string()
    .min(1)
    .refine((text) => !text.includes("\0"), "must not contain NUL")
    .optional()
    .describe("One command or a script; nothing can prompt for input."),
  timeout: z.number().positive().max(600),
  restart: z.boolean().default(false).describe("A new shell first."),
});

const description = `Runs a command in a bash shell that stays open for the conversation. Returns output and exit code (of a pipe: its last program's).
Long-lived programs: end with & and send output to a file. It writes only the workspace; the empty dotfiles there are the sandbox's.`;

/**
 * The shells of conversations. Their creator closes them when the server stops. What they start to
 * listen can be reached through `loopbacks`.
 */
export function createShellSessions(
  sandbox: Sandbox,
  { loopbacks, ...options }: { readonly idleMs?: number; readonly most?: number; readonly loopbacks?: Loopbacks } = {},
): SessionPool {
  const open = (workspace: Workspace) => openBashSession(sandbox, workspace, loopbacks);
  return createSessionPool({ name: "shell", open, ...options });
}

/**
 * The `bash` tool over the given shells. Must not be created on tier `none`, where every call would
 * fail.
 */
export function bashTool({
  sessions,
  timeoutSeconds = 120,
}: {
  readonly sessions: SessionPool;
  /** For a command that names none. */
  readonly timeoutSeconds?: number;
}): Tool {
  return defineTool({
    name: "bash",
    family: "shell",
    edits: true,
    release: (workspace) => sessions.release(workspace),
    description: description.replaceAll("\n", " "),
    input: input.extend({
      timeout: input.shape.timeout
        .default(timeoutSeconds)
        .describe(`Seconds; default ${timeoutSeconds}, at most 600. The shell stays.`),
    }),
    effect: ({ command }) => (command === undefined ? "idempotent" : "once"),
    async run({ command, timeout, restart }, context) {
      if (restart) await sessions.restart(context.workspace);
      if (command !== undefined) return runInShell(sessions, command, timeout, context);
      return restart
        ? "The shell was restarted; the next command runs in a new one."
        : failure("Nothing to do: give a command, or restart: true.");
    },
  });
}

async function runInShell(
  sessions: SessionPool,
  command: string,
  timeout: number,
  context: ToolContext,
): Promise<ToolResult> {
  const started = performance.now();
  const shown = shownFrom(context.workspace.root);
  return await withCallOutput(context, "bash.txt", async (output) => {
    const outcome = await sessions.run(context, command, {
      timeoutMs: timeout * 1000,
      signal: context.signal,
      onOutput: output.listen,
    });
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    const lines = [
      restartNote(outcome),
      await output.text((text) => shown(withoutShellNoise(text, outcome.state === "ended"))),
      statusLine(outcome, seconds, context.workspace.root),
    ];
    return { text: lines.filter((line) => line !== "").join("\n"), isError: isFailure(outcome), ...output.kept() };
  });
}

function restartNote({ restarted }: PooledOutcome): string {
  return restarted === undefined ? "" : `[new shell, earlier state is lost: ${restarted}]`;
}

function statusLine({ state, payload, exitCode, limit }: PooledOutcome, seconds: string, root: string): string {
  const stopped = limit === undefined ? "" : `stopped at its limit: ${limit}, `;
  if (state === "lost") return `[${stopped}${seconds} s; it could not be interrupted, so the shell was ended]`;
  if (state === "ended")
    return `[the shell ended with exit code ${exitCode}, ${stopped}${seconds} s; the next command starts a new one]`;
  const mark = readMark(payload ?? "");
  return `[${stopped}exit code ${mark.exitCode}, ${seconds} s, cwd ${fromRoot(mark.folder, root)}]`;
}

/** A folder as seen from the workspace, which saves the model its long path. */
function fromRoot(folder: string, root: string): string {
  if (folder === root) return ".";
  return folder.startsWith(`${root}/`) ? `.${folder.slice(root.length)}` : folder;
}

function isFailure({ state, payload, exitCode, limit }: PooledOutcome): boolean {
  if (limit !== undefined || state === "lost") return true;
  // A script may end with `exit`, which ends the shell: its status is still the result.
  return (state === "ended" ? exitCode : readMark(payload ?? "").exitCode) !== 0;
}
