import { firstFreePort } from "../agents.ts";
import { type Sections, sectionsSchema } from "../sections/sections.ts";
import { configFileVariable, readEnvironment, tablesNamedIn } from "./environment.ts";
import { readSettingsFile, type SettingsText } from "./file.ts";
import { childNode, type KeyNode, keyTree, withTables } from "./key-tree.ts";
import { badValue, faultAt, placeOf, unknownKey, unknownVariable } from "./settings-error.ts";
import { isTable, setAt, type Table, valueAt, valuePaths, withoutEmpty } from "./table.ts";

/** Where settings come from. `file` is the settings file named explicitly, if any. */
export type SettingsSource = {
  readonly cwd: string;
  readonly file?: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The agent that reads the settings for itself; it exists even if they do not name it. */
  readonly agent?: string | undefined;
};

/**
 * Checked settings, the file's name, and for each key that someone set, where: a variable's name or
 * `file, line n`.
 */
export type Settings = {
  readonly sections: Sections;
  readonly file: string | undefined;
  readonly origins: ReadonlyMap<string, string>;
  readonly agent: string | undefined;
};

/**
 * Reads the settings file and the environment, which takes precedence. Rejects with
 * `config_invalid` and one message that names the place, the key, what is allowed and the nearest
 * known name; it never contains a secret's value.
 */
export async function readSettings({ cwd, file, env, agent }: SettingsSource): Promise<Settings> {
  const schema = keyTree(sectionsSchema);
  const read = await readSettingsFile(cwd, file ?? (env[configFileVariable] || undefined));
  if (read !== undefined) checkKeys(read.table, schema, [], read);
  const own = agent === undefined ? [] : [["agents", agent]];
  const named = withTables(schema, [...tablesOf(read?.table ?? {}), ...own]);
  const root = withTables(named, tablesNamedIn(env, named));
  const { entries, unknown } = readEnvironment(env, root);
  if (unknown[0] !== undefined) throw unknownVariable(unknown[0], root);

  const merged = withoutEmpty(read?.table ?? {});
  const origins = new Map<string, string>();
  if (read !== undefined) for (const path of valuePaths(merged, root)) origins.set(path.join("."), placeOf(read, path));
  for (const { variable, path, value } of entries) {
    for (const key of origins.keys()) if (key.startsWith(`${path.join(".")}.`)) origins.delete(key);
    setAt(merged, path, value);
    origins.set(path.join("."), variable);
  }
  takeNamedKeys(merged, env, origins);
  if (agent !== undefined && valueAt(merged, ["agents", agent]) === undefined) setAt(merged, ["agents", agent], {});
  const parsed = sectionsSchema.safeParse(merged, { jitless: true });
  if (parsed.success) return { sections: withPorts(parsed.data), file: read?.name, origins, agent };
  const path = keyWithOrigin((parsed.error.issues[0]?.path ?? []).map(String), origins);
  throw badValue(path, valueAt(merged, path), origins.get(path.join(".")) ?? read?.name ?? "settings", root);
}

/**
 * The sections with a port for each agent: its own, or the next port that no setting names, whether
 * or not agents are switched off.
 */
function withPorts(sections: Sections): Sections {
  const taken = new Set([sections.gateway.port, ...Object.values(sections.agents).map(({ port }) => port)]);
  const agents = Object.entries(sections.agents).map(([name, agent]) => {
    let port = agent.port ?? firstFreePort;
    while (agent.port === undefined && taken.has(port)) port++;
    taken.add(port);
    return [name, { ...agent, port }];
  });
  return { ...sections, agents: Object.fromEntries(agents) };
}

/** The tables within a file's sections, as `[section, name]`. */
function tablesOf(table: Readonly<Table>): readonly (readonly string[])[] {
  return Object.entries(table).flatMap(([section, value]) => {
    const below = isTable(value) ? Object.entries(value).filter(([, one]) => isTable(one)) : [];
    return below.map(([name]) => [section, name]);
  });
}

/** Rejects the first unknown key. */
function checkKeys(table: Readonly<Table>, node: KeyNode, path: readonly string[], file: SettingsText): void {
  for (const [key, value] of Object.entries(table)) {
    const child = childNode(node, key, isTable(value));
    if (child === undefined) throw unknownKey([...path, key], node, file, isTable(value));
    if (isTable(value) && child.properties !== undefined) checkKeys(value, child, [...path, key], file);
  }
}

/** The key that was set at or above a path: of what is in a list or a flow's options, these. */
export function keyWithOrigin(path: readonly string[], origins: ReadonlyMap<string, string>): readonly string[] {
  for (let length = path.length; length > 0; length--) {
    const key = path.slice(0, length);
    if (origins.has(key.join("."))) return key;
  }
  return path;
}

/**
 * Takes from the environment the keys that `api_key_env` names, for `[llm]` and its tables, and the
 * secrets for agents that `secret_env` and `subject_env` name. Such a key takes precedence over all
 * others, since it is meant for this endpoint. Throws `config_invalid` for a variable that is not
 * set.
 */
function takeNamedKeys(
  merged: Table,
  env: Readonly<Record<string, string | undefined>>,
  origins: Map<string, string>,
): void {
  const tablesIn = (section: string) => {
    const table = valueAt(merged, [section]);
    return isTable(table) ? Object.keys(table).filter((name) => isTable(table[name])) : [];
  };
  const take = (path: readonly string[], key: string, what: string) => {
    const named = [...path, `${key}_env`];
    const variable = valueAt(merged, named);
    if (typeof variable !== "string") return;
    const value = env[variable];
    if (value === undefined || value === "") {
      const why = `[${path.join(".")}] ${key}_env names ${variable}, which is not set. Set it to ${what}.`;
      throw faultAt({ origins }, named, why);
    }
    setAt(merged, [...path, key], value);
    origins.set([...path, key].join("."), variable);
  };
  for (const path of [["llm"], ...tablesIn("llm").map((name) => ["llm", name])])
    take(path, "api_key", "the key of the model's provider");
  for (const name of tablesIn("databases")) take(["databases", name], "password", "the database's password");
  for (const name of tablesIn("triggers")) take(["triggers", name], "secret", "the secret its sender signs with");
  for (const name of tablesIn("notify")) {
    take(["notify", name], "url", "the address to notify");
    take(["notify", name], "secret", "the secret to sign with");
    take(["notify", name], "password", "the password of the mail server");
  }
  for (const name of tablesIn("git")) take(["git", name], "token", "the token for that server");
  take(["auth", "oidc"], "client_secret", "the secret of this client of the issuer");
  for (const section of ["agents", "peers"])
    for (const name of tablesIn(section))
      for (const key of ["secret", "subject"]) take([section, name, "auth"], key, "what the agent wants");
}
