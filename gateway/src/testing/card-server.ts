import { AgentCard } from "@a2a-js/sdk";
import { cardOf } from "manyhands/internal/testing/a2a/card";

/** An HTTP server that serves a card, or the answer it is set to give. */
export type CardServer = AsyncDisposable & {
  readonly url: string;
  card: AgentCard;
  /** If set, replaces the card. */
  answer: ((request: Request) => Response | Promise<Response>) | undefined;
  readonly asked: () => number;
};

/** Starts a server with a card of this name, on a free port or the one given. */
export function serveCard(name: string, port = 0): CardServer {
  let asked = 0;
  const server = Bun.serve({
    port,
    hostname: "127.0.0.1",
    reusePort: false,
    fetch(request) {
      asked++;
      if (shown.answer !== undefined) return shown.answer(request);
      if (!new URL(request.url).pathname.startsWith("/.well-known/")) return new Response("", { status: 404 });
      return Response.json(AgentCard.toJSON(shown.card));
    },
  });
  const url = `http://127.0.0.1:${server.port}`;
  const shown: CardServer = {
    url,
    card: cardOf(name, url),
    answer: undefined,
    asked: () => asked,
    [Symbol.asyncDispose]: () => server.stop(true),
  };
  return shown;
}
