import type { Engine } from "manyhands/internal/core/runs/engine";

/** Counts the readers that follow a journal of an engine. */
export type CountedReaders = { readonly engine: (real: Engine) => Engine; readonly count: () => number };

/** Counts from 0; give `engine` to a server. */
export function countedReaders(): CountedReaders {
  let following = 0;
  return {
    count: () => following,
    engine(real) {
      const follow = real.follow.bind(real);
      const counted = async function* <Item>(items: AsyncIterable<Item>) {
        following++;
        try {
          yield* items;
        } finally {
          following--;
        }
      };
      return Object.assign(real, {
        follow(...args: Parameters<Engine["follow"]>): ReturnType<Engine["follow"]> {
          const items = follow(...args);
          return {
            pages: () => counted(items.pages()),
            [Symbol.asyncIterator]: () => counted(items),
          };
        },
      });
    },
  };
}
