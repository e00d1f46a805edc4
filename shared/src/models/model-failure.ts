import { AppError, type ErrorCode } from "../core/errors.ts";

/**
 * Why an attempt at a model failed. `rate-limited`, `unavailable` and `unreached` (no connection
 * was made) may pass with time; `cut` is an answer that broke off; `quota` is an account that must
 * be topped up; `rejected` and `overflow` would fail again.
 */
export type FailureKind = "rate-limited" | "unavailable" | "unreached" | "cut" | "quota" | "rejected" | "overflow";

const codes: Readonly<Record<FailureKind, ErrorCode>> = {
  "rate-limited": "rate_limited",
  unavailable: "model_unavailable",
  unreached: "model_unavailable",
  cut: "model_unavailable",
  quota: "model_rejected",
  rejected: "model_rejected",
  overflow: "context_overflow",
};

/** The error of a model that cannot answer now but may later. */
export class ModelAway extends AppError {
  /** Whether it was reached at all. */
  readonly wasReached: boolean;
  /** How many milliseconds the provider asks us to wait. */
  readonly retryAfterMs: number | undefined;

  constructor(
    code: ErrorCode,
    message: string,
    { wasReached, retryAfterMs }: Pick<ModelAway, "wasReached" | "retryAfterMs">,
  ) {
    super(code, message);
    this.wasReached = wasReached;
    this.retryAfterMs = retryAfterMs;
  }
}

/** Whether another attempt may succeed. */
export function mayPass({ kind }: ModelFailure): boolean {
  return kind === "rate-limited" || kind === "unavailable" || kind === "unreached" || kind === "cut";
}

/**
 * A failed attempt. Used only in this folder: callers of a model see the AppError made from it. Its
 * message contains no key.
 */
export class ModelFailure extends Error {
  override readonly name = "ModelFailure";
  readonly kind: FailureKind;
  /** How many milliseconds the provider asks us to wait. */
  readonly retryAfterMs: number | undefined;
  /** What the operator can do about it, as sentences. */
  readonly advice: string | undefined;

  constructor(kind: FailureKind, message: string, about: { retryAfterMs?: number; advice?: string } = {}) {
    super(message);
    this.kind = kind;
    this.retryAfterMs = about.retryAfterMs;
    this.advice = about.advice;
  }

  /** The error for callers, naming the model. */
  toAppError(model: { readonly name: string; readonly provider: string }): AppError {
    const said = `Model ${model.name} at ${model.provider}: ${this.message}`;
    // Not every provider ends its sentence.
    const end = /[.!?…:。！？]["')\]]*$/u.test(said) ? "" : ".";
    const sentence = this.advice === undefined ? said : `${said}${end} ${this.advice}`;
    if (!mayPass(this)) return new AppError(codes[this.kind], sentence);
    const { retryAfterMs } = this;
    return new ModelAway(codes[this.kind], sentence, { wasReached: this.kind !== "unreached", retryAfterMs });
  }
}
