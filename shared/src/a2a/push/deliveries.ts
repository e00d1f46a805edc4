import * as z from "zod";
import { AppError } from "../../core/errors.ts";
import type { Json } from "../../core/json.ts";
import type { Engine, RunRecord } from "../../core/runs/engine.ts";
import { gaveUp, type PushInput } from "./push-run.ts";

/** The notifications of one receiver about one task. Times are milliseconds since 1970. */
export type Delivery = {
  readonly id: string;
  readonly taskId: string;
  /** Where they go; its token and credentials are never shown. */
  readonly url: string;
  readonly state: "active" | "delivered" | "removed" | "failed";
  /** Why the receiver was given up. */
  readonly reason?: string;
  /** The last event of the task that it was told. */
  readonly after: number;
  readonly updatedAt: number;
};

/** The deliveries of runs that notify receivers. Foreign ones are not found. */
export interface Deliveries {
  /** Those that were given up in the last 30 days, newest first; with `all`, every one. */
  list(principal: string, options: { readonly all: boolean; readonly limit: number }): Promise<readonly Delivery[]>;
  /** Rejects with `not_found`. */
  get(id: string, principal: string): Promise<Delivery>;
  /**
   * Sends again what a receiver that was given up has missed, and all that follows; asked twice, it
   * is the same delivery. Rejects with `conflict` for any other receiver.
   */
  retry(id: string, principal: string): Promise<Delivery>;
}

const keptMs = 30 * 24 * 3_600_000;
const given = z.looseObject({ type: z.literal(gaveUp), after: z.number(), hasTask: z.boolean().default(false) });

/** The deliveries among the runs of these kinds, which `pushKind` names. */
export function createDeliveries(
  engine: Pick<Engine, "get" | "list" | "start" | "events">,
  kinds: () => readonly string[],
  now: () => number = Date.now,
): Deliveries {
  const own = async (id: string, principal: string) => {
    const run = await engine.get(id);
    if (run !== undefined && run.principal === principal && kinds().includes(run.kind)) return run;
    throw new AppError("not_found", `There is no delivery ${JSON.stringify(id)}.`);
  };
  const view = async (run: RunRecord): Promise<Delivery> => {
    const { taskId, config } = run.input as PushInput;
    const reason = run.error?.message;
    return {
      id: run.id,
      taskId,
      url: config.url,
      state: stateOf(run),
      ...(reason !== undefined && { reason }),
      after: (await positionOf(run)).after,
      updatedAt: run.updatedAt,
    };
  };
  const positionOf = async ({ id, input }: RunRecord) => {
    const told = (await engine.events(id)).flatMap(({ event }) => given.safeParse(event).data ?? []);
    const { after, snapshot } = input as PushInput;
    const { after: reached, hasTask } = told.at(-1) ?? { after, hasTask: false };
    return { after: reached, snapshot: snapshot && reached === after && !hasTask };
  };
  return {
    async list(principal, { all, limit }) {
      const failed = all ? {} : { statuses: ["failed"] as const, updatedSince: now() - keptMs };
      const { runs } = await engine.list({ principal, kinds: kinds(), limit, ...failed });
      return Promise.all(runs.map(view));
    },
    get: async (id, principal) => view(await own(id, principal)),
    async retry(id, principal) {
      const run = await own(id, principal);
      if (stateOf(run) !== "failed") throw new AppError("conflict", "This delivery was not given up.");
      const input: PushInput = { ...(run.input as PushInput), ...(await positionOf(run)) };
      const { kind, contextId } = run;
      const dedupe = { key: JSON.stringify([kind, "retry", id]) };
      const started = await engine.start({ kind, contextId, principal, input: input satisfies Json, dedupe });
      return view(started.run);
    },
  };
}

function stateOf({ status }: RunRecord): Delivery["state"] {
  if (status === "failed") return "failed";
  if (status === "completed") return "delivered";
  return status === "canceled" ? "removed" : "active";
}
