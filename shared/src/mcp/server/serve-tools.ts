import {
  type CallToolResult,
  type InputRequiredResult,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  type Server,
  type ServerContext,
  type Tool,
} from "@modelcontextprotocol/server";
import { checkInput } from "../../core/check-input.ts";
import { AppError, publicError } from "../../core/errors.ts";
import type { RunRecord } from "../../core/runs/engine.ts";
import { requestTrace, traceFrom } from "../../core/trace.ts";
import type { RunView } from "../../runs/run-view.ts";
import { awaitRun, beginRun, contextNamed, type ServedCall } from "./call-run.ts";
import type { DirectTools } from "./direct-tools.ts";
import { invalidParams } from "./invalid-params.ts";
import type { Era } from "./questions.ts";
import {
  asking,
  asksPeople,
  capabilitiesOf,
  type GivenAnswers,
  givenWith,
  personsAnswer,
  question,
  questioned,
} from "./questions.ts";
import { isRunTool, runResult, runToolList, runTools } from "./run-tools.ts";
import { runArguments, runnableTool } from "./runnable-tool.ts";
import type { McpServerDeps, Serving } from "./serving.ts";

const longestWaitMs = 600_000;

/** All tools of the server. */
export function listTools({ tools, runnables }: McpServerDeps): Tool[] {
  return [...(tools?.list() ?? []), ...runnables.all().map(runnableTool), ...runToolList()];
}

/** Handles `tools/list` and `tools/call`. */
export function serveTools(server: Server, serving: Serving): void {
  const { deps } = serving;
  server.setRequestHandler("tools/list", () => ({ tools: listTools(deps) }));
  server.setRequestHandler("tools/call", async ({ params }, context) => {
    const call = { ...callOf(context, serving), client: capabilitiesOf(server, context, serving.era) };
    const asked = { name: params.name, given: params.arguments ?? {}, answers: givenWith(context), call };
    try {
      return await answer(asked, serving);
    } catch (error) {
      if (error instanceof ProtocolError) throw error;
      if (!(error instanceof AppError) && !call.signal.aborted) deps.report(error);
      const { code, message } = publicError(error);
      return refusal(`${message} (${code})`);
    }
  });
}

type Asked = {
  readonly name: string;
  readonly given: unknown;
  readonly answers: GivenAnswers;
  readonly call: ServedCall;
};

async function answer(asked: Asked, serving: Serving): Promise<CallToolResult | InputRequiredResult> {
  const { name, given, answers, call } = asked;
  const { deps } = serving;
  if (deps.tools?.has(name)) return callDirectly(deps.tools, asked);
  if (isRunTool(name)) return runResult(await onRun(name, given, call, serving));
  if (!deps.runnables.all().some((one) => one.name === name)) {
    const known = listTools(deps).map((tool) => tool.name);
    throw invalidParams(`Unknown tool: ${name}. Known: ${known.join(", ")}`);
  }
  const fitting = checkInput(runArguments, given, "arguments");
  const started =
    answers.state === undefined
      ? await beginRun(name, fitting, deps, call)
      : await goOn(answers.state, answers, call, serving);
  const run = await awaitRun(started, fitting.wait_seconds * 1000, deps, call);
  if (isGivenUp(call, serving.era)) await deps.runs.cancel(run.id, call.principal, AbortSignal.timeout(5_000));
  const view = await deps.runs.view(run);
  return asksPeople(call.client) && view.status === "input-required" ? asking(question(view)) : runResult(view);
}

async function callDirectly(
  tools: DirectTools,
  { name, given, answers, call }: Asked,
): Promise<CallToolResult | InputRequiredResult> {
  const outcome = await tools.call(name, given, call, answers);
  return "result" in outcome ? outcome.result : asking(outcome);
}

/**
 * Whether the call's run is no longer wanted. When a client of a 2025 revision disconnects, its run
 * continues; when it cancels the call, the run is cancelled.
 */
function isGivenUp({ signal }: ServedCall, era: Era): boolean {
  const { reason } = signal;
  const left = reason instanceof SdkError && reason.code === SdkErrorCode.ConnectionClosed;
  return signal.aborted && (era === "modern" || !left);
}

function refusal(text: string): CallToolResult {
  return { content: [{ type: "text", text }], isError: true };
}

async function onRun(
  name: keyof typeof runTools,
  given: unknown,
  call: ServedCall,
  { deps }: Serving,
): Promise<RunView> {
  const { runs } = deps;
  if (name === "run_answer") {
    const { run_id, answer } = checkInput(runTools.run_answer.input, given, "arguments");
    const message = { messageId: crypto.randomUUID(), parts: [{ type: "text", text: answer }] } as const;
    return runs.view(await awaitRun(await runs.answer(run_id, message, call.principal), longestWaitMs, deps, call));
  }
  const { run_id } = checkInput(runTools[name].input, given, "arguments");
  if (name === "run_cancel") return runs.view(await runs.cancel(run_id, call.principal, call.signal));
  return runs.view(await runs.own(run_id, call.principal));
}

/** Passes the answer in a repeated call to the run that asked, as the answer to that question. */
async function goOn(
  state: string,
  answers: GivenAnswers,
  { principal }: ServedCall,
  { deps }: Serving,
): Promise<RunRecord> {
  const { runs } = deps;
  const { runId, event } = questioned(state);
  const run = await runs.own(runId, principal).catch((error: unknown) => {
    if (error instanceof AppError && error.code === "not_found")
      throw invalidParams("The requestState names no run of yours.");
    throw error;
  });
  const text = personsAnswer(answers);
  if (text === undefined) return run;
  // A repeated answer to the same question is one message, and never the answer to the next one.
  const messageId = `${runId}/answer/${event ?? run.lastEvent}`;
  return runs.answer(runId, { messageId, parts: [{ type: "text", text }] }, principal, event);
}

function callOf({ mcpReq, http }: ServerContext, { principal }: Serving): Omit<ServedCall, "client"> {
  const token = mcpReq._meta?.progressToken;
  let progress = 0;
  const tell = (message: string) => {
    if (token === undefined) return mcpReq.log("info", message);
    progress++;
    return mcpReq.notify({ method: "notifications/progress", params: { progressToken: token, progress, message } });
  };
  return {
    principal,
    contextId: contextNamed(http?.req),
    signal: mcpReq.signal,
    trace: traceFrom((name) => mcpReq._meta?.[name]) ?? (http?.req && requestTrace(http.req)),
    progress(message) {
      // A disconnected client is not a failure of the run.
      tell(message).catch(() => undefined);
    },
  };
}
