import { A2A_VERSION_HEADER, AgentCard, type AgentExtension } from "@a2a-js/sdk";
import { duplicateInterfacesForLegacy } from "@a2a-js/sdk/compat/v0_3";
import { LegacyRestTransportHandler } from "@a2a-js/sdk/compat/v0_3/server";
import { type A2ARequestHandler, ServerCallContext } from "@a2a-js/sdk/server";
import { type Context, Hono } from "hono";
import { etag } from "hono/etag";
import type { AgentProfile } from "../../core/agent.ts";
import type { Caller } from "../../core/caller.ts";
import type { JsonSchema } from "../../core/model.ts";
import { withoutLastSlashes } from "../../core/text/without-last-slashes.ts";
import type { SandboxProfile, SandboxTier } from "../../machine/sandbox/sandbox.ts";
import {
  agentExtension,
  budgetExtension,
  callerExtension,
  cancelMessageExtension,
  dedupeExtension,
  hitlExtension,
  journalExtension,
  usageExtension,
} from "../extensions.ts";
import type { HomeKeys } from "../signing/home-keys.ts";

/** What a running server adds to the agent's definition. */
export type CardFacts = {
  /** Its public address. */
  readonly publicUrl: string;
  /** The model and how commands are confined; omitted if there is none or it is unknown. */
  readonly model?: { readonly name: string; readonly provider: string };
  readonly sandbox?: SandboxTier;
  readonly sandboxProfile?: SandboxProfile;
  /** The state of the MCP servers; none if omitted. */
  readonly mcp?: () => object;
  /** The `homeMark` of its home, which `/healthz` tells; unknown if omitted. */
  readonly home?: string | undefined;
  /** How callers authenticate; not at all if omitted. */
  readonly security?: Pick<AgentCard, "securitySchemes" | "securityRequirements">;
  /** Sign the card; unsigned if omitted. */
  readonly keys?: HomeKeys;
  /** Where it serves gRPC, as `host:port`, and the tenant to name there; not at all if omitted. */
  readonly grpc?: { readonly address: string; readonly tenant: string } | undefined;
  /** Whether its tasks can be watched; defaults to yes. */
  readonly streaming?: boolean;
  /** Whether it sends push notifications; defaults to no. */
  readonly push?: boolean;
  /** The URIs of extensions that every call has to activate, ours or others; none if omitted. */
  readonly requiredExtensions?: readonly string[];
  /** Additional extensions, each with its parameters. */
  readonly extensions?: readonly { readonly uri: string; readonly description: string; readonly params: JsonSchema }[];
};

/**
 * The agent's A2A 1.0 card: its skills, the bindings served, and its name, model and sandbox tier
 * as an extension's parameters.
 */
export function agentCard(definition: AgentProfile, facts: CardFacts): AgentCard {
  const { name, title, description, version, skills } = definition;
  const url = withoutLastSlashes(facts.publicUrl);
  const served = { tenant: "", protocolVersion: "1.0" };
  const interfaces = [
    { url, protocolBinding: "JSONRPC", ...served },
    { url, protocolBinding: "HTTP+JSON", ...served },
    ...(facts.grpc === undefined
      ? []
      : [{ ...served, url: facts.grpc.address, protocolBinding: "GRPC", tenant: facts.grpc.tenant }]),
  ];
  return {
    name: title,
    description,
    version,
    supportedInterfaces: duplicateInterfacesForLegacy(interfaces, ["JSONRPC"]),
    provider: undefined,
    capabilities: {
      streaming: facts.streaming ?? true,
      pushNotifications: facts.push ?? false,
      extendedAgentCard: facts.security !== undefined,
      extensions: withRequired(facts.requiredExtensions ?? [], [
        extension(agentExtension, "The agent's name, its model and how its commands are confined.", {
          name,
          ...(facts.model && { model: { ...facts.model } }),
          ...(facts.sandbox && { sandbox: facts.sandbox }),
          ...(facts.sandboxProfile && { sandboxProfile: facts.sandboxProfile }),
        }),
        extension(journalExtension, "Streams carry the events of the run's journal, and live progress, in metadata."),
        extension(cancelMessageExtension, "CancelTask takes a message's id, also before the message has come."),
        extension(dedupeExtension, "A message is one task, however often and however late it is sent again."),
        extension(usageExtension, "Tasks and stream events say in metadata what has been used so far."),
        extension(budgetExtension, "The message that starts a task may bound in metadata what the task spends."),
        extension(hitlExtension, "Questions and approvals in kagent's form, answered in it, call by call."),
        ...(facts.extensions ?? []).map(({ uri, description, params }) => extension(uri, description, { ...params })),
      ]),
    },
    securitySchemes: facts.security?.securitySchemes ?? {},
    securityRequirements: facts.security?.securityRequirements ?? [],
    defaultInputModes: ["text/plain", "application/json", "application/octet-stream"],
    defaultOutputModes: ["text/plain", "application/json", "application/octet-stream"],
    skills: skills.map((skill) => ({
      ...skill,
      tags: [...skill.tags],
      examples: [...skill.examples],
      inputModes: [],
      outputModes: [],
      securityRequirements: [],
    })),
    signatures: [],
  };
}

