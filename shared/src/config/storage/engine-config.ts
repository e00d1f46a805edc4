import { isLoopback } from "../../http/loopback-guard.ts";
import type { Settings } from "../settings/settings.ts";
import { faultAt } from "../settings/settings-error.ts";

/** Where runs are stored, and who decides which process executes them. */
export type EngineConfig =
  | { readonly kind: "embedded" }
  | (StoreConfig & { readonly kind: "postgres" })
  | (StoreConfig & { readonly kind: "restate"; readonly restate: RestateConfig });

/** A PostgreSQL database. */
type StoreConfig = {
  readonly url: string;
  readonly schema: string;
  readonly connections: number;
  /** Seals the secrets in it. */
  readonly secretKey?: string;
  /** Other keys that open them, while one key replaces the other. */
  readonly otherSecretKeys: readonly string[];
};

/**
 * The connections of a server besides `connections`: they listen, and share the rest of the state.
 */
export const besideConnections = 6;

/** Where Restate is, and where it finds a process. */
type RestateConfig = {
  readonly ingress: readonly string[];
  readonly admin: string;
  readonly host: string;
  /** Undefined: 1000 above the server's own. */
  readonly port: number | undefined;
  readonly publicUrl: string | undefined;
  readonly identityKeys: readonly string[];
};

/** What `[engine]` says. Throws `config_invalid` if something is missing, or set without effect. */
export function engineConfig(settings: Settings): EngineConfig {
  const { sections, origins } = settings;
  const { kind, url, schema, connections, secret_key: secretKey, restate } = sections.engine;
  const { other_secret_keys: otherSecretKeys } = sections.engine;
  const invalid = (key: string, why: string) => faultAt(settings, key.split("."), why);
  const stray = [...origins.keys()].find((key) => isStray(key, kind));
  if (stray !== undefined) throw invalid(stray, `${stray} has no effect while engine.kind is "${kind}".`);
  if (kind === "embedded") return { kind };
  if (url === undefined)
    throw invalid(
      "engine.kind",
      `engine.kind "${kind}" needs a database: set MANYHANDS_ENGINE_URL to postgres://USER:PASSWORD@HOST/DATABASE.`,
    );
  if (secretKey === undefined && otherSecretKeys.length > 0)
    throw invalid("engine.other_secret_keys", "engine.other_secret_keys only adds to engine.secret_key: set that.");
  const store = { url, schema, connections, otherSecretKeys, ...(secretKey !== undefined && { secretKey }) };
  if (kind === "postgres") return { kind, ...store };
  const { ingress, admin, port, public_url: publicUrl, identity_keys: identityKeys } = restate;
  if (ingress.length === 0 || admin === undefined)
    throw invalid("engine.kind", 'engine.kind "restate" needs engine.restate.ingress and engine.restate.admin.');
  const { host } = sections.server;
  if (!isLoopback(host)) {
    if (identityKeys.length === 0)
      throw invalid(
        "engine.kind",
        `HOST is ${host}, where others could pose as Restate: engine.restate.identity_keys is needed, or HOST=127.0.0.1.`,
      );
    if (publicUrl === undefined)
      throw invalid(
        "engine.kind",
        `HOST is ${host}: engine.restate.public_url has to say by which address Restate reaches this server.`,
      );
  }
  return { kind, ...store, restate: { ingress, admin, host, port, publicUrl, identityKeys } };
}

function isStray(key: string, kind: EngineConfig["kind"]): boolean {
  if (!key.startsWith("engine.") || key === "engine.kind") return false;
  return kind === "embedded" || (kind === "postgres" && key.startsWith("engine.restate"));
}

/** The engine in one sentence, without its password. */
export function engineText(engine: EngineConfig, home: string): string {
  if (engine.kind === "embedded") return `embedded, in ${home}`;
  const { host, pathname } = new URL(engine.url);
  const store = `PostgreSQL at ${host}${pathname}, schema ${engine.schema}`;
  return engine.kind === "postgres" ? store : `Restate at ${engine.restate.ingress.join(", ")}, with ${store}`;
}
