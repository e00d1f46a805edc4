import type { Result, Router } from "hono/router";
import { RegExpRouter } from "hono/router/reg-exp-router";
import { SmartRouter } from "hono/router/smart-router";
import { TrieRouter } from "hono/router/trie-router";

/**
 * Hono's usual router, which looks only once for what handles a path without parameters: most
 * requests are for such a path, and its slower half, which our patterns need, searches anew for
 * each of them.
 */
export class KnownPathsRouter<T> implements Router<T> {
  readonly name = "KnownPathsRouter";
  readonly #router = new SmartRouter<T>({ routers: [new RegExpRouter(), new TrieRouter()] });
  readonly #methods = new Set<string>();
  /** By path, then by method. */
  readonly #found = new Map<string, Map<string, Result<T>>>();

  add(method: string, path: string, handler: T): void {
    this.#router.add(method, path, handler);
    this.#methods.add(method);
    if (!/[:*{?]/.test(path)) this.#found.set(path, new Map());
  }

  match(method: string, path: string): Result<T> {
    const found = this.#found.get(path);
    const known = found?.get(method);
    if (known !== undefined) return known;
    const result = this.#router.match(method, path);
    // Others are as many as a caller can think of.
    if (this.#methods.has(method)) found?.set(method, result);
    return result;
  }
}
