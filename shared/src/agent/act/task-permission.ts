import { isObject } from "../../core/json.ts";
import type { ToolCall } from "../../core/model.ts";
import type { Tool } from "../../core/tools/tool.ts";
import type { ParsedArguments } from "../../models/arguments.ts";

/** The risk of a call that could not be judged. */
export function unjudged(tool: string): string {
  return `${tool}: what this call would do could not be determined`;
}

/**
 * What a person allows who allows a call for the rest of its task, in words written by code: `every
 * call of web_fetch with pages of example.com`. Two calls with the same words are of the same kind;
 * the words hold the tool, and either what the tool says its calls have in common, or all arguments
 * and all that the call would do. Undefined if the call can only be allowed once: its tool says so,
 * or what it does could not be determined.
 */
export function permissionFor(
  { name, input, arguments: written }: ToolCall & { readonly input: ParsedArguments },
  tool: Tool | undefined,
  risk: string | undefined,
): string | undefined {
  if (tool === undefined || !input.ok || risk === unjudged(name)) return undefined;
  if (tool.sameKind !== undefined) {
    const kind = tool.sameKind(input.value, risk);
    return kind === undefined ? undefined : `every call of ${name} ${kind}`;
  }
  if (written.length > longestArguments) return undefined;
  const would = risk === undefined ? "" : `, each of which would do this: ${risk.replace(/\.$/, "")}`;
  return `every call of ${name} with exactly these arguments${would}, ${canonical(input.value)}`;
}

/** Longer arguments are not repeated letter by letter for a good reason. */
const longestArguments = 4_000;

/** The same text for equal values, in whatever order the model wrote them. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, held: unknown) =>
    isObject(held) ? Object.fromEntries(Object.entries(held).sort(([one], [other]) => (one < other ? -1 : 1))) : held,
  );
}
