import { dirname, resolve } from "node:path";
import { AppError } from "../core/errors.ts";
import type { SandboxTier } from "../machine/sandbox/sandbox.ts";
import type { ModelConfig } from "../models/config.ts";
import { type AgentConfig, type AgentConfigs, agentConfigs, checkName, namedFile } from "./agent-config.ts";
import { checkExposure } from "./exposure.ts";
import { checkInstructions } from "./instructions.ts";
import { defaultModel, modelFor, namedModels } from "./models.ts";
import { entryPath, type NamedFile } from "./named-files.ts";
import { notesOn } from "./notes.ts";
import type { Sections } from "./sections.ts";
import { readSettings, type Settings, type SettingsSource } from "./settings.ts";

/**
 * Everything a process of this system is told from outside, checked and with defaults. Frozen data,
 * made once at start.
 */
export type Config = {
  /** Absolute path of the folder all state lives under. */
  readonly home: string;
  /** The settings file in use, for people. */
  readonly file: string | undefined;
  /** The model of agents that name none; undefined means the rehearsal model answers. */
  readonly model: ModelConfig | undefined;
  /** The `[llm.NAME]` tables, each over `[llm]`. */
  readonly models: Readonly<Record<string, ModelConfig>>;
  /**
   * Where a process listens that was told so itself: `port` and `publicUrl` are undefined for the
   * agent's own.
   */
  readonly server: {
    readonly host: string;
    readonly port: number | undefined;
    readonly publicUrl: string | undefined;
    /** Bearer token every request must carry; undefined on loopback without one. */
    readonly token: string | undefined;
    /** The agent card shown to callers that name no version of A2A. */
    readonly card: "merged" | "strict";
  };
  readonly gateway: {
    readonly port: number;
    /** Where it is reached from outside. */
    readonly publicUrl: string | undefined;
    /**
     * Absolute path of a JWK set; with one, only agents whose cards one of its keys has signed are
     * used.
     */
    readonly cardKeys: string | undefined;
    /** Between two looks at each agent. */
    readonly checkMs: number;
    /** How long an agent that cannot be reached is tried again within one ask. */
    readonly patienceMs: number;
  };
  readonly flows: {
    /** The model of the flows' own calls; undefined means the rehearsal model answers. */
    readonly model: ModelConfig | undefined;
    /** The modules of the flows that are added to those there are, by the flows' names. */
    readonly added: Readonly<Record<string, NamedFile>>;
  };
  readonly agents: AgentConfigs;
  /** Agents elsewhere, by the name they are asked by. */
  readonly peers: Readonly<Record<string, PeerConfig>>;
  readonly sandbox: {
    readonly tier: Exclude<SandboxTier, "none"> | "auto";
    readonly memoryBytes: number | undefined;
    /** Wall time of one command when it names none. */
    readonly timeoutMs: number | undefined;
    /** Domains that commands may reach; none: no network at all. */
    readonly allowDomains: readonly string[];
  };
  readonly browser: Sections["browser"];
  readonly search: Sections["search"];
  readonly egress: Sections["egress"];
  readonly desktop: Sections["desktop"];
  readonly mcp: {
    /** Absolute path of `mcp.json`, which need not be there unless it is `named`. */
    readonly file: string;
    readonly named: boolean;
    /** How long a task waits for a server that has not answered yet. */
    readonly patienceMs: number;
    /** Tokens of tool definitions above which they have to be searched for. */
    readonly definitionTokens: number;
  };
  /** What the settings hold that has no effect here, one sentence each. */
  readonly notes: readonly string[];
};

/** Where an agent elsewhere has its card, and the bearer token it wants. */
type PeerConfig = { readonly url: string; readonly token?: string | undefined };

/**
 * The configuration from `manyhands.toml` in `cwd` or `file`, and the environment, which wins.
 * Rejects with `config_invalid`, which a command line ends with exit code 2 for.
 */
export async function loadConfig(source: SettingsSource): Promise<Config> {
  return toConfig(await readSettings(source), source.cwd);
}

/**
 * The configuration that checked settings mean. Throws `config_invalid` for what only shows when
 * keys are seen together.
 */
