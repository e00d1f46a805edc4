import type { Config } from "manyhands/internal/config/config";
import { AppError } from "manyhands/internal/core/errors";
import { onFreePorts, urlOf } from "../supervisor/server-table.ts";
import { startAgents } from "../supervisor/start.ts";
import type { CliContext } from "./context.ts";
import { isNowhere, isUp } from "./is-up.ts";

/** The gateway and its agents, perhaps started for this. */
interface SystemSession {
  /** Where the gateway is. */
  readonly url: string;
  /** The settings as they hold, with the ports in use. */
  readonly config: Config;
  /** Whether it was started for this. */
  readonly passing: boolean;
  /** Stops what this session started. */
  close(): Promise<void>;
}

/** The gateway where the settings say it is, when it answers there; otherwise one started for the duration on free ports, with the agents that are nowhere. */
export async function openSystem(config: Config, context: CliContext): Promise<SystemSession> {
  const url = urlOf({ name: "gateway" }, config);
  if (await isUp(url)) return { url, config, passing: false, async close() {} };
  const missing = await Promise.all(
    Object.keys(config.agents).map(async (name) => ((await isNowhere(name, config)) ? [name] : [])),
  );
  return startSystem(config, context, missing.flat());
}

/** The gateway and these agents, started for the duration on free ports of loopback; the others are where the settings say. */
export async function startSystem(
  config: Config,
  { root, cwd, env }: Pick<CliContext, "root" | "cwd" | "env">,
  names: readonly string[] = Object.keys(config.agents),
): Promise<SystemSession> {
  const stop = new AbortController();
  const said: string[] = [];
  const { promise: up, resolve } = Promise.withResolvers<Config>();
  const done = startAgents({
    root,
    cwd,
    env,
    agents: names,
    config: onFreePorts({ ...config, gateway: { ...config.gateway, port: 0, publicUrl: undefined } }, names),
    say: (line) => void said.push(line),
    signal: stop.signal,
    onUp: resolve,
  });
  const running = await Promise.race([up, done.then(() => undefined)]);
  if (running === undefined) throw new AppError("unavailable", `The system could not be started.\n${said.join("\n")}`);
  return {
    url: urlOf({ name: "gateway" }, running),
    config: running,
    passing: true,
    async close() {
      stop.abort();
      await done;
    },
  };
}
