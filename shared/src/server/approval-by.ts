import type { ApprovalPolicy } from "../agent/plan-call.ts";
import type { AgentDefinition } from "../core/agent.ts";
import { AppError } from "../core/errors.ts";

/** Tools an agent may lack because of the machine: naming them is right, and where they are missing there is nothing to allow. */
const machineTools = ["bash", "python_execute", "computer_use"];
const isMachineTool = (name: string) => machineTools.includes(name) || name.startsWith("browser_") || isMounted(name);
/** Tools of MCP servers come and go. */
const isMounted = (name: string) => name.includes("__") || name === "find_tools";

/** Has a person allow each call of the tools named. Throws `config_invalid` for a name the agent has no tool of: it would protect nothing. */
export function approvalBy(names: readonly string[], { name: agent, tools }: AgentDefinition): ApprovalPolicy {
  const known = [...new Set([...tools.map((tool) => tool.name), ...machineTools])];
  const unknown = names.find((name) => !known.includes(name) && !isMachineTool(name));
  if (unknown !== undefined) {
    throw new AppError(
      "config_invalid",
      `[agents.${agent}] approve names ${JSON.stringify(unknown)}, but the tools are: ${known.join(", ")}.`,
    );
  }
  return ({ name }) => (names.includes(name) ? "ask" : "allow");
}
