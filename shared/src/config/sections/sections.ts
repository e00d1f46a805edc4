import * as z from "zod";
import { databaseKinds } from "../../tools/data/servers/database-server.ts";
import { bytesOf } from "../size.ts";
import {
  address,
  agentsSection,
  allLimitsSection,
  cardDemand,
  cardKeys,
  credentialsSection,
  flowsSection,
  publicAddress,
} from "./agent-section.ts";
import { authSection } from "./auth-section.ts";
import { engineSection } from "./engine-section.ts";
import { gitSection } from "./git-section.ts";
import { llmSection } from "./llm-section.ts";
import { notifySection, schedulesSection, triggersSection } from "./trigger-sections.ts";
import { browserSection, egressSection, hosts, searchSection, secretSection } from "./web-sections.ts";

const text = z.string().min(1);
const port = z.int().min(0).max(65535);
const kept = z
  .string()
  .regex(/^(never|0|[1-9]\d{0,5}[smhd])$/)
  .describe('"never" (deleted), "0" (not kept), or a time such as "12h" or "90d"');
const seconds = z.number().min(0.001).max(31_536_000);

/** Whether each `%` begins an escape that stands for text. */
function isEncoded(text: string): boolean {
  try {
    return decodeURIComponent(text) !== undefined;
  } catch {
    return false;
  }
}

/** Whether it is the URL of a database of a kind that is known; a file's path is decoded. */
function isDatabase(text: string): boolean {
  const url = URL.parse(text);
  if (url === null || !Object.hasOwn(databaseKinds, url.protocol)) return false;
  return url.protocol !== "sqlite:" || isEncoded(url.pathname);
}

/** With less, no shell and no Python starts. */
const leastMemory = 32 * 2 ** 20;

/** An origin as browsers send it. */
const origin = z.url({ protocol: /^https?$/ }).refine((url) => URL.parse(url)?.origin === url);

/** Sections of OpenManus that have a counterpart here. */
const openManusSections = {
  llm: llmSection.prefault({}),
  browser: browserSection.prefault({}),
  search: searchSection.prefault({}),
  sandbox: z
    .strictObject({
      tier: z.enum(["auto", "srt", "bwrap", "landlock", "off"]).default("auto"),
      memory_limit: z
        .string()
        .refine((size) => bytesOf(size) >= leastMemory)
        .describe('a size of 32 MB or more, such as "512m" or "2g"')
        .optional(),
      timeout: seconds.optional(),
      allow_domains: z.array(hosts).default([]),
      network_enabled: z.boolean().optional(),
      use_sandbox: z.boolean().optional(),
      image: z.string().optional(),
      work_dir: z.string().optional(),
      cpu_limit: z.number().min(0).max(1024).optional(),
    })
    .prefault({}),
  mcp: z
    .strictObject({
      file: text.optional(),
      start_seconds: z.number().min(0).max(3600).default(30),
      definition_tokens: z.int().min(0).max(10_000_000).default(8000),
      server_reference: z.string().optional(),
    })
    .prefault({}),
  runflow: z.strictObject({ use_data_analysis_agent: z.boolean().default(false) }).prefault({}),
  daytona: z
    .strictObject({
      daytona_api_key: z.string().optional(),
      daytona_server_url: z.string().optional(),
      daytona_target: z.string().optional(),
      sandbox_image_name: z.string().optional(),
      sandbox_entrypoint: z.string().optional(),
      VNC_password: z.string().optional(),
    })
    .prefault({}),
};

/**
 * The whole settings file, strict: OpenManus's sections unchanged, and our own. All defaults are
 * here. Error messages describe a key's values by its JSON Schema, so a pattern carries a
 * description.
 */
