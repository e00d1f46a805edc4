import { AppError } from "../../../core/errors.ts";
import { sameSecret } from "../../../core/text/same-secret.ts";
import { sanitizeLine } from "../../../core/text/sanitize.ts";

/** The parameters of a browser's callback. */
export type CallbackAnswer = { readonly code: string; readonly iss: string | undefined };

/** A loopback URL to which a browser returns after signing in. Close it with `using`. */
export type Callback = Disposable & {
  readonly url: string;
  /**
   * The first answer with this state; all others are rejected. Rejects if signing in was refused,
   * or with the signal's reason.
   */
  answer(state: string, signal: AbortSignal): Promise<CallbackAnswer>;
};

/** Listens on a free loopback port. */
export function startCallback(): Callback {
  const answered = Promise.withResolvers<CallbackAnswer>();
  answered.promise.catch(() => undefined);
  let expected: string | undefined;
  const bun = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch(request) {
      const { pathname, searchParams } = new URL(request.url);
      const state = searchParams.get("state") ?? "";
      if (pathname !== "/callback" || expected === undefined || !sameSecret(state, expected))
        return page("There is nothing here.", 404);
      const code = searchParams.get("code");
      // Accepted once: a repeated code comes from somebody else.
      expected = undefined;
      if (code === null) {
        const why = sanitizeLine(searchParams.get("error") ?? "no code came back", 100);
        answered.reject(new AppError("unauthorized", `signing in was refused (${why}).`));
        return page("Signing in was refused. You can close this page.", 200);
      }
      answered.resolve({ code, iss: searchParams.get("iss") ?? undefined });
      return page("You are signed in. You can close this page.", 200);
    },
  });
  return {
    url: `http://127.0.0.1:${bun.port}/callback`,
    answer(state, signal) {
      expected = state;
      const giveUp = () => answered.reject(signal.reason);
      // A signal that has aborted already tells nobody.
      if (signal.aborted) giveUp();
      else signal.addEventListener("abort", giveUp, { once: true });
      return answered.promise;
    },
    [Symbol.dispose]: () => void bun.stop(),
  };
}

function page(text: string, status: number): Response {
  return new Response(text, { status, headers: { "content-type": "text/plain", "cache-control": "no-store" } });
}
