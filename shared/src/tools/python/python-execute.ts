import * as z from "zod";
import { closeAll } from "../../core/async/close-all.ts";
import { defineTool } from "../../core/tools/define-tool.ts";
import type { Tool, ToolContext, ToolResult } from "../../core/tools/tool.ts";
import type { Workspace } from "../../core/workspace.ts";
import { outcomeOf, runCommand } from "../../machine/sandbox/run-command.ts";
import type { Sandbox } from "../../machine/sandbox/sandbox.ts";
import { shownFrom } from "../shell/as-shown.ts";
import { type CallOutput, withCallOutput } from "../shell/call-output.ts";
import { createSessionPool, type SessionPool } from "../shell/session-pool.ts";
import { openPythonSession, pythonCommand } from "./python-session.ts";
import { createWarmInterpreters, type WarmInterpreters } from "./warm-interpreters.ts";

const input = z.strictObject({
  code: z.string().min(1).describe("A program; print what you want to see."),
  timeout: z.number().positive().max(600),
  session: z.boolean().default(false).describe("In an interpreter that keeps variables and imports."),
});

/**
 * The interpreters of conversations: `sessions` keep the state of programs, `warm` ones keep
 * nothing but the time to start. Their creator closes them when the server stops.
 */
export type PythonInterpreters = {
  readonly sessions: SessionPool;
  readonly warm: WarmInterpreters;
  /** Ends those of a conversation at once. */
  release(workspace: Workspace): Promise<void>;
  close(): Promise<void>;
};

/** Creates them, without starting any. */
export function createPythonInterpreters(sandbox: Sandbox): PythonInterpreters {
  const open = ({ root }: Workspace) => openPythonSession(sandbox, root);
  const sessions = createSessionPool({ name: "python", open });
  const warm = createWarmInterpreters(sandbox);
  return {
    sessions,
    warm,
    release: async (workspace) => void (await Promise.all([sessions.release(workspace), warm.release(workspace.root)])),
    close: () => closeAll([sessions.close, warm.close]),
  };
}

type PythonDeps = {
  readonly sandbox: Sandbox;
  readonly interpreters: PythonInterpreters;
  /** The libraries it has beside its own, for the model; nothing is said if left out. */
  readonly libraries?: readonly string[] | undefined;
  /** For a call that names none; 60 by default. */
  readonly timeoutSeconds?: number;
};
type PythonInput = z.output<typeof input>;

/** How a run ended, apart from its output. */
type Ending = { readonly exitCode: number; readonly limit?: string | undefined; readonly note?: string };

/** The `python_execute` tool. Must not be created when `findPython` finds none. */
export function pythonExecute(deps: PythonDeps): Tool {
  const usual = deps.timeoutSeconds ?? 60;
  return defineTool({
    name: "python_execute",
    family: "python",
    edits: true,
    release: (workspace) => deps.interpreters.release(workspace),
    description: `Runs Python in the workspace${librariesText(deps.libraries)}.`,
    input: input.extend({
      timeout: input.shape.timeout.default(usual).describe(`Seconds; default ${usual}, at most 600.`),
    }),
    effect: "once",
    run: (call, context) => withCallOutput(context, "python.txt", (output) => runPython(deps, call, context, output)),
  });
}

/** Every agent with Python reads this in each prompt, so it names few. */
const maxNamed = 7;

function librariesText(libraries: readonly string[] | undefined): string {
  if (libraries === undefined) return "";
  return libraries.length === 0 ? ", without libraries" : `, with ${libraries.slice(0, maxNamed).join(", ")}`;
}

async function runPython(
  deps: PythonDeps,
  call: PythonInput,
  context: ToolContext,
  output: CallOutput,
): Promise<ToolResult> {
  const started = performance.now();
  const ending = await (call.session ? inSession : alone)(deps, call, context, output);
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  const stopped = ending.limit === undefined ? "" : `stopped at its limit: ${ending.limit}, `;
  const lines = [
    (await output.text(shownFrom(context.workspace.root))) ||
      (ending.exitCode === 0 ? "(no output: print what you want to see)" : ""),
    ending.note ?? "",
    `[${stopped}exit code ${ending.exitCode}, ${seconds} s]`,
  ];
  const isError = ending.exitCode !== 0 || ending.limit !== undefined;
  return { text: lines.filter((line) => line !== "").join("\n"), isError, ...output.kept() };
}

async function alone(
  { sandbox, interpreters }: PythonDeps,
  { code, timeout }: PythonInput,
  context: ToolContext,
  output: CallOutput,
): Promise<Ending> {
  const limits = { wallMs: timeout * 1000, cpuSeconds: Math.ceil(timeout) * 2 };
  const { signal } = context;
  const { root } = context.workspace;
  signal.throwIfAborted();
  const begun = await interpreters.warm.begin(root, code, limits);
  if (begun !== undefined) return outcomeOf(begun, { signal, onOutput: output.listen });
  const command = { ...(await pythonCommand("once", root)), limits };
  return runCommand(sandbox, command, { signal, onOutput: output.listen, input: code });
}

const killed = 137;

async function inSession(
  { interpreters }: PythonDeps,
  { code, timeout }: PythonInput,
  context: ToolContext,
  output: CallOutput,
): Promise<Ending> {
  const { signal } = context;
  const outcome = await interpreters.sessions.run(context, code, {
    timeoutMs: timeout * 1000,
    signal,
    onOutput: output.listen,
  });
  const notes = [
    outcome.restarted === undefined ? "" : `[new interpreter, earlier state was lost: ${outcome.restarted}]`,
    outcome.state === "finished" ? "" : "[the interpreter has ended; the next call starts a new one]",
  ];
  const exitCode = outcome.payload === undefined ? (outcome.exitCode ?? killed) : Number(outcome.payload);
  return { exitCode, limit: outcome.limit, note: notes.filter((note) => note !== "").join("\n") };
}
