import { dirname, join, resolve } from "node:path";
import type { Credentials } from "../a2a/client/credentials.ts";
import type { QuotaConfig } from "../core/runs/quota.ts";
import type { SandboxTier } from "../machine/sandbox/sandbox.ts";
import type { NamedSecret } from "../machine/secrets/secrets.ts";
import type { ModelConfig } from "../models/config.ts";
import type { GitHost } from "../tools/code/git-host.ts";
import type { DatabaseServer } from "../tools/data/servers/database-server.ts";
import { type AuthConfig, authConfig } from "./access/auth-config.ts";
import { type CardConfig, cardConfig } from "./access/card-config.ts";
import { checkExposure } from "./access/exposure.ts";
import { type TlsConfig, tlsConfig } from "./access/tls-config.ts";
import { type AgentConfigs, agentConfigs } from "./agents/agent-config.ts";
import { credentialsOf } from "./agents/credentials.ts";
import type { NamedFile } from "./agents/named-files.ts";
import { browserConfig } from "./browser-config.ts";
import { durationMs } from "./duration.ts";
import { type ComposedFlow, flowConfig } from "./flow-config.ts";
import { gitConfig } from "./git-config.ts";
import { defaultModel, modelFor, namedModels, roleModels } from "./llm/models.ts";
import { type PythonConfig, pythonConfig } from "./python-config.ts";
import { quotaConfig } from "./quota-config.ts";
import { secretConfig } from "./secrets/secret-config.ts";
import type { Sections } from "./sections/sections.ts";
import { notesOn } from "./settings/notes.ts";
import { readSettings, type Settings, type SettingsSource } from "./settings/settings.ts";
import { bytesOf } from "./size.ts";
import { type BucketConfig, bucketConfig } from "./storage/bucket-config.ts";
import { databaseConfig } from "./storage/database-config.ts";
import { type EngineConfig, engineConfig } from "./storage/engine-config.ts";
import { type MemoryConfig, memoryConfig } from "./storage/memory-config.ts";
import { type RetentionConfig, retentionConfig } from "./storage/retention-config.ts";
import { type TriggersConfig, triggersConfig } from "./triggers/trigger-config.ts";

