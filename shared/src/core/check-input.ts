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
  return issues.flatMap(unfolded).flatMap(({ path, message, ...issue }) => {
    const fields = issue.code === "unrecognized_keys" ? issue.keys : [""];
    return fields.map((field) => {
      const names = [place, ...path.map(String), field].filter((name) => name !== "");
      return `${names.join(".") || "message"}: ${message.replace(/\.$/, "")}`;
    });
  });
}

type Issue = z.core.$ZodIssue;

/**
 * What is wrong with a value that fits none of several schemas: the types it may have, or the
 * faults by the schema of its type that it fails least. The library says only that it is wrong.
 */
function unfolded(issue: Issue): Issue[] {
  if (issue.code !== "invalid_union" || issue.errors.length === 0) return [issue];
  const ofType = issue.errors.filter((faults) => !faults.some(isOfWrongType)).map((faults) => faults.flatMap(unfolded));
  const [nearest] = ofType.toSorted((one, other) => one.length - other.length);
  if (nearest !== undefined) return nearest.map((fault) => ({ ...fault, path: [...issue.path, ...fault.path] }));
  const wrong = issue.errors.flat().filter(isOfWrongType);
  const types = [...new Set(wrong.map(({ expected }) => expected))].join(" or ");
  const received = /, received .*/.exec(wrong[0]?.message ?? "")?.[0] ?? "";
  return [{ ...issue, message: `Invalid input: expected ${types}${received}` }];
}

function isOfWrongType(issue: Issue): issue is z.core.$ZodIssueInvalidType {
  return issue.code === "invalid_type" && issue.path.length === 0;
}

/**
 * The message for keys that a schema does not have; undefined, for the library's own, otherwise.
 */
function knownKeys({ code, inst }: z.core.$ZodRawIssue): string | undefined {
  if (code !== "unrecognized_keys") return undefined;
  const known = inst instanceof z.ZodObject ? Object.keys(inst.shape).join(", ") : "";
  return `is not known; there are ${known || "none"}`;
}
