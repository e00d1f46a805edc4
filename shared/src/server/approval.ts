import type { ApprovalPolicy } from "../agent/act/plan-call.ts";
import type { MoreTools } from "../core/agent.ts";
import { AppError } from "../core/errors.ts";
import { families } from "../tools/families.ts";
import { isFamily } from "../tools/family.ts";
import type { Agent } from "./agent-source.ts";

/**
 * Asks a person to allow each call of the named tools. Throws `config_invalid` for a name that no
 * tool of the agent has on any machine: it would protect nothing.
 */
export function approvalBy(
  names: readonly string[],
  { name: agent, tools }: Pick<Agent, "name" | "tools">,
  moreTools?: Pick<MoreTools, "mayHave">,
): ApprovalPolicy {
  const known = [...new Set([...tools, ...families].flatMap((one) => (isFamily(one) ? one.toolNames : one.name)))];
  const unknown = names.find((name) => !known.includes(name) && moreTools?.mayHave(name) !== true);
  if (unknown !== undefined) {
    throw new AppError(
      "config_invalid",
      `[agents.${agent}] approve names ${JSON.stringify(unknown)}, but the tools are: ${known.join(", ")}.`,
    );
  }
  return ({ name }) => (names.includes(name) ? "ask" : "allow");
}
