import type { TaskPushNotificationConfig } from "@a2a-js/sdk";
import { TaskNotFoundError } from "@a2a-js/sdk/errors";
import { AppError } from "../../core/errors.ts";
import type { Json } from "../../core/json.ts";
import { type Engine, type RunRecord, terminalStatuses } from "../../core/runs/engine.ts";
import type { ProtocolVersion } from "../version.ts";
import { FieldViolationsError } from "../wire-error.ts";
import { type PushConfig, pushConfig, pushConfigView } from "./push-config.ts";
import { type PushInput, pushKind } from "./push-run.ts";
import type { Webhooks } from "./webhooks.ts";

/**
 * The receivers of one agent's notifications. A task is given as its run; callers check first that
 * it belongs to their principal.
 */
export interface Receivers {
  /** Rejects with FieldViolationsError for an address that may not be reached. */
  admit(asked: TaskPushNotificationConfig): Promise<void>;
  /**
   * Notifies an admitted receiver from now on. Adding it again is harmless; another receiver with
   * the same id replaces it.
   */
  add(task: RunRecord, asked: TaskPushNotificationConfig, wire: ProtocolVersion): Promise<TaskPushNotificationConfig>;
  /** The receiver with this id; without an id, the only one. Rejects with TaskNotFoundError. */
  get(task: RunRecord, id: string): Promise<TaskPushNotificationConfig>;
  list(task: RunRecord): Promise<readonly TaskPushNotificationConfig[]>;
  /** Stops the receiver's notifications; harmless if there is none. */
  remove(task: RunRecord, id: string): Promise<void>;
}

/** Most receivers of a task, at once and in total. */
const maxReceivers = 10;
const maxEver = 100;
const stopMs = 5_000;

/** Receivers as runs of an engine; a `pushRun` of the same kind executes each. */
export function createReceivers(deps: {
  readonly kind: string;
  readonly engine: Pick<Engine, "start" | "list" | "cancel" | "follow">;
  readonly webhooks: Pick<Webhooks, "admit">;
}): Receivers {
  const { engine, webhooks } = deps;
  const kind = pushKind(deps.kind);

  /** Every receiver the task ever had, newest first. */
  const all = async ({ id, principal }: RunRecord): Promise<readonly Receiver[]> => {
    const { runs } = await engine.list({ kind, principal, contextId: id, limit: maxEver });
    return runs.map((run) => ({ run, config: (run.input as PushInput).config }));
  };
  const current = async (task: RunRecord) => (await all(task)).filter(isCurrent);
  const stop = async ({ run }: Receiver) => {
    try {
      await engine.cancel(run.id);
    } catch (error) {
      if (!(error instanceof AppError && error.code === "run_ended")) throw error;
    }
    const signal = AbortSignal.timeout(stopMs);
    for await (const item of engine.follow(run.id, { signal }))
      if (item.kind === "event" && item.event.type === "run-ended") break;
  };

  return {
    async admit({ url }) {
      try {
        await webhooks.admit(url);
      } catch (error) {
        if (!(error instanceof AppError)) throw error;
        throw new FieldViolationsError([{ field: "url", description: error.message }]);
      }
    },
    async add(task, asked, wire) {
      const config = pushConfig(asked, wire);
      const ever = await all(task);
      const known = ever.filter(isCurrent);
      const same = known.filter((one) => one.config.id === config.id);
      if (same.some((one) => Bun.deepEquals(one.config, config))) return pushConfigView(task.id, config);
      if (known.length - same.length >= maxReceivers || ever.length >= maxEver)
        throw new FieldViolationsError([{ field: "id", description: `a task has at most ${maxReceivers} receivers` }]);
      await Promise.all(same.map(stop));
      const snapshot = terminalStatuses.includes(task.status) || task.waiting !== undefined;
      const input: PushInput = { taskId: task.id, config, after: task.lastEvent, snapshot };
      // Two simultaneous requests see the same earlier receivers, so they become one.
      const key = JSON.stringify([kind, task.id, config.id, ever.length]);
      await engine.start({
        kind,
        input: input satisfies Json,
        principal: task.principal,
        contextId: task.id,
        dedupe: { key, hash: JSON.stringify(config) },
      });
      return pushConfigView(task.id, config);
    },
    async get(task, id) {
      const found = (await current(task)).find(({ config }) => id === "" || config.id === id);
      if (found === undefined) throw new TaskNotFoundError(`Task ${task.id} has no such receiver of notifications`);
      return pushConfigView(task.id, found.config);
    },
    list: async (task) => (await current(task)).map(({ config }) => pushConfigView(task.id, config)),
    async remove(task, id) {
      await Promise.all((await current(task)).filter(({ config }) => config.id === id).map(stop));
    },
  };
}

type Receiver = { readonly run: RunRecord; readonly config: PushConfig };

function isCurrent({ run }: Receiver): boolean {
  return !terminalStatuses.includes(run.status);
}
