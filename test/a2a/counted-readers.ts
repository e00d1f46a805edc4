import type { Engine } from "manyhands/internal/core/engine";

/** Counts the readers that follow a journal of an engine. */
export type CountedReaders = { readonly engine: (real: Engine) => Engine; readonly count: () => number };

/** Counts from 0; give `engine` to a server. */
export function countedReaders(): CountedReaders {
  let following = 0;
  return {
    count: () => following,
    engine(real) {
      const follow = real.follow.bind(real);
      return Object.assign(real, {
        async *follow(...args: Parameters<Engine["follow"]>) {
          following++;
          try {
            yield* follow(...args);
          } finally {
            following--;
          }
        },
      });
    },
  };
}
