import { AppError } from "../../core/errors.ts";
import type { Json } from "../../core/json.ts";
import type { Engine } from "../../core/runs/engine.ts";
import { checkQuota, type QuotaUse } from "../../core/runs/quota.ts";
import { recordOf } from "../run-row.ts";
import { type Database, stateOf } from "./database.ts";
import type { Dispatcher } from "./dispatch/dispatcher.ts";
import type { RunRow } from "./run-row.ts";
import { toldEvents } from "./told-events.ts";

/** The SQLSTATEs with which `accept_run` refuses. */
const overQuota = "MH001";
const idTaken = "MH002";

type Use = QuotaUse & { readonly now: number };
type Accepted = { readonly answer: "created" | "found"; readonly run: RunRow } | { readonly answer: "conflict" };
/** The engine's calls that accept runs, each within what its principal may use. */
export function accepting({
  database,
  dispatcher,
}: {
  readonly database: Database;
  readonly dispatcher: Dispatcher;
}): Pick<Engine, "start" | "admit"> {
  return {
    async start(request) {
      const { kind, principal, contextId, input, dedupe, quota, canceled } = request;
      const id = request.id ?? Bun.randomUUIDv7();
      assertStorable(id, kind, principal, contextId, dedupe?.key, dedupe?.hash);
      const place = canceled ? undefined : dispatcher.reserve(kind);
      try {
        const { perContext, ...key } = dedupe ?? {};
        const accepted = await database
          .call<Accepted>("accept_run", {
            ...{ id, kind, principal, contextId, input: JSON.stringify(input), ...key },
            ...(perContext && { perContext }),
            ...(quota && { quota: quota as Json }),
            ...(canceled && { canceled }),
            ...(place && { owner: place.owner, body: place.body }),
            told: (toldEvents(request.events) ?? null) as Json,
          })
          .catch((error) => {
            if (stateOf(error) === idTaken) throw new AppError("conflict", `There is a run ${id} already.`);
            if (stateOf(error) !== overQuota) throw error;
            const use: Use = JSON.parse(error.message);
            checkQuota(quota ?? {}, use, use.now, true);
            throw error;
          });
        if (accepted.answer === "conflict") throw conflict();
        const { answer, run } = accepted;
        const created = answer === "created";
        if (created && run.owner !== null) place?.begin(run);
        else if (created && run.status === "queued") dispatcher.runnable(id);
        return { run: recordOf(run), created };
      } finally {
        place?.leave();
      }
    },
    async admit({ principal, contextId, dedupe, quota, starts }) {
      const values = [principal, JSON.stringify({ ...dedupe, contextId })];
      const [row] = await database.query<{ use: string; verdict: string | null }>(
        `SELECT usage_of($1)::text AS use, (SELECT repeats(runs, $2::text::json) FROM runs
           WHERE principal = $1 AND dedupe_key = $2::text::json->>'key') AS verdict`,
        values,
      );
      if (row?.verdict === "found") return;
      if (row?.verdict === "conflict") throw conflict();
      const use: Use = JSON.parse(row?.use ?? "null");
      checkQuota(quota, use, use.now, starts);
    },
  };
}

/**
 * Throws `invalid_input` for names that PostgreSQL does not store: those with U+0000 or half of a
 * surrogate pair.
 */
export function assertStorable(...names: readonly (string | undefined)[]): void {
  for (const name of names)
    if (name?.includes("\0") || name?.isWellFormed() === false)
      throw new AppError("invalid_input", "A name holds U+0000 or half of a character.");
}

function conflict(): AppError {
  return new AppError("conflict", "This id was already used for another request: send a new id, or the same request.");
}
