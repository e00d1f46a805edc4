import { objectOf } from "../../core/json.ts";
import { fixedKeys, isSetWhole, type KeyNode, nodeAt } from "./key-tree.ts";

/** A key set by an environment variable. */
export type EnvironmentEntry = { readonly variable: string; readonly path: readonly string[]; readonly value: unknown };

/**
 * The environment variable that locates the settings file; the only one with our prefix that is not
 * a key of the settings.
 */
export const configFileVariable = "MANYHANDS_CONFIG";

/**
 * Short and customary names, by the key they set. They take precedence over the systematic names.
 */
const shortNames: Readonly<Record<string, readonly string[]>> = {
  OPENAI_API_KEY: ["llm", "api_key"],
  OPENAI_BASE_URL: ["llm", "base_url"],
  MANYHANDS_MODEL: ["llm", "model"],
  MANYHANDS_TOKEN: ["server", "token"],
  MANYHANDS_MCP: ["mcp", "file"],
  GRPC_PORT: ["server", "grpc_port"],
  HOST: ["server", "host"],
  PORT: ["server", "port"],
  PUBLIC_URL: ["server", "public_url"],
  SANDBOX: ["sandbox", "tier"],
  GATEWAY_PORT: ["gateway", "port"],
  OTEL_EXPORTER_OTLP_ENDPOINT: ["telemetry", "otlp_endpoint"],
  OTEL_EXPORTER_OTLP_HEADERS: ["telemetry", "otlp_headers"],
  AWS_ENDPOINT_URL_S3: ["artifacts", "endpoint"],
  AWS_REGION: ["artifacts", "region"],
  AWS_ACCESS_KEY_ID: ["artifacts", "access_key_id"],
  AWS_SECRET_ACCESS_KEY: ["artifacts", "secret_access_key"],
  AWS_SESSION_TOKEN: ["artifacts", "session_token"],
  SEARXNG_URL: ["search", "searxng", "url"],
  BRAVE_API_KEY: ["search", "brave", "api_key"],
  TAVILY_API_KEY: ["search", "tavily", "api_key"],
  EXA_API_KEY: ["search", "exa", "api_key"],
  SERPER_API_KEY: ["search", "serper", "api_key"],
  GOOGLE_CSE_API_KEY: ["search", "google_cse", "api_key"],
  GOOGLE_CSE_CX: ["search", "google_cse", "cx"],
};

/** The keys of an agent that also have a short name, made from the agent's: `MANUS_PORT`. */
const shortKeys = ["port", "url"];

/** The short name of an agent's key, unless it is listed above. */
function shortNameOf([section, name = "", key = "", ...deeper]: readonly string[]): string | undefined {
  if (section !== "agents" || !shortKeys.includes(key) || deeper.length > 0) return undefined;
  const variable = `${name}_${key}`.replaceAll("-", "_").toUpperCase();
  return Object.hasOwn(shortNames, variable) ? undefined : variable;
}

/** The short names of the keys of a tree, and what they set. */
function shortNamesOf(root: KeyNode): Readonly<Record<string, readonly string[]>> {
  const ofAgents = Object.keys(root.properties?.agents?.properties ?? {}).flatMap((name) =>
    shortKeys.flatMap((key) => {
      const path = ["agents", name, key];
      const variable = shortNameOf(path);
      return variable === undefined ? [] : [[variable, path] as const];
    }),
  );
  return { ...Object.fromEntries(ofAgents), ...shortNames };
}

/** The systematic name of a key: `MANYHANDS_SECTION_KEY`. */
function systematicName(path: readonly string[]): string {
  return ["MANYHANDS", ...path].join("_").replaceAll("-", "_").toUpperCase();
}

/** The variable to name in a message about this key: the short one if there is one. */
export function variableFor(path: readonly string[]): string {
  const short = Object.entries(shortNames).find(([, target]) => target.join(".") === path.join("."));
  return short?.[0] ?? shortNameOf(path) ?? systematicName(path);
}

/** Every variable with a fixed name, for suggestions. */
export function knownVariables(root: KeyNode): string[] {
  return [
    ...Object.keys(shortNamesOf(root)),
    ...fixedKeys(root).map(({ path }) => systematicName(path)),
    configFileVariable,
  ];
}

