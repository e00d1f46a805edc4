/** What the first and the second Ctrl-C (or SIGTERM) do. */
type Interrupts = { readonly dispose: () => void };

/**
 * One Ctrl-C may arrive twice: from the terminal, and from the `bun run` that started this process.
 */
const echoMs = 300;

/** Calls `first` on the first interrupt and `again` on each further one, until disposed. */
export function onInterrupt(first: () => void, again: () => void, clock = () => performance.now()): Interrupts {
  let firstAt: number | undefined;
  const handle = () => {
    const now = clock();
    if (firstAt === undefined) first();
    else if (now - firstAt > echoMs) again();
    firstAt ??= now;
  };
  process.on("SIGINT", handle);
  process.on("SIGTERM", handle);
  return {
    dispose() {
      process.off("SIGINT", handle);
      process.off("SIGTERM", handle);
    },
  };
}
