import { readFile } from "node:fs/promises";
import { AppError } from "../../core/errors.ts";

/** A secret as it is, or the file that holds it, which is read at each use. */
export type Secret = { readonly text: string } | { readonly file: string };

/** The secret. Rejects with `unauthorized` if its file cannot be read or is empty. */
export async function readSecret(secret: Secret): Promise<string> {
  return "text" in secret ? secret.text : (await readCredentialFile(secret.file)).trim();
}

/** The content of a file with credentials. Rejects with `unauthorized` likewise. */
export async function readCredentialFile(path: string): Promise<string> {
  const text = await readFile(path, "utf8").catch((cause: unknown) => {
    throw new AppError("unauthorized", `The credentials in ${path} cannot be read.`, { cause });
  });
  if (text.trim() === "") throw new AppError("unauthorized", `The file ${path} with credentials is empty.`);
  return text;
}
