import { AppError } from "manyhands/internal/core/errors";
import { sentEvent } from "manyhands/internal/core/events/read-event";
import type { Engine, RunRecord } from "manyhands/internal/core/runs/engine";
import type { RunEvent } from "manyhands/internal/core/runs/run";
import { type SseFrame, sseAnswer } from "manyhands/internal/http/sse";
import type { Families } from "manyhands/internal/runs/family";
import { type FamilyDeps, type FamilyItem, followFamily } from "manyhands/internal/runs/follow-family";
import type { Runnables } from "manyhands/internal/runs/runnable";
import type { Runs } from "manyhands/internal/runs/runs";
import * as z from "zod";
import { endpoint, type RestEndpoint } from "../endpoint.ts";
import { requestRoute } from "./request-route.ts";
import { frameSchema } from "./run-routes.ts";

/** What the routes over a run and those it asked for need. */
export type FamilyRoutesDeps = {
  readonly runs: Runs;
  readonly runnables: Runnables;
  readonly engine: Engine;
  readonly families: Families;
  readonly elsewhere?: FamilyDeps["elsewhere"];
  readonly heartbeatMs: number;
};

const params = z.object({ id: z.string().min(1).max(200) });

/** `/runs/{id}/tree`, `/runs/{id}/events/{seq}`, what is below that, and `/runs/{id}/export` */
export function familyRoutes(deps: FamilyRoutesDeps): RestEndpoint[] {
  return [runTree(deps), runEvent(deps), requestRoute(deps), exportRun(deps)];
}

function runTree({ runs, runnables, engine, elsewhere, heartbeatMs }: FamilyRoutesDeps): RestEndpoint {
  const query = z.object({
    after: z
      .string()
      .max(12_000)
      .regex(/^([^:,]{1,200}:\d{1,15}(,[^:,]{1,200}:\d{1,15})*)?$/, "It must be RUN:NUMBER, several with commas.")
      .exactOptional()
      .describe("The last event you have of each run: `RUN:NUMBER`, several with commas between them or one by one."),
    texts: z.coerce
      .number()
      .int()
      .min(100)
      .exactOptional()
      .describe("Texts longer than this are shortened, and their event has `cut`."),
  });
  const about = {
    method: "get",
    path: "/runs/{id}/tree",
    tag: "runs",
    summary: "What happens in a run and in all that it asks agents for, as server-sent events",
    description:
      "The first data is `{opened}`, the run; then `{runId, seq, at, event, cut?}` for stored events, `{runId, progress}` for live progress, and `{asked}` for a run that another one asked for, wherever it runs, before its events. It ends when all have ended.",
    request: { params, query },
    lists: ["after"],
    answers: { 200: { description: "The stream.", body: frameSchema, mediaType: "text/event-stream" } },
    problems: [404],
  } as const;
  return endpoint(about, async ({ params: { id }, query: { after = "", texts } }, c) => {
    const run = await runs.own(id, c.get("caller").principal);
    const nameOf = (kind: string) => runnables.ofKind(kind)?.name ?? kind;
    const deps = { engine, ...(elsewhere && { elsewhere }) };
    return sseAnswer(c.req.raw.signal, heartbeatMs, (signal) =>
      treeFrames(id, followFamily(deps, run, { after: placesOf(after), signal }), nameOf, texts),
    );
  });
}

function placesOf(after: string): ReadonlyMap<string, number> {
  if (after === "") return new Map();
  return new Map(
    after.split(",").map((place) => {
      const [id = "", seq] = place.split(":");
      return [id, Number(seq)] as const;
    }),
  );
}

async function* treeFrames(
  opened: string,
  pages: AsyncIterable<readonly FamilyItem[]>,
  nameOf: (kind: string) => string,
  texts: number | undefined,
): AsyncGenerator<readonly SseFrame[], void, undefined> {
  // The reader learns at once that the stream is there, however long nothing happens.
  yield [{ data: { opened } }];
  for await (const page of pages) yield page.map((item) => ({ data: treeData(item, nameOf, texts) }));
}

