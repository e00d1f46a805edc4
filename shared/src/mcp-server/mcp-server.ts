import {
  type CallToolResult,
  type InputRequiredResult,
  Server,
  type ServerContext,
} from "@modelcontextprotocol/server";
import type * as z from "zod";
import type { RunRecord } from "../durable/engine.ts";
import { AppError, publicError } from "../errors.ts";
import type { RunView } from "../runs/run-view.ts";
import { awaitRun, beginRun, type Call, type CallDeps } from "./call-run.ts";
import type { DirectTools } from "./direct-tools.ts";
import { serveFiles } from "./file-resources.ts";
import { canAnswer, decision, personsAnswer, personsDecision, question } from "./questions.ts";
import { runResult } from "./run-result.ts";
import { isRunTool, runToolList, runTools } from "./run-tools.ts";
import { runArguments, runnableTool } from "./runnable-tool.ts";

/** What an MCP server of ours is made of. */
export type McpServerDeps = CallDeps & {
  readonly version: string;
  /** Tools that are called as they are, beside the runnables; none when left out. */
  readonly tools?: DirectTools;
  readonly report: (bug: unknown) => void;
};

/** The revisions of 2025, or that of 2026. */
export type Era = "legacy" | "modern";

const longestWaitMs = 600_000;

/**
 * A server for one caller: every runnable as a tool, the tools that are called as they are, and those that look after runs; the
 * files of runs as resources. A question is an `input_required` result where the client can answer one, and otherwise a result that says how to answer.
 */
export function mcpServer(deps: McpServerDeps, era: Era, caller: Pick<Call, "principal" | "contextId">): Server {
  const { version, tools, runnables, report } = deps;
  const server = new Server(
    { name: "manyhands", title: "Manyhands", version },
    { capabilities: { tools: {}, resources: {} }, instructions },
  );
  server.setRequestHandler("tools/list", () => ({
    tools: [...(tools?.list() ?? []), ...runnables.all().map(runnableTool), ...runToolList()],
  }));
  serveFiles(server, deps, caller.principal);
  server.setRequestHandler("tools/call", async ({ params }, context) => {
    const call = callOf(context, caller);
    try {
      return await answer({ name: params.name, given: params.arguments ?? {}, context }, { deps, era, call });
    } catch (error) {
      if (!(error instanceof AppError) && !call.signal.aborted) report(error);
      const { code, message } = publicError(error);
      return { content: [{ type: "text", text: `${message} (${code})` }], isError: true };
    }
  });
  return server;
}

const instructions =
  "A tool that takes a task starts a run, of an agent or of several as a flow. A run survives this connection; run_status shows it, run_answer answers its question, run_cancel ends it.";

type Asked = { readonly name: string; readonly given: unknown; readonly context: ServerContext };
type Serving = { readonly deps: McpServerDeps; readonly era: Era; readonly call: Call };

async function answer(
  { name, given, context }: Asked,
  serving: Serving,
): Promise<CallToolResult | InputRequiredResult> {
  const { deps, call } = serving;
  if (deps.tools?.has(name)) return callDirectly(deps.tools, { name, given, context }, serving);
  if (isRunTool(name)) return runResult(await onRun(name, given, serving));
  const fitting = checked(name, runArguments, given);
  const waiting = context.mcpReq.requestState<string>();
  const started =
    waiting === undefined ? await beginRun(name, fitting, deps, call) : await goOn(waiting, context, serving);
  const run = await awaitRun(started, fitting.wait_seconds * 1000, deps, call);
  if (call.signal.aborted && serving.era === "modern")
    await deps.runs.cancel(run.id, call.principal, AbortSignal.timeout(5_000));
  const view = await deps.runs.view(run);
  return canAnswer(context, serving.era) && view.status === "input-required" ? question(view) : runResult(view);
}

/** Makes a call, after a person's yes where it wants one. Who cannot be asked is told what to do. */
async function callDirectly(
  tools: DirectTools,
  { name, given, context }: Asked,
  { era, call }: Serving,
): Promise<CallToolResult | InputRequiredResult> {
  const answered = personsDecision(context);
  if (answered?.allow === false) return refusal("The person did not allow the call; it was not made.");
  const outcome = await tools.call(name, given, call, answered?.code);
  if ("result" in outcome) return outcome.result;
  if (canAnswer(context, era)) return decision(outcome.decide, outcome.code);
  return refusal(
    `Not done: a person has to decide about this call, and this client cannot ask one. Give the agent the whole task instead: its run asks, and run_answer answers. The call was:\n\n${outcome.decide}`,
  );
}

function refusal(text: string): CallToolResult {
  return { content: [{ type: "text", text }], isError: true };
}

async function onRun(name: keyof typeof runTools, given: unknown, { deps, call }: Serving): Promise<RunView> {
  const { runs } = deps;
  if (name === "run_answer") {
    const { run_id, answer } = checked(name, runTools.run_answer.input, given);
    const message = { messageId: crypto.randomUUID(), parts: [{ type: "text", text: answer }] } as const;
    return runs.view(await awaitRun(await runs.answer(run_id, message, call.principal), longestWaitMs, deps, call));
  }
  const { run_id } = checked(name, runTools[name].input, given);
  if (name === "run_cancel") return runs.view(await runs.cancel(run_id, call.principal, call.signal));
  return runs.view(await runs.own(run_id, call.principal));
}

/** Gives the answer that came with a repeated call to the run that asked. */
async function goOn(runId: string, { mcpReq }: ServerContext, { deps, call }: Serving): Promise<RunRecord> {
  const { runs } = deps;
  const run = await runs.own(runId, call.principal);
  const given = personsAnswer.safeParse(mcpReq.inputResponses?.answer).data;
  if (given === undefined) return run;
  const text = given.action === "accept" ? (given.content?.answer ?? "") : "(The person did not want to answer.)";
  // The same answer to the same question, sent again, is one message.
  const messageId = `${runId}/answer/${run.lastEvent}`;
  return runs.answer(runId, { messageId, parts: [{ type: "text", text }] }, call.principal);
}

function callOf({ mcpReq }: ServerContext, caller: Pick<Call, "principal" | "contextId">): Call {
  const token = mcpReq._meta?.progressToken;
  let progress = 0;
  return {
    ...caller,
    signal: mcpReq.signal,
    progress(message) {
      if (token === undefined) return;
      progress++;
      const told = mcpReq.notify({
        method: "notifications/progress",
        params: { progressToken: token, progress, message },
      });
      // A client that is gone is no failure of the run.
      told.catch(() => undefined);
    },
  };
}

function checked<Schema extends z.ZodType>(name: string, schema: Schema, given: unknown): z.output<Schema> {
  const result = schema.safeParse(given);
  if (result.success) return result.data;
  const faults = result.error.issues.map(
    ({ path, message }) => `${path.map(String).join(".") || "arguments"}: ${message}`,
  );
  throw new AppError("invalid_input", `Invalid arguments for ${name}: ${faults.join("; ").slice(0, 1000)}`);
}
