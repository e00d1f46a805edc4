import { AgentCard } from "@a2a-js/sdk";
import { agentExtension } from "manyhands/internal/a2a/extensions";
import * as z from "zod";
import type { KnownAgentState } from "../registry/known-agent.ts";
import type { Registry } from "../registry/registry.ts";
import { endpoint, type RestEndpoint } from "./endpoint.ts";
import { httpUrl } from "./http-url.ts";

const agentSchema = z
  .object({
    name: z.string(),
    url: z.string(),
    source: z.enum(["configured", "registered"]),
    health: z.enum(["unknown", "up", "down", "refused"]),
    reason: z.string().exactOptional().describe("Why it is down, refused or behind an open breaker."),
    breaker: z
      .enum(["closed", "open", "trying"])
      .describe("`open`: after repeated failures it is not called for a while."),
    checkedAt: z.iso.datetime().exactOptional(),
    title: z.string().exactOptional(),
    model: z.json().exactOptional().describe("The model in use, if the agent reports it."),
    sandbox: z.string().exactOptional().describe("How its commands are sandboxed, if the agent reports it."),
    changes: z
      .array(z.object({ at: z.iso.datetime(), what: z.array(z.string()) }))
      .describe("How its card changed since it was first seen here."),
    card: z.record(z.string(), z.json()).exactOptional().describe("Its A2A card."),
  })
  .meta({ id: "Agent" });

/** `/agents` and the routes below it. */
export function agentRoutes(registry: Registry): RestEndpoint[] {
  return [listAgents(registry), addAgent(registry), removeAgent(registry)];
}

function listAgents(registry: Registry): RestEndpoint {
  const about = {
    method: "get",
    path: "/agents",
    tag: "agents",
    summary: "The agents, their cards and their health",
    request: {},
    answers: { 200: { description: "The agents.", body: z.object({ agents: z.array(agentSchema) }) } },
    problems: [],
  } as const;
  return endpoint(about, (_, c) => c.json({ agents: registry.list().map(agentView) }));
}

function addAgent(registry: Registry): RestEndpoint {
  const body = z.strictObject({
    url: httpUrl.max(2000).describe("The URL of the agent or its card."),
    name: z
      .string()
      .regex(/^[a-z0-9][a-z0-9-]{0,59}$/, "It must be lower-case letters, digits and dashes, at most 60.")
      .exactOptional()
      .describe("Taken from the card when left out."),
    token: z.string().min(1).max(4000).exactOptional().describe("Sent to the agent as a bearer token; never shown."),
  });
  const about = {
    method: "post",
    scope: "admin",
    path: "/agents",
    tag: "agents",
    summary: "Registers an agent by its address",
    request: { body },
    answers: { 201: { description: "The agent.", body: agentSchema } },
    problems: [409, 424],
  } as const;
  return endpoint(about, async ({ body: agent }, c) => c.json(agentView(await registry.add(agent)), 201));
}

function removeAgent(registry: Registry): RestEndpoint {
  const about = {
    method: "delete",
    scope: "admin",
    path: "/agents/{name}",
    tag: "agents",
    summary: "Removes a registered agent",
    request: { params: z.object({ name: z.string().min(1).max(200) }) },
    answers: { 204: { description: "Removed; its runs stay." } },
    problems: [404, 409],
  } as const;
  return endpoint(about, async ({ params: { name } }, c) => {
    await registry.remove(name);
    return c.body(null, 204);
  });
}

function agentView({ card, checkedAt, changes, ...state }: KnownAgentState) {
  const own = card?.capabilities?.extensions.find(({ uri }) => uri === agentExtension)?.params;
  return {
    ...state,
    changes: changes.map(({ at, what }) => ({ at: new Date(at).toISOString(), what })),
    ...(checkedAt !== undefined && { checkedAt: new Date(checkedAt).toISOString() }),
    ...(card && { title: card.name, card: AgentCard.toJSON(card) }),
    ...(own && { model: own.model, sandbox: own.sandbox }),
  };
}
