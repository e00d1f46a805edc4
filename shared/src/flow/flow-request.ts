import * as z from "zod";
import { AppError } from "../core/errors.ts";
import type { FlowDefinition } from "../core/flow.ts";
import type { Json } from "../core/json.ts";
import type { Part, UserMessage } from "../core/message.ts";
import { type AgentInput, type FlowSettings, flowSettings, flowSettingsKey } from "../core/task.ts";

/** What a caller asks of a flow. */
export type FlowRequest = {
  readonly goal: string;
  /** Everything that came with the text. */
  readonly files: readonly Part[];
  /** The agents the caller chose, in its words; left out when it chose none. */
  readonly agents?: readonly string[];
  readonly options: { readonly [name: string]: Json };
};

/**
 * What a message sets for a flow, in its metadata: the one place, so that data beside the text is
 * the task's, whatever keys it has. Throws `invalid_input` that names the field.
 */
export function settingsOf({ metadata }: Pick<UserMessage, "metadata">): FlowSettings {
  return read(flowSettings, metadata?.[flowSettingsKey] ?? {}, "");
}

/**
 * Reads what a task asks of a flow: the message's text is the goal, `flow` says which agents and
 * how. Throws `invalid_input` that names the field and what is allowed. For the edge, before a run
 * is accepted, and for the run itself.
 */
export function flowRequest(
  definition: Pick<FlowDefinition, "options" | "check">,
  { message, flow }: Pick<AgentInput, "flow"> & { readonly message: Pick<UserMessage, "parts"> },
): FlowRequest {
  const { parts, settings } = flow === undefined ? settingsBefore(message) : { parts: message.parts, settings: flow };
  const goal = parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n\n");
  if (goal.trim() === "") throw invalid("message: say in a text what is to be done.");
  const { agents, options = {} } = settings;
  const request: FlowRequest = {
    goal,
    files: parts.filter((part) => part.type !== "text"),
    ...(agents !== undefined && { agents }),
    options: read(definition.options, options, "options") as FlowRequest["options"],
  };
  const fault = definition.check?.(request);
  if (fault !== undefined) throw invalid(`${fault}.`);
  return request;
}

/** What a first message sets for a flow. Throws `invalid_input` where no run can begin with it. */
export function admitToFlow(definition: Pick<FlowDefinition, "options" | "check">, message: UserMessage): FlowSettings {
  const flow = settingsOf(message);
  flowRequest(definition, { message, flow });
  return flow;
}

/** The settings of a run that an earlier version accepted: in the data part that has them. */
function settingsBefore({ parts }: Pick<UserMessage, "parts">) {
  const [set] = parts.filter(isSettings);
  return { parts: parts.filter((part) => part !== set), settings: read(flowSettings, set?.data ?? {}, "") };
}

function isSettings(part: Part): part is Extract<Part, { type: "data" }> {
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

/** The A2A extension by which a flow's card tells what its settings may be. */
const flowExtensionUri = "urn:manyhands:flow:1";

/**
 * What a flow's card says beyond an agent's: the JSON Schema of its settings, and an example of
 * them. For `AgentFacts.extensions`.
 */
export function flowExtension({ name, options, example }: FlowDefinition) {
  const { agents, options: set } = example;
  return {
    uri: flowExtensionUri,
    description: `A flow: a message's text is the task, and \`${flowSettingsKey}\` in its metadata, \`{agents, options}\`, says which agents work on it and how.`,
    params: {
      flow: name,
      settings: {
        type: "object",
        properties: {
          agents: { type: "array", items: { type: "string" }, description: "Names, addresses, or `skill:` and words." },
          options: z.toJSONSchema(options, { io: "input" }),
        },
        additionalProperties: false,
      },
      example: { ...(agents && { agents }), ...(set && { options: set }) },
    },
  };
}
