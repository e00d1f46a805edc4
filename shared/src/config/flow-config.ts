import type { AppError } from "../core/errors.ts";
import { defined } from "../core/json.ts";
import type { FlowSettings } from "../core/runs/task.ts";
import { checkName, namedFile } from "./agents/agent-config.ts";
import type { NamedFile } from "./agents/named-files.ts";
import type { FlowTable } from "./sections/agent-section.ts";
import type { Settings } from "./settings/settings.ts";
import { faultAt, originBelow } from "./settings/settings-error.ts";

/** A flow that the settings compose: another flow with agents and options set. */
export type ComposedFlow = {
  /** The flow it is made of. */
  readonly flow: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  /** What is set where a caller sets nothing. */
  readonly settings: FlowSettings;
  /** Where it was set, for people. */
  readonly origin: string;
};

/** The flows of `[flows.NAME]`: modules and compositions. Throws `config_invalid`. */
export function flowConfig(
  settings: Settings,
  cwd: string,
): {
  readonly added: Readonly<Record<string, NamedFile>>;
  readonly composed: Readonly<Record<string, ComposedFlow>>;
} {
  const { model: _, ...tables } = settings.sections.flows;
  const added: Record<string, NamedFile> = {};
  const composed: Record<string, ComposedFlow> = {};
  for (const [name, table] of Object.entries(tables)) {
    checkName("flows", name, settings);
    if (table.entry !== undefined) {
      if (Object.values(table).filter((value) => value !== undefined).length > 1) throw either(settings, name);
      added[name] = namedFile(["flows", name, "entry"], table.entry, settings, cwd);
    } else composed[name] = compositionOf(name, table, settings);
  }
  return { added, composed };
}

function compositionOf(name: string, table: FlowTable, from: Settings): ComposedFlow {
  const { flow, title, description, agents, options } = table;
  if (flow === undefined) throw either(from, name);
  const settings = defined({ agents, options });
  const origin = originBelow(from, ["flows", name]) ?? "settings";
  return { flow, title, description, settings, origin };
}

function either(settings: Settings, name: string): AppError {
  return faultAt(
    settings,
    ["flows", name],
    `[flows.${name}] needs either \`entry\`, a module, or \`flow\`, the flow it is composed of, with its agents and options.`,
  );
}
