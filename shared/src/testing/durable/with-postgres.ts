import { afterAll, beforeAll } from "bun:test";
import { noPostgres, type PostgresProcess, postgresPrograms, startPostgres } from "./postgres-process.ts";
import { skipped } from "./skipped.ts";

const serverMs = 60_000;

/**
 * Defines a file's tests that need PostgreSQL, all with the same server; where none is installed,
 * one skipped test says so. `server` can be used in hooks and tests.
 */
export function withPostgres(define: (server: () => PostgresProcess) => void): void {
  if (postgresPrograms === undefined) {
    skipped(noPostgres);
    return;
  }
  let started: PostgresProcess | undefined;
  beforeAll(async () => {
    started = await startPostgres();
  }, serverMs);
  define(() => {
    if (started === undefined) throw new Error("The server starts before the first test.");
    return started;
  });
  // After the hooks of the tests themselves, which close what is connected.
  afterAll(() => started?.[Symbol.asyncDispose](), serverMs);
}
