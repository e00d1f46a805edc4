import { traceVariables } from "../../core/trace.ts";
import type { Sandbox, SandboxCommand } from "../../machine/sandbox/sandbox.ts";
import { createSession, type Session } from "../../machine/sandbox/session.ts";

const processorSeconds = 3600;

/**
 * A kept interpreter must not run what programs put into their home for the next start of Python.
 */
const homeOfKept = "/";

/**
 * The command that starts Python: unbuffered, and with the runner that makes code behave like a
 * separate script.
 */
export async function pythonCommand(mode: "once" | "session" | "kept", workspace: string): Promise<SandboxCommand> {
  const runner = await Bun.file(new URL("./runner.py", import.meta.url)).text();
  return {
    argv: ["python3", "-u", "-c", runner, mode],
    workspace,
    env: {
      PYTHONDONTWRITEBYTECODE: "1",
      PYTHONIOENCODING: "utf-8:replace",
      MPLBACKEND: "Agg",
      ...(mode === "kept" && { HOME: homeOfKept }),
    },
  };
}

/** Starts the interpreter of a conversation. */
export async function openPythonSession(sandbox: Sandbox, workspace: string): Promise<Session> {
  const command = await pythonCommand("session", workspace);
  const process = await sandbox.spawn({ ...command, limits: { cpuSeconds: processorSeconds } });
  return createSession(process, frameCode);
}

/** One line of JSON, with the call's trace; the mark's payload is the exit status. */
function frameCode(code: string, token: string, about: { readonly interrupted: boolean }): string {
  const bytes = Buffer.from(code).toString("base64");
  return `${JSON.stringify({ token, code: bytes, variables: traceVariables(), ...about })}\n`;
}
