import type { Webhooks } from "manyhands/internal/a2a/push/webhooks";
import type { AuthStore } from "manyhands/internal/auth/auth-store";
import type { NotifyTarget, TriggersConfig } from "manyhands/internal/config/triggers/trigger-config";
import type { Engine, Log } from "manyhands/internal/core/runs/engine";
import type { KeptText } from "manyhands/internal/core/text/kept-text";
import type { Runnables } from "manyhands/internal/runs/runnable";
import type { Runs } from "manyhands/internal/runs/runs";
import { type Notifications, openNotifications } from "./notify/notifications.ts";
import { notifyRun } from "./notify/notify-run.ts";
import { startScheduler } from "./schedules/scheduler.ts";
import { openSchedules, type Schedules } from "./schedules/schedules.ts";
import { openStartBook } from "./start-book.ts";
import { openTriggers, type Triggers } from "./triggers/triggers.ts";

/** What starts by itself, and who is told of runs. */
export type Starts = {
  readonly schedules: Schedules;
  readonly triggers: Triggers;
  readonly notifications: Notifications;
};

/** What `openStarts` needs. */
export type StartsDeps = {
  readonly engine: Engine;
  readonly runs: Pick<Runs, "start" | "started" | "view">;
  readonly runnables: Runnables;
  /** What all gateways of the system share of it. */
  readonly kept: KeptText;
  /** Reaches these hosts, as `host:port`, whatever their addresses. */
  readonly webhooks: (hosts: readonly string[]) => Pick<Webhooks, "post">;
  readonly publicUrl: string;
  /** The tokens of the system; undefined if it answers everybody. */
  readonly tokens: Pick<AuthStore, "list"> | undefined;
  readonly log: Log;
  /** The machine's clock, which may be set. */
  readonly now?: () => number;
};

/** Notifications that are sent at the same time. */
const concurrency = 200;

/** Opens all of it, and executes notifications; nothing is due before `start`. */
export function openStarts(config: TriggersConfig, deps: StartsDeps): Starts & { start(): () => void } {
  const { engine, kept, log } = deps;
  const targets = config.notify;
  const sent = { ...deps, targets, webhooks: deps.webhooks(hostsOf(targets)) };
  const notifications = openNotifications(sent);
  const book = openStartBook(kept);
  const starting = { ...deps, notifications, book };
  const schedules = openSchedules({ ...starting, configured: config.schedules, hasToken: hasTokenIn(deps) });
  const triggers = openTriggers({ ...starting, configured: config.triggers });
  for (const unknown of startsOfNothing(config, deps.runnables)) log.warn({}, unknown);
  engine.work([notifyRun(sent)], { concurrency, dedicatedPool: true });
  return { schedules, triggers, notifications, start: () => startScheduler(schedules, log) };
}

/**
 * What starts by itself something that there is not, in words. It is no error: an agent that was
 * registered may come again.
 */
function startsOfNothing({ schedules, triggers }: TriggersConfig, runnables: Pick<Runnables, "all">): string[] {
  const all = [
    ...schedules.map(({ name, start }) => ({ table: `schedules.${name}`, start })),
    ...triggers.map(({ name, start }) => ({ table: `triggers.${name}`, start })),
  ];
  const known = all.length === 0 ? [] : runnables.all().map(({ name }) => name);
  return all
    .filter(({ start }) => !known.includes(start))
    .map(
      ({ table, start }) =>
        `[${table}] starts ${JSON.stringify(start)}, but there is no flow or agent of this name now. Known: ${known.join(", ") || "none"}.`,
    );
}

function hasTokenIn({ tokens }: StartsDeps) {
  return async (principal: string, at: number): Promise<boolean> =>
    tokens === undefined ||
    (await tokens.list()).some(
      ({ expiresAt = Number.POSITIVE_INFINITY, scopes, ...token }) =>
        token.principal === principal && expiresAt > at && scopes.some((scope) => scope !== "read"),
    );
}

/** The hosts that the settings name to be notified: who writes them may reach these. */
function hostsOf(targets: readonly NotifyTarget[]): string[] {
  return targets.flatMap((target) => {
    if (target.type === "email") return [];
    const { hostname, port, protocol } = new URL(target.url);
    return [`${hostname}:${port || (protocol === "https:" ? "443" : "80")}`];
  });
}