function treeData(item: FamilyItem, nameOf: (kind: string) => string, texts: number | undefined): object {
  if (item.kind === "asked") {
    const { ask, run, followed } = item;
    const name = run === undefined ? ask.agent : nameOf(run.kind);
    const place = run === undefined ? "elsewhere" : "here";
    return { asked: { runId: ask.runId, askId: ask.askId, id: ask.taskId, name, place, followed } };
  }
  if (item.kind === "progress") return { runId: item.runId, progress: item.event };
  const { runId, seq, at } = item;
  const whole = sentEvent(item.event);
  const event = texts === undefined ? whole : shortened(whole, texts);
  return { runId, seq, at: new Date(at).toISOString(), event, ...(event !== whole && { cut: true }) };
}

/** The same value with its long texts shortened; the value itself if none is long. */
function shortened<Value>(value: Value, most: number): Value {
  if (typeof value === "string")
    return value.length <= most ? value : (`${value.slice(0, most).toWellFormed()}…` as Value);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value);
  const short = entries.map(([key, each]) => [key, shortened(each, most)] as const);
  if (short.every(([, each], at) => each === entries[at]?.[1])) return value;
  return (Array.isArray(value) ? short.map(([, each]) => each) : Object.fromEntries(short)) as Value;
}

const eventSchema = z
  .object({ seq: z.int(), at: z.iso.datetime(), event: z.looseObject({ type: z.string() }) })
  .meta({ id: "StoredEvent", description: "An event of a run, in full." });

function runEvent({ runs, engine }: FamilyRoutesDeps): RestEndpoint {
  const about = {
    method: "get",
    path: "/runs/{id}/events/{seq}",
    tag: "runs",
    summary: "One event of a run, in full",
    request: { params: params.extend({ seq: z.coerce.number().int().min(1) }) },
    answers: { 200: { description: "The event.", body: eventSchema } },
    problems: [404],
  } as const;
  return endpoint(about, async ({ params: { id, seq } }, c) => {
    const run = await runs.own(id, c.get("caller").principal);
    const [found] = await engine.events(run.id, seq - 1, seq);
    if (found === undefined) throw new AppError("not_found", `The run ${id} has no event ${seq}.`);
    return c.json({ seq, at: new Date(found.at).toISOString(), event: sentEvent(found.event) as RunEvent & object });
  });
}

/** Events read at once for an export. */
const exportedAtOnce = 500;

function exportRun({ runs, engine, families }: FamilyRoutesDeps): RestEndpoint {
  const about = {
    method: "get",
    path: "/runs/{id}/export",
    tag: "runs",
    summary: "A run and those it asked for, with all their events, as lines of JSON",
    description:
      "A line is `{type: run, …}` or `{type: event, runId, seq, at, event}`, as `manyhands runs export` writes.",
    request: { params },
    answers: { 200: { description: "The lines.", body: z.string(), mediaType: "application/x-ndjson" } },
    problems: [404],
  } as const;
  return endpoint(about, async ({ params: { id } }, c) => {
    const run = await runs.own(id, c.get("caller").principal);
    const lines = exportLines(engine, await families.of(run));
    const body = new ReadableStream<string>({
      async pull(controller) {
        const { done, value } = await lines.next();
        if (done === true) controller.close();
        else controller.enqueue(value);
      },
    });
    return new Response(body.pipeThrough(new TextEncoderStream()), {
      headers: {
        "Content-Type": "application/x-ndjson",
        "Content-Disposition": `attachment; filename="run-${encodeURIComponent(run.id)}.jsonl"`,
      },
    });
  });
}

async function* exportLines(engine: Engine, family: readonly RunRecord[]): AsyncGenerator<string, void, undefined> {
  for (const run of family) {
    yield `${JSON.stringify({ type: "run", ...run })}\n`;
    for (let after = 0; after < run.lastEvent; after += exportedAtOnce)
      for (const { seq, at, event } of await engine.events(run.id, after, after + exportedAtOnce))
        yield `${JSON.stringify({ type: "event", runId: run.id, seq, at, event })}\n`;
  }
}
