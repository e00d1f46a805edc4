import { isIP } from "node:net";
import { dirname, resolve } from "node:path";
import type { Limits } from "../core/agent.ts";
import { AppError } from "../core/errors.ts";
import type { SandboxTier } from "../machine/sandbox/sandbox.ts";
import type { ModelConfig } from "../models/config.ts";
import type { AgentName } from "./agents.ts";
import { checkExposure } from "./exposure.ts";
import { bytesOf, limitsOf } from "./measures.ts";
import { defaultModel, modelNamed, namedModels } from "./models.ts";
import { notesOn } from "./notes.ts";
import type { Sections } from "./sections.ts";
import { readSettings, type Settings, type SettingsSource } from "./settings.ts";
import type { ToolFamily } from "./tool-families.ts";

/** Everything a process of this system is told from outside, checked and with defaults. Frozen data, made once at start. */
export type Config = {
  /** Absolute path of the folder all state lives under. */
  readonly home: string;
  /** The settings file in use, for people. */
  readonly file: string | undefined;
  /** The model of agents that name none; undefined means the rehearsal model answers. */
  readonly model: ModelConfig | undefined;
  /** The `[llm.NAME]` tables, each over `[llm]`. */
  readonly models: Readonly<Record<string, ModelConfig>>;
  /** Where a process listens that was told so itself: `port` and `publicUrl` are undefined for the agent's own. */
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
    /** Absolute path of a JWK set; with one, only agents whose cards one of its keys has signed are used. */
    readonly cardKeys: string | undefined;
    /** Between two looks at each agent. */
    readonly checkMs: number;
    /** How long an agent that cannot be reached is tried again within one ask. */
    readonly patienceMs: number;
  };
  /** The model of the flows' own calls; undefined means the rehearsal model answers. */
  readonly flows: { readonly model: ModelConfig | undefined };
  readonly agents: Readonly<Record<AgentName, AgentConfig>>;
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

/** What is set for one agent. `limits` go over the agent's own. */
export type AgentConfig = {
  readonly port: number;
  /** Where the rest of this system reaches it. */
  readonly url: string;
  /** Where it is reached from outside, which its card and links say. */
  readonly publicUrl: string | undefined;
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
  /** What becomes of calls that a tool calls risky: a person decides, they are made, or never made. */
  readonly risky: "ask" | "allow" | "deny";
  /** The MCP servers whose tools it has. */
  readonly mcp: readonly string[] | "all";
  /** Whether it is an MCP server too, at `/mcp`. */
  readonly serveMcp: boolean;
};

/**
 * The configuration from `manyhands.toml` in `cwd` or `file`, and the environment, which wins. Rejects with `config_invalid`,
 * which a command line ends with exit code 2 for.
 */
export async function loadConfig(source: SettingsSource): Promise<Config> {
  return toConfig(await readSettings(source), source.cwd);
}

/** The configuration that checked settings mean. Throws `config_invalid` for what only shows when keys are seen together. */
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
    flows: { model: modelFor(sections.flows.model, sections) },
    agents: {
      manus: agentConfig(sections, "manus"),
      browser: agentConfig(sections, "browser"),
      swe: agentConfig(sections, "swe"),
      "data-analysis": agentConfig(sections, "data-analysis"),
    },
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

function modelFor(wanted: string | undefined, { llm }: Sections): ModelConfig | undefined {
  return wanted === undefined ? defaultModel(llm) : modelNamed(wanted, llm);
}

/** The agents one may ask. Throws `config_invalid` for a name that nothing has, and for its own. */
function checkedDelegates(name: AgentName, { agents, peers }: Sections): readonly string[] {
  const known = [...Object.keys(agents).filter((other) => other !== name), ...Object.keys(peers)];
  const { delegates } = agents[name];
  const unknown = delegates.find((delegate) => !known.includes(delegate));
  if (unknown === undefined) return delegates;
  throw new AppError(
    "config_invalid",
    `[agents.${name}] delegates names ${JSON.stringify(unknown)}, but the agents it can ask are: ${known.join(", ")}.`,
  );
}

/** As it was named, or beside the settings file. */
function mcpFile({ mcp }: Sections, file: string | undefined, cwd: string): string {
  if (mcp.file !== undefined) return resolve(cwd, mcp.file);
  return resolve(file === undefined ? cwd : dirname(resolve(cwd, file)), "mcp.json");
}

function agentConfig(sections: Sections, name: AgentName): AgentConfig {
  const agent = sections.agents[name];
  const { host } = sections.server;
  const reachable = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host;
  // OpenManus counts max_input_tokens over all requests of a process, which a bound per task comes closest to; 0 means none.
  const tokens = sections.llm.max_input_tokens || undefined;
  return {
    port: agent.port,
    url: agent.url ?? `http://${isIP(reachable) === 6 ? `[${reachable}]` : reachable}:${agent.port}`,
    publicUrl: agent.public_url,
    model: modelFor(agent.model, sections),
    limits: { ...(tokens === undefined ? {} : { tokens }), ...limitsOf(sections.limits), ...limitsOf(agent.limits) },
    toolChoice: agent.tool_choice,
    tools: agent.tools,
    delegates: checkedDelegates(name, sections),
    approve: agent.approve,
    risky: agent.risky,
    serveMcp: agent.serve_mcp,
    mcp: agent.mcp === undefined ? (name === "manus" ? "all" : []) : agent.mcp.includes("*") ? "all" : agent.mcp,
  };
}
