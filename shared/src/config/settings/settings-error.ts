import { AppError } from "../../core/errors.ts";
import { knownVariables, variableFor } from "./environment.ts";
import { lineOf, type SettingsText } from "./file.ts";
import { allowedValues, type KeyNode, nodeAt } from "./key-tree.ts";
import { nearestName } from "./nearest.ts";
import { isSecret, redacted } from "./redact.ts";

/** The file's name and, if it can be determined, the line of a key. */
export function placeOf(file: SettingsText, path: readonly string[]): string {
  const line = lineOf(file.source, path);
  return line === undefined ? file.name : `${file.name}, line ${line}`;
}

/** A key or section of the file that does not exist. `parent` lists the keys allowed there. */
export function unknownKey(path: readonly string[], parent: KeyNode, file: SettingsText, isTable: boolean): AppError {
  const key = path.at(-1) ?? "";
  const properties = Object.entries(parent.properties ?? {});
  const known = properties.map(([name]) => name).sort();
  const deeper = properties.flatMap(([name, node]) => (node.properties?.[key] === undefined ? [] : [`${name}.${key}`]));
  const hint = deeper[0] === undefined ? suggestion(key, known) : ` Did you mean ${deeper[0]}?`;
  const what =
    path.length === 1
      ? `there is no ${isTable ? `section [${key}]` : `key ${key}`}`
      : `[${path.slice(0, -1).join(".")}] has no ${isTable ? "table" : "key"} ${key}`;
  return invalid(`${placeOf(file, path)}: ${what}.${hint} Known: ${known.join(", ")}.`);
}

/** A variable with our prefix that sets no key. */
export function unknownVariable(variable: string, root: KeyNode): AppError {
  const hint = suggestion(variable, knownVariables(root));
  return invalid(`The environment variable ${variable} sets no known key.${hint} Names are MANYHANDS_SECTION_KEY.`);
}

/** A value that its key does not allow. `origin` is where it was set. */
export function badValue(path: readonly string[], value: unknown, origin: string, root: KeyNode): AppError {
  const node = nodeAt(root, path);
  const shown = isSecret(path) ? "that value" : shortened(redacted(path, JSON.stringify(value) ?? ""));
  const allowed = node === undefined ? "" : ` Allowed: ${allowedValues(node)}.`;
  const variable = variableFor(path);
  const also = origin === variable || node?.properties !== undefined ? "" : ` ${variable} sets it too.`;
  const fault = value === undefined ? "is missing" : `cannot be ${shown}`;
  return invalid(`${origin}: ${path.join(".")} ${fault}.${allowed}${also}`);
}

/** A shortened value, since it may be a whole text of instructions. */
function shortened(shown: string): string {
  return shown.length > 200 ? `${shown.slice(0, 200)}…` : shown;
}

/** What is said of where a setting comes from. */
type Places = { readonly origins: ReadonlyMap<string, string>; readonly file?: string | undefined };

/** Where something at or below this path was set; undefined if nothing was. */
export function originBelow({ origins }: Places, path: readonly string[]): string | undefined {
  const table = path.join(".");
  return [...origins].find(([key]) => key === table || key.startsWith(`${table}.`))?.[1];
}

/** What is wrong with the settings at or below a path, such as keys that do not go together. */
export function faultAt(places: Places, path: readonly string[], why: string, options?: ErrorOptions): AppError {
  return invalid(`${originBelow(places, path) ?? places.file ?? "settings"}: ${why}`, options);
}

function suggestion(typed: string, known: readonly string[]): string {
  const meant = nearestName(typed, known);
  return meant === undefined ? "" : ` Did you mean ${meant}?`;
}

function invalid(message: string, options?: ErrorOptions): AppError {
  return new AppError("config_invalid", message, options);
}
