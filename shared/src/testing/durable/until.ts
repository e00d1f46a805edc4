/** Resolves once `done` holds; fails after `withinMs`. */
export async function until(done: () => boolean | Promise<boolean>, withinMs = 60_000): Promise<void> {
  const deadline = performance.now() + withinMs;
  while (!(await done())) {
    if (performance.now() > deadline) throw new Error("It did not happen in time.");
    await Bun.sleep(3);
  }
}
