import type { Engine } from "manyhands/internal/core/runs/engine";
import type { Deletions } from "manyhands/internal/runs/deletions";
import type { Runnables } from "manyhands/internal/runs/runnable";
import type { Runs } from "manyhands/internal/runs/runs";
import * as z from "zod";
import { endpoint, type RestEndpoint } from "../endpoint.ts";
import { eventStream, placeOf } from "../event-stream.ts";
import { runList } from "./run-list.ts";
import { idempotencyKey, runSchema, saidSchema } from "./run-schemas.ts";
import { userMessage } from "./user-message.ts";

/** What the run routes need. */
export type RunRoutesDeps = {
  readonly runs: Runs;
  readonly deletions: Deletions;
  readonly runnables: Runnables;
  readonly engine: Engine;
  /** Milliseconds of silence after which a stream sends a comment. */
  readonly heartbeatMs: number;
};

/** `/runs` and the routes below it. */
export function runRoutes(deps: RunRoutesDeps): RestEndpoint[] {
  return [
    runList(deps),
    getRun(deps),
    runEvents(deps),
    answerRun(deps),
    cancelRun(deps),
    resumeRun(deps),
    deleteRun(deps),
    deleteConversation(deps),
  ];
}

const params = z.object({ id: z.string().min(1).max(200) });
const text = z.string().min(1).max(255);

function getRun({ runs }: RunRoutesDeps): RestEndpoint {
  const about = {
    method: "get",
    path: "/runs/{id}",
    tag: "runs",
    summary: "The current state of a run",
    request: { params },
    answers: { 200: { description: "The run.", body: runSchema } },
    problems: [404],
  } as const;
  return endpoint(about, async ({ params: { id } }, c) => {
    return c.json(await runs.view(await runs.own(id, c.get("caller").principal)));
  });
}

/** A frame of a stream of events. */
export const frameSchema = z
  .object({
    id: z.string().exactOptional().describe("The number of the event, for stored events."),
    event: z.string().exactOptional(),
    data: z.string().describe("JSON: `{seq, at, event}`, or `{progress}` for live progress."),
  })
  .meta({ id: "Frame" });

function runEvents({ runs, engine, heartbeatMs }: RunRoutesDeps): RestEndpoint {
  const place = z
    .string()
    .regex(/^\d{0,15}$/, "It must be the number of the last event you have")
    .exactOptional();
  const about = {
    method: "get",
    path: "/runs/{id}/events",
    tag: "runs",
    summary: "What happens in a run, as server-sent events",
    description:
      "Every event has its number as `id`; with `Last-Event-ID` (or `?after=`) a stream continues after it, without gap or repetition. It ends after `run-ended`.",
    request: { params, query: z.object({ after: place }), headers: z.object({ "last-event-id": place }) },
    answers: { 200: { description: "The stream.", body: frameSchema, mediaType: "text/event-stream" } },
    problems: [404],
  } as const;
  return endpoint(about, async ({ params: { id }, query, headers }, c) => {
    const run = await runs.own(id, c.get("caller").principal);
    const after = placeOf(headers["last-event-id"], query.after);
    return eventStream(engine, run, { after, heartbeatMs, signal: c.req.raw.signal });
  });
}

function answerRun({ runs }: RunRoutesDeps): RestEndpoint {
  const about = {
    method: "post",
    path: "/runs/{id}/answer",
    tag: "runs",
    summary: "Answers a run's question, or sends a message to a running one",
    description:
      "With `questionEvent`, as the run gives it, it is an answer to that question only: once another is open, or none, it is refused with `conflict`.",
    request: {
      params,
      headers: z.object({ "idempotency-key": idempotencyKey }),
      body: z.strictObject({
        input: saidSchema,
        questionEvent: z.int().min(1).exactOptional().describe("The question that this answers."),
      }),
    },
    answers: { 202: { description: "Stored; the run continues.", body: runSchema } },
    problems: [404, 409, 429],
  } as const;
  return endpoint(about, async ({ params: { id }, headers, body }, c) => {
    const message = userMessage(headers["idempotency-key"] ?? crypto.randomUUID(), body.input, {});
    return c.json(await runs.view(await runs.answer(id, message, c.get("caller").principal, body.questionEvent)), 202);
  });
}

function cancelRun({ runs }: RunRoutesDeps): RestEndpoint {
  const about = {
    method: "post",
    path: "/runs/{id}/cancel",
    tag: "runs",
    summary: "Cancels a run and its tasks at agents",
    request: { params },
    answers: { 200: { description: "The run.", body: runSchema } },
    problems: [404, 409],
  } as const;
  return endpoint(about, async ({ params: { id } }, c) => {
    return c.json(await runs.view(await runs.cancel(id, c.get("caller").principal, c.req.raw.signal)));
  });
}

function resumeRun({ runs }: RunRoutesDeps): RestEndpoint {
  const about = {
    method: "post",
    path: "/runs/{id}/resume",
    tag: "runs",
    summary: "Lets a paused run try again",
    request: { params },
    answers: { 202: { description: "The run.", body: runSchema } },
    problems: [404, 409],
  } as const;
  return endpoint(about, async ({ params: { id } }, c) => {
    return c.json(await runs.view(await runs.resume(id, c.get("caller").principal)), 202);
  });
}

const deletedSchema = z
  .object({
    deleted: z.array(z.string()).describe("The ids of the deleted runs, with those that they asked for."),
    elsewhere: z
      .array(
        z.object({
          agent: z.object({ name: z.string(), url: z.string() }),
          taskId: z.string(),
          outcome: z
            .enum(["deleted", "pending", "kept"])
            .describe(
              "`pending`: the agent could not be reached and is asked again for a day; `kept`: it deletes nothing for others.",
            ),
        }),
      )
      .describe("Tasks at agents that keep their runs elsewhere."),
  })
  .meta({ id: "Deleted" });

function deleteRun({ runs, deletions }: RunRoutesDeps): RestEndpoint {
  const about = {
    method: "delete",
    path: "/runs/{id}",
    tag: "runs",
    summary: "Deletes a run that has ended, for good",
    description:
      "With its events and journal, the runs it asked for, its files unless other runs refer to them, and the workspace of its conversation if no run of it is left. A run that has not ended is a conflict: cancel it first.",
    request: { params },
    answers: { 200: { description: "What was deleted.", body: deletedSchema } },
    problems: [404, 409],
  } as const;
  return endpoint(about, async ({ params: { id } }, c) =>
    c.json(await deletions.run(await runs.own(id, c.get("caller").principal))),
  );
}

function deleteConversation({ deletions }: RunRoutesDeps): RestEndpoint {
  const about = {
    method: "delete",
    path: "/conversations/{id}",
    tag: "runs",
    summary: "Deletes a conversation, for good: all its runs, files and workspaces",
    description: "A run of it that has not ended is a conflict: cancel it first.",
    request: { params: z.object({ id: text }) },
    answers: { 200: { description: "What was deleted.", body: deletedSchema } },
    problems: [404, 409],
  } as const;
  return endpoint(about, async ({ params: { id } }, c) =>
    c.json(await deletions.conversation(id, c.get("caller").principal)),
  );
}
