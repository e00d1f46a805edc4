import { traitsOf } from "../../models/capabilities.ts";
import { apiTypes } from "../llm/api-type.ts";
import { isTableName, modelFor } from "../llm/models.ts";
import type { Sections } from "../sections/sections.ts";
import type { Settings } from "./settings.ts";
import { originBelow } from "./settings-error.ts";
import { valueAt } from "./table.ts";

/** OpenManus's keys that have no effect here, and why. */
const unused: Readonly<Record<string, string>> = {
  "sandbox.use_sandbox": "tools are always confined; [sandbox] tier chooses how",
  "sandbox.image": "the sandbox uses no container image",
  "sandbox.work_dir": "each conversation has a workspace of its own",
  "sandbox.cpu_limit": "commands have a limit of CPU seconds of their own",
  "search.retry_delay": "search engines are asked one after the other, without waiting",
  "search.max_retries": "search engines are asked one after the other, each once",
  "sandbox.network_enabled": "[sandbox] allow_domains says what commands may reach",
  "mcp.server_reference": "MCP servers are listed in mcp.json",
  "runflow.use_data_analysis_agent": "a flow has every agent, DataAnalysis among them, or those its caller names",
};

/**
 * One sentence for each setting that has no effect here, or that is interpreted as something else.
 */
export function notesOn({ sections, origins }: Pick<Settings, "sections" | "origins">): readonly string[] {
  const notes: string[] = [];
  for (const [key, origin] of origins) {
    const reason = unused[key];
    if (reason !== undefined) notes.push(`${origin}: ${key} is not used: ${reason}.`);
    const type = /^llm\.(?:[^.]+\.)?api_type$/.test(key) ? String(valueAt(sections, key.split("."))) : "openai";
    if (!Object.hasOwn(apiTypes, type)) notes.push(`${origin}: ${key} ${JSON.stringify(type)} ${asOpenAi}`);
  }
  const daytona = originBelow({ origins }, ["daytona"]);
  if (daytona !== undefined) notes.push(`${daytona}: [daytona] is not used: tools run in a sandbox of this machine.`);
  const named = namedModels(sections);
  for (const name of Object.keys(sections.llm).filter(isTableName)) {
    if (named.has(name)) continue;
    const where = originBelow({ origins }, ["llm", name]) ?? "settings";
    const why =
      name === "vision"
        ? "the models of all agents see images themselves"
        : "no agent, no flow, no fallback and not [memory] embeddings names it as its model";
    notes.push(`${where}: [llm.${name}] is not used: ${why}.`);
  }
  return notes;
}

const asOpenAi = "is not known here: its base_url is spoken to as an OpenAI-compatible one.";

/** The model names that agents and models refer to. */
function namedModels({ llm, agents, flows, memory }: Sections): ReadonlySet<string | undefined> {
  const isBlind = Object.values(agents).some(({ model }) => {
    const config = modelFor(model, llm);
    return config !== undefined && !traitsOf(config).vision;
  });
  const profiles = Object.entries(llm).flatMap(([key, value]) => (isTableName(key) ? [value as Sections["llm"]] : []));
  return new Set([
    ...(isBlind ? ["vision"] : []),
    ...["summary", "extract", "planner"],
    flows.model,
    memory.embeddings,
    ...Object.values(agents).map(({ model }) => model),
    ...[llm, ...profiles].map(({ fallback }) => fallback as string | undefined),
  ]);
}
