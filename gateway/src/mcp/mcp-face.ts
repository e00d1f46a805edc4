import { AppError, publicError } from "@manyhands/shared/errors";
import {
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  createMcpHandler,
  type InputRequiredResult,
  inputRequired,
  Server,
  type ServerContext,
} from "@modelcontextprotocol/server";
import type { Context } from "hono";
import * as z from "zod";
import type { RunView } from "../runs/run-view.ts";
import { awaitRun, beginRun, type Call, type CallDeps } from "./call-run.ts";
import { runResult } from "./run-result.ts";
import { isRunTool, runToolList, runTools } from "./run-tools.ts";
import { runArguments, runnableTool } from "./runnable-tool.ts";

/** What the MCP face needs. */
export type McpFaceDeps = CallDeps & {
  readonly version: string;
  readonly identify: (request: Request) => Promise<string> | string;
  readonly report: (bug: unknown) => void;
};

type Era = "legacy" | "modern";

const largestBody = 10 * 1024 * 1024;
const longestWaitMs = 600_000;

/**
 * `/mcp`: every flow and agent as a tool of an MCP server (streamable HTTP; the 2026-07-28 revision and those of 2025). A question of a run
 * is an `input_required` result where the client can answer one, and otherwise a result that says how to answer.
 */
export function mcpFace(deps: McpFaceDeps): (c: Context) => Promise<Response> {
  const handler = createMcpHandler(({ era, authInfo }) => serverFor(deps, era, authInfo?.clientId ?? ""), {
    maxRequestBodySize: largestBody,
    onerror: (error) => deps.report(error),
  });
  return async (c) => {
    const principal = await deps.identify(c.req.raw);
    return handler.fetch(c.req.raw, { authInfo: { token: "", clientId: principal, scopes: [] } });
  };
}

function serverFor(deps: McpFaceDeps, era: Era, principal: string): Server {
  const server = new Server(
    { name: "manyhands", title: "Manyhands", version: deps.version },
    { capabilities: { tools: {} }, instructions },
  );
  server.setRequestHandler("tools/list", () => ({
    tools: [...deps.runnables.all().map(runnableTool), ...runToolList()],
  }));
  server.setRequestHandler("tools/call", async ({ params }, context) => {
    const call = callOf(context, principal);
    try {
      return await answer({ name: params.name, given: params.arguments ?? {}, context }, { deps, era, call });
    } catch (error) {
      if (!(error instanceof AppError)) deps.report(error);
      const { code, message } = publicError(error);
      return { content: [{ type: "text", text: `${message} (${code})` }], isError: true };
    }
  });
  return server;
}

const instructions =
  "Each tool but run_* starts a run: a task for an agent, or for several as a flow. A run survives this connection; run_status shows it, run_answer answers its question, run_cancel ends it.";

type Asked = { readonly name: string; readonly given: unknown; readonly context: ServerContext };
type Serving = { readonly deps: McpFaceDeps; readonly era: Era; readonly call: Call };

async function answer(
  { name, given, context }: Asked,
  serving: Serving,
): Promise<CallToolResult | InputRequiredResult> {
  const { deps, call } = serving;
  if (isRunTool(name)) return runResult(await onRun(name, given, serving));
  const fitting = checked(name, runArguments, given);
  const waiting = context.mcpReq.requestState<string>();
  const started =
    waiting === undefined ? await beginRun(name, fitting, deps, call) : await goOn(waiting, context, serving);
  const run = await awaitRun(started, fitting.wait_seconds * 1000, deps, call);
  if (call.signal.aborted && serving.era === "modern")
    await deps.runs.cancel(run.id, call.principal, AbortSignal.timeout(5_000));
  const view = await deps.runs.view(run);
  return canAnswer(context, serving) && view.status === "input-required" ? question(view) : runResult(view);
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

/** The run's question as MCP asks one; the run's id comes back with the answer, and counts only for whose run it is. */
function question({ id, question = "" }: RunView): InputRequiredResult {
  const answer = { type: "string", title: "Answer" } as const;
  const requestedSchema = { type: "object", properties: { answer }, required: ["answer"] } as const;
  return inputRequired({
    inputRequests: {
      answer: inputRequired.elicit({
        message: question,
        requestedSchema: { ...requestedSchema, required: ["answer"] },
      }),
    },
    requestState: id,
  });
}

/** Gives the answer that came with a repeated call to the run that asked. */
async function goOn(runId: string, { mcpReq }: ServerContext, { deps, call }: Serving) {
  const { runs } = deps;
  const run = await runs.own(runId, call.principal);
  const given = personsAnswer.safeParse(mcpReq.inputResponses?.answer).data;
  if (given === undefined) return run;
  const text = given.action === "accept" ? (given.content?.answer ?? "") : "(The person did not want to answer.)";
  // The same answer to the same question, sent again, is one message.
  const messageId = `${runId}/answer/${run.lastEvent}`;
  return runs.answer(runId, { messageId, parts: [{ type: "text", text }] }, call.principal);
}

function canAnswer({ mcpReq }: ServerContext, { era }: Serving): boolean {
  return era === "modern" && asksPeople.safeParse(mcpReq.envelope).success;
}

/** The envelope of a client that can ask the person it works for. */
const asksPeople = z
  .looseObject({ [CLIENT_CAPABILITIES_META_KEY]: z.looseObject({ elicitation: z.unknown() }) })
  .refine((envelope) => envelope[CLIENT_CAPABILITIES_META_KEY].elicitation !== undefined);

const personsAnswer = z.object({ action: z.string(), content: z.object({ answer: z.string() }).optional() });

function callOf({ mcpReq }: ServerContext, principal: string): Call {
  const token = mcpReq._meta?.progressToken;
  let progress = 0;
  return {
    principal,
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
