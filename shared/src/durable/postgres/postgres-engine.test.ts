import { afterAll, beforeAll, test } from "bun:test";
import type { Engine } from "../../core/engine.ts";
import {
  noPostgres,
  type PostgresProcess,
  postgresPrograms,
  startPostgres,
} from "../../testing/durable/postgres-process.ts";
import { engineConformance } from "../conformance.ts";
import { createPostgresEngine, migratePostgres } from "./postgres-engine.ts";

if (postgresPrograms === undefined) test.skip(noPostgres, () => undefined);
else {
  let server: PostgresProcess;
  let made: string;
  beforeAll(async () => {
    server = await startPostgres();
    made = await server.createDatabase();
    await migratePostgres({ url: made });
  }, 60_000);
  afterAll(() => server[Symbol.asyncDispose](), 60_000);

  engineConformance("the engine on PostgreSQL", async () => {
    const url = await server.createDatabase(made);
    const opened: Engine[] = [];
    return {
      isFile: false,
      open() {
        const engine = createPostgresEngine({ url, stopMs: 500, connections: 4 });
        opened.push(engine);
        return engine;
      },
      async dispose() {
        await Promise.all(opened.map((engine) => engine.close({ graceMs: 0 })));
        await server.dropDatabase(url);
      },
    };
  });
}
