import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "../../config/config.ts";
import { besideConnections, engineText } from "../../config/storage/engine-config.ts";
import { AppError } from "../../core/errors.ts";
import type { Engine, Log } from "../../core/runs/engine.ts";
import { type CrashPoint, crashPointText } from "../../durable/sqlite/disk/crash-point.ts";
import { storeFailure } from "../../durable/sqlite/disk/store-check.ts";
import { createEmbeddedEngine } from "../../durable/sqlite/embedded-engine.ts";

/** Where Restate finds a server, above the port of its own. */
const portsApart = 1000;
const probeMs = 5_000;

/**
 * The engine of the settings for a server whose own port is `port`. Rejects with
 * `storage_unavailable` if its database cannot be reached, with `config_invalid` if it cannot
 * listen for Restate.
 */
export async function openEngine(
  config: Config,
  options: { readonly log: Log; readonly port: number },
): Promise<Engine> {
  const { engine } = config;
  if (engine.kind === "embedded")
    return createEmbeddedEngine({ path: storeOf(config), log: options.log, ...crashPoint(process.env.CRASH_AT) });
  return shared(engine, options);
}

/** The engine of the settings, for looking at its runs; undefined if nothing was stored yet. */
export async function openStore(config: Config): Promise<Engine | undefined> {
  const { engine } = config;
  if (engine.kind !== "embedded") return shared(engine);
  const path = storeOf(config);
  return existsSync(path) ? createEmbeddedEngine({ path }) : undefined;
}

/** An engine that several machines share. What it needs is loaded only where it is used. */
async function shared(
  engine: Exclude<Config["engine"], { readonly kind: "embedded" }>,
  options: { readonly log?: Log; readonly port?: number } = {},
): Promise<Engine> {
  const log = options.log && { log: options.log };
  const { createPostgresEngine, migratePostgres } = await import("../../durable/postgres/postgres-engine.ts");
  await migratePostgres(engine);
  if (engine.kind === "postgres") return createPostgresEngine({ ...engine, ...log });
  const { createRestateEngine, openRestateEngine } = await import("../../durable/restate/restate-engine.ts");
  const { port, publicUrl, ...restate } = engine.restate;
  // Restate calls servers alone.
  const open = options.port === undefined ? createRestateEngine : openRestateEngine;
  return open({
    ...engine,
    ...log,
    restate: {
      ...restate,
      port: port ?? (options.port ? options.port + portsApart : 0),
      ...(publicUrl !== undefined && { publicUrl }),
      prefix: engine.schema,
    },
  });
}

function storeOf({ home }: Pick<Config, "home">): string {
  return join(home, "runs.db");
}

/**
 * Whether what the engine needs can be reached, and what is sealed in it opens, in one sentence.
 * Rejects if not.
 */
export async function probeEngine({ engine, home }: Pick<Config, "engine" | "home">): Promise<string> {
  if (engine.kind === "embedded") {
    const failure = storeFailure(storeOf({ home }));
    if (failure !== undefined) throw new AppError("storage_unavailable", failure);
    return engineText(engine, home);
  }
  const { aboutPostgres } = await import("../../durable/postgres/postgres-engine.ts");
  const { version, connections } = await aboutPostgres(engine);
  const { checkSealed } = await import("../../cluster/shared-rows.ts");
  await checkSealed(engine);
  if (engine.kind === "restate") {
    const { admin, ingress } = engine.restate;
    const health = [`${admin}/health`, ...ingress.map((url) => `${url}/restate/health`)];
    for (const url of health) {
      const answer = await fetch(url, { signal: AbortSignal.timeout(probeMs) }).catch(() => undefined);
      if (!answer?.ok) throw new AppError("unavailable", `Restate does not answer at ${url}.`);
    }
  }
  const each = engine.connections + besideConnections;
  return `${engineText(engine, home)} (version ${version}; of its ${connections} connections each server takes up to ${each})`;
}

/** Where this process kills itself, for tests of what survives a crash. */
function crashPoint(text: string | undefined): { readonly crashAt?: CrashPoint } {
  return text === undefined ? {} : { crashAt: crashPointText.parse(text) };
}
