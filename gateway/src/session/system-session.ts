import type { Config } from "manyhands/internal/config/config";
import { AppError } from "manyhands/internal/core/errors";
import { onFreePorts, urlOf } from "../supervisor/server-table.ts";
import { startAgents } from "../supervisor/start.ts";
import type { CliContext } from "./context.ts";
import { isNowhere, isUsable } from "./is-up.ts";
import { troubleTeller } from "./trouble-teller.ts";

/** The gateway and its agents, possibly started for this session. */
interface SystemSession {
  /** Where the gateway is. */
  readonly url: string;
  /** The settings in effect, with the ports in use. */
  readonly config: Config;
  /** Whether it was started for this. */
  readonly passing: boolean;
  /** Stops what this session started. */
  close(): Promise<void>;
}

/**
 * The gateway at its configured address if that of this home answers there; otherwise one started
 * for this session on free ports, with the agents that are not running, as `startSystem` does.
 */
export async function openSystem(
  config: Config,
  context: CliContext,
  needed: readonly string[],
): Promise<SystemSession> {
  const url = urlOf({ name: "gateway" }, config);
  if (await isUsable("gateway", config, context.terminal)) return { url, config, passing: false, async close() {} };
  const missing = await Promise.all(
    Object.keys(config.agents).map(async (name) => ((await isNowhere(name, config)) ? [name] : [])),
  );
  return startSystem(config, context, { names: missing.flat(), needed });
}

type Started = Pick<CliContext, "root" | "cwd" | "env" | "terminal">;

/**
 * Starts the gateway and these agents for this session on free loopback ports; other agents are at
 * their configured addresses. A server's failure is reported at once. Rejects with the code of a
 * given up server and its last words, if it is the gateway or a needed agent, before all are up.
 */
export async function startSystem(
  config: Config,
  { root, cwd, env, terminal }: Started,
  { names, needed }: { readonly names: readonly string[]; readonly needed: readonly string[] },
): Promise<SystemSession> {
  const stop = new AbortController();
  const { promise: up, resolve, reject } = Promise.withResolvers<Config>();
  const tell = troubleTeller(terminal);
  let isRunning = false;
  const done = startAgents({
    root,
    cwd,
    env,
    agents: names,
    config: onFreePorts({ ...config, gateway: { ...config.gateway, port: 0, publicUrl: undefined } }, names),
    signal: stop.signal,
    report(event, held) {
      if (event.type === "server-up") return;
      if (event.type === "system-up") {
        isRunning = true;
        return resolve(held);
      }
      const { name, reason } = event;
      const isNeeded = name === "gateway" || needed.includes(name);
      if (event.type === "server-given-up" && isNeeded && !isRunning)
        return reject(new AppError(event.code, `Given up on ${name}. ${reason}`));
      tell(event);
    },
  });
  const close = async () => {
    stop.abort();
    await done;
  };
  try {
    // Ends by itself only where it cannot begin.
    const running = await Promise.race([up, done.then(() => up)]);
    return { url: urlOf({ name: "gateway" }, running), config: running, passing: true, close };
  } catch (error) {
    await close();
    throw error;
  }
}
