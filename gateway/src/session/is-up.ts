import { authorizedFetch } from "manyhands/internal/a2a/client/credentials";
import type { Config } from "manyhands/internal/config/config";
import { agentNamed } from "manyhands/internal/config/named-agent";
import { AppError } from "manyhands/internal/core/errors";
import { homeMark } from "manyhands/internal/http/home-mark";
import { isLoopback } from "manyhands/internal/http/loopback-guard";
import * as z from "zod";
import { isOwnAddress, urlOf } from "../supervisor/server-table.ts";

/** A busy server is up: otherwise a second one would be started beside it. */
const patienceMs = 15_000;

/**
 * Whether a healthy server answers there, ready or not. Returns at once when nobody listens, and
 * waits for a busy server. Rejects with `unavailable` when a server accepts the connection and is
 * silent for 15 s.
 */
export async function isUp(url: string, config: Pick<Config, "server">): Promise<boolean> {
  const response = await answerOf(url, config);
  await response?.body?.cancel();
  return response !== undefined;
}

/** The answer of a healthy server there; undefined if there is none. */
async function answerOf(url: string, { server: { tls } }: Pick<Config, "server">): Promise<Response | undefined> {
  const ask = authorizedFetch(fetch, tls && { tls: tls.client }, url);
  try {
    const response = await ask(`${url}/healthz`, { signal: AbortSignal.timeout(patienceMs) });
    if (response.ok) return response;
    await response.body?.cancel();
    return undefined;
  } catch (error) {
    if (!(error instanceof Error && error.name === "TimeoutError")) return undefined;
    const found = `The server at ${url} has not answered for ${patienceMs / 1000} s`;
    throw new AppError("unavailable", `${found}. Wait, or stop it and try again.`, { cause: error });
  }
}

/** What a command finds at an address of its system. */
export type FoundServer = "ours" | "another home" | "no Manyhands" | "nobody";

const health = z.looseObject({ agent: z.string(), home: z.string().optional() });

/**
 * Who answers at an address where the settings have a server of this system. A server that does not
 * say its home, of an earlier release, counts as ours; so does any of a store that homes share.
 * Waits and rejects as `isUp` does.
 */
export async function whoAnswers(
  url: string,
  config: Pick<Config, "server" | "home" | "engine">,
): Promise<FoundServer> {
  const response = await answerOf(url, config);
  if (response === undefined) return "nobody";
  const told = health.safeParse(await response.json().catch(() => undefined)).data;
  if (told === undefined) return "no Manyhands";
  const isOurs = told.home === undefined || config.engine.kind !== "embedded" || told.home === homeMark(config.home);
  return isOurs ? "ours" : "another home";
}

/**
 * Whether a server of this system can be used at a server's configured address. At the port that it
 * has here by the settings, somebody else's server is not used, and the person is told; an address
 * that was set leads to whoever is there.
 */
export async function isUsable(name: string, config: Config, terminal?: { say(text: string): void }): Promise<boolean> {
  const url = urlOf({ name }, config);
  if (!isOwnAddress({ name }, config)) return await isUp(url, config);
  const found = await whoAnswers(url, config);
  if (found === "another home")
    terminal?.say(`${url} belongs to another home. This command uses servers of its own, for ${config.home}.`);
  if (found === "no Manyhands")
    terminal?.say(`What answers at ${url} is not Manyhands. This command uses servers of its own, for ${config.home}.`);
  return found === "ours";
}

/**
 * Whether no server of ours answers at the agent's configured address and we can start one: an
 * agent of another machine has to be started there.
 */
export async function isNowhere(name: string, config: Config): Promise<boolean> {
  const { entry, url } = agentNamed(config, name);
  return entry !== undefined && isLoopback(new URL(url).hostname) && !(await isUsable(name, config));
}
