import { extname } from "node:path";
import type { Workspace } from "../../core/workspace.ts";
import { saveFile } from "../../machine/workspace/save-file.ts";
import { neutralLine } from "./neutral-text.ts";
import { serverId } from "./tool-name.ts";

/** Whose result it is that is saved, and where. */
export type SavedFor = { readonly server: string; readonly tool: string; readonly workspace: Workspace };

/** What a server sent; `name` is what it calls it. */
type Sent = { readonly base64: string; readonly mediaType: string; readonly name?: string };

/**
 * Saves it below `mcp/SERVER` of the workspace, by its content, so that the same sent again is one file. Says what was saved where, in words for a model.
 */
export async function saveResult({ base64, mediaType, name }: Sent, target: SavedFor): Promise<string> {
  const bytes = Buffer.from(base64, "base64");
  const hash = new Bun.CryptoHasher("sha256").update(bytes).digest("hex").slice(0, 8);
  const given = extname(name ?? "");
  const extension = /^\.\w{1,10}$/.test(given) ? given : extensionOf(mediaType);
  const stem = (name?.slice(0, name.length - given.length) || target.tool).replace(/[^\w-]+/g, "_").slice(0, 40);
  const path = `mcp/${serverId(target.server)}/${stem}-${hash}${extension}`;
  await saveFile(target.workspace, path, bytes);
  return `${neutralLine(mediaType || "application/octet-stream", 100)}, ${bytes.length} bytes, saved as ${path}`;
}

function extensionOf(mediaType: string): string {
  const [, kind] = /^[\w.+-]+\/(?:x-)?([\w-]+)/.exec(mediaType) ?? [];
  if (kind === "plain") return ".txt";
  return kind === undefined || kind === "octet-stream" ? ".bin" : `.${kind}`;
}
