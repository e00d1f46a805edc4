import { timingSafeEqual } from "node:crypto";
import type { AgentFacts } from "../a2a/server/card.ts";
import { AppError } from "../core/errors.ts";
import type { Guard } from "../http/serve.ts";
import { openSocketOwner, type SocketOwner } from "../http/socket-owner.ts";

/** How a card says that the token is wanted (A2A 1.0 section 4.5). */
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

/** Everyone who may use a server that knows one secret, or none, is the same principal. */
const principal = "local";

/**
 * Who sends a request. With a token configured it must be carried as `Authorization: Bearer …`;
 * rejects with `unauthorized` where it is missing or wrong.
 */
export function identifyBy(token: string | undefined): (request: Request) => string {
  if (token === undefined) return () => principal;
  const expected = digest(token);
  return (request) => {
    const [scheme, given] = request.headers.get("authorization")?.split(" ", 2) ?? [];
    const right = scheme?.toLowerCase() === "bearer" && given !== undefined && timingSafeEqual(digest(given), expected);
    if (!right) throw new AppError("unauthorized", "Send this server's token as `Authorization: Bearer TOKEN`.");
    return principal;
  };
}

function digest(text: string): Uint8Array {
  return new Bun.CryptoHasher("sha256").update(text).digest();
}

/** How a server keeps other users of its machine out. */
export type LocalUsers = {
  /**
   * Left out where there is nothing to guard: every request needs the token, or the kernel does not
   * tell users apart.
   */
  readonly guard?: Guard;
  /** What the operator should know; left out when all is well. */
  readonly note?: string;
};

/** What is said where users cannot be told apart. */
const cannotTell =
  "Other users of this machine cannot be told from you here, so every one of them may use a server that has no token. Where there are others, set MANYHANDS_TOKEN (or [server] token).";

/**
 * A server that asks for no token answers the user it belongs to, and root: a connection of any
 * other local user is refused, whatever it asks for. Loopback is no bound between users.
 */
export async function openLocalUsers(token: string | undefined): Promise<LocalUsers> {
  if (token !== undefined) return {};
  const owner = await openSocketOwner();
  return owner === undefined ? { note: cannotTell } : { guard: guardOf(owner, process.geteuid?.() ?? 0) };
}

/**
 * Refuses a connection whose other end is held by neither `self` nor root, or by nobody any more.
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
