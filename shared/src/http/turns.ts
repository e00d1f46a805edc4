import type { MiddlewareHandler } from "hono";

/** How long requests that arrive together may hold the event loop, in milliseconds. */
const longestTurnMs = 8;

/** How many of those that wait begin in each turn. */
const begunATurn = 16;

/**
 * Lets requests that arrive together begin over several turns of the event loop, in their order, so
 * that what is registered before, such as a health check, is answered meanwhile. Few requests wait
 * for nothing.
 */
export function takingTurns(): MiddlewareHandler {
  const waiting: (() => void)[] = [];
  let turnBegan: number | undefined;
  const turn = () => {
    turnBegan = waiting.length === 0 ? undefined : performance.now();
    if (turnBegan === undefined) return;
    setImmediate(turn);
    for (const begin of waiting.splice(0, begunATurn)) begin();
  };
  return (_, next) => {
    if (turnBegan === undefined) {
      turnBegan = performance.now();
      setImmediate(turn);
    } else if (waiting.length > 0 || performance.now() - turnBegan > longestTurnMs) {
      return new Promise<void>((begin) => waiting.push(begin)).then(next);
    }
    return next();
  };
}
