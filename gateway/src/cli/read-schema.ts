import { resolve } from "node:path";
import { AppError } from "manyhands/internal/core/errors";
import type { Json } from "manyhands/internal/core/json";
import * as z from "zod";

const schema = z.record(z.string(), z.json());

/** The JSON Schema in a file, as `--schema` names it; undefined for no file. Rejects with `invalid_input`. */
export async function readSchema(
  path: string | undefined,
  cwd: string,
): Promise<{ readonly [keyword: string]: Json } | undefined> {
  if (path === undefined) return undefined;
  const file = Bun.file(resolve(cwd, path));
  if (!(await file.exists())) throw new AppError("invalid_input", `There is no file ${path}.`);
  try {
    return schema.parse(JSON.parse(await file.text()));
  } catch {
    throw new AppError("invalid_input", `${path} holds no JSON Schema: it has to be a JSON object.`);
  }
}
