import { resolve } from "node:path";
import type { SecretSource } from "../../machine/secrets/secret-source.ts";
import type { NamedSecret } from "../../machine/secrets/secrets.ts";
import type { Sections } from "../sections/sections.ts";
import type { Settings } from "../settings/settings.ts";
import { faultAt } from "../settings/settings-error.ts";

/**
 * The secrets of `[secrets.NAME]`; the path of a file starts at `cwd`. Throws `config_invalid` for
 * one that does not say, or says twice, where its value is.
 */
export function secretConfig(settings: Settings, cwd: string): readonly NamedSecret[] {
  return Object.entries(settings.sections.secrets).map(([name, section]) => {
    const { kind, sites, principals, ask } = section;
    const [source, ...others] = sourcesOf(section, cwd);
    if (source !== undefined && others.length === 0) return { name, kind, sites, principals, ask, source };
    const found = source === undefined ? "none" : "several";
    const why = `[secrets.${name}] needs one of env, file, command and op; it has ${found}.`;
    throw faultAt(settings, ["secrets", name], why);
  });
}

type Section = Sections["secrets"][string];

function sourcesOf({ env, file, command: [program, ...args] = [], op }: Section, cwd: string): SecretSource[] {
  return [
    ...(env === undefined ? [] : [{ env }]),
    ...(file === undefined ? [] : [{ file: resolve(cwd, file) }]),
    ...(program === undefined ? [] : [{ command: [program, ...args] as const }]),
    ...(op === undefined ? [] : [{ op }]),
  ];
}
