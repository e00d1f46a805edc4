import { timingSafeEqual } from "node:crypto";
import type { AgentFacts } from "../a2a/server/card.ts";
import { type Caller, localCaller } from "../core/caller.ts";
import { AppError } from "../core/errors.ts";
import type { Guard } from "../http/serve.ts";
import { openSocketOwner, type SocketOwner } from "../http/socket-owner.ts";

/** How a card asks for the token (A2A 1.0 section 4.5). */
export const bearerSecurity = {
  securitySchemes: {
    bearer: {
      scheme: {
        $case: "httpAuthSecurityScheme",
        value: { scheme: "Bearer", bearerFormat: "", description: "The token this server was started with." },
      },
    },
  },
  securityRequirements: [{ schemes: { bearer: { list: [] } } }],
} satisfies AgentFacts["security"];

/**
 * The caller of a request: a server with one token, or none, has a single one. If a token is
 * configured, the request needs `Authorization: Bearer …`; rejects with `unauthorized` if it is
 * missing or wrong.
 */
export function identifyBy(token: string | undefined): (request: { readonly headers: Headers }) => Caller {
  if (token === undefined) return () => localCaller;
  const expected = digest(token);
  return (request) => {
    const [scheme, given] = request.headers.get("authorization")?.split(" ", 2) ?? [];
    const right = scheme?.toLowerCase() === "bearer" && given !== undefined && timingSafeEqual(digest(given), expected);
    if (!right) throw new AppError("unauthorized", "Send this server's token as `Authorization: Bearer TOKEN`.");
    return localCaller;
  };
}

function digest(text: string): Uint8Array {
  return new Bun.CryptoHasher("sha256").update(text).digest();
}

/** How a server keeps out other users of its machine. */
export type LocalUsers = {
  /** Left out if every request needs the token, or if the kernel cannot tell users apart. */
  readonly guard?: Guard;
  /** A warning for the operator, if there is one. */
  readonly note?: string;
};

/** The warning if users cannot be told apart. */
const cannotTell =
  "Other users of this machine cannot be told from you here, so every one of them may use a server that has no token. Where there are others, set MANYHANDS_TOKEN (or [server] token).";

/**
 * A server without a token answers only its own user and root, since loopback does not separate
 * users: connections of other local users are refused, whatever they ask for.
 */
export async function openLocalUsers(token: string | undefined): Promise<LocalUsers> {
  if (token !== undefined) return {};
  const owner = await openSocketOwner();
  return owner === undefined ? { note: cannotTell } : { guard: guardOf(owner, process.geteuid?.() ?? 0) };
}

/**
 * Refuses a connection whose other end belongs to neither `self` nor root, or to nobody any more.
 */
export function guardOf(owner: SocketOwner, self: number): Guard {
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
