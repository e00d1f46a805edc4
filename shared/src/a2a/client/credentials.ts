import { lazily } from "../../core/async/lazy.ts";
import type { Fetch } from "./client-fetch.ts";
import { readCredentialFile, readSecret, type Secret } from "./secret.ts";
import { isSameServer } from "./server-address.ts";
import { createTokenSource, type TokenRequest } from "./token-source.ts";

/** What shows an agent who calls it. */
export type Credentials = {
  readonly identity?:
    | { readonly kind: "bearer"; readonly secret: Secret }
    | { readonly kind: "api_key"; readonly secret: Secret; readonly header: string }
    | ({ readonly kind: "oauth" | "token_exchange" } & TokenRequest);
  /** For mutual TLS: files in PEM form. */
  readonly tls?: {
    readonly cert?: string | undefined;
    readonly key?: string | undefined;
    readonly ca?: string | undefined;
    /** The name its certificate is for, if not that of its address. */
    readonly serverName?: string | undefined;
  };
};

/** The credentials of a bearer token. */
export function bearerCredentials(token: string): Credentials {
  return { identity: { kind: "bearer", secret: { text: token } } };
}

/**
 * A fetch that shows the credentials to the server at `url` and to no other, and follows no
 * redirect. A token that was fetched is renewed before it expires, and once if it is refused.
 * Rejects with `unauthorized` if there is none to be had; no error contains a secret.
 */
export function authorizedFetch(inner: Fetch, credentials: Credentials | undefined, url: string): Fetch {
  if (credentials === undefined) return inner;
  const { identity } = credentials;
  const tokens = identity && "tokenUrl" in identity ? createTokenSource(identity, inner) : undefined;
  const tls = lazily(() => readTls(credentials.tls));
  const shown = async (renew: boolean): Promise<Record<string, string>> => {
    if (tokens !== undefined) return { Authorization: `Bearer ${await tokens.token(renew)}` };
    if (identity === undefined || "tokenUrl" in identity) return {};
    const secret = await readSecret(identity.secret);
    return identity.kind === "bearer" ? { Authorization: `Bearer ${secret}` } : { [identity.header]: secret };
  };
  return async (input, init = {}) => {
    if (!isSameServer(input instanceof Request ? input.url : input, url)) return inner(input, init);
    const call = async (renew: boolean) => {
      // In whichever case a call names the header, only what is shown here is sent.
      const headers = new Headers(init.headers);
      for (const [name, value] of Object.entries(await shown(renew))) headers.set(name, value);
      const secure = await tls.get();
      return inner(input, { ...init, redirect: "error", headers, ...(secure && { tls: secure }) });
    };
    const answer = await call(false);
    const mayRepeat = init.body === undefined || init.body === null || typeof init.body === "string";
    if (answer.status !== 401 || tokens === undefined || !mayRepeat) return answer;
    await answer.body?.cancel();
    return call(true);
  };
}

/** The files in the form that connections take; undefined if there are none. */
export async function readTls({ cert, key, ca, serverName }: NonNullable<Credentials["tls"]> = {}) {
  const read = async (path: string | undefined) => (path === undefined ? undefined : readCredentialFile(path));
  const files = { cert: await read(cert), key: await read(key), ca: await read(ca) };
  const named = Object.entries({ ...files, serverName }).filter(([, text]) => text !== undefined);
  return named.length === 0 ? undefined : Object.fromEntries(named);
}
