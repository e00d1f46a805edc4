import type { Client, Tool as Definition, ElicitRequest, Progress } from "@modelcontextprotocol/client";
import * as z from "zod";
import { sleep } from "../../core/async/sleep.ts";
import { AppError } from "../../core/errors.ts";
import type { ToolContext } from "../../core/tools/tool.ts";
import { outgoingTrace } from "../../core/trace.ts";
import type { ServerConnection } from "./connection/connection.ts";
import { createDeadline } from "./connection/deadline.ts";
import { answerOf, questionOf } from "./elicitation.ts";
import { sample } from "./sampling.ts";
import type { ServerConfig } from "./servers/server-config.ts";
import type { ServerCallOutcome, SuspendedCalls } from "./suspended-calls.ts";

/**
 * A call of a tool, with the server's definition, and the store that suspends it while a person is
 * asked.
 */
export type ServerCall = {
  readonly connection: ServerConnection;
  readonly definition: Definition;
  readonly arguments: Record<string, unknown>;
  readonly held: SuspendedCalls;
};

const params = z.custom<ElicitRequest["params"]>((value) => typeof value === "object" && value !== null);
const responses = z.record(z.string(), z.json());
/**
 * How to continue a call that asked something. `again`: the server keeps nothing, so the call is
 * repeated with the token it gave us. `held`: the call is still under way and continued by its id.
 */
const stateSchema = z.discriminatedUnion("kind", [
  z.strictObject({
    kind: z.literal("again"),
    token: z.string().optional(),
    asked: z.record(z.string(), params),
    given: responses,
  }),
  z.strictObject({ kind: z.literal("held"), id: z.string(), asked: params }),
]);
type Again = z.output<typeof stateSchema> & { kind: "again" };

const rounds = 10;
/** The longest a server that keeps reporting progress may take, as a multiple of its time-out. */
const longest = 10;

/**
 * Calls a server's tool, or continues a call that asked something. Rejects with a readable
 * AppError, or the signal's reason.
 */
export async function callServer(call: ServerCall, context: ToolContext): Promise<ServerCallOutcome> {
  if (context.answer === undefined) return begin(call, context);
  const state = stateSchema.parse(context.answer.state);
  const { server } = call.connection;
  const [key, asked] = state.kind === "held" ? ["", state.asked] : (Object.entries(state.asked)[0] ?? ["", undefined]);
  if (asked === undefined) return begin(call, context);
  const answer = answerOf(context.answer.text, asked);
  if ("problem" in answer)
    return {
      type: "asks",
      question: `${answer.problem}\n\n${questionOf(server.name, asked)}`,
      state: context.answer.state,
    };
  if (state.kind === "held") {
    const waiting = call.held.take(state.id);
    if (waiting === undefined)
      throw new AppError(
        "interrupted",
        "The server that waited for this answer is gone. Call it anew if it is still needed.",
      );
    return waiting(answer.result, context);
  }
  const { [key]: _, ...left } = state.asked;
  const next: Again = { ...state, asked: left, given: { ...state.given, [key]: plain(answer.result) } };
  return Object.keys(left).length > 0 ? asking(server.name, next) : begin(call, context, next);
}

function asking(server: string, state: Again): ServerCallOutcome {
  const [first] = Object.values(state.asked);
  if (first === undefined) throw new AppError("internal", "There is nothing to ask.");
  return { type: "asks", question: questionOf(server, first), state: plain(state) };
}

/**
 * Starts a call. A question of a server of a 2025 revision arrives while the call is under way: the
 * call is then suspended, and its step ends with the question.
 */
