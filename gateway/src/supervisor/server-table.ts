import { join } from "node:path";
import { entryPath } from "manyhands/internal/config/agents/named-files";
import type { Config } from "manyhands/internal/config/config";
import { agentNamed } from "manyhands/internal/config/named-agent";
import { ownAddress } from "manyhands/internal/config/own-address";
import { variableFor } from "manyhands/internal/config/settings/environment";
import { AppError } from "manyhands/internal/core/errors";
import { freePort } from "manyhands/internal/http/free-port";

/**
 * A server as this package knows it: a name, a file to start, and where its port is set. Of an
 * agent nothing more is known here.
 */
export type ServerEntry = {
  readonly name: string;
  /** Absolute path of the server's entry. */
  readonly entry: string;
  readonly portEnv: string;
};

const gateway = "gateway";

/**
 * The agents that this system starts, in the order of the settings. Throws `config_invalid` for an
 * entry that is neither a file nor a package.
 */
export function agentEntries({ agents }: Pick<Config, "agents">): readonly ServerEntry[] {
  return Object.entries(agents).flatMap(([name, { entry }]) =>
    entry === undefined ? [] : [{ name, entry: entryPath(entry), portEnv: variableFor(["agents", name, "port"]) }],
  );
}

/** The agent of this name, to start it. Throws `not_found` for one that runs elsewhere. */
export function agentEntry(name: string, config: Pick<Config, "agents">): ServerEntry {
  const { url, entry } = agentNamed(config, name);
  if (entry === undefined)
    throw new AppError("not_found", `The agent ${name} does not answer at ${url}, and has no entry to start it from.`);
  return { name, entry: entryPath(entry), portEnv: variableFor(["agents", name, "port"]) };
}

/** The gateway's server. */
export function gatewayEntry(root: string): ServerEntry {
  return { name: gateway, entry: join(root, "gateway/src/server/main.ts"), portEnv: "GATEWAY_PORT" };
}

/**
 * What a server is told on its command line: an agent what it is called here, whatever its module
 * calls it.
 */
export function argsOf({ name }: Pick<ServerEntry, "name">): readonly string[] {
  return name === gateway ? [] : ["--name", name];
}

/** The port a server has by the settings. */
export function portOf({ name }: Pick<ServerEntry, "name">, config: Config): number {
  return name === gateway ? config.gateway.port : agentNamed(config, name).port;
}

/**
 * The port at which a server serves gRPC by the settings, 0 for none; `GRPC_PORT` is the gateway's.
 */
export function grpcPortOf({ name }: Pick<ServerEntry, "name">, config: Config): number {
  return name === gateway
    ? config.gateway.grpcPort || (config.server.grpcPort ?? 0)
    : agentNamed(config, name).grpcPort;
}

/**
 * The settings with a port of its own for every server that takes any: the others have to know
 * where it will be.
 */
export function withPorts(config: Config): Config {
  const { host } = config.server;
  const tls = config.server.tls !== undefined;
  const agents = Object.entries(config.agents).map(([name, own]) => {
    if (own.port !== 0 || own.entry === undefined) return [name, own];
    const port = freePort(host);
    // An address that was set leads elsewhere, whatever port is free here.
    return [name, { ...own, port, url: new URL(own.url).port === "0" ? ownAddress({ host, tls }, port) : own.url }];
  });
  return {
    ...config,
    gateway: { ...config.gateway, port: config.gateway.port || freePort(host) },
    agents: Object.fromEntries(agents),
  };
}

/**
 * The settings with these agents, of those that are started, on ports of loopback that were free a
 * moment ago.
 */
export function onFreePorts(config: Config, names: readonly string[]): Config {
  // What leads to their addresses from outside leads to the configured ports.
  const url = ownAddress({ host: "127.0.0.1", tls: config.server.tls !== undefined }, 0);
  const moved = Object.entries(config.agents).map(([name, own]) => [
    name,
    names.includes(name) && own.entry !== undefined ? { ...own, port: 0, grpcPort: 0, url, publicUrl: undefined } : own,
  ]);
  const agents = Object.fromEntries(moved);
  return withPorts({ ...config, server: { ...config.server, host: "127.0.0.1", publicUrl: undefined }, agents });
}

/** What tells every server where the agents are. */
export function agentUrls({ agents }: Config): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(agents).map(([name, { url }]) => [variableFor(["agents", name, "url"]), url]),
  );
}

/** Where a server is reached by the settings. */
export function urlOf({ name }: Pick<ServerEntry, "name">, config: Config): string {
  if (name !== gateway) return agentNamed(config, name).url;
  const { host, tls } = config.server;
  return ownAddress({ host, tls: tls !== undefined }, config.gateway.port);
}

/** Whether a server is reached at the port that it has here, not at an address that was set. */
export function isOwnAddress({ name }: Pick<ServerEntry, "name">, config: Config): boolean {
  const { host, tls } = config.server;
  return urlOf({ name }, config) === ownAddress({ host, tls: tls !== undefined }, portOf({ name }, config));
}

/** Where a server is reached from outside by the settings; `PUBLIC_URL` is the gateway's. */
export function publicUrlOf({ name }: Pick<ServerEntry, "name">, config: Config): string {
  const { server } = config;
  const told = name === gateway ? (config.gateway.publicUrl ?? server.publicUrl) : agentNamed(config, name).publicUrl;
  return told ?? urlOf({ name }, config);
}

/** Throws `config_invalid` when two servers would listen at the same port. */
export function requireOwnPorts(entries: readonly ServerEntry[], config: Config): void {
  for (const [index, entry] of entries.entries()) {
    const port = portOf(entry, config);
    const other = entries.slice(0, index).find((one) => portOf(one, config) === port);
    if (other !== undefined)
      throw new AppError(
        "config_invalid",
        `${other.name} and ${entry.name} both have port ${port}. Set ${entry.portEnv} to another.`,
      );
  }
}
