import { existsSync } from "node:fs";
import { isIP } from "node:net";
import { dirname, resolve } from "node:path";
import type { Limits } from "../core/agent.ts";
import { AppError } from "../core/errors.ts";
import type { ModelConfig } from "../models/config.ts";
import type { AgentSection, ToolFamily } from "./agent-section.ts";
import { everyone, firstFreePort, nameRule } from "./agents.ts";
import { type ConfiguredInstructions, configuredInstructions } from "./instructions.ts";
import { modelFor } from "./models.ts";
import type { NamedFile } from "./named-files.ts";
import { nearestName } from "./nearest.ts";
import type { Sections } from "./sections.ts";
import { originBelow, type Settings } from "./settings.ts";

/** What is set for one agent. `limits` go over the agent's own. */
export type AgentConfig = {
  /**
   * What serves it, which this system starts; undefined for an agent that runs elsewhere or by
   * itself.
   */
  readonly entry: NamedFile | undefined;
  readonly port: number;
  /** Where the rest of this system reaches it. */
  readonly url: string;
  /** Bearer token that requests to it carry. */
  readonly token: string | undefined;
  /** Where it is reached from outside, which its card and links say. */
  readonly publicUrl: string | undefined;
  readonly instructions: ConfiguredInstructions;
  readonly model: ModelConfig | undefined;
  readonly limits: Partial<Limits>;
  /** Whether each of its turns may, has to or must not call a tool; undefined for as it is made. */
  readonly toolChoice: "auto" | "required" | "none" | undefined;
  /** The families of tools it is given; undefined for those it is made with. */
  readonly tools: readonly ToolFamily[] | undefined;
  /** Names of the agents it may ask: of this system, or in `peers`. */
  readonly delegates: readonly string[];
  /** Names of tools whose every call a person has to allow. */
  readonly approve: readonly string[];
  /**
   * What becomes of calls that a tool calls risky: a person decides, they are made, or never made.
   */
  readonly risky: "ask" | "allow" | "deny";
  /** The MCP servers whose tools it has. */
  readonly mcp: readonly string[] | "all";
  /** Whether it is an MCP server too, at `/mcp`. */
  readonly serveMcp: boolean;
};

/**
 * The agents of this system, those of the defaults first. The first is the one that is meant where
 * none is named.
 */
export type AgentConfigs = Readonly<Record<string, AgentConfig>>;

/** The folder of this system, from which the entries of the defaults go. */
const systemFolder = resolve(import.meta.dir, "../../..");

/**
 * The agents that are not switched off. Throws `config_invalid` for one that is named or told
 * nonsense.
 */
export function agentConfigs(settings: Settings, cwd: string): AgentConfigs {
  const { sections, agent: reader } = settings;
  const enabled = Object.entries(sections.agents).filter(([name, { enabled }]) => enabled || name === reader);
  const names = enabled.map(([name]) => name);
  return Object.fromEntries(
    enabled.map(([name, agent]) => {
      checkName("agents", name, settings);
      if (name !== reader) checkReachable(name, agent, settings);
      const { port = firstFreePort } = agent;
      const named = (key: string, file: string) => namedFile(["agents", name, key], file, settings, cwd);
      const instructions = configuredInstructions(agent, name, named);
      const place = placeOf(agent, port, sections, named);
      return [name, { ...place, port, instructions, ...conductOf(name, agent, sections, names) }];
    }),
  );
}

/** Throws `config_invalid` for what an agent or a flow of the settings cannot be called. */
export function checkName(section: "agents" | "flows", name: string, settings: Pick<Settings, "origins">): void {
  const isReserved = name === "gateway";
  if (!isReserved && name.length <= 60 && nameRule.pattern.test(name)) return;
  const why = isReserved ? "that is the gateway's name" : `a name is made of ${nameRule.words}, 60 at most`;
  const origin = originBelow(settings, [section, name]) ?? "settings";
  throw new AppError("config_invalid", `${origin}: [${section}.${name}] cannot be called that: ${why}.`);
}

