import PostalMime from "postal-mime";
import { AppError } from "../../../core/errors.ts";
import type { OpenFile } from "../../../machine/workspace/workspace-file.ts";
import type { ArchiveEntry } from "./archive-entry.ts";

/** The most of a mail, which is held in memory. */
const maxBytes = 25 * 1024 ** 2;

/**
 * The files that are attached to a mail (.eml), each under a name of its own. Throws
 * `unsupported` when none is.
 */
export async function* readMailFiles(file: Pick<OpenFile, "read">): AsyncGenerator<ArchiveEntry> {
  const bytes = await file.read(maxBytes);
  if (bytes === undefined)
    throw new AppError("too_large", `A mail of more than ${maxBytes / 1024 ** 2} MB is not read.`);
  const { attachments } = await PostalMime.parse(bytes, { maxNestingDepth: 64 });
  if (attachments.length === 0) throw new AppError("unsupported", "No file is attached to this mail.");
  const used = new Set<string>();
  for (const [at, { filename, content }] of attachments.entries()) {
    const given = (filename ?? "").replace(/^.*[/\\]/s, "").trim();
    const name = given === "" || /^\.+$/.test(given) ? `attached-${at + 1}` : given;
    const path = used.has(name.toLowerCase()) ? `${at + 1}-${name}` : name;
    used.add(path.toLowerCase());
    const data = typeof content === "string" ? new TextEncoder().encode(content) : new Uint8Array(content);
    yield { path, kind: "file", executable: false, content: () => once(data) };
  }
}

async function* once(data: Uint8Array): AsyncGenerator<Uint8Array> {
  yield data;
}
