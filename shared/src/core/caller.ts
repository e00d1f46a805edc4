import { AppError } from "./errors.ts";

/**
 * What a caller may do: `read` its own tasks and files; `run` tasks: start, answer and cancel its
 * own; `admin`: administer the server, which includes the others.
 */
export type Scope = (typeof scopes)[number];

/** Every scope there is. */
export const scopes = ["read", "run", "admin"] as const;

/** Who makes a request and what they may do. Tasks and files belong to a principal. */
export type Caller = {
  readonly principal: string;
  readonly scopes: ReadonlySet<Scope>;
  /** One of our servers asks for the principal, in a run of the principal's. */
  readonly relayed?: boolean;
  /** Known by a token of the system, which may be revoked. */
  readonly byToken?: boolean;
  /**
   * Whether the token, session or JWT is still valid; true while that cannot be looked up. Left out
   * of callers that nobody can lock out: the operator.
   */
  readonly isStillValid?: () => Promise<boolean>;
};

/** What is read of a request to know its caller, and to say which one it was. */
export type CallerRequest = Pick<Request, "headers" | "method" | "url">;

/** Decides the caller of a request. Throws `unauthorized` if it is unknown. */
export type Identify = (request: CallerRequest) => Promise<Caller> | Caller;

/** A caller of this name that may do all of `granted`; everything if left out. */
export function callerNamed(principal: string, granted: Iterable<Scope> = scopes): Caller {
  return { principal, scopes: new Set(granted) };
}

/** The one caller of a server without authentication, and the owner of one with a single token. */
export const localCaller: Caller = callerNamed("local");

/** A caller lacks a scope. */
export class ScopeError extends AppError {
  readonly scope: Scope;

  constructor(scope: Scope) {
    super("forbidden", `This takes the scope \`${scope}\`, which your credentials don't have.`);
    this.scope = scope;
  }
}

/**
 * The header in which our own servers say for whom they ask: a principal's name. It counts only
 * from a caller with the scope `admin`.
 */
export const principalHeader = "Manyhands-Principal";

/** Throws ScopeError unless the caller has the scope. */
export function requireScope(caller: Pick<Caller, "scopes">, scope: Scope): void {
  if (!caller.scopes.has(scope) && !caller.scopes.has("admin")) throw new ScopeError(scope);
}

/**
 * Checks the name of a principal, which appears in headers, logs and file names. Throws
 * `invalid_input`.
 */
export function principalName(text: string): string {
  if (/^[\x21-\x7e]{1,200}$/.test(text)) return text;
  throw new AppError("invalid_input", "A principal's name has 1 to 200 visible ASCII characters and no spaces.");
}
