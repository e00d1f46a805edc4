import { afterEach, expect, mock, spyOn, test } from "bun:test";
import { silentLog } from "../../core/runs/engine.ts";
import { until } from "../../testing/durable/until.ts";
import { withPostgres } from "../../testing/durable/with-postgres.ts";
import { migratePostgres } from "../postgres/postgres-engine.ts";
import { RestateEndpoint } from "./restate-endpoint.ts";
import { createRestateEngine } from "./restate-engine.ts";

afterEach(() => mock.restore());

test("Restate's calls are answered until the engine has come to rest, and no longer", async () => {
  const order: string[] = [];
  const close = RestateEndpoint.prototype.close;
  spyOn(RestateEndpoint.prototype, "remove").mockImplementation(() => void order.push("worker left"));
  spyOn(RestateEndpoint.prototype, "close").mockImplementation(function (this: RestateEndpoint) {
    order.push("endpoint closed");
    return close.call(this);
  });
  const engine = createRestateEngine({
    url: "postgres://postgres@127.0.0.1:1/gone",
    restate: { admin: "http://127.0.0.1:1", ingress: ["http://127.0.0.1:1"], prefix: "p" },
  });
  const closing = engine.close({ graceMs: 0 });
  expect(order).toEqual([]);
  await closing;
  expect(order).toEqual(["worker left", "endpoint closed"]);
  await expect(engine.get("r")).rejects.toMatchObject({ code: "unavailable" });
});

withPostgres((server) => {
  test("a worker whose port for Restate is taken works on once it is free, and its process goes on", async () => {
    const told: unknown[] = [];
    const answer = async (request: Request) => {
      told.push(await request.json());
      return Response.json({});
    };
    await using admin = served(answer);
    const holder = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response() });
    const url = await server().createDatabase();
    await migratePostgres({ url });
    const restate = { admin: admin.url, ingress: [admin.url], prefix: "p", port: Number(holder.port) };
    const warnings: string[] = [];
    const log = { ...silentLog, warn: (_: unknown, said?: string) => void warnings.push(said ?? "") };
    const engine = createRestateEngine({ url, restate, log });
    engine.work([{ kind: "plain", execute: async () => "done" }]);
    await until(() => warnings.length > 0);
    expect(told).toEqual([]);
    await holder.stop(true);
    await until(() => told.length > 0);
    await engine.close({ graceMs: 0 });
  });
});

function served(fetch: (request: Request) => Promise<Response>) {
  const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch });
  return { url: server.url.origin, [Symbol.asyncDispose]: () => server.stop(true) };
}
