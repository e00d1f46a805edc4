import type { AgentDefinition } from "../core/agent.ts";
import type { AgentInput } from "../core/task.ts";
import { failure, type Tool } from "../core/tool.ts";
import { createChatCompletion } from "../tools/human/create-chat-completion.ts";

/** The agent for one task: where the answer has a form, text alone does not end it, and a tool takes the answer in that form. */
export function tailor(agent: AgentDefinition, { outputSchema }: AgentInput): AgentDefinition {
  if (outputSchema === undefined) return agent;
  const answer = createChatCompletion(outputSchema);
  return {
    ...agent,
    instructions: `${agent.instructions}\n\nThis task wants its answer in a fixed form: give it with ${answer.name}, and use terminate only to give up.`,
    tools: [...agent.tools.filter(({ name }) => name !== answer.name).map(withoutSuccess), answer],
    toolChoice: "required",
  };
}

/** The tool, unable to end the task well: it has no answer in the form that was asked for. */
function withoutSuccess(tool: Tool): Tool {
  return {
    ...tool,
    async call(input, context) {
      const result = await tool.call(input, context);
      if (result.end?.status !== "success") return result;
      return failure("Not ended: this task wants its answer in a fixed form; give it with create_chat_completion.");
    },
  };
}
