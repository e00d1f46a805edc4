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

/** The MCP revisions of 2025, or that of 2026. */
export type Era = "legacy" | "modern";

/**
 * What the client, or its person, has to answer first; `state` is returned with
 * the answer.
 */
export type Asks = { readonly asks: InputRequests; readonly state: string };

/** What accompanies a request that is repeated after it asked. None of it is trusted. */
export type GivenAnswers = {
  readonly responses: Readonly<Record<string, unknown>>;
  readonly state: string | undefined;
};

/** What accompanies this request. */
export function givenWith({ mcpReq }: ServerContext): GivenAnswers {
  return { responses: mcpReq.inputResponses ?? {}, state: mcpReq.requestState<string>() };
}

/**
 * Asks in the protocol's form; a client of a 2025 revision is asked while the call is under way.
 */
export function asking({ asks, state }: Asks): InputRequiredResult {
  return { resultType: "input_required", inputRequests: asks, requestState: state };
}

/** What the client can be asked; nothing without a lasting connection. */
export function capabilitiesOf(server: Server, { mcpReq }: ServerContext, era: Era): ClientCapabilities {
  const envelope: { [CLIENT_CAPABILITIES_META_KEY]?: ClientCapabilities } = mcpReq.envelope ?? {};
  return (era === "modern" ? envelope[CLIENT_CAPABILITIES_META_KEY] : server.getClientCapabilities()) ?? {};
}

/**
 * Whether a form reaches the person the client works for. A client that names no kind of
 * elicitation accepts forms.
 */
export function asksPeople({ elicitation }: ClientCapabilities): boolean {
  return elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined);
}

const answerForm = z.object({ answer: z.string().meta({ title: "Answer" }) });
const allowForm = z.object({ allow: z.boolean().meta({ title: "Allow it once" }) });

/**
 * The run's question in MCP's form. The run's id and the number of the event that asked are
 * returned with the answer, and are accepted only from the run's owner.
 */
export function question({ id, question = "", questionEvent }: RunView): Asks {
  const state = questionEvent === undefined ? id : `${id}/${questionEvent}`;
  return { asks: { answer: inputRequired.elicit({ message: question, requestedSchema: answerForm }) }, state };
}

/** The run and the event that a question's state names; a state of our own making or not. */
export function questioned(state: string): { readonly runId: string; readonly event: number | undefined } {
  const [, runId = state, event] = /^([^/]+)\/(\d{1,15})$/.exec(state) ?? [];
  return { runId, event: event === undefined ? undefined : Number(event) };
}

/**
 * Asks the person at the client whether a call may be made. The call's code is returned with the
 * decision.
 */
export function decision(message: string, code: string): Asks {
  return { asks: { allow: inputRequired.elicit({ message, requestedSchema: allowForm }) }, state: code };
}

/** The person's answer to a run's question; undefined if there is none. */
export function personsAnswer({ responses }: GivenAnswers): string | undefined {
  const given = answered.safeParse(responses.answer).data;
  if (given === undefined) return undefined;
  return given.action === "accept" ? (given.content?.answer ?? "") : "(The person did not want to answer.)";
}

/** Whether a person allowed the repeated call; undefined if nobody was asked. */
export function personsDecision({ responses }: GivenAnswers): boolean | undefined {
  const given = decided.safeParse(responses.allow).data;
  return given && given.action === "accept" && given.content?.allow === true;
}

const answered = z.object({ action: z.string(), content: answerForm.optional() });
const decided = z.object({ action: z.string(), content: allowForm.optional() });
