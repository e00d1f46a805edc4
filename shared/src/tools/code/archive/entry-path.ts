import { AppError } from "../../../core/errors.ts";

const longestPath = 1000;
const longestName = 255;
const deepest = 60;

/**
 * The names that an entry's path consists of; none for the archive's own root. Throws `rejected` for paths that are absolute, lead upwards, or have
 * names in them that some system or program would take for something else.
 */
export function entryNames(path: string): string[] {
  const shown = JSON.stringify(path.slice(0, 120));
  const refuse = (why: string) => new AppError("rejected", `The name ${shown} in it ${why}.`);
  if (path.startsWith("/") || /^[A-Za-z]:/.test(path)) throw refuse("is absolute");
  if (path.includes("\\")) throw refuse("has a backslash in it");
  if (/\p{Cc}|\ufffd|[\u202a-\u202e\u2066-\u2069]/u.test(path))
    throw refuse("has characters in it that no name should have");
  const names = path
    .replace(/\/+$/, "")
    .split("/")
    .filter((name) => name !== ".");
  if (names.includes("..")) throw refuse("leads out of the archive");
  if (path === "" || (names.includes("") && names.length > 1)) throw refuse("has an empty part");
  if (
    path.length > longestPath ||
    names.length > deepest ||
    names.some((name) => Buffer.byteLength(name) > longestName)
  )
    throw refuse("is too long or too deep");
  return names.filter((name) => name !== "");
}
