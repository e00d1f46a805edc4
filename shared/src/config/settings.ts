import { configFileVariable, readEnvironment } from "./environment.ts";
import { readSettingsFile, type SettingsFile } from "./file.ts";
import { childNode, type KeyNode, keyTree } from "./key-tree.ts";
import { type Sections, sectionsSchema } from "./sections.ts";
import { badValue, placeOf, unknownKey, unknownVariable } from "./settings-error.ts";
import { isTable, setAt, type Table, valueAt, valuePaths, withoutEmpty } from "./table.ts";

/** Where settings come from. `file` is the one asked for by name, if one was. */
export type SettingsSource = {
  readonly cwd: string;
  readonly file?: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
};

/** Checked settings, the file's name, and for each key that someone set, where: a variable's name or `file, line n`. */
export type Settings = {
  readonly sections: Sections;
  readonly file: string | undefined;
  readonly origins: ReadonlyMap<string, string>;
};

/**
 * Reads the settings file and the environment, which wins. Rejects with `config_invalid` and one message that names place, key, what is
 * allowed and the nearest known name; no secret's value is ever in it.
 */
export async function readSettings({ cwd, file, env }: SettingsSource): Promise<Settings> {
  const root = keyTree(sectionsSchema);
  const read = await readSettingsFile(cwd, file ?? (env[configFileVariable] || undefined));
  const { entries, unknown } = readEnvironment(env, root);
  if (read !== undefined) checkKeys(read.table, root, [], read);
  if (unknown[0] !== undefined) throw unknownVariable(unknown[0], root);

  const merged = withoutEmpty(read?.table ?? {});
  const origins = new Map<string, string>();
  if (read !== undefined) for (const path of valuePaths(merged, root)) origins.set(path.join("."), placeOf(read, path));
  for (const { variable, path, value } of entries) {
    setAt(merged, path, value);
    origins.set(path.join("."), variable);
  }
  const parsed = sectionsSchema.safeParse(merged);
  if (parsed.success) return { sections: parsed.data, file: read?.name, origins };
  const path = keyWithOrigin((parsed.error.issues[0]?.path ?? []).map(String), origins);
  throw badValue(path, valueAt(merged, path), origins.get(path.join(".")) ?? "settings", root);
}

/** Refuses the first key that is not known at its place. */
function checkKeys(table: Readonly<Table>, node: KeyNode, path: readonly string[], file: SettingsFile): void {
  for (const [key, value] of Object.entries(table)) {
    const child = childNode(node, key, isTable(value));
    if (child === undefined) throw unknownKey([...path, key], node, file, isTable(value));
    if (isTable(value) && child.properties !== undefined) checkKeys(value, child, [...path, key], file);
  }
}

/** A fault inside a list is reported at the list, which is what someone set. */
function keyWithOrigin(path: readonly string[], origins: ReadonlyMap<string, string>): readonly string[] {
  for (let length = path.length; length > 0; length--) {
    const key = path.slice(0, length);
    if (origins.has(key.join("."))) return key;
  }
  return path;
}
