import type { CardFacts } from "../a2a/server/card.ts";
import type { AuthStore } from "../auth/auth-store.ts";
import { identifyBy } from "../auth/identify.ts";
import { cardSecurity } from "../auth/security.ts";
import type { Config } from "../config/config.ts";
import type { CallerRequest, Identify } from "../core/caller.ts";
import type { ReportRefusal } from "../http/challenge.ts";
import type { ConnectionGuard } from "../http/serve.ts";
import { openSocketOwner, type SocketOwner } from "../http/socket-owner.ts";
import { createQuotas, type Quotas } from "../runs/quotas.ts";
import type { Shared } from "./storage/open-shared.ts";

/** How a server authenticates its callers, and what they may use. */
export type Authentication = {
  /**
   * What its app needs: who calls and what they may use, the issuer of the JWTs it accepts, and
   * where refusals go.
   */
  readonly access: {
    readonly identify: Identify;
    readonly quotas: Quotas;
    readonly issuer?: string | undefined;
    readonly refused: ReportRefusal;
  };
  /** For its card; empty if it answers everybody. */
  readonly facts: Pick<CardFacts, "security">;
  /** The tokens and sessions of the system; undefined if it answers everybody. */
  readonly store: AuthStore | undefined;
  close(): Promise<void>;
};

/** Opens what the settings say. */
export async function openAuthentication(
  { server, auth, quotas: limits }: Pick<Config, "server" | "auth" | "quotas">,
  shared: Pick<Shared, "tokens" | "requests">,
  log: { warn(fields: object, message: string): void },
): Promise<Authentication> {
  const { token, tls } = server;
  const clientCertificate = tls?.clientCa !== undefined;
  const quotas = createQuotas(limits, shared.requests);
  // One whose caller was refused has been told, with the reason.
  const logged = new WeakSet<CallerRequest>();
  const refused: ReportRefusal = (told, request) => {
    if (!logged.has(request)) log.warn(told, "a request was refused");
    logged.add(request);
  };
  if (token === undefined)
    return {
      access: { identify: identifyBy({ token }), quotas, refused },
      facts: clientCertificate ? { security: cardSecurity({ clientCertificate, tokens: false }) } : {},
      store: undefined,
      close: async () => undefined,
    };
  const store = shared.tokens();
  // Verifying JWTs is code that most servers never load.
  const jwt = auth.jwt && (await import("../auth/jwt.ts")).jwtVerifier(auth.jwt);
  const identify = identifyBy({
    token,
    store,
    ...(jwt && { jwt }),
    ...(auth.oidc && { sessions: store }),
    refused({ reason, status }, request) {
      logged.add(request);
      const path = new URL(request.url).pathname.slice(0, 200);
      log.warn({ method: request.method, path, status, reason }, "a request was refused");
    },
  });
  const issuer = auth.jwt?.issuer;
  const security = cardSecurity({ issuer, clientCertificate });
  return { access: { identify, quotas, issuer, refused }, facts: { security }, store, close: () => store.close() };
}

/** How a server keeps out other users of its machine. */
export type LocalUsers = {
  /** Left out if every request needs the token, or if the kernel cannot tell users apart. */
  readonly guard?: ConnectionGuard;
  /** A warning for the operator, if there is one. */
  readonly note?: string;
};

/** The warning if users cannot be told apart. */
const cannotTell =
  "Other users of this machine cannot be told from you here, so every one of them may use a server that has no token. Where there are others, set MANYHANDS_TOKEN (or [server] token).";

/**
 * A server without a token or client certificates answers only its own user and root, since
 * loopback does not separate users: connections of other local users are refused, whatever they ask
 * for.
 */
export async function openLocalUsers({ token, tls }: Pick<Config["server"], "token" | "tls">): Promise<LocalUsers> {
  if (token !== undefined || tls?.clientCa !== undefined) return {};
  const owner = await openSocketOwner();
  return owner === undefined ? { note: cannotTell } : { guard: guardOf(owner, process.geteuid?.() ?? 0) };
}

/**
 * Refuses a connection whose other end belongs to neither `self` nor root, or to nobody any more.
 */
export function guardOf(owner: SocketOwner, self: number): ConnectionGuard {
  return (client, own) => {
    const user = owner(client, own);
    return user === self || user === 0 ? undefined : refusal();
  };
}

function refusal(): Response {
  const body = {
    type: "about:blank",
    title: "Unauthorized",
    status: 401,
    code: "unauthorized",
    detail:
      "Without a token this server answers only the user it runs as, and root. Start it with MANYHANDS_TOKEN (or [server] token) and send that as `Authorization: Bearer TOKEN`.",
    retryable: false,
  };
  const headers = { "Content-Type": "application/problem+json", "WWW-Authenticate": "Bearer" };
  return new Response(JSON.stringify(body), { status: body.status, headers });
}
