import { timingSafeEqual } from "node:crypto";
import { type Caller, callerNamed, type Identify, localCaller, principalName, requireScope } from "../core/caller.ts";
import { AppError } from "../core/errors.ts";
import type { AuthStore } from "./auth-store.ts";

/** Where the callers of a server are known from. */
export type AuthSources = {
  /** The operator's token; a server without one answers everybody as the operator. */
  readonly token: string | undefined;
  /** Tokens and sessions of the home. */
  readonly store?: Pick<AuthStore, "find">;
  /** Verifies a JWT. Rejects with `unauthorized`, or `unavailable` if its keys can't be had. */
  readonly jwt?: (token: string) => Promise<Caller>;
  /** The cookie of signed-in browsers, and the origin whose pages may use it. */
  readonly session?: SessionCookie;
  /** Receives the reason of every refusal, for the log; never a secret. */
  readonly refused?: (reason: string) => void;
};

/** Which cookie holds a session, and the origin whose pages may send it. */
export type SessionCookie = { readonly name: string; readonly origin: string };

/** Our own servers say in it for whom they ask, a principal's name. */
export const principalHeader = "Manyhands-Principal";

/**
 * Identifies a caller by `Authorization: Bearer …`, `X-API-Key` or its session. A caller with the
 * scope `admin` may ask for another principal by `Manyhands-Principal`. Rejects with
 * `unauthorized`, and with `forbidden` for that header from anybody else.
 */
export function identifyBy(sources: AuthSources): Identify {
  const { token } = sources;
  if (token === undefined) return ({ headers }) => asPrincipal(localCaller, headers);
  const operator = digest(token);
  return async ({ headers }) => {
    try {
      return asPrincipal(await callerOf(headers, operator, sources), headers);
    } catch (error) {
      if (error instanceof AppError) sources.refused?.(reasonOf(error));
      throw error;
    }
  };
}

async function callerOf(headers: Headers, operator: Uint8Array, sources: AuthSources): Promise<Caller> {
  const secret = givenSecret(headers) ?? sessionOf(headers, sources.session);
  if (secret === undefined) throw refusal("no credentials");
  // Both are looked up, whatever the first says, so that time tells nothing.
  const isOperator = timingSafeEqual(digest(secret), operator);
  const found = sources.store?.find(secret);
  if (isOperator) return localCaller;
  if (found !== undefined) return found;
  if (sources.jwt !== undefined && /^[\w-]+\.[\w-]+\.[\w-]+$/.test(secret)) return sources.jwt(secret);
  throw refusal("unknown or expired credentials");
}

/** The error for a caller that is not known; the log learns why, the caller does not. */
export function refusal(reason: string): AppError {
  const cause = new Error(reason);
  return new AppError("unauthorized", "Send this server's token as `Authorization: Bearer TOKEN`.", { cause });
}

function reasonOf({ cause, message }: AppError): string {
  return cause instanceof Error ? cause.message : message;
}

/** The caller itself, or the principal it asks for, which has no say over the server. */
function asPrincipal(caller: Caller, headers: Headers): Caller {
  const name = headers.get(principalHeader);
  if (name === null) return caller;
  requireScope(caller, "admin");
  return name === localCaller.principal ? localCaller : callerNamed(principalName(name), ["read", "run"]);
}

function givenSecret(headers: Headers): string | undefined {
  const authorization = headers.get("authorization");
  if (authorization === null) return headers.get("x-api-key") ?? undefined;
  const [scheme, given] = authorization.split(" ", 2);
  return scheme?.toLowerCase() === "bearer" ? given : undefined;
}

/**
 * The session of a browser, only if one of our own pages makes the request: other sites, and other
 * ports of this host, can make a browser send the cookie.
 */
function sessionOf(headers: Headers, session: SessionCookie | undefined): string | undefined {
  if (session === undefined) return undefined;
  const site = headers.get("sec-fetch-site");
  const origin = headers.get("origin");
  if (site !== null && site !== "same-origin" && site !== "none") return undefined;
  return origin === null || origin === session.origin ? cookieOf(headers, session.name) : undefined;
}

/** The value of a cookie of a request. */
function cookieOf(headers: Headers, name: string): string | undefined {
  const pairs = headers.get("cookie")?.split(";") ?? [];
  const own = pairs.map((pair) => pair.trim()).find((pair) => pair.startsWith(`${name}=`));
  return own?.slice(name.length + 1);
}

function digest(text: string): Uint8Array {
  return new Bun.CryptoHasher("sha256").update(text).digest();
}
