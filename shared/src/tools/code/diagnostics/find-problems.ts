import { basename, extname, resolve } from "node:path";
import type { Workspace } from "../../../core/workspace.ts";
import { ownScriptArgv } from "../../../machine/process/own-script.ts";
import { runCommand } from "../../../machine/sandbox/run-command.ts";
import type { Sandbox } from "../../../machine/sandbox/sandbox.ts";
import { checkers, ownExtensions } from "./checkers.ts";

const checkMs = 10_000;
const maxOutput = 64 * 1024;

const worker = resolve(import.meta.dir, "syntax-worker.ts");

/** A text that would be the content of a file, and where it is checked. */
export type CheckedText = {
  readonly path: string;
  readonly text: string;
  readonly workspace: Workspace;
  readonly sandbox: Sandbox;
  readonly signal: AbortSignal;
};

/**
 * The problems that the language's own checker finds in a file of this name and content, one line
 * each. Empty when there is no checker for it here or it takes too long. Rejects only with the
 * signal's reason.
 */
export async function findProblems(checked: CheckedText): Promise<string[]> {
  const extension = extname(checked.path).toLowerCase();
  const script = checkers.find(({ extensions }) => extensions.includes(extension))?.script;
  try {
    if (ownExtensions.has(extension)) return linesOf(await bySelf(checked));
    if (script !== undefined && checked.sandbox.tier !== "none") return linesOf(await inSandbox(script, checked));
  } catch {
    checked.signal.throwIfAborted();
  }
  return [];
}

async function bySelf({ path, text, signal }: CheckedText): Promise<string> {
  const child = Bun.spawn(ownScriptArgv(worker), {
    cwd: "/",
    env: { LANG: "C.UTF-8" },
    stdin: new Blob([JSON.stringify({ name: basename(path), text })]),
    stdout: "pipe",
    stderr: "ignore",
    timeout: checkMs,
    killSignal: "SIGKILL",
    maxBuffer: maxOutput,
    signal,
  });
  const output = await new Response(child.stdout).text();
  return (await child.exited) === 0 ? output : "";
}

/** The file is alone in a separate folder: none of the project's code or settings are loaded. */
async function inSandbox(script: string, { path, text, workspace, sandbox, signal }: CheckedText): Promise<string> {
  const alone = `d=$(mktemp -d) && cat >"$d/$1" && cd "$d" && { ${script}; } 2>&1; rm -rf "$d"`;
  const argv = ["bash", "-c", alone, "bash", basename(path)];
  const limits = { wallMs: checkMs, outputBytes: maxOutput };
  const outcome = await runCommand(sandbox, { argv, workspace: workspace.root, limits }, { signal, input: text });
  return outcome.limit === undefined ? outcome.stdout : "";
}

function linesOf(output: string): string[] {
  return output
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
}
