import { join } from "node:path";
import type { Config } from "manyhands/internal/config/config";
import { checkNamedFiles, firstAgent } from "manyhands/internal/config/named-agent";
import { ownAddress } from "manyhands/internal/config/own-address";
import { variableFor } from "manyhands/internal/config/settings/environment";
import { loadFlows } from "../flows/load-flows.ts";
import { knownSchedules } from "../starts/schedules/known-schedules.ts";
import { requireFreePort } from "./port.ts";
import type { ServerSpec } from "./server-process.ts";
import {
  agentEntries,
  agentUrls,
  argsOf,
  gatewayEntry,
  grpcPortOf,
  portOf,
  publicUrlOf,
  requireOwnPorts,
  type ServerEntry,
  withPorts,
} from "./server-table.ts";
import { defaultPolicy, type SupervisorEvent, supervise } from "./supervise.ts";

const graceMs = 20_000;

/**
 * Events of a system: those of its servers, and `system-up` once every server is up or given up,
 * and at least one is up; `without` names the servers given up.
 */
export type SystemEvent = SupervisorEvent | { readonly type: "system-up"; readonly without: readonly string[] };

/** Everything `start` needs from outside. */
export type StartContext = {
  readonly root: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly config: Config;
  /** The agents to start; all of the settings when left out. */
  readonly agents?: readonly string[];
  /** Called with each event and the settings in effect, with the ports that were found. */
  readonly report: (event: SystemEvent, config: Config) => void;
  /** Aborts when the system should drain and end. */
  readonly signal: AbortSignal;
};

/**
 * Starts the agents of the settings that have an entry, all or those named, and the gateway, and
 * keeps them up until `signal` aborts, then drains them. Resolves with whether all ended on
 * request. Rejects with `unavailable` when a port is taken, `config_invalid` for settings with
 * which a server would not start, and as `supervise` does, once no server is left.
 */
export async function startAgents(context: StartContext): Promise<boolean> {
  const { signal } = context;
  const config = withPorts(context.config);
  firstAgent(config);
  await checkNamedFiles(config);
  // The gateway would fail for these too, but only once the agents are up.
  await loadFlows(config);
  knownSchedules(config.triggers.schedules);
  const agents = agentEntries(config).filter(({ name }) => context.agents?.includes(name) ?? true);
  const gateway = gatewayEntry(context.root);
  const entries: readonly ServerEntry[] = [...agents, gateway];
  requireOwnPorts(entries, config);
  for (const entry of entries) requireFreePort(entry.name, config.server.host, portOf(entry, config), entry.portEnv);
  let waiting = entries.length;
  const givenUp: string[] = [];
  const settled = new Set<string>();
  const { promise: agentsSettled, resolve: settle } = Promise.withResolvers<void>();
  const report = (event: SupervisorEvent) => {
    // A server that came up at a later try counts as up; the start would otherwise never finish.
    const isFirst = event.type !== "server-down" && !settled.has(event.name);
    if (event.type === "server-given-up") givenUp.push(event.name);
    if (isFirst) {
      settled.add(event.name);
      waiting--;
    }
    if (waiting <= 1) settle();
    context.report(event, config);
    const isLast = isFirst && waiting === 0;
    if (isLast && givenUp.length < entries.length && !signal.aborted)
      context.report({ type: "system-up", without: [...givenUp] }, config);
  };
  if (agents.length === 0) settle();
  const failing = new AbortController();
  const ending = AbortSignal.any([signal, failing.signal]);
  ending.addEventListener("abort", () => settle(), { once: true });
  const options = { signal: ending, graceMs, policy: defaultPolicy, report };
  const keep = (entry: ServerEntry) =>
    supervise(specOf(entry, { ...context, config }), options).catch((error: unknown) => failing.abort(error));
  await Promise.all([
    ...agents.map(keep),
    // The gateway reads its agents' cards when it starts, so they start first.
    agentsSettled.then(() => keep(gateway)),
  ]);
  failing.signal.throwIfAborted();
  return givenUp.length === 0;
}

function specOf(entry: ServerEntry, { config, cwd, env }: StartContext): ServerSpec {
  const port = portOf(entry, config);
  const gatewayUrl = config.gateway.publicUrl ?? config.server.publicUrl;
  return {
    name: entry.name,
    entry: entry.entry,
    args: argsOf(entry),
    cwd,
    url: ownAddress({ host: config.server.host, tls: config.server.tls !== undefined }, port),
    env: {
      ...env,
      ...agentUrls(config),
      // Its own PUBLIC_URL is another's to the agents, which notify it there.
      ...(gatewayUrl !== undefined && { [variableFor(["gateway", "public_url"])]: gatewayUrl }),
      PORT: String(port),
      GRPC_PORT: String(grpcPortOf(entry, config)),
      HOST: config.server.host,
      PUBLIC_URL: publicUrlOf(entry, config),
      MANYHANDS_HOME: config.home,
      MANYHANDS_CONFIG: config.file,
    },
    logPath: join(config.home, "logs", `${entry.name}.log`),
    tls: config.server.tls?.client,
  };
}
