import * as z from "zod";
import { cardDemands } from "../../a2a/signing/card-demand.ts";
import { withoutLastSlashes } from "../../core/text/without-last-slashes.ts";
import { agentDefaults } from "../agents.ts";
import { toolProfiles } from "../tool-profile.ts";

/**
 * The tool families that `[agents.NAME] tools` can name. `tools/families.ts` says what each
 * contains.
 */
export const toolFamilyNames = [
  "planning",
  "shell",
  "python",
  "files",
  "documents",
  "archives",
  "web",
  "data",
  "code",
  "human",
  "delegate",
  "desktop",
  "browser",
] as const;

/** One tool family. */
export type ToolFamilyName = (typeof toolFamilyNames)[number];

const text = z.string().min(1);
const port = z.int().min(0).max(65535);
const seconds = z.number().min(0.001).max(31_536_000);
const modelName = text.describe("the NAME of an [llm.NAME] table, or a model's name");
/** The maximum number of characters of instructions, in the settings or in a separate file. */
export const longestInstructions = 100_000;
/** That in words: a number's format would be loaded for it at every start. */
export const instructionsBound = "at most 100,000 characters";
const instructions = text.max(longestInstructions).describe(`a text of ${instructionsBound}`);
const textFile = text.describe("a text file, relative to the file that names it");

/** An address as reached from here. */
export const address = z.url({ protocol: /^https?$/ }).describe("a URL that begins with http:// or https://");
/** An address as reached from outside. */
export const publicAddress = address.overwrite(withoutLastSlashes);
const entry = text.describe("a file, relative to the file that names it, or an installed package");

/** What is demanded of an agent's card. */
export const cardDemand = z.enum(cardDemands).optional();
/** The keys of an agent's card, for `[agents.NAME]` and `[peers.NAME]`. */
export const cardKeys = {
  card_policy: cardDemand,
  card_keys: text.describe("a JWK set file with the keys that its card has to be signed with").optional(),
};

/** What shows an agent who calls it, for `[agents.NAME.auth]` and `[peers.NAME.auth]`. */
export const credentialsSection = z.strictObject({
  kind: z.enum(["bearer", "api_key", "oauth", "token_exchange"]).optional(),
  secret: text.optional(),
  secret_env: text.optional(),
  secret_file: text.optional(),
  header: z
    .string()
    .regex(/^[\w-]+$/)
    .describe("the name of a header")
    .optional(),
  token_url: address.optional(),
  client_id: text.optional(),
  scopes: z.array(text).describe("a list of scopes").optional(),
  audience: text.optional(),
  subject: text.optional(),
  subject_env: text.optional(),
  subject_file: text.optional(),
  cert: text.optional(),
  key: text.optional(),
  ca: text.optional(),
});

/** Bounds of one task. `usd` needs a model with a known price. */
const limitsSection = z.strictObject({
  steps: z.int().min(1).max(10_000).optional(),
  tokens: z.int().min(1).max(10_000_000_000).optional(),
  usd: z.number().min(0).max(1_000_000).optional(),
  wall_seconds: seconds.optional(),
  calls_per_turn: z.int().min(1).max(1000).optional(),
  parallel_calls: z.int().min(1).max(1000).optional(),
  answer_seconds: seconds.optional(),
  result_characters: z.int().min(100).max(10_000_000).optional(),
});

/** `[limits.principal]`: what each principal may use. */
const principalLimits = z.strictObject({
  requests_per_minute: z.int().min(1).max(1_000_000).optional(),
  runs_at_once: z.int().min(1).max(1_000_000).optional(),
  tokens_per_day: z.int().min(0).max(1_000_000_000_000).optional(),
  usd_per_day: z.number().min(0).max(1_000_000_000).optional(),
});

/** `[limits]`: the bounds of a task, and of principals. */
export const allLimitsSection = limitsSection.extend({
  principal: principalLimits.prefault({}),
  principals: z.object({}).catchall(principalLimits).describe("tables; in a variable, as JSON").prefault({}),
});

/** `[agents.NAME]`; for a known name, missing keys are as in `agentDefaults`. */
function agentKeys(name?: string) {
  const own = name === undefined ? undefined : agentDefaults[name];
  return z.strictObject({
    enabled: z.boolean().default(true),
    entry: own === undefined ? entry.optional() : entry.default(own.entry),
    port: own === undefined ? port.optional() : port.default(own.port),
    grpc_port: port.default(0),
    url: address.optional(),
    token: text.optional(),
    auth: credentialsSection.optional(),
    ...cardKeys,
    public_url: publicAddress.optional(),
    instructions: instructions.optional(),
    instructions_file: textFile.optional(),
    extra_instructions: instructions.optional(),
    extra_instructions_file: textFile.optional(),
    model: modelName.optional(),
    limits: limitsSection.prefault({}),
    tool_choice: z.enum(["auto", "required", "none"]).optional(),
    profile: z.enum(toolProfiles).optional(),
    tools: z
      .array(z.enum(toolFamilyNames))
      .describe(`a list of ${toolFamilyNames.join(", ")}`)
      .optional(),
    delegates: z
      .array(text)
      .describe('a list of agents of this system and of [peers.NAME] tables, or ["*"] for all others of this system')
      .default([...(own?.delegates ?? [])]),
    approve: z.array(text).describe("a list of tool names whose calls a person has to allow").default([]),
    risky: z.enum(["ask", "allow", "deny"]).default("ask"),
    serve_mcp: z.boolean().default(false),
    mcp: z
      .array(text)
      .describe('a list of names of servers in mcp.json, or ["*"] for all')
      .default([...(own?.mcp ?? [])]),
    skills: z.array(text).describe('a list of names of skills, or ["*"] for all').optional(),
  });
}

/** `[agents]`: the agents of `agentDefaults`, and tables of any other name. */
export const agentsSection = z
  .object(Object.fromEntries(Object.keys(agentDefaults).map((name) => [name, agentKeys(name).prefault({})])))
  .catchall(agentKeys());

/** `[flows.NAME]`: a module, or a composition of a flow that is there. */
const flowTable = z.strictObject({
  entry: entry.optional(),
  flow: text.describe("the name of a flow").optional(),
  title: text.max(100).optional(),
  description: text.max(1000).optional(),
  agents: z.array(text).min(1).max(50).describe("a list of agents").optional(),
  options: z.record(z.string(), z.json()).describe("a table of the flow's options; in a variable, as JSON").optional(),
});

/** `[flows]`; its tables add flows to the built-in ones. */
export const flowsSection = z.object({ model: modelName.optional() }).catchall(flowTable);

/** A checked `[flows.NAME]` table. */
export type FlowTable = z.output<typeof flowTable>;

/** A checked `[agents.NAME]` table. */
export type AgentSection = z.output<ReturnType<typeof agentKeys>>;
