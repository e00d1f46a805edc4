import * as z from "zod";
import { AppError } from "../../../core/errors.ts";
import { parsePatch } from "../parse-patch.ts";

const namesPath = z.looseObject({ path: z.string() });
const namesPatch = z.looseObject({ patch: z.string() });

/** The path that an input of `str_replace_editor` is about. */
export function editorPaths(input: unknown): string[] {
  const parsed = namesPath.safeParse(input);
  return parsed.success ? [parsed.data.path] : [];
}

/** The paths that an input of `apply_patch` is about; none for what is no patch, which the tool itself will say. */
export function patchPaths(input: unknown): string[] {
  const parsed = namesPatch.safeParse(input);
  if (!parsed.success) return [];
  try {
    return parsePatch(parsed.data.patch).map(({ path }) => path);
  } catch (error) {
    if (error instanceof AppError) return [];
    throw error;
  }
}
