import { traceVariables } from "../../core/trace.ts";
import type { Workspace } from "../../core/workspace.ts";
import { guardedFiles } from "../../machine/sandbox/guarded-names.ts";
import type { Loopbacks } from "../../machine/sandbox/loopback.ts";
import type { Sandbox } from "../../machine/sandbox/sandbox.ts";
import { createSession, type Session, started } from "../../machine/sandbox/session.ts";

/** Descriptors that hold the shell's own outputs, out of reach of a command's redirections. */
const outputs = { stdout: 251, stderr: 252 };
/** For each process. */
const cpuSeconds = 600;

/**
 * Interactive, because only then does SIGINT end a loop of the shell itself and return to it;
 * without a terminal, prompt, history, startup files or job control.
 */
const argv = ["/bin/bash", "--norc", "--noprofile", "--noediting", "-i"];
const environment = {
  PS1: "",
  PS2: "",
  PROMPT_COMMAND: "",
  HISTFILE: "",
  PAGER: "cat",
  GIT_PAGER: "cat",
  EMAIL: "agent@localhost",
  // Otherwise what Python prints comes after its errors, since it writes a pipe in blocks.
  PYTHONUNBUFFERED: "1",
};
/** Models type `python` even where there is only `python3`. */
const python = 'type -P python >/dev/null || python() { python3 "$@"; }';
/** Files the sandbox adds; git must ignore them. */
const notTheTasks = [...guardedFiles, ".manyhands", ".tmp"].map((name) => `/${name}`).join(" ");
const ignoring = `printf '%s\\n' ${notTheTasks} >"$TMPDIR/.not-the-tasks"; export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=core.excludesFile GIT_CONFIG_VALUE_0="$TMPDIR/.not-the-tasks"`;
const prelude = `set +H +o history; exec ${outputs.stdout}>&1 ${outputs.stderr}>&2; ${python}; ${ignoring}\n`;
const greetingMs = 10_000;

/** Starts the shell of a conversation; ignores bash's messages about having no terminal. */
export async function openBashSession(sandbox: Sandbox, workspace: Workspace, loopbacks?: Loopbacks): Promise<Session> {
  const process = await startShell(sandbox, workspace, loopbacks);
  process.stdin.write(prelude);
  return started(createSession(process, frameCommand), "The shell", { code: ":", timeoutMs: greetingMs });
}

async function startShell(sandbox: Sandbox, workspace: Workspace, loopbacks: Loopbacks | undefined) {
  const command = { argv, workspace: workspace.root, env: environment, limits: { cpuSeconds } };
  if (loopbacks === undefined) return sandbox.spawn(command);
  const { folder, end } = await loopbacks.open(workspace);
  try {
    const process = await sandbox.spawn({ ...command, loopback: folder });
    process.exited.finally(end).catch(() => {});
    return process;
  } catch (error) {
    await end();
    throw error;
  }
}

/**
 * Lines for the shell. The first evaluates the command, whatever its quoting, in the shell itself
 * with empty input and both outputs in one pipe, which keeps their order, as part of the call's
 * trace; if the command is interrupted, bash continues with
 * the last line, which writes the mark: `STATUS:FOLDER`. Options that would end the shell at the
 * next failure or fill its output are reset.
 */
function frameCommand(command: string, token: string): string {
  const { stdout, stderr } = outputs;
  const mark = [
    `builtin printf '\\036%s:%d:%s\\036' ${token} "$?" "$PWD" >&${stdout}`,
    `builtin printf '\\036%s:\\036' ${token} >&${stderr}`,
    "builtin set +exv; PS1= PS2= PROMPT_COMMAND=",
  ].join("; ");
  const trace = Object.entries(traceVariables()).map(([name, value]) => `${name}=${quoted(value)}`);
  const joining = trace.length === 0 ? "" : `builtin export ${trace.join(" ")} 2>/dev/null; `;
  // After a syntax error bash discards the rest of what it has read, so an empty line separates the
  // two.
  return `${joining}builtin eval ${quoted(command)} </dev/null >&${stdout} 2>&1\n\n{ ${mark}; } 2>/dev/null\n`;
}

/**
 * Removes from a call's output what bash writes because it is interactive without a terminal. As it
 * ends it writes `exit`, after which only its traps write.
 */
export function withoutShellNoise(output: string, hasEnded: boolean): string {
  const lines = output.replace(/^bash: \[[^\]]*\] tcsetattr: .*\n?/gm, "").split("\n");
  const exit = hasEnded ? lines.lastIndexOf("exit") : -1;
  return (exit === -1 ? lines : lines.toSpliced(exit, 1)).join("\n").replace(/^\n+$/, "");
}

/** Parses the mark. */
export function readMark(payload: string): { readonly exitCode: number; readonly folder: string } {
  const colon = payload.indexOf(":");
  return { exitCode: Number(payload.slice(0, colon)), folder: payload.slice(colon + 1) };
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
