import { isIP } from "node:net";
import { dirname, resolve } from "node:path";
import type { Limits } from "../agent/agent.ts";
import type { ModelConfig } from "../llm/config.ts";
import type { SandboxTier } from "../sandbox/sandbox.ts";
import type { AgentName } from "./agents.ts";
import { checkExposure } from "./exposure.ts";
import { bytesOf, limitsOf } from "./measures.ts";
import { defaultModel, modelNamed, namedModels } from "./models.ts";
import { notesOn } from "./notes.ts";
import type { Sections } from "./sections.ts";
import { readSettings, type Settings, type SettingsSource } from "./settings.ts";

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
  };
  readonly gateway: { readonly port: number };
  readonly agents: Readonly<Record<AgentName, AgentConfig>>;
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
  readonly mcp: {
    /** Absolute path of `mcp.json`, which need not be there unless it is `named`. */
    readonly file: string;
    readonly named: boolean;
    /** Tokens of tool definitions above which they have to be searched for. */
    readonly definitionTokens: number;
  };
  /** What the settings hold that has no effect here, one sentence each. */
  readonly notes: readonly string[];
};

/** What is set for one agent. `limits` go over the agent's own; `url` is where others reach it. */
export type AgentConfig = {
  readonly port: number;
  readonly url: string;
  readonly model: ModelConfig | undefined;
  readonly limits: Partial<Limits>;
  /** Names of tools whose every call a person has to allow. */
  readonly approve: readonly string[];
  /** What becomes of calls that a tool calls risky: a person decides, they are made, or never made. */
  readonly risky: "ask" | "allow" | "deny";
  /** The MCP servers whose tools it has. */
  readonly mcp: readonly string[] | "all";
};

/**
 * The configuration from `manyhands.toml` in `cwd` or `file`, and the environment, which wins. Rejects with `config_invalid`,
 * which a command line ends with exit code 2 for.
 */
export async function loadConfig(source: SettingsSource): Promise<Config> {
  return toConfig(await readSettings(source), source.cwd);
}

/** The configuration that checked settings mean. Throws `config_invalid` for what only shows when keys are seen together. */
export function toConfig({ sections, file, origins }: Settings, cwd: string): Config {
  const { server, sandbox } = sections;
  checkExposure(server);
  return {
    home: resolve(cwd, sections.home),
    file,
    model: defaultModel(sections.llm),
    models: namedModels(sections.llm),
    server: { host: server.host, port: server.port, publicUrl: server.public_url, token: server.token },
    gateway: { port: sections.gateway.port },
    agents: {
      manus: agentConfig(sections, "manus"),
      browser: agentConfig(sections, "browser"),
      swe: agentConfig(sections, "swe"),
      "data-analysis": agentConfig(sections, "data-analysis"),
    },
    sandbox: {
      tier: sandbox.tier,
      memoryBytes: sandbox.memory_limit === undefined ? undefined : bytesOf(sandbox.memory_limit),
      timeoutMs: sandbox.timeout === undefined ? undefined : sandbox.timeout * 1000,
      allowDomains: sandbox.allow_domains,
    },
    browser: sections.browser,
    search: sections.search,
    egress: sections.egress,
    mcp: {
      file: mcpFile(sections, file, cwd),
      named: sections.mcp.file !== undefined,
      definitionTokens: sections.mcp.definition_tokens,
    },
    notes: notesOn(origins),
  };
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
    model: agent.model === undefined ? defaultModel(sections.llm) : modelNamed(agent.model, sections.llm),
    limits: { ...(tokens === undefined ? {} : { tokens }), ...limitsOf(sections.limits), ...limitsOf(agent.limits) },
    approve: agent.approve,
    risky: agent.risky,
    mcp: agent.mcp === undefined ? (name === "manus" ? "all" : []) : agent.mcp.includes("*") ? "all" : agent.mcp,
  };
}
