import { expect, test } from "bun:test";
import { silentLog } from "../../core/runs/engine.ts";
import { noPostgres, postgresPrograms, startPostgres } from "../../testing/durable/postgres-process.ts";
import { Database } from "./database.ts";

if (postgresPrograms === undefined) test.skip(noPostgres, () => undefined);
else
  test("no statement is compiled, whatever the server does for others: that takes longer than any of them", async () => {
    await using server = await startPostgres();
    await using sql = new Bun.SQL({ url: server.url, max: 1 });
    await sql.unsafe("ALTER DATABASE postgres SET jit = on");
    const database = new Database({ url: server.url, schema: "public", connections: 1, log: silentLog });
    const [row] = await database.query<{ jit: string }>("SHOW jit");
    expect(row?.jit).toBe("off");
    await database.close();
  }, 60_000);
