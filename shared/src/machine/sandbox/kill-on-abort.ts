import type { SandboxProcess } from "./sandbox.ts";

/** Kills a process when the signal fires, and in any case when what is returned is disposed of. */
export function killOnAbort(process: SandboxProcess, signal: AbortSignal): Disposable {
  const kill = () => process.kill();
  signal.addEventListener("abort", kill);
  // It may have come while the program was being started.
  if (signal.aborted) kill();
  return {
    [Symbol.dispose]() {
      signal.removeEventListener("abort", kill);
      kill();
    },
  };
}