async function begin(call: ServerCall, context: ToolContext, from?: Again): Promise<ServerCallOutcome> {
  const { connection, held } = call;
  const { server } = connection;
  return held.hold(context, (waiting) => {
    const deadline = createDeadline(server.name, server.timeout, server.timeout * longest, waiting.signal);
    let unclear = false;
    const listener = {
      unclear: () => {
        unclear = true;
      },
      elicit: async (asked: ElicitRequest["params"]) => {
        deadline.pause();
        try {
          return await waiting.ask((id) => ({
            type: "asks",
            question: questionOf(server.name, asked),
            state: plain({ kind: "held", id, asked }),
          }));
        } finally {
          deadline.go();
        }
      },
      sample: (asked: Parameters<typeof sample>[1]) =>
        sample(server.name, asked, (inquiry) => waiting.context().ask(inquiry)),
    };
    const progress = (report: Progress) => {
      deadline.go();
      const { message, progress: done, total } = report;
      waiting.context().progress(`${message ?? ""} ${done}${total === undefined ? "" : `/${total}`}\n`.trimStart());
    };
    const work = async (client: Client) => {
      let state = from;
      for (let round = 0; round < rounds; round++) {
        const outcome = await request(call, client, deadline.signal, progress, state);
        if (outcome.type === "result") return unclear ? withNote(outcome) : outcome;
        const next = await fulfilled(server, outcome.state, waiting.context().ask, deadline.signal);
        if (Object.keys(next.asked).length > 0) return asking(server.name, next);
        state = next;
      }
      throw new AppError("unavailable", "it asked for further input again and again");
    };
    return connection.use(work, deadline.signal, listener).finally(() => deadline.end());
  });
}

/** A result that reads as if the person had refused, with what really happened. */
function withNote({ type, result }: ServerCallOutcome & { type: "result" }): ServerCallOutcome {
  const text =
    "(The server asked a question that could have been for this call or another on its connection: nobody was asked, and it was cancelled. Calling again once the other has ended may help.)";
  return { type, result: { ...result, content: [...(result.content ?? []), { type: "text", text }] } };
}

type Embedded = { readonly method: string; readonly params?: unknown };
type Requested = { readonly token: string | undefined; readonly requests: Readonly<Record<string, Embedded>> };
const inputRequired = z.looseObject({
  resultType: z.literal("input_required"),
  inputRequests: z.record(z.string(), z.looseObject({ method: z.string(), params: z.unknown() })).default({}),
  requestState: z.string().optional(),
});

async function request(
  { definition, arguments: args }: ServerCall,
  client: Client,
  signal: AbortSignal,
  onprogress: (report: Progress) => void,
  state: Again | undefined,
) {
  // Results are data, whatever they look like, so the server's output schema is not enforced.
  const { outputSchema: _, ...toolDefinition } = definition;
  const again = state && {
    inputResponses: state.given,
    ...(state.token !== undefined && { requestState: state.token }),
  };
  const trace = outgoingTrace();
  const result = await client.callTool(
    { name: definition.name, arguments: args, ...again, ...(trace.traceparent !== undefined && { _meta: trace }) },
    { signal, onprogress, timeout: forever, allowInputRequired: true, toolDefinition },
  );
  const more = inputRequired.safeParse(result);
  if (!more.success) return { type: "result", result } as const;
  const state_: Requested = { token: more.data.requestState, requests: more.data.inputRequests };
  return { type: "more", state: state_ } as const;
}

/** The client's timeout is disabled. Our own deadlines pause while a person thinks. */
const forever = 2 ** 31 - 1;

/**
 * Answers the requests that need no person and returns the others in `asked`. A server asks only
 * what its entry lets it ask, whatever it was told that we can be asked.
 */
async function fulfilled(
  { name, elicitation, sampling }: ServerConfig,
  { token, requests }: Requested,
  ask: ToolContext["ask"],
  signal: AbortSignal,
): Promise<Again> {
  const asked: Record<string, ElicitRequest["params"]> = {};
  const given: Again["given"] = {};
  for (const [key, { method, params: what }] of Object.entries(requests)) {
    if (elicitation && method === "elicitation/create") {
      asked[key] = params.parse(what);
      // One that cannot be put to a person fails the call here, not when its turn comes.
      questionOf(name, asked[key]);
    } else if (sampling && method === "sampling/createMessage") given[key] = plain(await sample(name, what, ask));
    else throw new AppError("unavailable", `it asks for ${JSON.stringify(method)}, which is not offered`);
  }
  if (Object.keys(requests).length === 0) await sleep(250, signal);
  return { kind: "again", ...(token !== undefined && { token }), asked, given };
}

/** The value as plain JSON. */
function plain(value: unknown): z.core.util.JSONType {
  return z.json().parse(JSON.parse(JSON.stringify(value)));
}
