import { afterAll, beforeAll } from "bun:test";
import type { Engine } from "../../core/runs/engine.ts";
import {
  noPostgres,
  type PostgresProcess,
  postgresPrograms,
  startPostgres,
} from "../../testing/durable/postgres-process.ts";
import { noRestate, restateProgram } from "../../testing/durable/restate-node.ts";
import { type RestateProcess, startRestate } from "../../testing/durable/restate-process.ts";
import { skipped } from "../../testing/durable/skipped.ts";
import { until } from "../../testing/durable/until.ts";
import { engineConformance } from "../conformance.ts";
import { migratePostgres } from "../postgres/postgres-engine.ts";
import { RestateEndpoint } from "./restate-endpoint.ts";
import { engineBehind } from "./restate-engine.ts";

const missing = postgresPrograms === undefined ? noPostgres : restateProgram === undefined ? noRestate : undefined;
if (missing !== undefined) skipped(missing);
else {
  let server: PostgresProcess;
  let restate: RestateProcess;
  let made: string;
  // Its engines are replicas behind one address, which Restate learns of once and not with each
  // case.
  let endpoint: RestateEndpoint;
  const prefix = "conformance";
  beforeAll(async () => {
    [server, restate] = await Promise.all([startPostgres(), startRestate()]);
    made = await server.createDatabase();
    await migratePostgres({ url: made });
    endpoint = new RestateEndpoint({ admin: restate.admin, prefix });
  }, 60_000);
  afterAll(async () => {
    await endpoint.close();
    await restate[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
  }, 60_000);

  engineConformance("the engine on Restate and PostgreSQL", async () => {
    const url = made;
    const { ingress, admin } = restate;
    const opened: Engine[] = [];
    return {
      isFile: false,
      open() {
        const options = { url, stopMs: 500, connections: 4, restate: { admin, prefix, ingress: [ingress] } };
        const engine = engineBehind(endpoint, options);
        opened.push(engine);
        return engine;
      },
      async asked(runs) {
        await until(async () => (await restate.callsOf(prefix)) >= runs);
        // They are on their way, in an order of Restate's own.
        await Bun.sleep(200);
      },
      async dispose() {
        await Promise.all(opened.map((engine) => engine.close({ graceMs: 0 })));
        await restate.forget(prefix);
        await server.emptyDatabase(url);
      },
    };
  });
}
