import { mkdir, open, rm } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod";
import type { Egress } from "../../egress/egress.ts";
import { AppError } from "../../errors.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";
import { defineTool, type Tool, type ToolContext } from "../tool.ts";
import { archiveAddress } from "./archive/archive-address.ts";
import { unpackArchive } from "./archive/unpack-archive.ts";
import { unpackedText } from "./archive/unpacked-text.ts";

const fetchMs = 180_000;
const mostBytes = 100 * 1024 ** 2;

const input = z.strictObject({
  url: z
    .string()
    .min(1)
    .max(2000)
    .describe("Such as https://github.com/OWNER/NAME, or the https address of an archive."),
  ref: z
    .string()
    .regex(/^(?!.*\.\.)\w[\w./-]{0,200}$/, "must be the name of a branch or tag, or a commit")
    .optional()
    .describe("Branch, tag or commit; the default branch when left out."),
  into: z.string().min(1).optional().describe("The new folder; named after the repository when left out."),
});

const description = `Fetches the files of a public repository (GitHub, GitLab, Bitbucket, Codeberg, or any https address of a .zip or .tar.gz) into a new folder of the workspace. It
comes as an archive: without history and without a .git folder. What you change in it is handed over as a patch.`;

/** The `clone_repository` tool: one download within the egress policy, unpacked as `unpack` does. */
export function cloneRepositoryTool(deps: { readonly egress: Egress; readonly sandbox: Sandbox }): Tool {
  return defineTool({
    name: "clone_repository",
    description: description.replaceAll("\n", " "),
    input,
    effect: "once",
    async run({ url, ref, into }, context) {
      const { workspace, signal } = context;
      const address = archiveAddress(url, ref);
      const bytes = await download(address.url, deps.egress, signal);
      await using file = await stagedFile(context, bytes);
      const archive = { handle: file.handle, size: bytes.length };
      const { sandbox } = deps;
      const named = into ?? address.name;
      const unpacked = await unpackArchive({ workspace, archive, into: named, otherwise: named, sandbox, signal });
      return `${unpackedText(unpacked)}\nIt came from ${address.url} without history: there is no git log, and git diff needs a commit first.`;
    },
  });
}

async function download(url: string, egress: Egress, signal: AbortSignal): Promise<Uint8Array> {
  const { status, body } = await egress.fetch({
    url,
    headers: { "user-agent": "manyhands", accept: "application/gzip, application/zip, */*" },
    signal,
    timeoutMs: fetchMs,
    maxBytes: mostBytes,
    admit: async (hop) => {
      if (hop.protocol !== "https:")
        throw new AppError("forbidden", `The address leads to ${hop.origin}, which is not https.`);
    },
  });
  if (status === 200) return body;
  const missing = status === 404 || status === 401 || status === 403;
  throw new AppError(
    missing ? "not_found" : "unavailable",
    `${url} answered with status ${status}${missing ? ": there is no such repository or ref, or it is not public" : ""}.`,
  );
}

/** The download as a file that no tool can see, gone when it is disposed of. */
async function stagedFile({ workspace }: ToolContext, bytes: Uint8Array) {
  const folder = join(workspace.metaRoot, "staging");
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, crypto.randomUUID());
  const handle = await open(path, "wx+", 0o600);
  return {
    handle: await handle.writeFile(bytes).then(() => handle),
    async [Symbol.asyncDispose]() {
      await handle.close();
      await rm(path, { force: true });
    },
  };
}
