import { mayName, type NotifyTarget } from "manyhands/internal/config/triggers/trigger-config";
import { AppError } from "manyhands/internal/core/errors";
import type { Json } from "manyhands/internal/core/json";
import type { Engine, RunRecord } from "manyhands/internal/core/runs/engine";
import { type NotifyInput, notifyKind, targetScheme } from "./notify-run.ts";
import { type SendDeps, sendNews } from "./send-news.ts";

/** A target as callers see it: never its address. */
export type Target = Pick<NotifyTarget, "name" | "type">;

/** Tells people and programs of runs. */
export interface Notifications {
  /** The targets that a principal may name. */
  list(principal: string): readonly Target[];
  /** Rejects with `not_found` for a target that the principal may not name. */
  check(names: readonly string[], principal: string): void;
  /**
   * Tells these targets when the run asks something and when it has ended; asked again, it is the
   * same. Rejects with `not_found` for one that the run's principal may not name.
   */
  watch(run: Pick<RunRecord, "id" | "principal">, names: readonly string[]): Promise<void>;
  /** Sends one message now. Rejects with `unavailable` and the reason if it was not taken. */
  test(name: string, principal: string, signal: AbortSignal): Promise<void>;
}

/** What `openNotifications` needs; a `notifyRun` executes each. */
export type NotificationsDeps = SendDeps & {
  readonly engine: Pick<Engine, "start">;
  readonly targets: readonly NotifyTarget[];
  readonly publicUrl: string;
};

/** Notifications to the targets of the settings. Nobody is told anything before a call. */
export function openNotifications(deps: NotificationsDeps): Notifications {
  const { engine, targets, publicUrl } = deps;
  const own = (name: string, principal: string): NotifyTarget => {
    const found = targets.find((one) => mayName(one, name, principal));
    if (found !== undefined) return found;
    const known = targets.filter((one) => mayName(one, one.name, principal)).map((one) => one.name);
    throw new AppError(
      "not_found",
      `There is no [notify] table ${JSON.stringify(name)} that you may name. Known: ${known.join(", ") || "none"}.`,
    );
  };
  return {
    list: (principal) =>
      targets.filter((one) => mayName(one, one.name, principal)).map(({ name, type }) => ({ name, type })),
    check(names, principal) {
      for (const name of names) own(name, principal);
    },
    async watch({ id, principal }, names) {
      for (const name of new Set(names)) own(name, principal);
      for (const name of new Set(names)) {
        const config = { url: `${targetScheme}${name}` };
        const input: NotifyInput = { taskId: id, config, after: 0, snapshot: false };
        await engine.start({
          kind: notifyKind,
          input: input satisfies Json,
          principal,
          contextId: id,
          dedupe: { key: JSON.stringify([notifyKind, id, name]) },
        });
      }
    },
    async test(name, principal, signal) {
      const target = own(name, principal);
      const news = {
        type: "test",
        title: "Manyhands can reach you",
        text: "A test, as you asked.",
        url: publicUrl,
      } as const;
      const refusal = await sendNews(target, news, crypto.randomUUID(), deps, signal);
      if (refusal !== undefined) throw new AppError("unavailable", `${name} was not reached: ${refusal.reason}`);
    },
  };
}
