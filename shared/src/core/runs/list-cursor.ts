import * as z from "zod";
import { AppError } from "../errors.ts";
import type { RunRecord } from "./engine.ts";

const placeSchema = z.tuple([z.int(), z.string()]);

/** The cursor of the page of a list that starts after this run. */
export function cursorAfter({ updatedAt, id }: Pick<RunRecord, "updatedAt" | "id">): string {
  return Buffer.from(JSON.stringify([updatedAt, id])).toString("base64url");
}

/** The `updatedAt` and the id of the run after which the cursor's page starts. */
export function placeOf(cursor: string): readonly [number, string] {
  try {
    return placeSchema.parse(JSON.parse(Buffer.from(cursor, "base64url").toString()));
  } catch (cause) {
    throw new AppError("invalid_input", "The cursor does not come from this list.", { cause });
  }
}