/**
 * The keys that these variables set, and the names with our prefix that set none. An empty variable
 * counts as not set, since shells and container files unset variables that way.
 */
export function readEnvironment(
  env: Readonly<Record<string, string | undefined>>,
  root: KeyNode,
): { entries: EnvironmentEntry[]; unknown: string[] } {
  const short = shortNamesOf(root);
  const entries: EnvironmentEntry[] = [];
  const unknown: string[] = [];
  for (const [variable, value] of Object.entries(env)) {
    if (value === undefined || value === "" || variable === configFileVariable) continue;
    const path =
      (Object.hasOwn(short, variable) ? short[variable] : undefined) ??
      fixedPath(variable, root) ??
      namedTablePath(variable, root);
    const node = path === undefined ? undefined : nodeAt(root, path);
    if (path !== undefined && node !== undefined) entries.push({ variable, path, value: coerced(value, node) });
    else if (variable.startsWith("MANYHANDS_")) unknown.push(variable);
  }
  // A short name comes last, so that it overrides the systematic name of the same key.
  return {
    entries: entries.sort((a, b) => Number(a.variable in short) - Number(b.variable in short)),
    unknown,
  };
}

/** The key with this systematic name. Of several, the last one, as in every list of the keys. */
function fixedPath(variable: string, node: KeyNode, path: readonly string[] = []): readonly string[] | undefined {
  const name = systematicName(path);
  if (isSetWhole(node, path) && variable === name) return path;
  if (node.properties === undefined || !variable.startsWith(name)) return undefined;
  for (const [key, child] of Object.entries(node.properties).toReversed()) {
    const found = fixedPath(variable, child, [...path, key]);
    if (found !== undefined) return found;
  }
  return undefined;
}

/**
 * The tables that only variables name, as `[section, name]`; tables of the tree already have
 * variables for their keys.
 */
export function tablesNamedIn(
  env: Readonly<Record<string, string | undefined>>,
  root: KeyNode,
): readonly (readonly string[])[] {
  const named = Object.entries(env).flatMap(([variable, value]) => {
    if (value === undefined || value === "") return [];
    const path = namedTablePath(variable, root);
    return path === undefined ? [] : [{ variable, table: path.slice(0, 2) }];
  });
  // Most environments have none, and to name every key takes longer than to read all settings.
  if (named.length === 0) return [];
  const known = new Set(knownVariables(root));
  return named.filter(({ variable }) => !known.has(variable)).map(({ table }) => table);
}

/**
 * `MANYHANDS_LLM_VISION_MODEL` is the key `model` of the table `[llm.vision]`; if several keys
 * match the end, the longest wins.
 */
function namedTablePath(variable: string, root: KeyNode): readonly string[] | undefined {
  const found: (readonly string[])[] = [];
  for (const [section, node] of Object.entries(root.properties ?? {})) {
    const prefix = `${systematicName([section])}_`;
    const table = node.named;
    if (table === undefined || !variable.startsWith(prefix)) continue;
    for (const { path } of fixedKeys(table)) {
      const suffix = `_${path.join("_").toUpperCase()}`;
      const name = variable.slice(prefix.length, -suffix.length).toLowerCase();
      if (variable.endsWith(suffix) && name !== "") found.push([section, name, ...path]);
    }
  }
  const byName = ([, one = ""]: readonly string[], [, other = ""]: readonly string[]) => one.length - other.length;
  return found.toSorted(byName)[0];
}

/**
 * The text of a variable converted to the type of its key; unchanged if it cannot be converted, so
 * that validation rejects it.
 */
function coerced(value: string, node: KeyNode): unknown {
  const { type = node.properties && "table" } = node;
  if (type === "array")
    return value
      .split(",")
      .map((item) => item.trim())
      .filter((item) => item !== "");
  if (type === "boolean") return { true: true, "1": true, false: false, "0": false }[value.toLowerCase()] ?? value;
  if (type === "table") return objectOf(value) ?? value;
  if (type === "number") {
    const number = Number(value);
    return Number.isNaN(number) ? value : number;
  }
  return value;
}
