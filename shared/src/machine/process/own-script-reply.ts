import * as z from "zod";
import { AppError } from "../../core/errors.ts";

/** The expected failures of our scripts. */
const failureCodes = ["forbidden", "internal", "invalid_input", "rejected", "too_large", "unsupported"] as const;

const failure = z.strictObject({ ok: z.literal(false), code: z.enum(failureCodes), message: z.string() });

/** What a script prints whose results have this schema. */
export function ownScriptReply<T>(result: z.ZodType<T>) {
  return z.union([z.strictObject({ ok: z.literal(true), result }), failure]);
}

/**
 * The last act of a script that `runOwnScript` has started: prints the result of the work, or the
 * AppError it fails with, and ends the process. Any other error is left to end it.
 */
export async function replyOf<T>(work: () => T | Promise<T>): Promise<never> {
  const reply = await Promise.try(work).then(
    (result) => ({ ok: true, result }),
    (error: unknown) => {
      if (!(error instanceof AppError)) throw error;
      return { ok: false, code: error.code, message: error.message };
    },
  );
  await Bun.write(Bun.stdout, JSON.stringify(reply));
  process.exit(0);
}
