/** What the first and the second Ctrl-C (or SIGTERM) do. */
export type Interrupts = { readonly dispose: () => void };

/** Calls `first` once and then `again` for each further one, until disposed. */
export function onInterrupt(first: () => void, again: () => void): Interrupts {
  let count = 0;
  const handle = () => (++count === 1 ? first() : again());
  process.on("SIGINT", handle);
  process.on("SIGTERM", handle);
  return {
    dispose() {
      process.off("SIGINT", handle);
      process.off("SIGTERM", handle);
    },
  };
}