export const sectionsSchema = z.strictObject({
  home: text.default(".manyhands"),
  server: z
    .strictObject({
      host: text.default("127.0.0.1"),
      port: port.optional(),
      grpc_port: port.optional(),
      public_url: publicAddress.optional(),
      token: z.string().min(8).describe("a secret of 8 characters or more").optional(),
      card: z.enum(["merged", "strict"]).default("merged"),
      cors: z.array(origin).describe('a list of origins such as "https://app.example"').default([]),
      tls: z
        .strictObject({
          cert: text.optional(),
          key: text.optional(),
          ca: text.optional(),
          client_ca: text.optional(),
          client_cert: text.optional(),
          client_key: text.optional(),
        })
        .prefault({}),
    })
    .prefault({}),
  auth: authSection.prefault({}),
  engine: engineSection.prefault({}),
  gateway: z
    .strictObject({
      port: port.default(4100),
      grpc_port: port.default(0),
      public_url: publicAddress.optional(),
      card_keys: text.describe("a JWK set file with the keys that cards have to be signed with").optional(),
      check_seconds: z.number().min(1).max(86_400).default(15),
      patience_seconds: z.number().min(1).max(86_400).default(120),
    })
    .prefault({}),
  a2a: z
    .strictObject({
      card_policy: cardDemand,
      key_origins: z.array(address).describe("a list of origins that publish keys for others").default([]),
      dedupe: z
        .string()
        .regex(/^(off|[1-9]\d{0,5}[smhd])$/)
        .describe('"off", or a time such as "30m", "24h" or "7d"')
        .default("24h"),
      required_extensions: z.array(z.url()).describe("a list of the URIs of A2A extensions").default([]),
    })
    .prefault({}),
  telemetry: z
    .strictObject({
      otlp_endpoint: address.optional(),
      otlp_headers: z
        .string()
        .regex(/^[^=,\s]+=[^,]*(,[^=,\s]+=[^,]*)*$/)
        .refine(isEncoded)
        .describe('headers such as "name=value,other=value"')
        .optional(),
      sampled: z.number().min(0).max(1).default(1),
    })
    .prefault({}),
  flows: flowsSection.prefault({}),
  egress: egressSection.prefault({}),
  desktop: z
    .strictObject({
      enabled: z.boolean().default(false),
      width: z.int().min(640).max(1920).default(1280),
      height: z.int().min(480).max(1080).default(800),
    })
    .prefault({}),
  limits: allLimitsSection.prefault({}),
  artifacts: z
    .strictObject({
      bucket: text.optional(),
      endpoint: address.optional(),
      region: text.optional(),
      prefix: z
        .string()
        .regex(/^[\w.-]+(\/[\w.-]+)*$/)
        .describe('names between "/", such as "team/manyhands"')
        .default("manyhands"),
      access_key_id: text.optional(),
      secret_access_key: text.optional(),
      session_token: text.optional(),
      virtual_hosted: z.boolean().default(false),
      workspace_mb: z.int().min(1).max(1_000_000).default(1024),
    })
    .prefault({}),
  retention: z
    .strictObject({
      runs: kept.default("90d"),
      journals: kept.default("7d"),
      workspaces: kept.default("90d"),
      artifacts: kept.default("1d"),
      every: z
        .string()
        .regex(/^[1-9]\d{0,5}[smhd]$/)
        .describe('a time such as "30m" or "1h"')
        .default("1h"),
    })
    .prefault({}),
  agents: agentsSection.prefault({}),
  memory: z
    .strictObject({
      principals: z
        .array(z.string().regex(/^[\x21-\x7e]{1,200}$/))
        .describe('a list of principals, such as ["local"], or ["*"] for all')
        .default([]),
      entries: z.int().min(1).max(10_000).default(200),
      entry_characters: z.int().min(20).max(10_000).default(500),
      recall_entries: z.int().min(0).max(100).default(12),
      recall_tokens: z.int().min(0).max(20_000).default(800),
      embeddings: text
        .describe("the NAME of an [llm.NAME] table, or a model's name at the endpoint of [llm]")
        .optional(),
      similarity: z.number().min(0).max(1).default(0.35),
    })
    .prefault({}),
  databases: z
    .object({})
    .catchall(
      z.strictObject({
        url: z
          .string()
          .refine(isDatabase)
          .describe("a URL that begins with postgres://, mysql://, mariadb:// or sqlite:"),
        password: text.optional(),
        password_env: text.describe("the name of the variable that holds the password").optional(),
        description: text.max(500).optional(),
        read_only: z.boolean().default(true),
        timeout: z.number().min(0.1).max(600).default(30),
        rows: z.int().min(1).max(100_000).default(10_000),
      }),
    )
    .prefault({}),
  schedules: schedulesSection.prefault({}),
  triggers: triggersSection.prefault({}),
  notify: notifySection.prefault({}),
  git: gitSection.prefault({}),
  secrets: z.object({}).catchall(secretSection).prefault({}),
  python: z
    .strictObject({
      packages: z
        .array(
          z
            .string()
            .regex(
              /^[A-Za-z0-9][\w.-]*(?:\[[\w,.-]+\])?(?:(?:[=<>~!]=|[<>])[\w.*+!]+(?:,(?:[=<>~!]=|[<>])[\w.*+!]+)*)?$/,
            ),
        )
        .describe('a list of packages such as "pandas" or "numpy>=2"')
        .default([
          "numpy",
          "pandas",
          "scipy",
          "matplotlib",
          "openpyxl",
          "python-docx",
          "python-pptx",
          "pypdf",
          "pdfplumber",
        ]),
      requirements: text.optional(),
    })
    .prefault({}),
  peers: z
    .object({})
    .catchall(
      z.strictObject({
        url: address,
        token: text.optional(),
        auth: credentialsSection.optional(),
        ...cardKeys,
      }),
    )
    .prefault({}),
  ...openManusSections,
});

/** A checked settings file with its defaults, in the file's own key names. */
export type Sections = z.output<typeof sectionsSchema>;
