import { type Lazy, lazily } from "../core/async/lazy.ts";
import { AppError } from "../core/errors.ts";
import type { ImageRule, Model, ModelAskOptions, ModelEvent, ModelRequest } from "../core/model.ts";
import { sha256Of } from "../core/text/sha256.ts";
import { traced } from "../core/trace.ts";
import { plainName, type Traits, traitsOf, withoutRefused } from "./capabilities.ts";
import type { AttemptResult, AttemptScope } from "./chat/attempt.ts";
import type { Protocol } from "./chat/protocol.ts";
import { type Clock, systemClock } from "./clock.ts";
import { type ModelConfig, type ModelSettings, modelConfigSchema } from "./config.ts";
import { createImageFit, imageRuleOf, roughRule, type ShrinkImage } from "./images.ts";
import { createLimiter, type EndpointLimits, type Limiter } from "./limiter.ts";
import { ModelFailure, mayPass } from "./model-failure.ts";
import { costOf } from "./price.ts";
import { retryWait } from "./retry.ts";
import { estimateTokens } from "./tokens.ts";

/** What a model uses in place of the machine's own, and whom it reports to. */
export type ModelOptions = {
  readonly fetch?: typeof globalThis.fetch;
  readonly clock?: Clock;
  /** Shrinks images that are larger than the provider uses; if left out, they are sent as is. */
  readonly shrinkImage?: ShrinkImage;
  /** A number from 0 up to 1. */
  readonly random?: () => number;
  /** Makes limits that are set hold for other processes too; `own` holds them in this one. */
  readonly shareLimits?: (limits: EndpointLimits, own: Limiter) => Limiter;
  /** Logs every retry and fallback; never a key or a message's content. */
  readonly logger?: { warn(fields: object, message: string): void };
};

function checked(settings: ModelSettings): ModelConfig {
  const parsed = modelConfigSchema.safeParse(settings);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new AppError("config_invalid", `The model's ${issue?.path.join(".") || "settings"}: ${issue?.message}.`);
}

type Scope = Pick<AttemptScope, "config"> & {
  readonly clock: Clock;
  readonly limiter: Limiter;
  readonly imageRule: ImageRule;
  readonly random: () => number;
  readonly logger: ModelOptions["logger"];
  /** What the endpoint accepts, as far as it has been learnt. */
  traits: Traits;
  /** Loaded with the first question: a server answers its card without it. */
  readonly asking: Lazy<Asking>;
};

type Asking = { readonly protocol: Protocol; readonly attempt: typeof import("./chat/attempt.ts").attempt };

/** The protocol of an endpoint, of which only its own modules are loaded. */
async function loadProtocol(config: ModelConfig, fetch: typeof globalThis.fetch): Promise<Asking> {
  const { apiType } = config;
  const loading =
    apiType === "openai" || apiType === "azure"
      ? import("./chat/ask-chat.ts").then(({ chatProtocol }) => chatProtocol(config, fetch))
      : import("./native/native-protocol.ts").then(({ nativeProtocol }) => nativeProtocol(apiType, config, fetch));
  const [{ attempt }, protocol] = await Promise.all([import("./chat/attempt.ts"), loading]);
  return { attempt, protocol };
}

/**
 * Bun's fetch gives up after five minutes; how long a model may be silent is the watchdog's to say.
 */
function patient(fetch: typeof globalThis.fetch): typeof globalThis.fetch {
  return Object.assign(
    (input: string | URL | Request, init?: BunFetchRequestInit) =>
      fetch(input, { ...init, timeout: false } as BunFetchRequestInit),
    fetch,
  );
}

/**
 * A model at an endpoint of any protocol that `apiType` names. Its limits hold for everyone who
 * uses the returned object, so make one per configuration and share it. If it cannot be reached
 * after its retries, the fallback is asked. Throws `config_invalid` and names the wrong field.
 */
export function createModel(settings: ModelSettings, deps: ModelOptions = {}): Model {
  const config = checked(settings);
  const clock = deps.clock ?? systemClock;
  const fullRule = imageRuleOf(plainName(config.name));
  const imageRule = config.imageDetail === "low" ? roughRule(fullRule) : fullRule;
  const fitImages = createImageFit(imageRule, deps.shrinkImage);
  const fetch = traced(patient(deps.fetch ?? globalThis.fetch));
  const scope: Scope = {
    config,
    clock,
    asking: lazily(() => loadProtocol(config, fetch)),
    limiter: limiterOf(config, clock, deps),
    imageRule,
    random: deps.random ?? Math.random,
    logger: deps.logger,
    traits: traitsOf(config),
  };
  const { tools, parallelToolCalls, vision, contextWindow } = scope.traits;
  const maxOutputTokens = config.maxOutputTokens ?? scope.traits.maxOutputTokens;
  const fallback = config.fallback === undefined ? undefined : createModel(config.fallback, deps);
  const identity = { name: config.name, provider: config.provider ?? new URL(config.baseUrl).host };
  return {
    ...identity,
    capabilities: { tools, parallelToolCalls, vision, contextWindow, maxOutputTokens },
    imageRule,
    cost: (tokens) => costOf(tokens, config),
    async *ask(request, options) {
      const { signal } = options;
      signal.throwIfAborted();
      try {
        const fitted = scope.traits.vision ? await fitImages(request, signal) : request;
        yield* askWithRetries(scope, atMost(config.maxOutputTokens, fitted), options);
      } catch (error) {
        if (!(error instanceof ModelFailure)) throw error;
        if (fallback === undefined || !mayFallBack(error)) throw error.toAppError(identity);
        const cause = `${error.message}; ${fallback.name} takes over`;
        deps.logger?.warn({ model: config.name, fallback: fallback.name, cause }, "the fallback model takes over");
        yield { type: "retry", attempt: config.maxRetries + 1, waitMs: 0, cause };
        yield* askFallback(fallback, request, { options, failure: error, identity });
      }
    },
  };
}

