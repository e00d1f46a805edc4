import type { FlowExample } from "manyhands/internal/core/flow";
import { defined } from "manyhands/internal/core/json";
import type { AgentInput } from "manyhands/internal/core/runs/task";
import { requestTrace } from "manyhands/internal/core/trace";
import { findRunnable, type Runnable, type Runnables } from "manyhands/internal/runs/runnable";
import type { Runs } from "manyhands/internal/runs/runs";
import * as z from "zod";
import { endpoint, type RestEndpoint } from "./endpoint.ts";
import { preferredWait } from "./prefer.ts";
import { flowRequestSchema } from "./runs/run-schemas.ts";
import { answerStarted, startedAnswers, startHeaders } from "./runs/started-run.ts";
import { userMessage } from "./runs/user-message.ts";

const flowSchema = z
  .object({
    name: z.string(),
    title: z.string(),
    description: z.string(),
    options: z.record(z.string(), z.json()).exactOptional().describe("The JSON Schema of what may be set."),
    example: z
      .object({
        input: z.union([
          z.string(),
          z.object({ text: z.string(), files: z.array(z.object({ name: z.string(), bytes: z.string() })) }),
        ]),
        agents: z.array(z.string()).exactOptional(),
        options: z.record(z.string(), z.json()).exactOptional(),
      })
      .exactOptional()
      .describe("The body of a request that shows what it is for, with agents that are here."),
  })
  .meta({ id: "Flow" });

/** What the flow routes need. */
export type FlowRoutesDeps = {
  readonly runs: Runs;
  readonly runnables: Runnables;
};

/** `GET /flows` and `POST /flows/{name}`. */
export function flowRoutes(deps: FlowRoutesDeps): RestEndpoint[] {
  return [listFlows(deps), startFlow(deps)];
}

function listFlows({ runnables }: FlowRoutesDeps): RestEndpoint {
  const about = {
    method: "get",
    path: "/flows",
    tag: "flows",
    summary: "The flows and what may be set for each",
    request: {},
    answers: { 200: { description: "The flows.", body: z.object({ flows: z.array(flowSchema) }) } },
    problems: [],
  } as const;
  return endpoint(about, (_, c) => {
    const flows = runnables.all().filter(({ type }) => type === "flow");
    return c.json({ flows: flows.map(flowView) });
  });
}

function flowView({ name, title, description, options, example }: Runnable) {
  return { name, title, description, ...(options && { options }), ...(example && { example: requestOf(example) }) };
}

/** An example as the body with which it is started. */
function requestOf({ text, files, ...settings }: FlowExample) {
  if (files === undefined) return { input: text, ...settings };
  const sent = files.map((file) => ({ name: file.name, bytes: Buffer.from(file.text).toString("base64") }));
  return { input: { text, files: sent }, ...settings };
}

function startFlow({ runs, runnables }: FlowRoutesDeps): RestEndpoint {
  const about = {
    method: "post",
    path: "/flows/{name}",
    tag: "flows",
    summary: "Starts a flow, or one agent",
    description:
      "The run is on disk when this answers. With `Prefer: wait=SECONDS` it answers when the run has ended or asks something, at the latest after that time. The same `Idempotency-Key` is the same run.",
    request: {
      params: z.object({ name: z.string().min(1).max(200) }),
      headers: startHeaders,
      body: flowRequestSchema,
    },
    answers: startedAnswers,
    problems: [404, 409, 429],
  } as const;
  return endpoint(about, async ({ params, headers, body }, c) => {
    const runnable = findRunnable(runnables, params.name);
    const waitMs = preferredWait(headers.prefer);
    const { input, agents, options, contextId, budget, outputSchema } = body;
    const settings = defined({ agents, options });
    const trace = requestTrace(c.req.raw);
    const request = {
      ...(trace && { trace }),
      message: userMessage(headers["idempotency-key"] ?? crypto.randomUUID(), input, settings),
      contextId,
      ...(budget && { budget }),
      ...(outputSchema && { outputSchema: outputSchema as NonNullable<AgentInput["outputSchema"]> }),
    };
    const started = await runs.start(runnable, request, c.get("caller").principal);
    return answerStarted(c, runs, started, waitMs);
  });
}
