import { resolve } from "node:path";
import * as z from "zod";
import { AppError } from "../../../core/errors.ts";
import { runOwnScript } from "../../../machine/process/run-own-script.ts";
import type { OpenFile } from "../../../machine/workspace/workspace-file.ts";
import type { ArchiveEntry } from "./archive-entry.ts";

/** The most of a mail, which is held in memory. */
const maxBytes = 25 * 1024 ** 2;
const deadlineMs = 30_000;
const memoryBytes = 1.5 * 2 ** 30;

const attachedFile = z.strictObject({ filename: z.string(), content: z.base64() });

/** A file that is attached to a mail, in base64. */
export type AttachedFile = z.output<typeof attachedFile>;

/**
 * The files that are attached to a mail (.eml), each under a name of its own. The mail is read in a
 * separate process, as a mail can be written to take minutes and gigabytes. Throws `unsupported`
 * when no file is attached, `timeout` after 30 s and `too_large`.
 */
export async function* readMailFiles(file: Pick<OpenFile, "read">, signal: AbortSignal): AsyncGenerator<ArchiveEntry> {
  const bytes = await file.read(maxBytes);
  if (bytes === undefined)
    throw new AppError("too_large", `A mail of more than ${maxBytes / 1024 ** 2} MB is not read.`);
  const attachments = await runOwnScript({
    script: resolve(import.meta.dir, "mail-worker.ts"),
    stdin: new Blob([bytes]),
    subject: "Reading the mail",
    deadlineMs,
    memoryBytes,
    signal,
    result: z.array(attachedFile),
  });
  if (attachments.length === 0) throw new AppError("unsupported", "No file is attached to this mail.");
  const used = new Set<string>();
  for (const [at, { filename, content }] of attachments.entries()) {
    const given = filename.replace(/^.*[/\\]/s, "").trim();
    const name = given === "" || /^\.+$/.test(given) ? `attached-${at + 1}` : given;
    const path = used.has(name.toLowerCase()) ? `${at + 1}-${name}` : name;
    used.add(path.toLowerCase());
    yield { path, kind: "file", executable: false, content: () => once(Buffer.from(content, "base64")) };
  }
}

async function* once(data: Uint8Array): AsyncGenerator<Uint8Array> {
  yield data;
}
