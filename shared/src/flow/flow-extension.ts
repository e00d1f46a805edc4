import * as z from "zod";
import type { FlowDefinition } from "../core/flow.ts";
import { defined } from "../core/json.ts";
import { flowSettingsKey } from "../core/runs/task.ts";

/** The A2A extension by which a flow's card describes its settings. */
const flowExtensionUri = "urn:manyhands:flow:1";

/**
 * What a flow's card has beyond an agent's: the JSON Schema of its settings, and an example. For
 * `AgentFacts.extensions`.
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
      example: defined({ agents, options: set }),
    },
  };
}
