import { closeAll } from "../../core/async/close-all.ts";
import { type Engine, silentLog } from "../../core/runs/engine.ts";
import { engineOn, type PostgresEngineOptions } from "../postgres/postgres-engine.ts";
import { Ingress } from "./ingress.ts";
import { RestateDispatcher } from "./restate-dispatcher.ts";
import { RestateEndpoint, type RestateEndpointOptions } from "./restate-endpoint.ts";

/** Where an engine on Restate and PostgreSQL finds both, and how Restate finds it. */
export type RestateEngineOptions = PostgresEngineOptions & {
  readonly restate: Omit<RestateEndpointOptions, "log"> & {
    /** Restate's ingress, such as `http://127.0.0.1:8080`: the addresses of its nodes. */
    readonly ingress: readonly string[];
  };
};

/**
 * An engine for several machines whose runs are in PostgreSQL, as those of `createPostgresEngine`,
 * while Restate decides which worker executes which. Runs are accepted and read without it.
 */
export function createRestateEngine(options: RestateEngineOptions): Engine {
  return engineOwning(endpointOf(options), options);
}

/**
 * The same engine for a process that executes runs: it listens for Restate already. Rejects with
 * `config_invalid` if it cannot.
 */
export async function openRestateEngine(options: RestateEngineOptions): Promise<Engine> {
  const endpoint = endpointOf(options);
  await endpoint.listen();
  return engineOwning(endpoint, options);
}

function endpointOf({ restate, log }: RestateEngineOptions): RestateEndpoint {
  return new RestateEndpoint({ ...restate, ...(log && { log }) });
}

function engineOwning(endpoint: RestateEndpoint, options: RestateEngineOptions): Engine {
  const engine = engineBehind(endpoint, options);
  return {
    ...engine,
    close: (closing) =>
      closeAll(
        () => engine.close(closing),
        () => endpoint.close(),
      ),
  };
}

/** An engine at an endpoint that several of this process may share. */
export function engineBehind(endpoint: RestateEndpoint, options: RestateEngineOptions): Engine {
  const ingress = new Ingress(options.restate.ingress, options.log ?? silentLog);
  return engineOn(options, (deps) => new RestateDispatcher({ ...deps, endpoint, ingress }));
}
