import type { ApprovalPolicy } from "../agent/act/plan-call.ts";
import { AppError } from "../core/errors.ts";
import type { OpenedAgent } from "./open-agent.ts";

/**
 * Has a person allow each call of the tools named. Throws `config_invalid` for a name that no tool of the agent has or may have where the machine has
 * what it lacks here: it would protect nothing.
 */
export function approvalBy(
  names: readonly string[],
  { name: agent, tools, otherNames, moreTools }: Pick<OpenedAgent, "name" | "tools" | "otherNames" | "moreTools">,
): ApprovalPolicy {
  const known = [...new Set([...tools.map((tool) => tool.name), ...otherNames])];
  const unknown = names.find((name) => !known.includes(name) && moreTools?.mayHave(name) !== true);
  if (unknown !== undefined) {
    throw new AppError(
      "config_invalid",
      `[agents.${agent}] approve names ${JSON.stringify(unknown)}, but the tools are: ${known.join(", ")}.`,
    );
  }
  return ({ name }) => (names.includes(name) ? "ask" : "allow");
}
