import type { Config } from "manyhands/internal/config/config";
import { engineText } from "manyhands/internal/config/storage/engine-config";
import { closeAll } from "manyhands/internal/core/async/close-all";
import { AppError } from "manyhands/internal/core/errors";
import { serve } from "manyhands/internal/http/serve";
import { openAuthentication, openLocalUsers } from "manyhands/internal/server/access";
import { openModel } from "manyhands/internal/server/open-model";
import { openTelemetry } from "manyhands/internal/server/open-telemetry";
import { openGrpc } from "manyhands/internal/server/protocols/open-grpc";
import { publicUrlOf, reachable, runServer, sayReady } from "manyhands/internal/server/run-server";
import { startIndexing } from "manyhands/internal/server/storage/indexing";
import { bucketNote } from "manyhands/internal/server/storage/open-artifacts";
import { openEngine } from "manyhands/internal/server/storage/open-engine";
import { isSaid, limitsOf, openShared } from "manyhands/internal/server/storage/open-shared";
import { startSweeping } from "manyhands/internal/server/storage/sweeping";
import type pino from "pino";
import { flowList } from "../flows/flow-list.ts";
import { loadFlows } from "../flows/load-flows.ts";
import { type OpenGateway, openGateway } from "./open-gateway.ts";

/**
 * Runs the gateway until a signal ends it: resumes the runs of a former process, listens, and
 * prints `ready URL`. Exits with code 2 for an invalid configuration and 1 for anything else that
 * prevents its start; both print the reason.
 */
export function serveGateway(): Promise<void> {
  return runServer("gateway", start);
}

async function start(config: Config, logger: pino.Logger): Promise<void> {
  const { home, server } = config;
  const flows = flowList(await loadFlows(config));
  const report = (bug: unknown) => logger.error({ err: bug }, "unexpected failure");
  const shared = await openShared(config, logger);
  const { model, close: closeModel } = await openModel(config.flows.model, { logger, ...limitsOf(shared) });
  const stored = await openEngine(config, { log: logger, port: server.port ?? config.gateway.port });
  const traced = { name: "gateway", operation: "invoke_workflow", log: logger } as const;
  const { engine, metrics } = await openTelemetry(stored, config, traced);
  const { guard, note } = await openLocalUsers(server);
  const authentication = await openAuthentication(config, shared, logger);
  let gateway: OpenGateway | undefined;
  const stops = [startSweeping(config, { engine, log: logger }), startIndexing(engine, logger)];
  const grpc = await openGrpc(server.grpcPort ?? config.gateway.grpcPort, {
    hostname: server.host,
    tls: server.tls,
    guard,
    identify: authentication.access.identify,
    report,
    handlerOf(tenant) {
      if (gateway === undefined) throw new AppError("unavailable", "The gateway is starting.");
      return gateway.app.handlerOf(tenant);
    },
  });
  const served = serve(
    {
      fetch: (request) =>
        gateway?.app.fetch(request) ??
        Response.json(
          { ready: false, reasons: ["The gateway is starting."] },
          { status: 503, headers: { "Retry-After": "1" } },
        ),
    },
    {
      port: server.port ?? config.gateway.port,
      hostname: server.host,
      tls: server.tls,
      guard,
      drain: grpc?.stop,
      async close() {
        const ends = [...stops, gateway?.stop];
        await closeAll(...ends, () => engine.close({ graceMs: 5_000 }), [gateway?.close, closeModel], shared.close);
      },
    },
  );
  const publicUrl = publicUrlOf(served.url, server.publicUrl, config.gateway);
  const url = reachable(served.url);
  const parts = { config, flows, engine, model, url, publicUrl, grpc, authentication, shared, metrics, logger, report };
  gateway = await openGateway(parts);
  for (const said of [...config.notes, ...[note, shared.note, bucketNote(config)].filter(isSaid)]) logger.warn(said);
  logger.info({ url: served.url.href, model: model.name, engine: engineText(config.engine, home) }, "listening");
  sayReady(served.url);
}
