import { AppError } from "../core/errors.ts";
import { isTable, setAt, type Table, valueAt } from "./table.ts";

/**
 * Takes the keys that `api_key_env` names out of the environment, for `[llm]` and its tables. Such a key goes before all others, for it is meant for
 * this endpoint. Throws `config_invalid` for a variable that is not set.
 */
export function takeNamedKeys(
  merged: Table,
  env: Readonly<Record<string, string | undefined>>,
  origins: Map<string, string>,
): void {
  const llm = valueAt(merged, ["llm"]);
  const tables = isTable(llm) ? Object.keys(llm).filter((name) => isTable(llm[name])) : [];
  for (const path of [["llm"], ...tables.map((name) => ["llm", name])]) {
    const variable = valueAt(merged, [...path, "api_key_env"]);
    if (typeof variable !== "string") continue;
    const key = env[variable];
    if (key === undefined || key === "") {
      const origin = origins.get([...path, "api_key_env"].join(".")) ?? "settings";
      throw new AppError(
        "config_invalid",
        `${origin}: [${path.join(".")}] api_key_env names ${variable}, which is not set. Set it to the key of the model's provider.`,
      );
    }
    setAt(merged, [...path, "api_key"], key);
    origins.set([...path, "api_key"].join("."), variable);
  }
}
