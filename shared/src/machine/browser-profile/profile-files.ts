import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { AppError } from "../../core/errors.ts";
import type { KeptTexts } from "../../core/text/kept-text.ts";
import { sealedText } from "../../core/text/sealed-text.ts";
import { ownSecret } from "../own-secret.ts";
import { keptFiles } from "../workspace/own-files/kept-files.ts";

/**
 * Where a home keeps browser profiles: in `browser-profiles`, sealed, with the key beside them,
 * which only the owner can read.
 */
export function profileFiles(home: string): KeptTexts {
  const folder = join(home, "browser-profiles");
  const keys = async () => [await ownSecret(join(folder, "key"), () => randomBytes(32))] as const;
  return keptFiles(folder, (file, name) =>
    sealedText(file, { keys, encoding: "latin1", purpose: `browser profile ${name}`, unopened }),
  );
}

function unopened(cause: unknown): Error {
  const message =
    "A browser profile cannot be opened with the key in browser-profiles of the home. Restore the key, or delete the profile.";
  return new AppError("config_invalid", message, { cause });
}
