import {
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  type InputRequests,
  type InputRequiredResult,
  type Server,
  type ServerContext,
} from "@modelcontextprotocol/server";
import type { Era } from "./era.ts";

/** What is needed of the client, and through it of its person, before a request can be answered; `state` comes back with it. */
export type Asks = { readonly asks: InputRequests; readonly state: string };

/** What came with a request that is made again after it asked; nothing of it is known to be true. */
export type Given = { readonly responses: Readonly<Record<string, unknown>>; readonly state: string | undefined };

/** What came with this one. */
export function givenWith({ mcpReq }: ServerContext): Given {
  return { responses: mcpReq.inputResponses ?? {}, state: mcpReq.requestState<string>() };
}

/** Asks as the protocol does; a client of a 2025 revision is asked while the call is under way. */
export function asking({ asks, state }: Asks): InputRequiredResult {
  return { resultType: "input_required", inputRequests: asks, requestState: state };
}

/** What the client can be asked for; nothing where nothing lasts between it and us. */
export function capabilitiesOf(server: Server, { mcpReq }: ServerContext, era: Era): ClientCapabilities {
  const envelope: { [CLIENT_CAPABILITIES_META_KEY]?: ClientCapabilities } = mcpReq.envelope ?? {};
  return (era === "modern" ? envelope[CLIENT_CAPABILITIES_META_KEY] : server.getClientCapabilities()) ?? {};
}

/** Whether a form reaches the person the client works for. One that names no kind of question takes forms. */
export function asksPeople({ elicitation }: ClientCapabilities): boolean {
  return elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined);
}
