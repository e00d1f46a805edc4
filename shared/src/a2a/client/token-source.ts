import * as z from "zod";
import { answerWithin } from "../../core/async/at-most.ts";
import { AppError } from "../../core/errors.ts";
import { jsonOf } from "../../core/json.ts";
import type { Fetch } from "./client-fetch.ts";
import { readSecret, type Secret } from "./secret.ts";

/**
 * How to get an access token: by OAuth client credentials (RFC 6749 section 4.4) or, if there is a
 * `subject`, in exchange for that token (RFC 8693).
 */
export type TokenRequest = {
  readonly tokenUrl: string;
  readonly clientId?: string | undefined;
  readonly secret?: Secret | undefined;
  readonly subject?: Secret | undefined;
  readonly scopes: readonly string[];
  readonly audience?: string | undefined;
};

/** Access tokens from an authorization server. */
export interface TokenSource {
  /**
   * The current token, or with `renew` another one. Many callers at once share one request. Rejects
   * with `unauthorized` if the server refuses, `unavailable` if it cannot be asked.
   */
  token(renew: boolean): Promise<string>;
}

const timeoutMs = 10_000;
/** The age at which a token without `expires_in` is renewed. */
const usualSeconds = 300;
/** A token is renewed this long before it expires, or at half its life if that is shorter. */
const marginMs = 60_000;
const longestAnswer = 100_000;

const tokenAnswer = z.looseObject({
  access_token: z.string().min(1),
  expires_in: z.coerce.number().min(0).default(usualSeconds),
});
const refusal = z.looseObject({ error: z.string().regex(/^[\w.-]{1,60}$/) });

/** A source that asks the token endpoint of the request, without following redirects. */
export function createTokenSource(request: TokenRequest, inner: Fetch): TokenSource {
  let known: { readonly token: string; readonly until: number } | undefined;
  let asking: Promise<string> | undefined;
  const ask = async () => {
    const { access_token: token, expires_in } = await fetchToken(request, inner);
    const lifeMs = expires_in * 1000;
    known = { token, until: performance.now() + lifeMs - Math.min(marginMs, lifeMs / 2) };
    return token;
  };
  return {
    async token(renew) {
      if (!renew && known !== undefined && performance.now() < known.until) return known.token;
      asking ??= ask().finally(() => {
        asking = undefined;
      });
      return asking;
    },
  };
}

async function fetchToken(request: TokenRequest, inner: Fetch): Promise<z.output<typeof tokenAnswer>> {
  const { host } = new URL(request.tokenUrl);
  const { headers, body } = await formOf(request);
  const signal = AbortSignal.timeout(timeoutMs);
  let status: number;
  let text: string;
  try {
    const answer = await inner(request.tokenUrl, { method: "POST", headers, body, redirect: "error", signal });
    ({ status } = answer);
    text = await answerWithin(longestAnswer, answer).text();
  } catch (error) {
    const why = signal.aborted ? ` within ${timeoutMs / 1000} s` : "";
    throw new AppError("unavailable", `The token endpoint at ${host} did not answer${why}.`, { cause: error });
  }
  const found = status === 200 ? tokenAnswer.safeParse(jsonOf(text)).data : undefined;
  if (found !== undefined) return found;
  if (status < 400 || status >= 500 || status === 429)
    throw new AppError("unavailable", `The token endpoint at ${host} gave no token (HTTP status ${status}).`);
  // Of what it says only the code is repeated: the rest could echo what was sent.
  const said = refusal.safeParse(jsonOf(text)).data?.error ?? `HTTP status ${status}`;
  throw new AppError("unauthorized", `The token endpoint at ${host} refused to give a token: ${said}.`);
}

async function formOf({ clientId, secret, subject, scopes, audience }: TokenRequest) {
  const fields = {
    ...(subject === undefined
      ? { grant_type: "client_credentials" }
      : {
          grant_type: "urn:ietf:params:oauth:grant-type:token-exchange",
          subject_token: await readSecret(subject),
          subject_token_type: "urn:ietf:params:oauth:token-type:access_token",
        }),
    ...(scopes.length > 0 && { scope: scopes.join(" ") }),
    ...(audience !== undefined && { audience }),
    ...(clientId !== undefined && secret === undefined && { client_id: clientId }),
  };
  const headers: Record<string, string> = {
    "Content-Type": "application/x-www-form-urlencoded",
    Accept: "application/json",
  };
  if (clientId !== undefined && secret !== undefined) {
    const pair = [clientId, await readSecret(secret)].map(encodeURIComponent).join(":");
    headers.Authorization = `Basic ${Buffer.from(pair).toString("base64")}`;
  }
  return { headers, body: new URLSearchParams(fields).toString() };
}
