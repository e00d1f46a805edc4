/**
 * The outcome of a command: its exit code (null when it timed out) and the end of its output.
 */
export type ProgramOutcome = { readonly exitCode: number | null; readonly output: string };

/** Runs a command without input, ending it at the deadline. Its output is kept, not shown. */
export async function runProgram(
  argv: readonly string[],
  options: { readonly cwd: string; readonly timeoutMs: number; readonly env?: Readonly<Record<string, string>> },
): Promise<ProgramOutcome> {
  const child = Bun.spawn([...argv], {
    cwd: options.cwd,
    env: { ...process.env, ...options.env },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
    timeout: options.timeoutMs,
    killSignal: "SIGTERM",
  });
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  await child.exited;
  return { exitCode: child.exitCode, output: `${stdout}${stderr}`.trim().slice(-4000) };
}
