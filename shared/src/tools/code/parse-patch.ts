import { AppError } from "../../core/errors.ts";
import { withPlainEndings } from "../files/line-endings.ts";
import { parseGitHeader } from "./parse-git-header.ts";
import { parseSearchBlock } from "./parse-search-block.ts";
import { parseUnifiedFile } from "./parse-unified.ts";
import type { FilePatch } from "./patch.ts";

/**
 * The files of a patch, in its order: unified diffs, as git writes them or with wrong line counts, and search/replace blocks. Throws
 * `invalid_input`, naming the line, for anything that is neither.
 */
export function parsePatch(patch: string): FilePatch[] {
  const lines = withPlainEndings(patch).replace(/\n$/, "").split("\n");
  const files: FilePatch[] = [];
  let at = 0;
  while (at < lines.length) {
    refuseUnsupported(lines[at] ?? "");
    const read =
      parseGitHeader(lines, at) ?? parseUnifiedFile(lines, at) ?? parseSearchBlock(lines, at, files.at(-1)?.path);
    if (read !== undefined) files.push(read.value);
    at = read?.next ?? at + 1;
  }
  if (files.length === 0)
    throw new AppError(
      "invalid_input",
      "There is no patch in this: neither a unified diff (--- a/file, +++ b/file, @@) nor a search/replace block.",
    );
  return files;
}

function refuseUnsupported(line: string): void {
  if (/^(rename|copy) (from|to) /.test(line))
    throw new AppError("unsupported", "Files are not renamed or copied by a patch here. Use bash for that.");
  if (line.startsWith("GIT binary patch") || /^Binary files .* differ$/.test(line))
    throw new AppError("unsupported", "Binary files cannot be patched here.");
}
