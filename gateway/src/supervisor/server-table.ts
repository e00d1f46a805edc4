import { existsSync } from "node:fs";
import { isIP } from "node:net";
import { join } from "node:path";
import { type AgentName, agentPorts } from "manyhands/internal/config/agents";
import type { Config } from "manyhands/internal/config/config";
import { freePort } from "./port.ts";

/** A server as this package knows it: a name, a file to start, and where its port is set. Of an agent nothing more is known here. */
export type ServerEntry = {
  readonly name: AgentName | "gateway";
  /** Absolute path of the server's entry. */
  readonly entry: string;
  readonly portEnv: string;
};

/** The agents whose servers are in this checkout, in the order of their ports. */
export function agentEntries(root: string): readonly (ServerEntry & { readonly name: AgentName })[] {
  const names: readonly AgentName[] = ["manus", "browser", "swe", "data-analysis"];
  return names
    .map((name) => ({ name, entry: join(root, "agents", name, "src/server.ts"), portEnv: agentPorts[name].portEnv }))
    .filter(({ entry }) => existsSync(entry));
}

/** The gateway's server. */
export function gatewayEntry(root: string): ServerEntry & { readonly name: "gateway" } {
  return { name: "gateway", entry: join(root, "gateway/src/server/main.ts"), portEnv: "GATEWAY_PORT" };
}

/** The port a server has by the settings. */
export function portOf({ name }: ServerEntry, config: Config): number {
  return name === "gateway" ? config.gateway.port : config.agents[name].port;
}

/** The settings with a port of its own for every server that takes any: the others have to know where it will be. */
export function withPorts(config: Config): Config {
  const { host } = config.server;
  const gateway = { ...config.gateway, port: config.gateway.port || freePort(host) };
  const agent = (name: AgentName) => {
    const own = config.agents[name];
    if (own.port !== 0) return own;
    const port = freePort(host);
    // An address that was set leads elsewhere, whatever port is free here.
    return { ...own, port, url: new URL(own.url).port === "0" ? addressOf(host, port) : own.url };
  };
  return {
    ...config,
    gateway,
    agents: {
      manus: agent("manus"),
      browser: agent("browser"),
      swe: agent("swe"),
      "data-analysis": agent("data-analysis"),
    },
  };
}

/** The settings with these agents on ports of loopback that were free a moment ago. */
export function onFreePorts(config: Config, names: readonly AgentName[]): Config {
  // What leads to their addresses from outside leads to the configured ports.
  const url = addressOf("127.0.0.1", 0);
  const moved = names.map((name) => [name, { ...config.agents[name], port: 0, url, publicUrl: undefined }]);
  const agents = { ...config.agents, ...Object.fromEntries(moved) };
  return withPorts({ ...config, server: { ...config.server, host: "127.0.0.1", publicUrl: undefined }, agents });
}

/** What tells every server where the agents are. */
export function agentUrls({ agents }: Config): Readonly<Record<string, string>> {
  const names = Object.keys(agentPorts) as AgentName[];
  return Object.fromEntries(names.map((name) => [agentPorts[name].urlEnv, agents[name].url]));
}

/** Where a server is reached by the settings. */
export function urlOf({ name }: Pick<ServerEntry, "name">, config: Config): string {
  if (name !== "gateway") return config.agents[name].url;
  return addressOf(config.server.host, config.gateway.port);
}

/** Where a server is reached from outside by the settings; `PUBLIC_URL` is the gateway's. */
export function publicUrlOf({ name }: Pick<ServerEntry, "name">, config: Config): string {
  const { server, gateway, agents } = config;
  const told = name === "gateway" ? (gateway.publicUrl ?? server.publicUrl) : agents[name].publicUrl;
  return told ?? urlOf({ name }, config);
}

function addressOf(host: string, port: number): string {
  const reachable = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host;
  return `http://${isIP(reachable) === 6 ? `[${reachable}]` : reachable}:${port}`;
}
