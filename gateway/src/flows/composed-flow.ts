import type { ComposedFlow } from "manyhands/internal/config/flow-config";
import { checkInput } from "manyhands/internal/core/check-input";
import { AppError } from "manyhands/internal/core/errors";
import type { FlowDefinition } from "manyhands/internal/core/flow";
import { titleOf } from "manyhands/internal/core/spec";

/**
 * A flow of the settings: the body of another with agents and options set. What is set is recorded
 * with each run when it is accepted, so that a run goes on as it began when the settings change.
 * Throws `config_invalid` if there is no such flow or it does not take what is set.
 */
export function composedFlow(name: string, composed: ComposedFlow, flows: readonly FlowDefinition[]): FlowDefinition {
  const base = flows.find((one) => one.name === composed.flow);
  const known = flows.map((one) => one.name).join(", ");
  if (base === undefined)
    throw refused(name, composed, `there is no flow ${JSON.stringify(composed.flow)} to compose. There are: ${known}`);
  const { settings, title = titleOf(name), description = `${base.title}, with its agents and options set.` } = composed;
  const options = optionsFor(base, name, composed);
  const fault = base.check?.({ agents: settings.agents, options });
  if (fault !== undefined) throw refused(name, composed, fault);
  return {
    ...base,
    name,
    title,
    description,
    skills: [{ id: name, name: title, description, tags: ["flow", base.name], examples: [] }],
    example: { text: description },
    settings,
  };
}

function optionsFor(base: FlowDefinition, name: string, composed: ComposedFlow) {
  try {
    return checkInput(base.options, composed.settings.options ?? {}, "options");
  } catch (error) {
    throw error instanceof AppError ? refused(name, composed, error.message.replace(/\.$/, "")) : error;
  }
}

function refused(name: string, { origin }: ComposedFlow, why: string): AppError {
  return new AppError("config_invalid", `${origin}: [flows.${name}]: ${why}.`);
}
