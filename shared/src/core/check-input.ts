import * as z from "zod";
import { AppError, type ErrorCode } from "./errors.ts";

const longestText = 1_000;

/**
 * What came from outside, as its schema has it. Throws `invalid_input`, or the error of `code`,
 * which names each wrong field after `place`, and the fields there are where one is not known;
 * never a value, which may be a secret.
 */
export function checkInput<Schema extends z.ZodType>(
  schema: Schema,
  given: unknown,
  place: string,
  code: ErrorCode = "invalid_input",
): z.output<Schema> {
  const parsed = schema.safeParse(given, { error: knownKeys });
  if (parsed.success) return parsed.data;
  throw new AppError(code, `${faultsOf(parsed.error, place).join(". ").slice(0, longestText)}.`);
}

function faultsOf({ issues }: z.ZodError, place: string): string[] {
  return issues.flatMap(({ path, message, ...issue }) => {
    const fields = issue.code === "unrecognized_keys" ? issue.keys : [""];
    return fields.map((field) => {
      const names = [place, ...path.map(String), field].filter((name) => name !== "");
      return `${names.join(".") || "message"}: ${message}`;
    });
  });
}

/**
 * The message for keys that a schema does not have; undefined, for the library's own, otherwise.
 */
function knownKeys({ code, inst }: z.core.$ZodRawIssue): string | undefined {
  if (code !== "unrecognized_keys") return undefined;
  const known = inst instanceof z.ZodObject ? Object.keys(inst.shape).join(", ") : "";
  return `is not known; there are ${known || "none"}`;
}
