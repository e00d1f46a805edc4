import {
  type Caller,
  type CallerRequest,
  callerNamed,
  type Identify,
  localCaller,
  principalHeader,
  principalName,
  requireScope,
} from "../core/caller.ts";
import { AppError } from "../core/errors.ts";
import { sameSecret } from "../core/text/same-secret.ts";
import type { AuthStore } from "./auth-store.ts";

/** Where the callers of a server are known from. */
export type AuthSources = {
  /** The operator's token; a server without one answers everybody as the operator. */
  readonly token: string | undefined;
  /** The tokens of the home. */
  readonly store?: Pick<AuthStore, "find">;
  /** Verifies a JWT. Rejects with `unauthorized`, or `unavailable` if its keys can't be had. */
  readonly jwt?: (token: string) => Promise<Caller>;
  /** The sessions of signed-in browsers. */
  readonly sessions?: SessionFinder;
  /** Receives every refusal and its reason, which is never a secret, for the log. */
  readonly refused?: (refusal: { readonly reason: string; readonly status: number }, request: CallerRequest) => void;
};

/** Finds the caller of a session that has not ended. */
export type SessionFinder = Pick<AuthStore, "session">;

/** The cookie with the session of a signed-in browser. */
export const sessionCookie = "manyhands-session";

/**
 * Identifies a caller by `Authorization: Bearer …` or `X-API-Key` or its session. A caller with the
 * scope `admin` may ask for another principal by `Manyhands-Principal`. Rejects with
 * `unauthorized`, and with `forbidden` for that header from anybody else.
 */
export function identifyBy(sources: AuthSources): Identify {
  const { token } = sources;
  if (token === undefined) return ({ headers }) => asPrincipal(localCaller, headers);
  return async (request) => {
    const { headers } = request;
    try {
      return asPrincipal(await callerOf(headers, token, sources), headers);
    } catch (error) {
      if (error instanceof AppError) sources.refused?.({ reason: reasonOf(error), status: error.status }, request);
      throw error;
    }
  };
}

async function callerOf(headers: Headers, operator: string, sources: AuthSources): Promise<Caller> {
  const secret = givenSecret(headers);
  const signedIn = secret === undefined ? await sessionIn(headers, sources.sessions) : undefined;
  if (signedIn !== undefined) return { ...signedIn, isStillValid: whether(() => sessionIn(headers, sources.sessions)) };
  if (secret === undefined) throw refusal("no credentials");
  // Both are looked up, whatever the first says, so that time tells nothing.
  const isOperator = sameSecret(secret, operator);
  const finding = sources.store?.find(secret);
  if (isOperator) {
    // The operator needs no store that works.
    await finding?.catch(() => undefined);
    return localCaller;
  }
  const found = await finding;
  if (found !== undefined)
    return { ...found, byToken: true, isStillValid: whether(async () => sources.store?.find(secret)) };
  const { jwt } = sources;
  if (jwt !== undefined && /^[\w-]+\.[\w-]+\.[\w-]+$/.test(secret))
    return { ...(await jwt(secret)), isStillValid: whether(() => jwt(secret)) };
  throw refusal("unknown or expired credentials");
}

/** Whether a caller is still known. A store that fails says nothing of its callers. */
function whether(find: () => Promise<Caller | undefined>): () => Promise<boolean> {
  return () =>
    find().then(
      (found) => found !== undefined,
      (error) => !(error instanceof AppError && error.code === "unauthorized"),
    );
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
  const meant = name === localCaller.principal ? localCaller : callerNamed(principalName(name), ["read", "run"]);
  const { isStillValid } = caller;
  return { ...meant, relayed: true, ...(isStillValid && { isStillValid }) };
}

function givenSecret(headers: Headers): string | undefined {
  const authorization = headers.get("authorization");
  if (authorization === null) return headers.get("x-api-key") ?? undefined;
  const [scheme, given] = authorization.split(" ", 2);
  return scheme?.toLowerCase() === "bearer" ? given : undefined;
}

/**
 * The caller of a browser's session, only if one of our own pages makes the request: other sites,
 * and other ports of this host, can make a browser send the cookie.
 */
async function sessionIn(headers: Headers, sessions: SessionFinder | undefined): Promise<Caller | undefined> {
  const pairs = headers.get("cookie")?.split(";") ?? [];
  const own = pairs.map((pair) => pair.trim()).find((pair) => pair.startsWith(`${sessionCookie}=`));
  if (own === undefined || !isFromOwnPage(headers)) return undefined;
  return sessions?.session(own.slice(sessionCookie.length + 1));
}

/** Browsers leave out Sec-Fetch-Site only for plain HTTP to other machines. */
export function isFromOwnPage(headers: Headers): boolean {
  const site = headers.get("sec-fetch-site");
  if (site !== null) return site === "same-origin" || site === "none";
  const origin = headers.get("origin");
  return origin === null || URL.parse(origin)?.host === headers.get("host");
}