/** The configuration of a process, validated and with defaults. Frozen, made once at start. */
export type Config = {
  /** Absolute path of the folder all state lives under. */
  readonly home: string;
  /** The settings file in use, for people. */
  readonly file: string | undefined;
  /** The model of agents that name none; undefined means the rehearsal model. */
  readonly model: ModelConfig | undefined;
  /** The `[llm.NAME]` tables, each over `[llm]`. */
  readonly models: Readonly<Record<string, ModelConfig>>;
  /**
   * Where a process listens, if set for the process itself; otherwise the agent's own `port` and
   * `publicUrl` apply.
   */
  readonly server: {
    readonly host: string;
    readonly port: number | undefined;
    /** Where a process serves gRPC, if set for the process itself; 0: not at all. */
    readonly grpcPort: number | undefined;
    readonly publicUrl: string | undefined;
    /** Bearer token every request must carry; undefined on loopback without one. */
    readonly token: string | undefined;
    /** The agent card shown to callers that name no version of A2A. */
    readonly card: "merged" | "strict";
    /** The origins of other sites whose pages may call. */
    readonly cors: readonly string[];
    /** HTTPS; plain HTTP if undefined. */
    readonly tls: TlsConfig | undefined;
  };
  readonly auth: AuthConfig;
  /** Where runs are stored, and who decides which process executes them. */
  readonly engine: EngineConfig;
  readonly gateway: {
    readonly port: number;
    /** Where it serves gRPC; 0: not at all. */
    readonly grpcPort: number;
    /** Where it is reached from outside. */
    readonly publicUrl: string | undefined;
    /** Milliseconds between two checks of each agent. */
    readonly checkMs: number;
    /** How many milliseconds one ask retries an unreachable agent. */
    readonly patienceMs: number;
  };
  readonly a2a: {
    /** What is demanded of the card of an agent that no table names. */
    readonly card: CardConfig;
    /** Origins whose key sets are trusted for any agent. */
    readonly keyOrigins: readonly string[];
    /**
     * How long a message sent again over A2A is the same task, for callers that do not ask for
     * more. Milliseconds; 0: never.
     */
    readonly dedupeMs: number;
    /** The URIs of extensions that every call has to activate. */
    readonly requiredExtensions: readonly string[];
  };
  readonly telemetry: {
    /** The base address of the collector that gets traces over OTLP/HTTP; none if undefined. */
    readonly otlpEndpoint: string | undefined;
    readonly otlpHeaders: Readonly<Record<string, string>>;
    /** The share of runs that are traced, of those whose caller sends no trace: 0 to 1. */
    readonly sampled: number;
  };
  /** What principals may use. */
  readonly quotas: QuotaConfig;
  /** Where artifacts are kept beside this machine; undefined means nowhere else. */
  readonly bucket: BucketConfig | undefined;
  /** How long what has ended is kept. */
  readonly retention: RetentionConfig;
  readonly flows: {
    /** The model of the flows' own calls; undefined means the rehearsal model. */
    readonly model: ModelConfig | undefined;
    /** The modules of added flows, by name. */
    readonly added: Readonly<Record<string, NamedFile>>;
    /** The flows that the settings compose of others, by name. */
    readonly composed: Readonly<Record<string, ComposedFlow>>;
  };
  readonly agents: AgentConfigs;
  /** Agents elsewhere, by the name used to ask them. */
  readonly peers: Readonly<Record<string, PeerConfig>>;
  readonly sandbox: {
    readonly tier: Exclude<SandboxTier, "none"> | "auto";
    readonly memoryBytes: number | undefined;
    /** Wall time of one command when it names none. */
    readonly timeoutMs: number | undefined;
    /** Domains that commands may reach; if empty, commands have no network. */
    readonly allowDomains: readonly string[];
  };
  readonly browser: Sections["browser"];
  readonly search: Sections["search"];
  readonly egress: Sections["egress"];
  readonly desktop: Sections["desktop"];
  /** The databases that `sql_query` reaches, by name. */
  readonly databases: Readonly<Record<string, DatabaseServer>>;
  /** What starts by itself, and who is told of it. */
  readonly triggers: TriggersConfig;
  /** What code may type into pages. */
  readonly secrets: readonly NamedSecret[];
  readonly python: PythonConfig;
  /** Who has a memory across conversations, and how much of it. */
  readonly memory: MemoryConfig;
  /** The servers of repositories that the settings name. */
  readonly git: readonly GitHost[];
  /** Absolute path of the folder of the project's skills, which may be missing. */
  readonly projectSkills: string;
  readonly mcp: {
    /** Absolute path of `mcp.json`, which may be missing unless it is `named`. */
    readonly file: string;
    readonly named: boolean;
    /** How long a task waits for a server that has not answered yet. */
    readonly patienceMs: number;
    /** If tool definitions need more tokens than this, the model has to search for tools. */
    readonly definitionTokens: number;
  };
  /** One sentence for each setting that has no effect here. */
  readonly notes: readonly string[];
};

/** Where an agent elsewhere has its card, and what shows it who calls. */
type PeerConfig = { readonly url: string; readonly credentials: Credentials | undefined; readonly card: CardConfig };

/**
 * The configuration from `manyhands.toml` in `cwd` or `file`, and the environment, which takes
 * precedence. Rejects with `config_invalid`, for which a command line exits with code 2.
 */
export async function loadConfig(source: SettingsSource): Promise<Config> {
  return toConfig(await readSettings(source), source.cwd);
}

