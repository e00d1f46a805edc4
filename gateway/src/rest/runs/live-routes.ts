import type { Fetch } from "manyhands/internal/a2a/client/client-fetch";
import { AppError, type ErrorCode, errorCodes } from "manyhands/internal/core/errors";
import { type LiveScreen, liveOrder, liveScreens } from "manyhands/internal/core/live-page";
import type { RunRecord } from "manyhands/internal/core/runs/engine";
import type { AskedAgent, Families } from "manyhands/internal/runs/family";
import type { Runs } from "manyhands/internal/runs/runs";
import * as z from "zod";
import { endpoint, type RestEndpoint } from "../endpoint.ts";
import { frameSchema } from "./run-routes.ts";

/**
 * The server of an agent of this system, asked for a principal: its address, and how it is sent
 * requests. Undefined for any other agent: no page of ours is there.
 */
export type ReachAgent = (
  agent: AskedAgent,
  principal: string,
) => { readonly url: string; readonly fetch: Fetch } | undefined;

/** What showing the pages that agents have open needs. */
export type LiveRoutesDeps = {
  readonly runs: Runs;
  readonly families: Pick<Families, "asked">;
  readonly reachAgent?: ReachAgent;
};

const params = z.object({ id: z.string().min(1).max(200) });
const query = z.object({
  task: z
    .string()
    .min(1)
    .max(200)
    .exactOptional()
    .describe("The task of an agent that the run, or one it asked for, asked; by default the run itself."),
  screen: z
    .enum(liveScreens)
    .default("browser")
    .describe("The page of the agent's browser, or its desktop, which has no `url` and no `dialog`."),
});

/** `/runs/{id}/live`: to watch, and to use. */
export function liveRoutes(deps: LiveRoutesDeps): RestEndpoint[] {
  return [watchPage(deps), usePage(deps)];
}

function watchPage(deps: LiveRoutesDeps): RestEndpoint {
  const about = {
    method: "get",
    path: "/runs/{id}/live",
    tag: "runs",
    summary: "The page that an agent has open in its browser, or its desktop, live, as server-sent events",
    description:
      "The data is a state, `{page, url?, held, dialog?}`, with `page` as `none` or `open` and `held` while a person has the page; a picture, `{frame, width, height}`, a JPEG in base64 and the size of the page's window; or `{ended: true}`, the last, when the task has ended.",
    request: { params, query },
    answers: { 200: { description: "The stream.", body: frameSchema, mediaType: "text/event-stream" } },
    problems: [404, 424, 429],
  } as const;
  return endpoint(about, async ({ params: { id }, query: { task = id, screen } }, c) => {
    const send = await agentOf(deps, await deps.runs.own(id, c.get("caller").principal), task, screen);
    // The page is shown for as long as it is looked at, but has to begin in time.
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(unreachable(undefined)), beginMs);
    try {
      const answer = await send({ signal: AbortSignal.any([c.req.raw.signal, late.signal]) });
      return new Response(answer.body, { headers: streamHeaders });
    } finally {
      clearTimeout(timer);
    }
  });
}

function usePage(deps: LiveRoutesDeps): RestEndpoint {
  const about = {
    method: "post",
    path: "/runs/{id}/live",
    tag: "runs",
    summary: "Takes the page, or the desktop, that an agent has open, uses it, hands it back",
    description:
      "While a person has the page, the agent's calls to it wait. It is handed back after two minutes without input, and after 30 minutes in any case. What is typed goes to the page alone: it is not logged, recorded or shown to a model.",
    request: { params, query, body: liveOrder },
    answers: { 200: { description: "It is done.", body: z.object({ done: z.literal(true) }) } },
    problems: [404, 409, 424],
  } as const;
  return endpoint(about, async ({ params: { id }, query: { task = id, screen }, body }, c) => {
    const send = await agentOf(deps, await deps.runs.own(id, c.get("caller").principal), task, screen);
    const headers = { "Content-Type": "application/json" };
    await send({ method: "POST", headers, body: JSON.stringify(body), signal: AbortSignal.timeout(orderMs) });
    return c.json({ done: true as const });
  });
}

const beginMs = 10_000;
const orderMs = 40_000;
const streamHeaders = { "Content-Type": "text/event-stream", "Cache-Control": "no-store", "X-Accel-Buffering": "no" };

/**
 * Sends requests about a task's page to the agent that has it. Rejects with `not_found` unless the
 * run is that task, or it or one it asked for asked for the task.
 */
async function agentOf(
  { families, reachAgent }: LiveRoutesDeps,
  run: RunRecord,
  task: string,
  screen: LiveScreen,
): Promise<(init: RequestInit) => Promise<Response>> {
  const asked = task === run.id ? { name: run.kind, url: undefined } : await families.asked(run, task);
  const agent = asked && reachAgent?.(asked, run.principal);
  if (agent === undefined) throw new AppError("not_found", "No page of this task can be shown here.");
  return async (init) => {
    const address = `${agent.url}/live/${encodeURIComponent(task)}${screen === "browser" ? "" : `?screen=${screen}`}`;
    const answer = await agent.fetch(address, { redirect: "error", ...init }).catch((error: unknown) => {
      throw unreachable(error);
    });
    if (answer.ok) return answer;
    const refusal = await refusalOf(answer);
    throw init.signal?.aborted === true ? unreachable(init.signal.reason) : refusal;
  };
}

function unreachable(cause: unknown): AppError {
  return new AppError("unreachable", "The agent does not answer.", { cause });
}

/** An agent's refusal as ours; an agent's own credentials are no matter of the caller's. */
async function refusalOf(answer: Response): Promise<AppError> {
  const { code, message } = (await answer.json().catch(() => ({}))) as { code?: string; message?: string };
  const isKnown = typeof code === "string" && Object.hasOwn(errorCodes, code) && typeof message === "string";
  if (!isKnown || answer.status === 401 || answer.status === 403)
    return new AppError("not_found", "No page of this task can be shown here.");
  return new AppError(code as ErrorCode, message.slice(0, 300));
}
