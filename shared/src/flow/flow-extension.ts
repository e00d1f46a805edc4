import * as z from "zod";
import type { FlowDefinition } from "../core/flow.ts";
import { flowSettingsKey } from "../core/flow-settings.ts";

/** The A2A extension by which a flow's card tells what its settings may be. */
const flowExtensionUri = "urn:manyhands:flow:1";

/** What a flow's card says beyond an agent's: the JSON Schema of its settings, and an example of them. For `AgentFacts.extensions`. */
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
