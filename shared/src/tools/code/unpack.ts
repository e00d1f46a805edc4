import { basename } from "node:path";
import * as z from "zod";
import { AppError } from "../../core/errors.ts";
import { defineTool } from "../../core/tools/define-tool.ts";
import type { Tool } from "../../core/tools/tool.ts";
import type { Sandbox } from "../../machine/sandbox/sandbox.ts";
import { openFile } from "../../machine/workspace/workspace-file.ts";
import { asksForDocuments } from "../documents/asks-for-documents.ts";
import type { ExtractLimits } from "./archive/extract-room.ts";
import { unpackArchive, unpackedText } from "./archive/unpack-archive.ts";
import { commitsNote } from "./commits-note.ts";
import { repositoryNotes } from "./repository-notes.ts";

const input = z.strictObject({
  path: z.string().min(1).describe("The archive in the workspace."),
  into: z
    .string()
    .min(1)
    .optional()
    .describe("The new folder, which must not exist yet; default: named after the archive's content."),
});

const description = `Unpacks an archive (.zip, .tar, .tar.gz, .tar.bz2, .tar.xz, .tar.zst) or one compressed file (.gz …) into a new workspace folder. A single folder around everything is
removed. Names that lead outside are left out. Archives with links outside, devices, duplicate names, or contents out of proportion are refused.`;

const compressed = /\.(?:gz|bz2|xz|zst)$/i;

/** File names and words, in any language that borrows them, that speak of an archive. */
const speaks =
  /\.(?:zip|tar|tgz|tbz2?|txz|tzst|gz|bz2|xz|zst)\b|\b(?:archiv(?:e[sd]?|s)?|tarballs?|unzip|zipped|zip[- ]files?|unpack(?:ed)?)\b/i;

/**
 * Whether words of a conversation call for the tool: the user's, or the name of a file they sent;
 * of a tool's result only that it names the tool.
 */
export function asksForArchives(text: string, from: "user" | "result"): boolean {
  return (from === "user" ? speaks : /\bunpack(?:ed)?\b/).test(text);
}

/**
 * The `unpack` tool. `sandbox` runs the programs that decompress everything except plain tar, gzip
 * and zip.
 */
export function unpackTool(deps: { readonly sandbox: Sandbox; readonly limits?: ExtractLimits }): Tool {
  return defineTool({
    name: "unpack",
    family: "archives",
    description: description.replaceAll("\n", " "),
    input,
    effect: "once",
    edits: true,
    neededFor: asksForArchives,
    async run({ path, into }, { workspace, signal }) {
      await using file = await openFile(workspace, path);
      const archive = {
        handle: file.handle,
        size: file.stats.size,
        workspace: { root: workspace.root, path: file.place.relative },
      };
      const name = basename(path);
      const single = name.replace(/\.\w+$/, "") || "unpacked";
      const otherwise = (compressed.test(name) ? single.replace(/\.[a-z]\w*$/i, "") : single) || "unpacked";
      try {
        const named = { ...(into !== undefined && { into }), ...(/\.eml$/i.test(name) && { mail: file }) };
        const placed = await unpackArchive({ ...deps, workspace, archive, otherwise, single, signal, ...named });
        const isRead = placed.files.some((one) => asksForDocuments(one.path, "user"));
        const hint = isRead ? "\nread_document reads the documents among them." : "";
        const commits = deps.sandbox.tier === "none" ? "" : await commitsNote(workspace, placed);
        return unpackedText(placed) + hint + commits + (await repositoryNotes(workspace, placed));
      } catch (error) {
        if (!(error instanceof AppError)) throw error;
        throw new AppError(error.code, `${path} was not unpacked. ${error.message}`, { cause: error });
      }
    },
  });
}
