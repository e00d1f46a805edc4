/** What an operation of a dropped body gets: it is collected with the body. */
export function never(): Promise<never> {
  return new Promise(() => undefined);
}
