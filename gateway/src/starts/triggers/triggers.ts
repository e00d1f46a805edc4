import type { TriggerConfig } from "manyhands/internal/config/triggers/trigger-config";
import { AppError } from "manyhands/internal/core/errors";
import type { Log } from "manyhands/internal/core/runs/engine";
import { type BookStore, type Firing, type StartBook, stateOf, withFiring, withState } from "../start-book.ts";
import { type StartDeps, startRunOf } from "../start-run.ts";
import { checkSignature, type RawWebhook } from "./check-signature.ts";
import { fillTemplate } from "./fill-template.ts";
import { challengeOf, isMeant, readWebhook } from "./read-webhook.ts";

/** A trigger as its principal sees it: never its secret. */
export type Trigger = Omit<TriggerConfig, "secret" | "signatureHeader" | "timestampHeader"> & {
  readonly paused: boolean;
  /** The newest first. */
  readonly firings: readonly Firing[];
};

/** What became of a webhook: the run it started, or why it starts none. */
export type Received =
  | { readonly state: "started"; readonly runId: string }
  | { readonly state: "ignored"; readonly reason: string }
  | { readonly state: "challenge"; readonly challenge: string };

/** The triggers of the settings. Those of others are not found. */
export interface Triggers {
  list(principal: string): Promise<readonly Trigger[]>;
  get(name: string, principal: string): Promise<Trigger>;
  /** While it is paused its webhooks start nothing. */
  pause(name: string, principal: string): Promise<Trigger>;
  resume(name: string, principal: string): Promise<Trigger>;
  /**
   * Starts a run for a webhook, once for each delivery; the run is on disk when this resolves.
   * Rejects with `unauthorized` unless its signature is right, and as `Runs.start` does.
   */
  receive(name: string, webhook: RawWebhook): Promise<Received>;
  /** The type of the one of this name; undefined if there is none. */
  typeOf(name: string): TriggerConfig["type"] | undefined;
}

/** What `openTriggers` needs. */
export type TriggersDeps = StartDeps & {
  readonly configured: readonly TriggerConfig[];
  readonly book: BookStore;
  readonly log: Log;
  /** The machine's clock, which senders compare theirs with. */
  readonly now?: () => number;
};

/**
 * The triggers of the settings. Whether they are paused, and what they started, is read from the
 * book for each call.
 */
export function openTriggers(deps: TriggersDeps): Triggers {
  const { configured, book, log, now = Date.now } = deps;
  const own = (name: string, principal: string): TriggerConfig => {
    const found = configured.find((one) => one.name === name && one.principal === principal);
    if (found !== undefined) return found;
    throw new AppError("not_found", `There is no trigger ${JSON.stringify(name)}.`);
  };
  const view = (trigger: TriggerConfig, from: StartBook): Trigger => {
    const { secret, signatureHeader, timestampHeader, ...shown } = trigger;
    const { paused = false, firings } = stateOf(from, idOf(trigger));
    return { ...shown, paused, firings: firings.toReversed() };
  };
  const setPaused = async (name: string, principal: string, paused: boolean) => {
    const trigger = own(name, principal);
    await book.change((from) => withState(from, idOf(trigger), (state) => ({ ...state, paused })));
    return view(trigger, await book.read());
  };
  const record = (trigger: TriggerConfig, firing: Firing) =>
    book.change((from) => withState(from, idOf(trigger), (state) => withFiring(state, firing)));
  return {
    async list(principal) {
      const from = await book.read();
      return configured.filter((one) => one.principal === principal).map((one) => view(one, from));
    },
    get: async (name, principal) => view(own(name, principal), await book.read()),
    pause: (name, principal) => setPaused(name, principal, true),
    resume: (name, principal) => setPaused(name, principal, false),
    typeOf: (name) => configured.find((one) => one.name === name)?.type,
    async receive(name, webhook) {
      const trigger = configured.find((one) => one.name === name);
      if (trigger === undefined) throw new AppError("not_found", "There is no trigger of this name.");
      const at = now();
      const proof = checkSignature(trigger, webhook, at);
      if ("reason" in proof) {
        log.warn({ trigger: name, reason: proof.reason, bytes: webhook.body.length }, "A webhook was refused.");
        throw new AppError("unauthorized", `This webhook starts nothing: ${proof.reason}.`);
      }
      const said = readWebhook(trigger, webhook);
      const challenge = challengeOf(trigger, said);
      if (challenge !== undefined) return { state: "challenge", challenge };
      if (!isMeant(trigger, said.event)) return { state: "ignored", reason: `this trigger is not for ${said.event}` };
      if (stateOf(await book.read(), idOf(trigger)).paused)
        return { state: "ignored", reason: "this trigger is paused" };
      const about = { due: at, at, ...aboutOf(said) };
      const messageId = `trigger/${name}/${proof.signed}`;
      try {
        const run = await startRunOf(trigger, fillTemplate(trigger.task, said), messageId, deps);
        await record(trigger, { ...about, outcome: "started", runId: run.id });
        return { state: "started", runId: run.id };
      } catch (error) {
        if (!(error instanceof AppError)) throw error;
        // The settings have changed since the delivery came first: it has started its run.
        if (error.code === "conflict") return { state: "ignored", reason: "this delivery came before" };
        await record(trigger, { ...about, outcome: "refused", reason: error.message });
        log.warn({ trigger: name, reason: error.message }, "A webhook could not start its run.");
        throw error;
      }
    },
  };
}

function aboutOf({ event, delivery }: { readonly event: string; readonly delivery: string }) {
  return { ...(delivery !== "" && { delivery }), ...(event !== "" && { event }) };
}

/** No schedule has such an id. */
function idOf({ name }: Pick<TriggerConfig, "name">): string {
  return `trigger ${name}`;
}
