import { AppError, type ErrorCode } from "../errors.ts";

/**
 * Why an attempt at a model came to nothing. `rate-limited` and `unavailable` may pass with time; `cut` is an answer that broke off;
 * `quota` is an account that must be topped up; `rejected` and `overflow` would be the same next time.
 */
export type FailureKind = "rate-limited" | "unavailable" | "cut" | "quota" | "rejected" | "overflow";

const codes: Readonly<Record<FailureKind, ErrorCode>> = {
  "rate-limited": "rate_limited",
  unavailable: "model_unavailable",
  cut: "model_unavailable",
  quota: "model_rejected",
  rejected: "model_rejected",
  overflow: "context_overflow",
};

/** A failed attempt, in this folder only: callers of a model see the AppError it becomes. Its message holds no key. */
export class ModelFailure extends Error {
  override readonly name = "ModelFailure";
  readonly kind: FailureKind;
  /** How long the provider asks to be left alone. */
  readonly retryAfterMs: number | undefined;

  constructor(kind: FailureKind, message: string, retryAfterMs?: number) {
    super(message);
    this.kind = kind;
    this.retryAfterMs = retryAfterMs;
  }

  /** The error for callers, naming the model that was asked. */
  toAppError(model: { readonly name: string; readonly provider: string }): AppError {
    return new AppError(codes[this.kind], `Model ${model.name} at ${model.provider}: ${this.message}`);
  }
}
