/** How many tests passed and failed. A run without counts counts as one failure. */
export type TestCounts = { readonly passed: number; readonly failed: number };

/**
 * Reads the last summary that `bun test` printed. The exit code decides: a runner that ended badly
 * without counting a failure (a crash, a file that did not load, no test found) is one failure.
 */
export function testCounts(output: string, exitCode: number | null): TestCounts {
  const plain = Bun.stripANSI(output);
  const passed = lastCount(plain, "pass");
  const failed = lastCount(plain, "fail") ?? 0;
  const sound = exitCode === 0 && passed !== undefined;
  return { passed: passed ?? 0, failed: sound ? failed : Math.max(failed, 1) };
}

function lastCount(output: string, what: string): number | undefined {
  const count = [...output.matchAll(new RegExp(`^\\s*(\\d+) ${what}$`, "gm"))].at(-1)?.[1];
  return count === undefined ? undefined : Number(count);
}

/** A failed test, the file it is in, from the working directory, and what its error said. */
export type FailedTest = { readonly file: string; readonly name: string; readonly error: string };

/** The failed tests of a JUnit report as `bun test` writes it. */
export function failedTests(junit: string): FailedTest[] {
  const failed =
    /<testcase name="([^"]*)"[^>]* file="([^"]*)"[^>]*>\s*<(?:failure|error)\b(?:[^>]* message="([^"]*)")?[^>]*>([^<]*)/g;
  return [...junit.matchAll(failed)].map(([, name = "", file = "", message = "", whole = ""]) => ({
    file,
    name: unescaped(name),
    error: unescaped(whole.trim() || message),
  }));
}

const escapes: Readonly<Record<string, string>> = { lt: "<", gt: ">", quot: '"', apos: "'", amp: "&" };

function unescaped(text: string): string {
  return text.replaceAll(/&(?:#(\d+)|(\w+));/g, (whole, code?: string, name?: string) =>
    code === undefined ? (escapes[name ?? ""] ?? whole) : String.fromCodePoint(Number(code)),
  );
}