/** The request for an answer of no more tokens than these, if they are known. */
function atMost(tokens: number | undefined, request: ModelRequest): ModelRequest {
  const { maxOutputTokens } = request;
  if (tokens === undefined || maxOutputTokens === undefined || maxOutputTokens <= tokens) return request;
  return { ...request, maxOutputTokens: tokens };
}

/** Calls in flight at the same time in this process, unless the settings say. */
const defaultConcurrency = 8;

function limiterOf(config: ModelConfig, clock: Clock, { shareLimits }: ModelOptions): Limiter {
  const { baseUrl, name, apiKey, concurrency, tokensPerMinute } = config;
  const own = createLimiter({ concurrency: concurrency ?? defaultConcurrency, tokensPerMinute }, clock);
  if (shareLimits === undefined) return own;
  return shareLimits(
    { endpoint: sha256Of(JSON.stringify([baseUrl, name, apiKey])), concurrency, tokensPerMinute },
    own,
  );
}

async function* askWithRetries(
  scope: Scope,
  request: ModelRequest,
  options: ModelAskOptions,
): AsyncGenerator<ModelEvent> {
  const { maxRetries, name } = scope.config;
  let attempts = 0;
  let waitedMs = 0;
  let cuts = 0;
  for (;;) {
    const result = yield* askOnce(scope, request, options);
    if (result === "again") continue;
    attempts += 1;
    const failure = failureOf(result);
    // If an answer breaks off a second time, its length is the likely cause, and what arrived is
    // the answer.
    const final = failure === undefined || (failure.kind === "cut" && cuts++ > 0);
    const waitMs = final ? undefined : retryWait(failure, { attempts, waitedMs }, { maxRetries, random: scope.random });
    if (failure === undefined || waitMs === undefined) {
      if (result instanceof ModelFailure) throw result;
      yield { type: "reply", reply: result.reply };
      return;
    }
    const cause = failure.message;
    scope.logger?.warn({ model: name, attempt: attempts, waitMs, cause }, "the model is asked again");
    const usage = result instanceof ModelFailure ? {} : { usage: result.reply.usage };
    yield { type: "retry", attempt: attempts, waitMs, cause, ...usage };
    await scope.clock.sleep(waitMs, options.signal);
    waitedMs += waitMs;
  }
}

function failureOf(result: AttemptResult | ModelFailure): ModelFailure | undefined {
  if (result instanceof ModelFailure) return result;
  return result.cut ? new ModelFailure("cut", "the answer broke off") : undefined;
}

/**
 * One attempt within the limits; `again` if it showed that the endpoint does not accept a
 * parameter.
 */
async function* askOnce(
  scope: Scope,
  request: ModelRequest,
  { signal, principal }: ModelAskOptions,
): AsyncGenerator<ModelEvent, AttemptResult | ModelFailure | "again"> {
  const { traits } = scope;
  const { attempt, protocol } = await scope.asking.get();
  const isLimited = scope.config.tokensPerMinute !== undefined;
  let spent = isLimited ? estimateTokens(request.messages, request.tools, scope.imageRule) : 0;
  const admission = await scope.limiter.enter(spent, signal, principal);
  try {
    const result = yield* attempt({ config: scope.config, protocol }, request, traits, signal);
    spent = result.reply.usage.inputTokens + result.reply.usage.outputTokens;
    return result;
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof ModelFailure)) throw error;
    const change = withoutRefused(error, traits);
    if (change === undefined) return error;
    scope.logger?.warn({ model: scope.config.name, cause: error.message }, "a parameter is left out from now on");
    scope.traits = { ...scope.traits, ...change };
    return "again";
  } finally {
    admission.end(spent);
  }
}

function mayFallBack(failure: ModelFailure): boolean {
  return mayPass(failure) || failure.kind === "quota";
}

/**
 * The fallback's answer. If the fallback fails permanently but the first model may recover, throws
 * the first one's error, so that the run waits for it.
 */
async function* askFallback(
  fallback: Model,
  request: ModelRequest,
  {
    options,
    failure,
    identity,
  }: { options: ModelAskOptions; failure: ModelFailure; identity: Pick<Model, "name" | "provider"> },
): AsyncGenerator<ModelEvent> {
  try {
    // What was asked for is what the first can answer.
    yield* fallback.ask(atMost(fallback.capabilities.maxOutputTokens, request), options);
  } catch (error) {
    if (error instanceof AppError && !error.retryable && mayPass(failure)) throw failure.toAppError(identity);
    throw error;
  }
}
