import { AppError } from "../../core/errors.ts";
import type { Json } from "../../core/json.ts";
import { type Engine, terminalStatuses } from "../../core/runs/engine.ts";
import { accepting, assertStorable } from "./accepting.ts";
import type { Database } from "./database.ts";
import type { Dispatcher } from "./dispatch/dispatcher.ts";
import type { Executor } from "./dispatch/executor.ts";
import type { News } from "./news.ts";
import { toldEvents } from "./told-events.ts";

/** What changing runs from outside needs. */
export type IntakeDeps = {
  readonly database: Database;
  readonly news: News;
  readonly executor: Executor;
  readonly dispatcher: Dispatcher;
};

/** What was done, or the status that prevented it. */
type Changed = { readonly answer: string; readonly last?: number; readonly signaled?: readonly string[] };

/** The engine's calls that change runs from outside. Each is one transaction. */
export function intake(deps: IntakeDeps): Pick<Engine, "start" | "admit" | "deliver" | "watch" | "cancel" | "resume"> {
  const { database, news, executor, dispatcher } = deps;
  const runnable = (runId: string) => {
    if (!executor.nudge(runId)) dispatcher.runnable(runId);
  };
  const changed = (runId: string, { last = 0, signaled = [] }: Changed) => {
    news.tell(runId, { last });
    for (const id of signaled) runnable(id);
  };
  return {
    ...accepting(deps),
    async deliver(runId, name, payload, { id = name, events, ifLast } = {}) {
      assertStorable(name, id);
      const delivery = { run: runId, name, id, payload: JSON.stringify(payload), if_last: ifLast ?? null };
      const told = (toldEvents(events) ?? null) as Json;
      const done = await database.call<Changed>("deliver", { ...delivery, told });
      if (done.answer === "duplicate" || done.answer === "outdated") return done.answer;
      if (done.answer !== "stored") throw refusal(runId, done.answer);
      changed(runId, done);
      runnable(runId);
      return "stored";
    },
    async watch(runId, { after, watcher, signal }) {
      assertStorable(signal);
      const done = await database.call<{ missing?: string; signaled: readonly string[] }>("watch_run", {
        ...{ run: runId, after, watcher, signal },
      });
      if (done.missing !== undefined) throw refusal(done.missing, "not_found");
      for (const id of done.signaled) runnable(id);
    },
    async cancel(runId) {
      const done = await database.call<Changed>("cancel_run", runId);
      if (done.answer === "canceled") return;
      if (done.answer !== "asked" && done.answer !== "ended") throw refusal(runId, done.answer);
      changed(runId, done);
      executor.cancel(runId);
    },
    async resume(runId) {
      const done = await database.call<Changed>("resume_run", runId);
      if (done.answer === "not_found" || terminalStatuses.some((status) => status === done.answer))
        throw refusal(runId, done.answer);
      if (done.answer !== "resumed") return;
      changed(runId, done);
      dispatcher.runnable(runId);
    },
  };
}

function refusal(runId: string, answer: string): AppError {
  if (answer === "not_found") return new AppError("not_found", `There is no run ${runId}.`);
  return new AppError("run_ended", `The run has ended as ${answer}.`);
}
