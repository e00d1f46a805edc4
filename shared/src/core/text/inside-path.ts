import { sanitizeLine } from "./sanitize.ts";

/** A path that cannot leave the folder it is placed in; `file` if nothing else is left of it. */
export function insidePath(name: string): string {
  const segments = name.split(/[/\\]/).filter((segment) => !isEmpty(segment));
  return segments.join("/") || "file";
}

/**
 * The name of a file that somebody sends. A relative path keeps its folders, so that a text that
 * comes with it still leads to it; of any other path only the last part is kept.
 */
export function sentName(name: string): string {
  const path = sanitizeLine(name, 255);
  const segments = path.split(/[/\\]/);
  const last = segments.at(-1) ?? "";
  if (isEmpty(last)) return "file";
  return /^(?:[/\\]|[a-z]:)/i.test(path) || segments.includes("..") ? last : insidePath(path);
}

function isEmpty(segment: string): boolean {
  return /^[\s.]*$/.test(segment);
}
