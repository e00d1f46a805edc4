import * as z from "zod";
import { AppError } from "../core/errors.ts";
import type { FlowDefinition } from "../core/flow.ts";
import type { Json } from "../core/json.ts";
import type { Part, UserMessage } from "../core/message.ts";

/** What a caller asks of a flow. */
export type FlowRequest = {
  readonly goal: string;
  /** Everything that came with the text and is no setting. */
  readonly files: readonly Part[];
  /** The agents the caller chose, in its words; left out when it chose none. */
  readonly agents?: readonly string[];
  readonly options: { readonly [name: string]: Json };
};

const mostAgents = 50;

/** What a message's data part may set: which agents, and how. */
export const flowSettings = z.strictObject({
  agents: z.array(z.string().trim().min(1)).min(1).max(mostAgents).optional(),
  options: z.record(z.string(), z.json()).optional(),
});

/**
 * Reads what a message asks of a flow: its text is the goal, and one data part `{agents?, options?}` says which agents and how. Throws
 * `invalid_input` that names the field and what is allowed. For the edge, before a run is accepted, and for the run itself.
 */
export function flowRequest(
  definition: Pick<FlowDefinition, "options" | "check">,
  { parts }: Pick<UserMessage, "parts">,
): FlowRequest {
  const goal = parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n\n");
  if (goal.trim() === "") throw invalid("message: say in a text what is to be done.");
  const given = parts.filter(isSettings);
  if (given.length > 1) throw invalid("message: only one data part may hold `agents` and `options`.");
  const { agents, options } = read(flowSettings, given[0]?.data ?? {}, "");
  const request: FlowRequest = {
    goal,
    files: parts.filter((part) => part.type !== "text" && !isSettings(part)),
    ...(agents !== undefined && { agents }),
    options: read(definition.options, options ?? {}, "options") as FlowRequest["options"],
  };
  const fault = definition.check?.(request);
  if (fault !== undefined) throw invalid(`${fault}.`);
  return request;
}

type DataPart = Extract<Part, { type: "data" }>;

/** Other data parts belong to the task. */
function isSettings(part: Part): part is DataPart {
  if (part.type !== "data" || typeof part.data !== "object" || part.data === null) return false;
  return "agents" in part.data || "options" in part.data;
}

function read<Schema extends z.ZodObject>(schema: Schema, value: unknown, field: string): z.output<Schema> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const faults = parsed.error.issues.map((issue) => {
    const path = [field, ...issue.path].filter((segment) => segment !== "").join(".") || "message";
    if (issue.code !== "unrecognized_keys") return `${path}: ${issue.message}`;
    const allowed = Object.keys(schema.shape).join(", ") || "none";
    return `${[field, issue.keys[0]].filter(Boolean).join(".")}: is not known; there are ${allowed}`;
  });
  throw invalid(`${faults.join(". ")}.`);
}

function invalid(message: string): AppError {
  return new AppError("invalid_input", message);
}
