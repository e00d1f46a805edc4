import { createChatCompletion } from "../tools/human/create-chat-completion.ts";
import type { AgentDefinition } from "./agent.ts";
import type { AgentInput } from "./task.ts";

/** The agent for one task: where the answer has a form, text alone does not end it, and a tool takes the answer in that form. */
export function tailor(agent: AgentDefinition, { outputSchema }: AgentInput): AgentDefinition {
  if (outputSchema === undefined) return agent;
  const answer = createChatCompletion(outputSchema);
  return {
    ...agent,
    instructions: `${agent.instructions}\n\nThis task wants its answer in a fixed form: give it with ${answer.name}, and use terminate only to give up.`,
    tools: [...agent.tools, answer],
    toolChoice: "required",
  };
}
