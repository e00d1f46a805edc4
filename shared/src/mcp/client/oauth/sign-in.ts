import {
  type AuthProvider,
  auth,
  computeScopeUnion,
  extractWWWAuthenticateParams,
  type FetchLike,
} from "@modelcontextprotocol/client";
import { localCaller } from "../../../core/caller.ts";
import { AppError } from "../../../core/errors.ts";
import { ownCommand } from "../../../core/release.ts";
import type { Egress } from "../../../machine/egress/egress.ts";
import { serverFailure } from "../connection/failure-words.ts";
import { httpFetch } from "../connection/http-fetch.ts";
import type { RemoteServer } from "../servers/server-config.ts";
import { startCallback } from "./callback.ts";
import type { CredentialStore } from "./credential-store.ts";
import { createProvider } from "./provider.ts";

/** What signing in to servers needs. */
export type SignInDeps = {
  /** Who signs in, and where what that leaves is kept. */
  readonly principal: string;
  readonly store: CredentialStore;
  readonly egress: Egress;
  readonly proxy: string | undefined;
};

const answerMs = 5 * 60_000;
/** How long each request may take. */
const requestMs = 20_000;

/**
 * How we authenticate to a server: with the token from signing in, renewed when the server no
 * longer accepts it. Undefined if its entry has a header for that.
 */
export function authorizeBy(server: RemoteServer, { principal, store, ...deps }: SignInDeps): AuthProvider | undefined {
  if (Object.keys(server.headers).some((name) => name.toLowerCase() === "authorization")) return undefined;
  const whose = principal === localCaller.principal ? "" : ` --for ${principal}`;
  const needed = () =>
    new AppError("unauthorized", `it wants you to sign in: \`${ownCommand} mcp login ${server.name}${whose}\`.`);
  return {
    token: async () => (await store.read(server))?.tokens?.access_token,
    async onUnauthorized({ response }) {
      const refused = (await store.read(server))?.tokens;
      if (refused?.refresh_token === undefined) throw needed();
      const { resourceMetadataUrl } = extractWWWAuthenticateParams(response);
      await store.renew(server, () => renewed(refused.access_token, resourceMetadataUrl));
    },
  };

  async function renewed(refused: string, resourceMetadataUrl: URL | undefined): Promise<void> {
    // A refresh token that rotates works once, so whoever waited takes what another one got.
    if ((await store.read(server))?.tokens?.access_token !== refused) return;
    const { fetchFn, refused: unmade } = rememberRefusal(fetchFor(server, deps));
    const provider = createProvider(server, store, {
      redirectUrl: undefined,
      show: () => {
        throw unmade() ?? needed();
      },
    });
    const place = resourceMetadataUrl && { resourceMetadataUrl };
    await auth(provider, { serverUrl: server.url, fetchFn, ...place });
  }
}

/** Stores a scope that a server required, for the next sign-in. */
export async function widenScope(server: RemoteServer, scope: string, store: CredentialStore): Promise<void> {
  const before = await store.read(server);
  const wanted = computeScopeUnion(before?.wanted, scope);
  await store.write(server, { ...before, ...(wanted !== undefined && { wanted: wanted.slice(0, longestScope) }) });
}

const longestScope = 2_000;

/**
 * Signs in to a server by OAuth 2.1 with PKCE: finds the authorization server, registers as a
 * client if needed, passes the URL to open to `show`, waits for the browser to return to a loopback
 * port, and stores the tokens. Everything the server names is reached only through the egress
 * policy. Rejects with a readable AppError, after five minutes at the latest, or with the signal's
 * reason.
 */
export async function signIn(
  server: RemoteServer,
  { store, ...deps }: Omit<SignInDeps, "principal">,
  show: (address: string) => void,
  signal: AbortSignal,
): Promise<void> {
  const until = AbortSignal.any([signal, AbortSignal.timeout(answerMs)]);
  const { fetchFn, refused } = rememberRefusal(fetchFor(server, deps, until));
  using callback = startCallback();
  const showFit = (address: string) => {
    // If the policy refuses what the server named, or that does not answer, the client continues
    // with a guess; nobody is sent to such a server.
    until.throwIfAborted();
    const error = refused();
    if (error !== undefined) throw error;
    show(address);
  };
  try {
    const asked = await challenge(server, fetchFn, until);
    const scope = await wholeScope(server, store, asked.scope);
    const provider = createProvider(server, store, { redirectUrl: callback.url, show: showFit, ...scope });
    const options = { serverUrl: server.url, fetchFn, ...asked, ...scope };
    const first = await auth(provider, { ...options, forceReauthorization: true });
    if (first === "AUTHORIZED") return;
    const { code, iss } = await callback.answer(provider.expectedState(), until);
    await auth(provider, { ...options, authorizationCode: code, ...(iss !== undefined && { iss }) });
  } catch (error) {
    signal.throwIfAborted();
    throw serverFailure(
      server.name,
      until.aborted ? new AppError("timeout", "nobody signed in within five minutes.") : error,
      undefined,
    );
  }
}

/**
 * The scope already granted, what the server required beyond it, and what it or its entry asks for
 * now. Widening a scope loses none of it.
 */
async function wholeScope(
  server: RemoteServer,
  store: CredentialStore,
  asked: string | undefined,
): Promise<{ scope?: string }> {
  const before = await store.read(server);
  const scope = computeScopeUnion(server.oauth.scope ?? asked, before?.tokens?.scope, before?.wanted);
  return scope === undefined ? {} : { scope };
}

/**
 * Requests that end with the signal, if there is one, or with `timeout` when they take too long.
 */
function fetchFor(server: RemoteServer, deps: Pick<SignInDeps, "egress" | "proxy">, until?: AbortSignal): FetchLike {
  const send = httpFetch({ url: new URL(server.url), ...deps, maxMessageBytes: 2 ** 20 });
  return async (url, init) => {
    const late = AbortSignal.timeout(requestMs);
    const signals = [init?.signal, until, late].filter((one) => one instanceof AbortSignal);
    try {
      const { status, headers, body } = await send(url, { ...init, signal: AbortSignal.any(signals) });
      // All of it comes within the time: what reads it has no signal.
      return new Response(body && (await new Response(body).bytes()), { status, headers });
    } catch (error) {
      if (late.aborted && until?.aborted !== true)
        throw new AppError("timeout", `${new URL(url).host} did not answer within ${requestMs / 1000} s.`);
      throw error;
    }
  };
}

/** The same fetch, which remembers the first request that was refused or not answered. */
function rememberRefusal(fetchFn: FetchLike) {
  let refused: AppError | undefined;
  const remembering: FetchLike = async (url, init) => {
    try {
      return await fetchFn(url, init);
    } catch (error) {
      if (error instanceof AppError && (error.code === "forbidden" || error.code === "timeout")) refused ??= error;
      throw error;
    }
  };
  return { fetchFn: remembering, refused: () => refused };
}

/** The server's sign-in parameters, from its response to a request without a token. */
async function challenge(
  server: RemoteServer,
  fetchFn: FetchLike,
  signal: AbortSignal,
): Promise<{ resourceMetadataUrl?: URL; scope?: string }> {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 0, method: "ping" });
  const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
  const response = await fetchFn(server.url, { method: "POST", headers, body, signal });
  await response.body?.cancel();
  if (response.status !== 401) return {};
  const { resourceMetadataUrl, scope } = extractWWWAuthenticateParams(response);
  return { ...(resourceMetadataUrl && { resourceMetadataUrl }), ...(scope !== undefined && { scope }) };
}