/** What is known of the file that a key names. */
export function namedFile(path: readonly string[], name: string, settings: Settings, cwd: string): NamedFile {
  const { file, origins } = settings;
  const key = path.join(".");
  const origin = origins.get(key);
  const isOfFile = file !== undefined && (origin === file || origin?.startsWith(`${file}, line `) === true);
  const folder = isOfFile ? dirname(resolve(cwd, file)) : origin === undefined ? systemFolder : cwd;
  return { key, name, folder, origin: origin ?? "default" };
}

/** An agent that nothing starts and that is nowhere can only be a slip. */
function checkReachable(name: string, { entry, url }: AgentSection, settings: Settings): void {
  if (entry !== undefined || url !== undefined) return;
  const others = Object.entries(settings.sections.agents).filter(([, agent]) => agent.entry !== undefined);
  const meant = nearestName(
    name,
    others.map(([other]) => other),
  );
  const origin = originBelow(settings, ["agents", name]) ?? settings.file ?? "settings";
  const hint = meant === undefined ? "" : ` Did you mean ${meant}?`;
  throw new AppError(
    "config_invalid",
    `${origin}: [agents.${name}] has neither entry nor url.${hint} An agent of yours has \`entry\`, the file or package that serves it, or \`url\`, where it is.`,
  );
}

/** Where an agent is. */
function placeOf(
  agent: AgentSection,
  port: number,
  { server }: Sections,
  named: (key: string, file: string) => NamedFile,
) {
  const { entry: path, url } = agent;
  const entry = path === undefined ? undefined : named("entry", path);
  const isThere =
    entry !== undefined && (entry.folder !== systemFolder || existsSync(resolve(systemFolder, entry.name)));
  const reachable = server.host === "0.0.0.0" || server.host === "::" ? "127.0.0.1" : server.host;
  return {
    entry: isThere ? entry : undefined,
    url: url ?? `http://${isIP(reachable) === 6 ? `[${reachable}]` : reachable}:${port}`,
    // The token of this system is for what belongs to it.
    token: agent.token ?? (entry === undefined ? undefined : server.token),
    publicUrl: agent.public_url,
  };
}

/** How an agent works. */
function conductOf(name: string, agent: AgentSection, sections: Sections, names: readonly string[]) {
  // OpenManus counts max_input_tokens over all requests of a process, which a bound per task comes
  // closest to; 0 means none.
  const tokens = sections.llm.max_input_tokens || undefined;
  return {
    model: modelFor(agent.model, sections.llm),
    limits: { ...(tokens === undefined ? {} : { tokens }), ...limitsOf(sections.limits), ...limitsOf(agent.limits) },
    toolChoice: agent.tool_choice,
    tools: agent.tools,
    delegates: delegatesOf(name, agent, names, sections.peers),
    approve: agent.approve,
    risky: agent.risky,
    serveMcp: agent.serve_mcp,
    mcp: agent.mcp.includes(everyone) ? ("all" as const) : agent.mcp,
  };
}

/** The agents one may ask. Throws `config_invalid` for a name that nothing has, and for its own. */
function delegatesOf(
  name: string,
  { delegates }: AgentSection,
  names: readonly string[],
  peers: Sections["peers"],
): readonly string[] {
  const others = names.filter((other) => other !== name);
  const all = delegates.flatMap((delegate) => (delegate === everyone ? others : [delegate]));
  const known = [...others, ...Object.keys(peers)];
  const unknown = all.find((delegate) => !known.includes(delegate));
  if (unknown === undefined) return [...new Set(all)];
  throw new AppError(
    "config_invalid",
    `[agents.${name}] delegates names ${JSON.stringify(unknown)}, but the agents it can ask are: ${known.join(", ")}.`,
  );
}

/** The limits a table sets, in the units of the agent's own. */
function limitsOf(table: Sections["limits"]): Partial<Limits> {
  const limits = {
    steps: table.steps,
    tokens: table.tokens,
    usd: table.usd,
    wallMs: table.wall_seconds === undefined ? undefined : table.wall_seconds * 1000,
    answerMs: table.answer_seconds === undefined ? undefined : table.answer_seconds * 1000,
    callsPerTurn: table.calls_per_turn,
    parallelCalls: table.parallel_calls,
    resultCharacters: table.result_characters,
  };
  return Object.fromEntries(Object.entries(limits).filter(([, value]) => value !== undefined));
}
