import { expect } from "bun:test";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { bareEnvironment } from "manyhands/internal/testing/machine/bare-environment";

/**
 * Runs a program on an example's text; expects success and no error output, and resolves with what
 * it printed.
 */
export async function run(argv: string[], input: string, env: Record<string, string>): Promise<string> {
  const child = Bun.spawn(argv, {
    cwd: resolve(import.meta.dir, ".."),
    env: { ...bareEnvironment(), ...env },
    stdin: new Blob([input]),
    stdout: "pipe",
    stderr: "pipe",
  });
  const [out, said] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  expect({ exitCode: await child.exited, said }).toEqual({ exitCode: 0, said: "" });
  return out;
}

const curlScript = fileURLToPath(import.meta.resolve("./curl.ts"));
/** Lets the examples run on machines that have no curl. */
export const curl = Bun.which("curl") === null ? `curl() { "${process.execPath}" "${curlScript}" "$@"; }\n` : "";