export function toConfig(settings: Settings, cwd: string): Config {
  const { sections, file } = settings;
  const { server, sandbox, gateway } = sections;
  checkExposure(sections);
  return {
    home: resolve(cwd, sections.home),
    file,
    model: defaultModel(sections.llm),
    models: namedModels(sections.llm),
    server: {
      host: server.host,
      port: server.port,
      publicUrl: server.public_url,
      token: server.token,
      card: server.card,
    },
    gateway: {
      port: gateway.port,
      publicUrl: gateway.public_url,
      cardKeys: gateway.card_keys === undefined ? undefined : resolve(cwd, gateway.card_keys),
      checkMs: gateway.check_seconds * 1000,
      patienceMs: gateway.patience_seconds * 1000,
    },
    flows: { model: modelFor(sections.flows.model, sections.llm), added: addedFlows(settings, cwd) },
    agents: agentConfigs(settings, cwd),
    peers: sections.peers,
    sandbox: {
      tier: sandbox.tier,
      memoryBytes: sandbox.memory_limit === undefined ? undefined : bytesOf(sandbox.memory_limit),
      timeoutMs: sandbox.timeout === undefined ? undefined : sandbox.timeout * 1000,
      allowDomains: sandbox.allow_domains,
    },
    browser: sections.browser,
    search: sections.search,
    egress: sections.egress,
    desktop: sections.desktop,
    mcp: {
      file: mcpFile(sections, file, cwd),
      named: sections.mcp.file !== undefined,
      patienceMs: sections.mcp.start_seconds * 1000,
      definitionTokens: sections.mcp.definition_tokens,
    },
    notes: notesOn(settings),
  };
}

/** The settings of an agent of this system. Throws `invalid_input`, naming those there are. */
export function agentNamed({ agents }: Pick<Config, "agents">, name: string): AgentConfig {
  const agent = Object.hasOwn(agents, name) ? agents[name] : undefined;
  if (agent !== undefined) return agent;
  const known = Object.keys(agents).join(", ") || "none";
  throw new AppError("invalid_input", `There is no agent ${JSON.stringify(name)}. There are: ${known}.`);
}

/**
 * The agent that is meant where none is named: the first there is. Throws `config_invalid` where
 * there is none.
 */
export function firstAgent({ agents }: Pick<Config, "agents">): string {
  const [first] = Object.keys(agents);
  if (first === undefined)
    throw new AppError("config_invalid", "There is no agent: the settings switch all of them off.");
  return first;
}

/**
 * Rejects with `config_invalid` when a file that the settings name is not what they say, whichever
 * process it is for.
 */
export async function checkNamedFiles({ agents, flows }: Pick<Config, "agents" | "flows">): Promise<void> {
  for (const { entry, instructions } of Object.values(agents)) {
    if (entry !== undefined) entryPath(entry);
    await checkInstructions(instructions);
  }
  for (const entry of Object.values(flows.added)) entryPath(entry);
}

function addedFlows(settings: Settings, cwd: string): Readonly<Record<string, NamedFile>> {
  const { model: _, ...tables } = settings.sections.flows;
  return Object.fromEntries(
    Object.entries(tables).map(([name, { entry }]) => {
      checkName("flows", name, settings);
      return [name, namedFile(["flows", name, "entry"], entry, settings, cwd)];
    }),
  );
}

/** As it was named, or beside the settings file. */
function mcpFile({ mcp }: Sections, file: string | undefined, cwd: string): string {
  if (mcp.file !== undefined) return resolve(cwd, mcp.file);
  return resolve(file === undefined ? cwd : dirname(resolve(cwd, file)), "mcp.json");
}

/** Bytes of a size such as `512m` or `2g` (of 1024, as containers count). */
function bytesOf(size: string): number {
  const [, amount, unit] = /^([\d.]+)([kmg]?)b?$/i.exec(size) ?? [];
  const power = ["", "k", "m", "g"].indexOf(unit?.toLowerCase() ?? "");
  return Math.floor(Number(amount) * 1024 ** power);
}
