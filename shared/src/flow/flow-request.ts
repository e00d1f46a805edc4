import { checkInput } from "../core/check-input.ts";
import { AppError } from "../core/errors.ts";
import type { FlowDefinition } from "../core/flow.ts";
import type { Json } from "../core/json.ts";
import type { Part, UserMessage } from "../core/message.ts";
import { type AgentInput, type FlowSettings, flowSettings, flowSettingsKey } from "../core/runs/task.ts";

/** What a caller asks of a flow. */
export type FlowRequest = {
  readonly goal: string;
  /** Everything that came with the text. */
  readonly files: readonly Part[];
  /** The agents the caller chose, as it wrote them; left out if it chose none. */
  readonly agents?: readonly string[];
  readonly options: { readonly [name: string]: Json };
};

/**
 * The flow settings in a message's metadata, their only place, so that data parts always belong to
 * the task, whatever their keys. Throws `invalid_input`, naming the field.
 */
export function settingsOf({ metadata }: Pick<UserMessage, "metadata">): FlowSettings {
  return checkInput(flowSettings, metadata?.[flowSettingsKey] ?? {}, "");
}

/**
 * Reads a flow request: the message's text is the goal, `flow` holds agents and options. Throws
 * `invalid_input`, naming the field and what is allowed. Used at the edge, before a run is
 * accepted, and by the run itself.
 */
export function flowRequest(
  definition: Pick<FlowDefinition, "options" | "check" | "textless">,
  { message, flow }: Pick<AgentInput, "flow"> & { readonly message: Pick<UserMessage, "parts"> },
): FlowRequest {
  const { parts, settings } = flow === undefined ? settingsBefore(message) : { parts: message.parts, settings: flow };
  const goal = parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n\n");
  if (parts.length === 0 || (goal.trim() === "" && definition.textless !== true))
    throw invalid("message: say in a text what is to be done.");
  const { agents, options = {} } = settings;
  const request: FlowRequest = {
    goal,
    files: parts.filter((part) => part.type !== "text"),
    ...(agents !== undefined && { agents }),
    options: checkInput(definition.options, options, "options") as FlowRequest["options"],
  };
  const fault = definition.check?.(request);
  if (fault !== undefined) throw invalid(`${fault}.`);
  return request;
}

/**
 * The flow settings of a first message, over those of the flow. Throws `invalid_input` if no run
 * can start with it, or if an option is not one of the flow's: nobody would notice a misspelt one.
 */
export function admitToFlow(
  definition: Pick<FlowDefinition, "options" | "check" | "textless" | "settings">,
  message: UserMessage,
): FlowSettings {
  const flow = over(definition.settings, settingsOf(message));
  const { options } = definition;
  const known = options.def.catchall === undefined ? options.strict() : options;
  flowRequest({ ...definition, options: known }, { message, flow });
  return flow;
}

/** What a caller sets, and otherwise what the flow has set; each option for itself. */
function over(set: FlowSettings | undefined, given: FlowSettings): FlowSettings {
  if (set === undefined) return given;
  const options = { ...set.options, ...given.options };
  return { ...set, ...given, ...(Object.keys(options).length > 0 && { options }) };
}

/** The settings of a run that an earlier version accepted, from its data part. */
function settingsBefore({ parts }: Pick<UserMessage, "parts">) {
  const [set] = parts.filter(isSettings);
  return { parts: parts.filter((part) => part !== set), settings: checkInput(flowSettings, set?.data ?? {}, "") };
}

function isSettings(part: Part): part is Extract<Part, { type: "data" }> {
  if (part.type !== "data" || typeof part.data !== "object" || part.data === null) return false;
  return "agents" in part.data || "options" in part.data;
}

function invalid(message: string): AppError {
  return new AppError("invalid_input", message);
}