/** The card for a known caller: it also says who that is here, and what it may do. */
export function extendedCard(definition: AgentProfile, facts: CardFacts, caller: Caller): AgentCard {
  const params = { principal: caller.principal, scopes: [...caller.scopes] };
  const own = { uri: callerExtension, description: "Who you are here, and what you may do.", params };
  return agentCard(definition, { ...facts, extensions: [...(facts.extensions ?? []), own] });
}

/** The card as JSON for 1.0 clients. */
function cardJson(card: AgentCard): Record<string, unknown> {
  return AgentCard.toJSON(card) as Record<string, unknown>;
}

/**
 * The card as JSON for clients of either version: each object has the fields of both 1.0 and 0.3.
 */
async function mergedCardJson(card: AgentCard, handler: A2ARequestHandler): Promise<Record<string, unknown>> {
  // The SDK exports no card translation, but its 0.3 transport translates any extended card.
  const translate = new LegacyRestTransportHandler({ ...handler, getAuthenticatedExtendedAgentCard: async () => card });
  const legacy: object = await translate.getAuthenticatedExtendedAgentCard(new ServerCallContext());
  return merged(cardJson(card), legacy) as Record<string, unknown>;
}

/**
 * Merges the fields of both, to any depth. The first wins where both have a value or lists of
 * different lengths.
 */
function merged(one: unknown, other: unknown): unknown {
  if (other === undefined) return one;
  if (one === undefined) return other;
  if (Array.isArray(one) && Array.isArray(other))
    return one.length === other.length ? one.map((item, index) => merged(item, other[index])) : one;
  if (typeof one !== "object" || typeof other !== "object" || one === null || other === null) return one;
  const [first, second] = [new Map(Object.entries(one)), new Map(Object.entries(other))];
  const names = new Set([...first.keys(), ...second.keys()]);
  return Object.fromEntries([...names].map((name) => [name, merged(first.get(name), second.get(name))]));
}

function extension(uri: string, description: string, params?: Record<string, unknown>): AgentExtension {
  return { uri, description, required: false, params };
}

function withRequired(uris: readonly string[], offered: readonly AgentExtension[]): AgentExtension[] {
  const others = uris.filter((uri) => !offered.some((one) => one.uri === uri));
  const all = [...offered, ...others.map((uri) => extension(uri, "Every call has to activate it."))];
  return all.map((one) => ({ ...one, required: uris.includes(one.uri) }));
}

/**
 * The card for callers that name no version: the fields of 1.0 and 0.3 together, or those of 1.0
 * alone.
 */
export type CardStyle = "merged" | "strict";

/**
 * The card at its two URLs. Clients of either version read `agent-card.json`: those that send
 * `A2A-Version` get the card of that version, which strict readers check, and all others the one of
 * `style`. Old clients read `agent.json`, which is always merged.
 */
export function cardApp(cardNow: () => Promise<AgentCard>, handler: A2ARequestHandler, style: CardStyle): Hono {
  const app = new Hono();
  const headers = {
    "Cache-Control": "public, max-age=60",
    "Last-Modified": new Date().toUTCString(),
    Vary: A2A_VERSION_HEADER,
  };
  const merged = async (c: Context) => c.json(await mergedCardJson(await cardNow(), handler), 200, headers);
  app.use("/.well-known/*", etag());
  app.get("/.well-known/agent.json", merged);
  app.get("/.well-known/agent-card.json", async (c) => {
    const named = (c.req.header(A2A_VERSION_HEADER) || c.req.query(A2A_VERSION_HEADER) || "").trim();
    const strict = named.startsWith("1.") || (style === "strict" && !named.startsWith("0.3"));
    return strict ? c.json(cardJson(await cardNow()), 200, headers) : merged(c);
  });
  return app;
}
