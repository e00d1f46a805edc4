/**
 * Every expected failure by code: its HTTP status, and whether the same request may succeed later.
 * Flows and clients retry only what this table calls retryable.
 */
export const errorCodes = {
  invalid_input: { status: 400, retryable: false },
  config_invalid: { status: 400, retryable: false },
  unauthorized: { status: 401, retryable: false },
  forbidden: { status: 403, retryable: false },
  not_found: { status: 404, retryable: false },
  conflict: { status: 409, retryable: false },
  run_ended: { status: 409, retryable: false },
  too_large: { status: 413, retryable: false },
  unsupported: { status: 415, retryable: false },
  rejected: { status: 422, retryable: false },
  step_limit: { status: 422, retryable: false },
  token_limit: { status: 422, retryable: false },
  cost_limit: { status: 422, retryable: false },
  time_limit: { status: 422, retryable: false },
  hop_limit: { status: 422, retryable: false },
  stuck: { status: 422, retryable: false },
  task_failed: { status: 422, retryable: false },
  interrupted: { status: 409, retryable: false },
  non_deterministic: { status: 500, retryable: false },
  version_missing: { status: 500, retryable: false },
  unreachable: { status: 424, retryable: true },
  rate_limited: { status: 429, retryable: true },
  quota_exceeded: { status: 429, retryable: true },
  internal: { status: 500, retryable: false },
  model_rejected: { status: 502, retryable: false },
  model_unavailable: { status: 502, retryable: true },
  context_overflow: { status: 422, retryable: false },
  storage_unavailable: { status: 503, retryable: true },
  unavailable: { status: 503, retryable: true },
  sandbox_unavailable: { status: 503, retryable: false },
  timeout: { status: 504, retryable: true },
} as const satisfies Record<string, { status: number; retryable: boolean }>;

/** Why something failed: a key of the table `errorCodes`. */
export type ErrorCode = keyof typeof errorCodes;

/**
 * An expected failure: a code from the table and one sentence for the caller, which says what to do
 * where that helps. Anything else thrown is a bug; every adapter reports it as `internal`, without
 * its text.
 */
export class AppError extends Error {
  override readonly name = "AppError";
  readonly code: ErrorCode;
  /** The field of the request that is wrong, if the message is about one field. */
  readonly field: string | undefined;

  constructor(code: ErrorCode, message: string, options?: { cause?: unknown; field?: string }) {
    super(options?.field === undefined ? message : `${options.field}: ${message}`, options);
    this.code = code;
    this.field = options?.field;
  }

  /** The HTTP status of this error. */
  get status(): number {
    return errorCodes[this.code].status;
  }

  /** Whether the same request may succeed later. */
  get retryable(): boolean {
    return errorCodes[this.code].retryable;
  }
}

/** What keeps files is away or full: what needs it may succeed later, and is tried again. */
export class FilesUnavailable extends AppError {
  constructor(message: string, cause?: unknown) {
    super("storage_unavailable", message, { cause });
  }
}

/**
 * The code and sentence that callers may see of any thrown value: an AppError's own, otherwise
 * `internal` with a fixed sentence.
 */
export function publicError(error: unknown): { code: ErrorCode; message: string } {
  if (error instanceof AppError) return { code: error.code, message: error.message };
  return { code: "internal", message: "Something went wrong inside; the log has the cause." };
}

/** What a thrown value says. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** The system's error code (`ENOENT`), if the error came from the system. */
export function errnoOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("code" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}

/** Returns undefined for a missing file and rethrows anything else. For `catch`. */
export function unlessMissing(error: unknown): undefined {
  if (errnoOf(error) === "ENOENT") return undefined;
  throw error;
}

/** What a process, or the machine, can run out of for a while. */
const shortage =
  /\b(?:EMFILE|ENFILE|EAGAIN|ENOMEM)\b|Too many open files|Resource temporarily unavailable|Cannot allocate memory|out of memory/i;

/**
 * Whether something failed for want of open files, processes or memory, by what the system says:
 * that tells nothing of what the machine has or can do.
 */
export function isShortage(failure: unknown): boolean {
  return shortage.test(messageOf(failure));
}
