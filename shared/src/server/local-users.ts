import type { Guard } from "../http/serve.ts";
import { openSocketOwner, type SocketOwner } from "../http/socket-owner.ts";

/** How a server keeps other users of its machine out. */
export type LocalUsers = {
  /** Left out where there is nothing to guard: every request needs the token, or the kernel does not tell users apart. */
  readonly guard?: Guard;
  /** What the operator should know; left out when all is well. */
  readonly note?: string;
};

/** What is said where users cannot be told apart. */
const cannotTell =
  "Other users of this machine cannot be told from you here, so every one of them may use a server that has no token. Where there are others, set MANYHANDS_TOKEN (or [server] token).";

/**
 * A server that asks for no token answers the user it belongs to, and root: a connection of any other local user is refused, whatever it
 * asks for. Loopback is no bound between users.
 */
export async function openLocalUsers(token: string | undefined): Promise<LocalUsers> {
  if (token !== undefined) return {};
  const owner = await openSocketOwner();
  return owner === undefined ? { note: cannotTell } : { guard: guardOf(owner, process.geteuid?.() ?? 0) };
}

/** Refuses a connection whose other end is held by neither `self` nor root, or by nobody any more. */
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
