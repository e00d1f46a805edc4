/** Something that is made when it is first needed. */
export type Lazy<T> = {
  /** Makes it if it has not been made; after a failure the next call tries again. */
  get(): Promise<T>;
  /** What has been made, or is being made. */
  made(): Promise<T> | undefined;
};

/** Makes something once, when it is first needed. */
export function lazily<T>(make: () => Promise<T>): Lazy<T> {
  let making: Promise<T> | undefined;
  return {
    get() {
      making ??= make().catch((error) => {
        making = undefined;
        throw error;
      });
      return making;
    },
    made: () => making,
  };
}
