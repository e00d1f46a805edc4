import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { freePort } from "manyhands/internal/http/free-port";
import { skipped } from "manyhands/internal/testing/durable/skipped";
import {
  noPostgres,
  type PostgresProcess,
  postgresPrograms,
  startPostgres,
} from "../../shared/src/testing/durable/postgres-process.ts";
import { noRestate, restateProgram } from "../../shared/src/testing/durable/restate-node.ts";
import { type RestateProcess, startRestate } from "../../shared/src/testing/durable/restate-process.ts";
import { killInTheMiddle, patience, startBalancer } from "./kill-in-the-middle.ts";

/** Takeover takes some tens of milliseconds; a machine that others use too needs more to replay. */
const takenOverWithinMs = 5_000;

/** Every turn once, but for the one whose answer the killed replica was waiting for. */
function expectContinued({ state, asked, files, tookMs }: Awaited<ReturnType<typeof killInTheMiddle>>): void {
  expect(state).toBe("TASK_STATE_COMPLETED");
  expect(asked).toEqual([0, 1, 2, 3, 3, 4, 5, 6]);
  expect(files).toEqual(["0.txt", "1.txt", "2.txt", "3.txt", "4.txt", "5.txt"]);
  console.info(`Another replica went on after ${Math.round(tookMs)} ms.`);
  expect(tookMs).toBeLessThan(takenOverWithinMs);
}

if (postgresPrograms === undefined) skipped(noPostgres);
else
  describe("two replicas of an agent, of which one is killed in the middle of a task", () => {
    let server: PostgresProcess;
    beforeAll(async () => {
      server = await startPostgres();
    }, patience);
    afterAll(() => server[Symbol.asyncDispose](), patience);

    test(
      "on PostgreSQL the other goes on, and repeats nothing that was recorded",
      async () => {
        const url = await server.createDatabase();
        expectContinued(await killInTheMiddle({ MANYHANDS_ENGINE_KIND: "postgres", MANYHANDS_ENGINE_URL: url }));
      },
      3 * patience,
    );

    if (restateProgram === undefined) skipped(noRestate);
    else
      describe("with Restate", () => {
        let restate: RestateProcess;
        beforeAll(async () => {
          restate = await startRestate();
        }, patience);
        afterAll(() => restate[Symbol.asyncDispose](), patience);

        test(
          "the other goes on, and repeats nothing that was recorded",
          async () => {
            const ports = [freePort(), freePort()];
            using balancer = await startBalancer(ports);
            const engine = {
              MANYHANDS_ENGINE_KIND: "restate",
              MANYHANDS_ENGINE_URL: await server.createDatabase(),
              MANYHANDS_ENGINE_RESTATE_INGRESS: restate.ingress,
              MANYHANDS_ENGINE_RESTATE_ADMIN: restate.admin,
              MANYHANDS_ENGINE_RESTATE_PUBLIC_URL: balancer.url,
            };
            expectContinued(await killInTheMiddle(engine, ports));
          },
          3 * patience,
        );
      });
  });
