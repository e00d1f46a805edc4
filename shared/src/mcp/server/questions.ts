import {
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  type InputRequests,
  type InputRequiredResult,
  inputRequired,
  type Server,
  type ServerContext,
} from "@modelcontextprotocol/server";
import * as z from "zod";
import type { RunView } from "../../runs/run-view.ts";

/** The revisions of 2025, or that of 2026. */
export type Era = "legacy" | "modern";

/**
 * What is needed of the client, and through it of its person, before a request can be answered;
 * `state` comes back with it.
 */
export type Asks = { readonly asks: InputRequests; readonly state: string };

/**
 * What came with a request that is made again after it asked; nothing of it is known to be true.
 */
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

/**
 * Whether a form reaches the person the client works for. One that names no kind of question takes
 * forms.
 */
export function asksPeople({ elicitation }: ClientCapabilities): boolean {
  return elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined);
}

const answerForm = z.object({ answer: z.string().meta({ title: "Answer" }) });
const allowForm = z.object({ allow: z.boolean().meta({ title: "Allow it once" }) });

/**
 * The run's question as MCP asks one; the run's id comes back with the answer, and counts only for
 * whose run it is.
 */
export function question({ id, question = "" }: RunView): Asks {
  return { asks: { answer: inputRequired.elicit({ message: question, requestedSchema: answerForm }) }, state: id };
}

/**
 * Asks the person at the client whether a call may be made. Its code comes back with the decision.
 */
export function decision(message: string, code: string): Asks {
  return { asks: { allow: inputRequired.elicit({ message, requestedSchema: allowForm }) }, state: code };
}

/** What a person answered to a run's question; undefined when nothing came. */
export function personsAnswer({ responses }: Given): string | undefined {
  const given = answered.safeParse(responses.answer).data;
  if (given === undefined) return undefined;
  return given.action === "accept" ? (given.content?.answer ?? "") : "(The person did not want to answer.)";
}

/**
 * Whether a person allowed the call that is made again with it; undefined when nobody was asked.
 */
export function personsDecision({ responses }: Given): boolean | undefined {
  const given = decided.safeParse(responses.allow).data;
  return given && given.action === "accept" && given.content?.allow === true;
}

const answered = z.object({ action: z.string(), content: answerForm.optional() });
const decided = z.object({ action: z.string(), content: allowForm.optional() });
