import type { Config } from "manyhands/internal/config/config";
import { AppError } from "manyhands/internal/core/errors";
import { onFreePorts, urlOf } from "../supervisor/server-table.ts";
import { startAgents } from "../supervisor/start.ts";
import type { CliContext } from "./context.ts";
import { isUp } from "./is-up.ts";

/** The gateway and its agents, perhaps started for this. */
export interface SystemSession {
  /** Where the gateway is. */
  readonly url: string;
  /** The settings as they hold, with the ports in use. */
  readonly config: Config;
  /** Whether it was started for this. */
  readonly passing: boolean;
  /** Stops what this session started. */
  close(): Promise<void>;
}

/** The gateway where the settings say it is, when it answers there; otherwise a whole system started for the duration on free ports. */
export async function openSystem(config: Config, context: CliContext): Promise<SystemSession> {
  const url = urlOf({ name: "gateway" }, config);
  if (await isUp(url)) return { url, config, passing: false, async close() {} };
  return startSystem(config, context);
}

/** All agents and the gateway, started for the duration on free ports of loopback. */
export async function startSystem(
  config: Config,
  { root, cwd, env }: Pick<CliContext, "root" | "cwd" | "env">,
): Promise<SystemSession> {
  const stop = new AbortController();
  const said: string[] = [];
  const names = Object.keys(config.agents);
  const { promise: up, resolve } = Promise.withResolvers<Config>();
  const done = startAgents({
    root,
    cwd,
    env,
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
