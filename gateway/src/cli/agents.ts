import { AppError, type ErrorCode, errorCodes } from "manyhands/internal/core/errors";
import * as z from "zod";
import type { CliContext } from "../session/context.ts";
import { openSystem } from "../session/system-session.ts";
import { exitCodes } from "../terminal/exit-code.ts";
import { safeLine } from "../terminal/safe-text.ts";

/** The options every `agents` command takes. */
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

const codes = Object.keys(errorCodes) as [ErrorCode, ...ErrorCode[]];
const refusal = z.looseObject({ code: z.enum(codes).catch("unavailable"), detail: z.string() });

const callMs = 30_000;

/** Lists the gateway's agents and how they are. */
export async function listAgents(options: AgentsOptions, context: CliContext): Promise<number> {
  return atGateway(options, context, async (call) => {
    const { agents } = z.object({ agents: z.array(agent) }).parse(await call("/agents"));
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
    const added = await call("/agents", { method: "POST", body });
    context.terminal.out(options.json ? `${JSON.stringify(added)}\n` : rowsOf(agent.parse(added)));
  });
}

/** Forgets a registered agent. */
export async function removeAgent(name: string, options: AgentsOptions, context: CliContext): Promise<number> {
  return atGateway(options, context, async (call) => {
    await call(`/agents/${encodeURIComponent(name)}`, { method: "DELETE" });
    context.terminal.say(`${name} is forgotten.`);
  });
}

type Call = (path: string, init?: { readonly method: string; readonly body?: string }) => Promise<unknown>;

async function atGateway(
  options: AgentsOptions,
  context: CliContext,
  act: (call: Call) => Promise<void>,
): Promise<number> {
  const config = await context.configure(options.config);
  const { token } = config.server;
  const session = await openSystem(config, context);
  try {
    await act(async (path, init) => {
      const headers = {
        "Content-Type": "application/json",
        ...(token !== undefined && { Authorization: `Bearer ${token}` }),
      };
      const response = await fetch(`${session.url}${path}`, { headers, signal: AbortSignal.timeout(callMs), ...init });
      if (response.status === 204) return undefined;
      const body: unknown = await response.json();
      if (response.ok) return body;
      const { code, detail } = refusal.parse(body);
      throw new AppError(code, detail);
    });
    return exitCodes.ok;
  } finally {
    await session.close();
  }
}

function rowsOf({ name, url, health, source, title, model, sandbox, breaker, reason, changes }: Agent): string {
  const known = [model ? `model ${model.name}` : "", sandbox === undefined ? "" : `sandbox ${sandbox}`];
  const apart = breaker === undefined || breaker === "closed" ? "" : `left alone (${breaker})`;
  const facts = [name, health, apart, url, title ?? "", ...known, source];
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
