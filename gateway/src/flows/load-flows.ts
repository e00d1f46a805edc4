import { pathToFileURL } from "node:url";
import { entryPath, type NamedFile } from "manyhands/internal/config/agents/named-files";
import type { Config } from "manyhands/internal/config/config";
import { AppError, messageOf } from "manyhands/internal/core/errors";
import type { FlowDefinition } from "manyhands/internal/core/flow";
import * as z from "zod";
import { registeredAgents } from "../registry/registered-agents.ts";

/** Loaded where a flow is named, since most commands name none. */
const ownFlows = async () => (await import("@manyhands/flows/flows")).flows;

/** The shape of a flow made with `defineFlow`, from whichever copy of this package. */
const flowShape = z.looseObject({
  name: z.string(),
  title: z.string(),
  description: z.string(),
  version: z.string(),
  skills: z.array(z.unknown()),
  options: z.looseObject({ safeParse: z.function() }),
  example: z.looseObject({ text: z.string() }),
  perform: z.function(),
});

/**
 * All flows: this system's and those of `[flows.NAME]`, each named after its table.
 * Rejects with `config_invalid` for a name that is taken, by a flow or by an agent, and for a
 * module that cannot be loaded or exports no flow, or several.
 */
export async function loadFlows(config: FlowPlaces): Promise<readonly FlowDefinition[]> {
  const { flows, agents } = config;
  const added: FlowDefinition[] = [];
  for (const [name, entry] of Object.entries(flows.added)) {
    const owner = await ownerOf(name, config);
    if (owner !== undefined) throw invalid(entry, `${name} is ${owner}. Give the flow another name`);
    added.push({ ...(await loadFlow(entry)), name });
  }
  const own = await ownFlows();
  const there = [...own, ...added];
  for (const [name, composed] of Object.entries(flows.composed)) {
    const owner = await ownerOf(name, config);
    if (owner !== undefined)
      throw new AppError(
        "config_invalid",
        `${composed.origin}: [flows.${name}]: ${name} is ${owner}. Give the flow another name.`,
      );
    const { composedFlow } = await import("./composed-flow.ts");
    added.push(composedFlow(name, composed, there));
  }
  const taken = own.find(({ name }) => Object.hasOwn(agents, name))?.name;
  if (taken === undefined) return [...own, ...added];
  throw new AppError(
    "config_invalid",
    `[agents.${taken}]: ${taken} is the name of a flow. Give the agent another name.`,
  );
}

type FlowPlaces = Pick<Config, "flows" | "agents" | "home" | "engine">;

/** What already has this name; undefined if it is free for a flow. */
export async function ownerOf(
  name: string,
  { agents, ...config }: Omit<FlowPlaces, "flows">,
): Promise<string | undefined> {
  if ((await ownFlows()).some((flow) => flow.name === name)) return "a flow of this system";
  if (Object.hasOwn(agents, name)) return "an agent of this system";
  const registered = (await registeredAgents(config)).find((one) => one.name === name);
  return registered && `the agent that was registered at ${registered.url}`;
}

/** The flow of this name. Throws `invalid_input` with the known names. */
export function flowNamed(flows: readonly FlowDefinition[], name: string): FlowDefinition {
  const flow = flows.find((one) => one.name === name);
  if (flow !== undefined) return flow;
  const names = flows.map((one) => one.name).join(", ");
  throw new AppError("invalid_input", `There is no flow ${JSON.stringify(name)}. There are: ${names}.`);
}

/** The one flow a module exports: its default export, else the only one. */
async function loadFlow(entry: NamedFile): Promise<FlowDefinition> {
  const path = entryPath(entry);
  const exported = await importModule(path, entry);
  const made = Object.entries(exported).filter(([, value]) => flowShape.safeParse(value).success);
  const chosen = made.find(([name]) => name === "default") ?? made[0];
  if (chosen !== undefined && (chosen[0] === "default" || new Set(made.map(([, value]) => value)).size === 1))
    return chosen[1] as FlowDefinition;
  const found =
    made.length > 1
      ? `exports several flows (${made.map(([name]) => name).join(", ")})`
      : `exports no flow, but ${Object.keys(exported).join(", ") || "nothing"}`;
  throw invalid(
    entry,
    `${path} ${found}. Allowed: a module with one export made with defineFlow, or such a default export`,
  );
}

async function importModule(path: string, entry: NamedFile): Promise<Record<string, unknown>> {
  try {
    return await import(pathToFileURL(path).href);
  } catch (error) {
    const why = messageOf(error);
    throw new AppError("config_invalid", `${invalid(entry, `${path} cannot be loaded: ${why}`).message}`, {
      cause: error,
    });
  }
}

function invalid({ key, name, origin }: NamedFile, why: string): AppError {
  return new AppError(
    "config_invalid",
    `${origin}: ${key} cannot be ${JSON.stringify(name)}: ${why.replace(/\.$/, "")}.`,
  );
}
