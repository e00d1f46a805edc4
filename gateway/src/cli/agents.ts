import * as z from "zod";
import type { CliContext } from "../session/context.ts";
import { safeLine } from "../terminal/safe-text.ts";
import { atGateway } from "./at-gateway.ts";

/** Options of every `agents` command. */
export type AgentsOptions = { readonly json?: boolean; readonly config?: string };

const agent = z.looseObject({
  name: z.string(),
  url: z.string(),
  source: z.string(),
  health: z.string(),
  reason: z.string().optional(),
  title: z.string().optional(),
  model: z.looseObject({ name: z.string() }).optional().catch(undefined),
  sandbox: z.string().optional().catch(undefined),
  breaker: z.string().optional().catch(undefined),
  changes: z.array(z.looseObject({ what: z.array(z.string()) })).default([]),
});
type Agent = z.output<typeof agent>;

/** Lists the gateway's agents and their health. */
export async function listAgents(options: AgentsOptions, context: CliContext): Promise<number> {
  return atGateway(options, context, async (call) => {
    const { agents } = await call(z.object({ agents: z.array(agent) }), "/agents");
    const { terminal } = context;
    if (options.json) terminal.out(`${JSON.stringify(agents, undefined, 2)}\n`);
    else for (const one of agents) terminal.out(rowsOf(one));
  });
}

/** Registers an agent by its address. */
export async function addAgent(
  url: string,
  options: AgentsOptions & { readonly name?: string; readonly token?: string },
  context: CliContext,
): Promise<number> {
  return atGateway(options, context, async (call) => {
    const { name, token } = options;
    const body = JSON.stringify({ url, ...(name && { name }), ...(token && { token }) });
    const added = await call(agent, "/agents", { method: "POST", body });
    context.terminal.out(options.json ? `${JSON.stringify(added)}\n` : rowsOf(added));
  });
}

/** Removes a registered agent. */
export async function removeAgent(name: string, options: AgentsOptions, context: CliContext): Promise<number> {
  return atGateway(options, context, async (call) => {
    await call(z.undefined(), `/agents/${encodeURIComponent(name)}`, { method: "DELETE" });
    context.terminal.say(`Removed ${name}.`);
  });
}

function rowsOf({ name, url, health, source, title, model, sandbox, breaker, reason, changes }: Agent): string {
  const known = [model ? `model ${model.name}` : "", sandbox === undefined ? "" : `sandbox ${sandbox}`];
  const paused = breaker === undefined || breaker === "closed" ? "" : `paused after failures (${breaker})`;
  const facts = [name, health, paused, url, title ?? "", ...known, source];
  const why = reason === undefined ? [] : [`    ${safeLine(reason, 300)}`];
  const news = changes.flatMap(({ what }) => what.map((one) => `    card: ${safeLine(one, 300)}`));
  return `${[
    facts
      .filter((fact) => fact !== "")
      .map((fact) => safeLine(fact, 200))
      .join("  ·  "),
    ...why,
    ...news,
  ].join("\n")}\n`;
}
