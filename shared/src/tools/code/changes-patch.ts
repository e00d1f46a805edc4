import { AppError } from "../../errors.ts";
import type { Workspace } from "../../workspace/workspace.ts";
import { openFile } from "../../workspace/workspace-file.ts";
import { isBinary } from "../files/text-content.ts";

/** A file as the user sent it, by the name it has in the workspace. */
export type ReceivedFile = { readonly path: string; readonly content: Blob };

const largest = 1024 ** 2;
const diffMs = 5000;
const packed = /\.(?:tar|tgz|zip|t?[bgx]z2?)$/i;

/**
 * The difference between the workspace and how it was received, as a unified diff that `git apply` takes; empty when there is none. `made` are files that
 * are there now and were not sent. Binary files and those above 1 MB are left out. Undefined when a packed repository was among the
 * files, as its own files would all count as new.
 */
export async function changesPatch(
  workspace: Workspace,
  received: readonly ReceivedFile[],
  made: readonly string[],
): Promise<string | undefined> {
  if (received.some(({ path }) => packed.test(path))) return undefined;
  const { createTwoFilesPatch } = await import("diff");
  const patches: string[] = [];
  const add = (path: string, before: Uint8Array | undefined, after: Uint8Array | undefined) => {
    if ([before, after].some((bytes) => bytes && (bytes.length > largest || isBinary(bytes)))) return;
    const texts = [before, after].map((bytes) => new TextDecoder().decode(bytes));
    if (texts[0] === texts[1]) return;
    const names = [before ? `a/${path}` : "/dev/null", after ? `b/${path}` : "/dev/null"] as const;
    const options = { context: 3, timeout: diffMs };
    const patch = createTwoFilesPatch(...names, texts[0] ?? "", texts[1] ?? "", undefined, undefined, options);
    if (patch !== undefined) patches.push(`diff --git a/${path} b/${path}\n${mode(before, after)}${body(patch)}`);
  };
  const sent = new Set(received.map(({ path }) => path));
  for (const { path, content } of received)
    if (content.size <= largest) add(path, await content.bytes(), await contentOf(workspace, path));
  for (const path of made) if (!sent.has(path)) add(path, undefined, await contentOf(workspace, path));
  return patches.join("");
}

/** What git wants to read for a file that is made or removed. */
function mode(before: Uint8Array | undefined, after: Uint8Array | undefined): string {
  if (before === undefined) return "new file mode 100644\n";
  return after === undefined ? "deleted file mode 100644\n" : "";
}

/** The patch from its first file name on. */
function body(patch: string): string {
  return patch.slice(patch.indexOf("--- "));
}

async function contentOf(workspace: Workspace, path: string): Promise<Uint8Array | undefined> {
  try {
    await using file = await openFile(workspace, path);
    return file.stats.size > largest ? new Uint8Array(largest + 1) : await file.handle.readFile();
  } catch (error) {
    if (error instanceof AppError) return undefined;
    throw error;
  }
}
