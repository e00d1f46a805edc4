import { AppError } from "manyhands/internal/core/errors";
import { eventText } from "manyhands/internal/core/events/event-text";
import { readEvent } from "manyhands/internal/core/events/read-event";
import type { StoredEvent } from "manyhands/internal/core/runs/engine";
import { type RunView, runStates } from "manyhands/internal/runs/run-view";
import { findRunnable, type Runnables } from "manyhands/internal/runs/runnable";
import type { Runs } from "manyhands/internal/runs/runs";
import * as z from "zod";
import { endpoint, type RestEndpoint } from "../endpoint.ts";
import { runListSchema } from "./run-schemas.ts";

const text = z.string().min(1).max(255);

const query = z.object({
  name: text.exactOptional().describe("Of one flow or agent."),
  status: z
    .string()
    .max(200)
    .regex(/^[a-z-]+(,[a-z-]+)*$/, "It must be a status, or several with commas between them.")
    .exactOptional()
    .describe(`One of ${runStates.join(", ")}, or several with commas between them or one by one.`),
  contextId: text.exactOptional(),
  q: z
    .string()
    .trim()
    .min(1)
    .max(200)
    .exactOptional()
    .describe("Words that one event has to say: a message, a reply, a call, a result, an answer, also of agents."),
  agent: text.exactOptional().describe("An agent that worked on it."),
  minUsd: z.coerce.number().min(0).exactOptional().describe("What it cost at least, agents included."),
  since: z.iso.datetime({ offset: true }).exactOptional().describe("Changed at or after this."),
  count: z.coerce.number().int().min(0).exactOptional().describe("How far `total` counts at most."),
  limit: z.coerce.number().int().min(1).max(200).default(50),
  cursor: z.string().max(500).exactOptional().describe("`nextCursor` of the page before."),
});

/** `GET /runs` */
export function runList({ runs, runnables }: { readonly runs: Runs; readonly runnables: Runnables }): RestEndpoint {
  const about = {
    method: "get",
    path: "/runs",
    tag: "runs",
    summary: "Your runs, newest first",
    description:
      "With `q`, `agent` or `minUsd` the runs themselves are read, for about a second per page: a page may have fewer runs than `limit`, or none; `nextCursor` looks further back.",
    request: { query },
    lists: ["status"],
    answers: { 200: { description: "A page of runs.", body: runListSchema } },
    problems: [404],
  } as const;
  return endpoint(about, async ({ query: { name, status, q, since, count, ...filter } }, c) => {
    const words = q?.split(/\s+/) ?? [];
    const page = await runs.list(
      {
        ...filter,
        ...(name !== undefined && { of: findRunnable(runnables, name) }),
        ...(status !== undefined && { statuses: statusesOf(status) }),
        ...(since !== undefined && { updatedSince: Date.parse(since) }),
        ...(count !== undefined && { countAtMost: count }),
        words,
      },
      c.get("caller").principal,
    );
    const { found, ...rest } = page;
    const views = page.runs.map(async (run) => ({ ...(await runs.view(run)), ...matchOf(found?.get(run.id), words) }));
    return c.json({ ...rest, runs: await Promise.all(views) });
  });
}

function statusesOf(listed: string): RunView["status"][] {
  return listed.split(",").map((status) => {
    const known = runStates.find((state) => state === status);
    if (known !== undefined) return known;
    throw new AppError("invalid_input", `there is no status ${status}; allowed are ${runStates.join(", ")}.`, {
      field: "query.status",
    });
  });
}

/** Characters shown before the first word, and in all. */
const [before, longest] = [40, 200];

function matchOf(found: StoredEvent | undefined, words: readonly string[]) {
  if (found === undefined) return {};
  const all = eventText(readEvent(found.event)).replaceAll(/\s+/g, " ");
  const at = all.toLowerCase().indexOf(words[0]?.toLowerCase() ?? "");
  const from = Math.max(0, at - before);
  const excerpt = all
    .slice(from, from + longest)
    .trim()
    .toWellFormed();
  const shown = `${from > 0 ? "…" : ""}${excerpt}${from + longest < all.length ? "…" : ""}`;
  return { match: { runId: found.runId, seq: found.seq, text: shown } };
}
