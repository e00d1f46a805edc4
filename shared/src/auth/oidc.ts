import * as oauth from "oauth4webapi";
import { lazily } from "../core/async/lazy.ts";
import { type Caller, callerNamed } from "../core/caller.ts";
import { AppError } from "../core/errors.ts";
import { refusal } from "./identify.ts";
import { issuerFetch } from "./issuer-fetch.ts";
import { callerOfClaims, principalOfClaims } from "./jwt.ts";

/** Where people sign in, and what the claims of their ID token mean. */
export type OidcConfig = {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: { readonly text: string } | { readonly file: string } | undefined;
  readonly principalClaim: string;
  /** If undefined, everybody who signs in may read and run. */
  readonly scopesClaim: string | undefined;
  /** What the issuer is asked for besides what the claims need. */
  readonly scopes: readonly string[];
  readonly sessionMs: number;
};

/** What a browser keeps between leaving for the issuer and coming back. */
export type SignInState = { readonly state: string; readonly nonce: string; readonly verifier: string };

/** Signs people in by the authorization code flow with PKCE. */
export interface Oidc {
  /** The issuer's address to go to. Rejects with `unavailable`. */
  begin(callback: string): Promise<{ readonly url: URL; readonly kept: SignInState }>;
  /**
   * Who has signed in, by the address to which the issuer sent them back. Rejects with
   * `unauthorized`, or with `unavailable` if the issuer fails.
   */
  finish(returned: URL, callback: string, kept: SignInState): Promise<Caller>;
}

const fetchMs = 10_000;

/** Signs in at the issuer of the settings, whose description is read at the first use. */
export function createOidc(config: OidcConfig): Oidc {
  // The settings allow plain HTTP on this machine alone.
  const issuer = new URL(config.issuer);
  const client: oauth.Client = { client_id: config.clientId };
  const options = () => ({
    signal: AbortSignal.timeout(fetchMs),
    [oauth.customFetch]: issuerFetch,
    [oauth.allowInsecureRequests]: issuer.protocol === "http:",
  });
  const server = lazily(() =>
    reachably(async () => oauth.processDiscoveryResponse(issuer, await oauth.discoveryRequest(issuer, options()))),
  );
  return {
    async begin(callback) {
      const { authorization_endpoint: endpoint } = await server.get();
      if (endpoint === undefined) throw new AppError("unavailable", `${config.issuer} has no sign-in endpoint.`);
      const kept = {
        state: oauth.generateRandomState(),
        nonce: oauth.generateRandomNonce(),
        verifier: oauth.generateRandomCodeVerifier(),
      };
      const url = new URL(endpoint);
      const asked = {
        client_id: config.clientId,
        redirect_uri: callback,
        response_type: "code",
        scope: askedScopes(config).join(" "),
        state: kept.state,
        nonce: kept.nonce,
        code_challenge: await oauth.calculatePKCECodeChallenge(kept.verifier),
        code_challenge_method: "S256",
      };
      for (const [name, value] of Object.entries(asked)) url.searchParams.set(name, value);
      return { url, kept };
    },
    async finish(returned, callback, { state, nonce, verifier }) {
      const described = await server.get();
      const secret = await secretOf(config);
      const shown = secret === undefined ? oauth.None() : oauth.ClientSecretBasic(secret);
      const claims = await reachably(async () => {
        const code = oauth.validateAuthResponse(described, client, returned, state);
        const request = oauth.authorizationCodeGrantRequest;
        const answer = await request(described, client, shown, code, callback, verifier, options());
        const checks = { expectedNonce: nonce, requireIdToken: true };
        const tokens = await oauth.processAuthorizationCodeResponse(described, client, answer, checks);
        const claims = oauth.getValidatedIdTokenClaims(tokens);
        if (claims === undefined || !lacks(claims, config) || described.userinfo_endpoint === undefined) return claims;
        // Issuers may keep the claims of a scope out of the ID token, and tell them here.
        const told = await oauth.userInfoRequest(described, client, tokens.access_token, options());
        return { ...(await oauth.processUserInfoResponse(described, client, claims.sub, told)), ...claims };
      });
      if (claims === undefined) throw refusal("sign-in: no ID token");
      const { principalClaim, scopesClaim } = config;
      if (scopesClaim !== undefined) return callerOfClaims(claims, { principalClaim, scopesClaim, scopePrefix: "" });
      return callerNamed(principalOfClaims(claims, principalClaim), ["read", "run"]);
    },
  };
}

/** The scopes by which the claims of OpenID Connect are asked for; others are up to the issuer. */
const scopesOfClaims: Readonly<Record<string, readonly string[]>> = {
  email: ["email", "email_verified"],
  profile: ["name", "given_name", "family_name", "middle_name", "nickname", "preferred_username"],
  phone: ["phone_number"],
};

function askedScopes({ principalClaim, scopesClaim = "", scopes }: OidcConfig): readonly string[] {
  const needed = Object.entries(scopesOfClaims).flatMap(([scope, claims]) =>
    claims.includes(principalClaim) || claims.includes(scopesClaim) ? [scope] : [],
  );
  return [...new Set(["openid", ...needed, ...scopes])];
}

function lacks(claims: object, { principalClaim, scopesClaim = principalClaim }: OidcConfig): boolean {
  return [principalClaim, scopesClaim].some((claim) => !Object.hasOwn(claims, claim));
}

async function secretOf({ clientSecret }: OidcConfig): Promise<string | undefined> {
  if (clientSecret === undefined || "text" in clientSecret) return clientSecret?.text;
  try {
    return (await Bun.file(clientSecret.file).text()).trim();
  } catch (cause) {
    throw new AppError("unavailable", "The secret for signing in cannot be read.", { cause });
  }
}

/** The codes of an issuer's answer that says nothing: another status than asked for, or no JSON. */
const unanswered: readonly string[] = [oauth.RESPONSE_IS_NOT_CONFORM, oauth.PARSE_ERROR];

/**
 * Tells an answer that does not fit, which is a refusal, from an issuer that cannot be asked or has
 * no answer, whose status says nothing of the person.
 */
async function reachably<Value>(ask: () => Promise<Value>): Promise<Value> {
  try {
    return await ask();
  } catch (cause) {
    const refused =
      cause instanceof oauth.AuthorizationResponseError ||
      cause instanceof oauth.ResponseBodyError ||
      (cause instanceof oauth.OperationProcessingError && !unanswered.includes(cause.code ?? ""));
    if (refused) throw refusal(`sign-in: ${cause.message}`);
    throw new AppError("unavailable", "The issuer for signing in cannot be asked now.", { cause });
  }
}
