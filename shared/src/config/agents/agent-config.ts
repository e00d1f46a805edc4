import { existsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { Credentials } from "../../a2a/client/credentials.ts";
import type { Limits } from "../../core/agent.ts";
import { defined } from "../../core/json.ts";
import { nameForm, nameWords } from "../../core/spec.ts";
import { isLoopback } from "../../http/loopback-guard.ts";
import type { ModelConfig } from "../../models/config.ts";
import { type CardConfig, cardConfig } from "../access/card-config.ts";
import { everyone, firstFreePort } from "../agents.ts";
import { modelFor, type RoleConfigs, roleModels } from "../llm/models.ts";
import { ownAddress } from "../own-address.ts";
import type { AgentSection, ToolFamilyName } from "../sections/agent-section.ts";
import type { Sections } from "../sections/sections.ts";
import { nearestName } from "../settings/nearest.ts";
import type { Settings } from "../settings/settings.ts";
import { faultAt } from "../settings/settings-error.ts";
import { profileFor, type ToolProfile } from "../tool-profile.ts";
import { credentialsOf } from "./credentials.ts";
import { type ConfiguredInstructions, configuredInstructions } from "./instructions.ts";
import type { NamedFile } from "./named-files.ts";

/** The settings of one agent. `limits` override the agent's own. */
export type AgentConfig = {
  /**
   * The file or package that serves it, which this system starts; undefined for an agent started
   * elsewhere.
   */
  readonly entry: NamedFile | undefined;
  readonly port: number;
  /** Where it serves gRPC; 0: not at all. */
  readonly grpcPort: number;
  /** Its address within this system. */
  readonly url: string;
  /** What shows it who calls: the token, or what `auth` names. */
  readonly credentials: Credentials | undefined;
  /** What is demanded of its card. */
  readonly card: CardConfig;
  /**
   * Whether it is of this system: it takes this system's token and no other credentials or, where
   * there is no token, is on this machine.
   */
  readonly isOwn: boolean;
  /** Its address from outside, used in its card and links. */
  readonly publicUrl: string | undefined;
  readonly instructions: ConfiguredInstructions;
  readonly model: ModelConfig | undefined;
  /** The models that do parts of its work in its model's place. */
  readonly roles: RoleConfigs;
  readonly limits: Partial<Limits>;
  /**
   * Whether its turns may, must or must not call a tool; undefined keeps the agent's own setting.
   */
  readonly toolChoice: "auto" | "required" | "none" | undefined;
  /** The tool families it gets; undefined keeps its own. */
  readonly tools: readonly ToolFamilyName[] | undefined;
  /** How many of its own families it offers: as configured, otherwise by its model's window. */
  readonly profile: ToolProfile;
  /** Names of the agents it may ask: of this system, or in `peers`. */
  readonly delegates: readonly string[];
  /** Names of tools whose every call a person must allow. */
  readonly approve: readonly string[];
  /** What happens to risky calls: a person decides, they are made, or they are refused. */
  readonly risky: "ask" | "allow" | "deny";
  /** The MCP servers whose tools it has. */
  readonly mcp: readonly string[] | "all";
  /** The skills it may use, of those that are shipped or approved. */
  readonly skills: readonly string[] | "all";
  /** Whether it is an MCP server too, at `/mcp`. */
  readonly serveMcp: boolean;
};

/** The agents of this system, the default ones first. The first is used if none is named. */
export type AgentConfigs = Readonly<Record<string, AgentConfig>>;

/** The folder of this system, to which the default entries are relative. */
const systemFolder = resolve(import.meta.dir, "../../../..");

/** The agents that are not switched off. Throws `config_invalid` for an invalid name or setting. */
export function agentConfigs(settings: Settings, ownTls: Credentials["tls"], cwd: string): AgentConfigs {
  const { sections, agent: reader } = settings;
  const enabled = Object.entries(sections.agents).filter(([name, { enabled }]) => enabled || name === reader);
  const names = enabled.map(([name]) => name);
  return Object.fromEntries(
    enabled.map(([name, agent]) => {
      checkName("agents", name, settings);
      if (name !== reader) checkReachable(name, agent, settings);
      const { port = firstFreePort } = agent;
      const named = (key: string, file: string) => namedFile(["agents", name, key], file, settings, cwd);
      const instructions = configuredInstructions(agent, name, named, settings);
      const { token, ...place } = placeOf(agent, port, sections, named);
      const given = credentialsOf(["agents", name], { ...agent, token }, settings, cwd);
      // This system's certificates are only for its own agents.
      const tls = given?.tls ?? (agent.entry === undefined ? undefined : ownTls);
      const credentials = tls === undefined ? given : { ...given, tls };
      const card = cardConfig(agent, sections, cwd);
      return [name, { ...place, card, credentials, port, instructions, ...behaviourOf(name, agent, names, settings) }];
    }),
  );
}

/** Throws `config_invalid` for an invalid name of a table. */
export function checkName(
  section: "agents" | "flows" | "schedules" | "triggers" | "notify",
  name: string,
  settings: Pick<Settings, "origins" | "file">,
): void {
  const isReserved = name === "gateway";
  if (!isReserved && nameForm.test(name)) return;
  const why = isReserved ? "that is the gateway's name" : `a name is ${nameWords}`;
  throw faultAt(settings, [section, name], `[${section}.${name}] cannot be called that: ${why}.`);
}

/** The file that a key names, with where it was named. */
export function namedFile(path: readonly string[], name: string, settings: Settings, cwd: string): NamedFile {
  const { file, origins } = settings;
  const key = path.join(".");
  const origin = origins.get(key);
  const isOfFile = file !== undefined && (origin === file || origin?.startsWith(`${file}, line `) === true);
  const folder = isOfFile ? dirname(resolve(cwd, file)) : origin === undefined ? systemFolder : cwd;
  return { key, name, folder, origin: origin ?? "default" };
}

/** Throws `config_invalid` for an agent with neither entry nor url, which must be a mistake. */
function checkReachable(name: string, { entry, url }: AgentSection, settings: Settings): void {
  if (entry !== undefined || url !== undefined) return;
  const others = Object.entries(settings.sections.agents).filter(([, agent]) => agent.entry !== undefined);
  const meant = nearestName(
    name,
    others.map(([other]) => other),
  );
  const hint = meant === undefined ? "" : ` Did you mean ${meant}?`;
  throw faultAt(
    settings,
    ["agents", name],
    `[agents.${name}] has neither entry nor url.${hint} An agent of yours has \`entry\`, the file or package that serves it, or \`url\`, where it is.`,
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
  const address = url ?? ownAddress({ host: server.host, tls: server.tls.cert !== undefined }, port);
  // This system's token is only for its own agents.
  const token = agent.token ?? (entry === undefined ? undefined : server.token);
  const isHere = isLoopback(URL.parse(address)?.hostname ?? "");
  const takesOurs = agent.auth?.kind === undefined && token === server.token;
  return {
    entry: isThere ? entry : undefined,
    url: address,
    token,
    isOwn: entry !== undefined && takesOurs && (token !== undefined || isHere),
    publicUrl: agent.public_url,
    grpcPort: agent.grpc_port,
  };
}

/** How an agent works. */
function behaviourOf(name: string, agent: AgentSection, names: readonly string[], settings: Settings) {
  const { sections } = settings;
  // OpenManus counts max_input_tokens over all requests of a process; a limit per task is the
  // closest. 0 means none.
  const tokens = sections.llm.max_input_tokens || undefined;
  const model = modelFor(agent.model, sections.llm);
  const profile = agent.profile ?? profileFor(model);
  // A small window has no room for what a task may never need.
  const skills = agent.skills ?? (profile === "full" ? [everyone] : []);
  return {
    model,
    roles: model === undefined ? {} : roleModels(sections.llm),
    limits: { ...(tokens === undefined ? {} : { tokens }), ...limitsOf(sections.limits), ...limitsOf(agent.limits) },
    toolChoice: agent.tool_choice,
    tools: agent.tools,
    profile,
    delegates: delegatesOf(name, agent, names, settings),
    approve: agent.approve,
    risky: agent.risky,
    serveMcp: agent.serve_mcp,
    mcp: agent.mcp.includes(everyone) ? ("all" as const) : agent.mcp,
    skills: skills.includes(everyone) ? ("all" as const) : skills,
  };
}

/** The agents this agent may ask. Throws `config_invalid` for an unknown name and for its own. */
function delegatesOf(
  name: string,
  { delegates }: AgentSection,
  names: readonly string[],
  settings: Settings,
): readonly string[] {
  const others = names.filter((other) => other !== name);
  const all = delegates.flatMap((delegate) => (delegate === everyone ? others : [delegate]));
  const known = [...others, ...Object.keys(settings.sections.peers)];
  const unknown = all.find((delegate) => !known.includes(delegate));
  if (unknown === undefined) return [...new Set(all)];
  throw faultAt(
    settings,
    ["agents", name, "delegates"],
    `[agents.${name}] delegates names ${JSON.stringify(unknown)}, but the agents it can ask are: ${known.join(", ")}.`,
  );
}

/** The limits a table sets, in the units of the agent's own. */
function limitsOf(table: Sections["agents"][string]["limits"]): Partial<Limits> {
  return defined({
    steps: table.steps,
    tokens: table.tokens,
    usd: table.usd,
    wallMs: table.wall_seconds === undefined ? undefined : table.wall_seconds * 1000,
    answerMs: table.answer_seconds === undefined ? undefined : table.answer_seconds * 1000,
    callsPerTurn: table.calls_per_turn,
    parallelCalls: table.parallel_calls,
    resultCharacters: table.result_characters,
  });
}
