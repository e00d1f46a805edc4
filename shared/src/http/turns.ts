import type { MiddlewareHandler } from "hono";

/** How long requests that arrive together begin at once, in milliseconds. */
const longestTurnMs = 1;

/**
 * How many of those that wait begin in each turn: more keep the first waiting for the last and have
 * more at hand whenever memory is collected, fewer take a commit each.
 */
const begunATurn = 32;

/** A middleware of `createTurns`: what is registered before it is answered meanwhile. */
export function takingTurns(): MiddlewareHandler {
  const wait = createTurns();
  return (_, next) => wait()?.then(next) ?? next();
}

/**
 * Lets requests that arrive together begin over several turns of the event loop, in their order, so
 * that others, such as health checks, are answered meanwhile: what it returns is waited for. Few
 * requests wait for nothing.
 */
export function createTurns(): () => Promise<void> | undefined {
  const waiting: (() => void)[] = [];
  let turnBegan: number | undefined;
  const turn = () => {
    turnBegan = waiting.length === 0 ? undefined : performance.now();
    if (turnBegan === undefined) return;
    setImmediate(turn);
    for (const begin of waiting.splice(0, begunATurn)) begin();
  };
  return () => {
    if (turnBegan === undefined) {
      turnBegan = performance.now();
      setImmediate(turn);
    } else if (waiting.length > 0 || performance.now() - turnBegan > longestTurnMs) {
      return new Promise<void>((begin) => waiting.push(begin));
    }
    return undefined;
  };
}
