/**
 * The outcome of a command: its exit code (null when it timed out) and the end of its output.
 */
export type ProgramOutcome = { readonly exitCode: number | null; readonly output: string };

/** How long the output of a command that has ended is waited for. */
const restMs = 1_000;

/**
 * Runs a command without input, ending it at the deadline. Its output is kept, not shown. What it
 * started and left behind is not waited for, though it may hold the output open.
 */
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
  const outputs = [child.stdout, child.stderr].map(collect);
  await child.exited;
  await Promise.race([Promise.all(outputs.map(({ ended }) => ended)), Bun.sleep(restMs)]);
  const output = outputs.map(({ text }) => text()).join("");
  return { exitCode: child.exitCode, output: output.trim().slice(-4000) };
}

/** Collects what comes; `text` is all of it so far. */
function collect(stream: ReadableStream<Uint8Array>): { readonly ended: Promise<void>; readonly text: () => string } {
  const decoder = new TextDecoder();
  let text = "";
  const read = async () => {
    for await (const chunk of stream) text += decoder.decode(chunk, { stream: true });
  };
  return { ended: read(), text: () => text };
}
