import * as z from "zod";

/**
 * Where the process kills itself in a test: just before or just after its n-th durable transaction
 * commits.
 */
export type CrashPoint = { readonly transaction: number; readonly when: "before" | "after" };

/** The text form, `CRASH_AT`: `7` for before the seventh commit, `7+` for after it. */
export const crashPointText = z
  .string()
  .regex(/^[1-9]\d*\+?$/, "expected a number, or a number followed by +")
  .transform(
    (text): CrashPoint => ({ transaction: Number.parseInt(text, 10), when: text.endsWith("+") ? "after" : "before" }),
  );

/** Ends this process at once, like kill -9. */
export function crash(): never {
  process.kill(process.pid, "SIGKILL");
  for (;;) Bun.sleepSync(1000);
}
