import type { Config } from "manyhands/internal/config/config";
import { type ComposedFlow, flowConfig } from "manyhands/internal/config/flow-config";
import { AppError } from "manyhands/internal/core/errors";
import type { FlowDefinition } from "manyhands/internal/core/flow";
import { defined } from "manyhands/internal/core/json";
import type { FlowSettings as SetForFlow } from "manyhands/internal/core/runs/task";
import { nameFault } from "manyhands/internal/core/spec";
import { composedFlow } from "../flows/composed-flow.ts";
import type { FlowList } from "../flows/flow-list.ts";
import { ownerOf } from "../flows/load-flows.ts";
import type { Registry } from "../registry/registry.ts";
import type { SettingsFile } from "./settings-file.ts";
import { withoutTable, withTable } from "./toml-text.ts";

/** A flow composed of another one. */
export type Composition = {
  readonly flow: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
} & SetForFlow;

/** What a check found. */
export type CompositionCheck = {
  /** Why it cannot be saved. */
  readonly problem?: string;
  /** Names in it that no agent and no flow has now. */
  readonly unknownAgents: readonly string[];
};

/** The composed flows of the settings; what is saved can be run at once. */
export interface FlowSettings {
  list(): Promise<readonly ({ readonly name: string } & Composition)[]>;
  check(name: string, composition: Composition): Promise<CompositionCheck>;
  /**
   * Rejects with `invalid_input` for what `check` calls a problem, with `conflict` for a name that
   * is taken.
   */
  save(name: string, composition: Composition): Promise<void>;
  /** Rejects with `not_found`, and with `conflict` for a flow that is not a composition. */
  remove(name: string): Promise<void>;
}

/** What they are stored in and become part of. */
export type FlowSettingsDeps = {
  readonly file: SettingsFile;
  readonly cwd: string;
  readonly config: Pick<Config, "agents" | "home" | "engine">;
  readonly flows: FlowList;
  readonly registry: Pick<Registry, "list">;
};

/** The `[flows.NAME]` tables of a file. */
export function flowSettings({ file, cwd, config, flows, registry }: FlowSettingsDeps): FlowSettings {
  const composed = async () => flowConfig(await file.read(), cwd).composed;
  /** Those a composition can be made of. */
  const bases = () => [...flows].filter(({ settings }) => settings === undefined);
  const make = async (name: string, composition: Composition): Promise<FlowDefinition> => {
    const fault = nameFault("A flow", name);
    if (fault !== undefined) throw new AppError("invalid_input", fault);
    const { flow, title, description, ...settings } = composition;
    const meant: ComposedFlow = { flow, title, description, settings, origin: "settings" };
    try {
      return composedFlow(name, meant, bases());
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      throw new AppError("invalid_input", error.message.replace(/^settings: \[flows\.[^\]]*\]: /, ""));
    }
  };
  const requireFree = async (name: string, { flow }: Composition) => {
    const before = (await composed())[name];
    if (before !== undefined && before.flow !== flow)
      throw new AppError(
        "conflict",
        `${name} is composed of ${before.flow}. Runs of it may be under way: save this under another name, or remove that one first.`,
      );
    if (before !== undefined) return;
    const isTaken = flows.get(name) !== undefined || registry.list().some((agent) => agent.name === name);
    const owner = (await ownerOf(name, config)) ?? (isTaken ? "a flow or an agent that is here" : undefined);
    if (owner !== undefined) throw new AppError("conflict", `${name} is ${owner}. Choose another name.`);
  };
  return {
    async list() {
      return Object.entries(await composed()).map(([name, { flow, title, description, settings }]) => ({
        name,
        flow,
        ...(title !== undefined && { title }),
        ...(description !== undefined && { description }),
        ...settings,
      }));
    },
    async check(name, composition) {
      const known = new Set([...flows.names, ...registry.list().map((agent) => agent.name)]);
      const unknownAgents = [...new Set(agentsIn(composition))].filter((one) => isName(one) && !known.has(one));
      try {
        await make(name, composition);
        await requireFree(name, composition);
        return { unknownAgents };
      } catch (error) {
        if (!(error instanceof AppError)) throw error;
        return { problem: error.message, unknownAgents };
      }
    },
    async save(name, composition) {
      const flow = await make(name, composition);
      await requireFree(name, composition);
      await file.change((text) => withTable(text, ["flows", name], defined(composition)));
      flows.put(flow);
    },
    async remove(name) {
      if ((await composed())[name] === undefined) {
        if (flows.get(name) === undefined) throw new AppError("not_found", `There is no flow ${JSON.stringify(name)}.`);
        throw new AppError("conflict", `${name} is a flow of the system or of a module, not a composed one.`);
      }
      await file.change((text) => withoutTable(text, ["flows", name]));
      flows.remove(name);
    },
  };
}

/** Agents by name; addresses and `skill:` are found when they are asked. */
function isName(agent: string): boolean {
  return !agent.includes(":");
}

/** The agents that a composition names, wherever its options have them. */
function agentsIn({ agents = [], options = {} }: Composition): string[] {
  return [...agents, ...agentsWithin(options)];
}

function agentsWithin(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(agentsWithin);
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, below]) =>
    ["agent", "judge", "aggregator"].includes(key) && typeof below === "string" ? [below] : agentsWithin(below),
  );
}