/** The configuration from checked settings. Throws `config_invalid` for conflicts between keys. */
export function toConfig(settings: Settings, cwd: string): Config {
  const { sections, file } = settings;
  const { server, sandbox, gateway } = sections;
  checkExposure(settings);
  const tls = tlsConfig(settings, cwd);
  return {
    home: resolve(cwd, sections.home),
    file,
    model: defaultModel(sections.llm),
    models: namedModels(sections.llm),
    server: {
      host: server.host,
      port: server.port,
      grpcPort: server.grpc_port,
      publicUrl: server.public_url,
      token: server.token,
      card: server.card,
      cors: server.cors,
      tls,
    },
    auth: authConfig(settings, cwd),
    engine: engineConfig(settings),
    gateway: {
      port: gateway.port,
      grpcPort: gateway.grpc_port,
      publicUrl: gateway.public_url,
      checkMs: gateway.check_seconds * 1000,
      patienceMs: gateway.patience_seconds * 1000,
    },
    a2a: {
      card: cardConfig({}, sections, cwd),
      keyOrigins: sections.a2a.key_origins,
      dedupeMs: durationMs(sections.a2a.dedupe) ?? 0,
      requiredExtensions: sections.a2a.required_extensions,
    },
    telemetry: {
      otlpEndpoint: sections.telemetry.otlp_endpoint,
      otlpHeaders: headersOf(sections.telemetry.otlp_headers),
      sampled: sections.telemetry.sampled,
    },
    quotas: quotaConfig(sections.limits),
    bucket: bucketConfig(settings),
    retention: retentionConfig(sections.retention),
    flows: { model: flowModel(sections), ...flowConfig(settings, cwd) },
    agents: agentConfigs(settings, tls?.client, cwd),
    peers: peersOf(settings, cwd),
    sandbox: {
      tier: sandbox.tier,
      memoryBytes: sandbox.memory_limit === undefined ? undefined : bytesOf(sandbox.memory_limit),
      timeoutMs: sandbox.timeout === undefined ? undefined : sandbox.timeout * 1000,
      allowDomains: sandbox.allow_domains,
    },
    browser: browserConfig(settings),
    search: sections.search,
    egress: sections.egress,
    desktop: sections.desktop,
    databases: databaseConfig(sections.databases, cwd),
    triggers: triggersConfig(settings),
    secrets: secretConfig(settings, cwd),
    python: pythonConfig(sections, cwd),
    memory: memoryConfig(sections),
    git: gitConfig(settings),
    ...besideSettings(sections, file, cwd),
    notes: notesOn(settings),
  };
}

function peersOf(settings: Settings, cwd: string): Config["peers"] {
  const { sections } = settings;
  return Object.fromEntries(
    Object.entries(sections.peers).map(([name, { url, ...peer }]) => {
      const credentials = credentialsOf(["peers", name], peer, settings, cwd);
      return [name, { url, credentials, card: cardConfig(peer, sections, cwd) }];
    }),
  );
}

/** The path as named, or beside the settings file. */
function mcpFile({ mcp }: Sections, file: string | undefined, cwd: string): string {
  if (mcp.file !== undefined) return resolve(cwd, mcp.file);
  return join(projectFolder(file, cwd), "mcp.json");
}

/** The headers of `name=value,other=value`, whose values may be percent-encoded. */
function headersOf(text = ""): Readonly<Record<string, string>> {
  const pairs = text.split(",").filter((pair) => pair !== "");
  return Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.indexOf("=");
      return [pair.slice(0, at).trim(), decodeURIComponent(pair.slice(at + 1).trim())];
    }),
  );
}

/** The folder of the settings file, or where there is none the working directory. */
function projectFolder(file: string | undefined, cwd: string): string {
  return file === undefined ? resolve(cwd) : dirname(resolve(cwd, file));
}

/** The files and folders that are beside the settings. */
function besideSettings(sections: Sections, file: string | undefined, cwd: string) {
  return {
    projectSkills: join(projectFolder(file, cwd), ".agents/skills"),
    mcp: {
      file: mcpFile(sections, file, cwd),
      named: sections.mcp.file !== undefined,
      patienceMs: sections.mcp.start_seconds * 1000,
      definitionTokens: sections.mcp.definition_tokens,
    },
  };
}

/** The model of flows' own calls: what `flows.model` names, `[llm.planner]`, or `[llm]`. */
function flowModel({ flows, llm }: Sections): ModelConfig | undefined {
  if (flows.model !== undefined) return modelFor(flows.model, llm);
  return roleModels(llm).planner ?? defaultModel(llm);
}
