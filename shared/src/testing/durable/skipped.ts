import { test } from "bun:test";

/**
 * Stands for tests that need what this machine lacks: one skipped test with these words, which say
 * what to install.
 */
export function skipped(why: string): void {
  test.skip(why, () => undefined);
}
