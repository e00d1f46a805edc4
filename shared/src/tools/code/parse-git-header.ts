import { AppError } from "../../core/errors.ts";
import type { FilePatch, Read } from "./patch.ts";

/**
 * What git says of a file in which no line changes: that it is made empty, or was empty and goes. Undefined where the lines do not begin such a file. Throws `unsupported` for one whose
 * permissions are all that changes.
 */
export function parseGitHeader(lines: readonly string[], at: number): Read<FilePatch> | undefined {
  const path = /^diff --git "?a\/(.+?)"? "?b\/\1"?$/.exec(lines[at] ?? "")?.[1];
  if (path === undefined) return undefined;
  let next = at + 1;
  while (/^(?:index|(?:new|deleted) file mode|(?:old|new) mode) /.test(lines[next] ?? "")) next++;
  if (/^(?:--- |Binary files |GIT binary patch)/.test(lines[next] ?? "")) return undefined;
  const header = lines.slice(at + 1, next);
  const says = (start: string) => header.some((line) => line.startsWith(start));
  if (says("new file mode ")) return { value: { kind: "create", path, hunks: [] }, next };
  if (says("deleted file mode ")) return { value: { kind: "delete", path, hunks: [] }, next };
  if (says("new mode "))
    throw new AppError("unsupported", `Permissions (of ${path}) are not changed by a patch here. Use bash for that.`);
  return undefined;
}
