import { toConfig } from "manyhands/internal/config/config";
import { checkNamedFiles } from "manyhands/internal/config/named-agent";
import { redacted } from "manyhands/internal/config/settings/redact";
import { keyWithOrigin, readSettings, type Settings } from "manyhands/internal/config/settings/settings";
import type { CliContext } from "../session/context.ts";
import { exitCodes } from "../terminal/exit-code.ts";

/**
 * Shows every setting in effect and its source, with secrets redacted, and settings without effect.
 * Rejects with `config_invalid` for those with which the servers would not start.
 */
export async function configCommand(
  options: { readonly config?: string; readonly json?: boolean },
  { cwd, env, terminal }: CliContext,
): Promise<number> {
  const settings = await readSettings({ cwd, file: options.config, env });
  const config = toConfig(settings, cwd);
  await checkNamedFiles(config);
  await (await import("../flows/load-flows.ts")).loadFlows(config);
  (await import("../starts/schedules/known-schedules.ts")).knownSchedules(config.triggers.schedules);
  const rows = settingRows(settings);
  if (options.json) {
    terminal.out(
      `${JSON.stringify({ file: settings.file ?? null, settings: rows, notes: config.notes }, undefined, 2)}\n`,
    );
    return exitCodes.ok;
  }
  const width = Math.max(...rows.map(({ key }) => key.length));
  terminal.out(`${settings.file === undefined ? "No settings file" : `Settings file: ${settings.file}`}\n`);
  for (const { key, value, source } of rows) terminal.out(`  ${key.padEnd(width)}  ${lineOf(value)}  (${source})\n`);
  terminal.out(
    `Model: ${config.model === undefined ? "not configured; using the rehearsal model" : config.model.name}\n`,
  );
  for (const note of config.notes) terminal.out(`Note: ${note}\n`);
  return exitCodes.ok;
}

/** A value on one line; a long one is cut. */
function lineOf(value: string): string {
  const line = value.trimEnd().replace(/\s*\n\s*/g, " ⏎ ");
  return line.length > 120 ? `${line.slice(0, 120)}… (${value.length} characters)` : line;
}

type Row = { readonly key: string; readonly value: string; readonly source: string };

function settingRows({ sections, origins }: Settings): Row[] {
  return leaves(sections, []).map(({ path, value }) => ({
    key: path.join("."),
    value: redacted(path, value),
    source: origins.get(keyWithOrigin(path, origins).join(".")) ?? "default",
  }));
}

function leaves(value: unknown, path: readonly string[]): { path: readonly string[]; value: unknown }[] {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return value === undefined ? [] : [{ path, value }];
  return Object.entries(value).flatMap(([key, child]) => leaves(child, [...path, key]));
}
