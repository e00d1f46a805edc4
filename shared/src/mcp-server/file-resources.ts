import {
  type ListResourcesResult,
  ProtocolError,
  ProtocolErrorCode,
  type ReadResourceResult,
  ResourceNotFoundError,
  type Server,
} from "@modelcontextprotocol/server";
import { AppError, errorCodes, publicError } from "../errors.ts";
import type { Runs } from "../runs/runs.ts";
import type { ArtifactStore } from "../workspace/workspace.ts";

/** What serving files takes. */
export type FileResourcesDeps = {
  readonly runs: Runs;
  readonly artifacts: Pick<ArtifactStore, "get">;
  readonly report: (bug: unknown) => void;
};

/** Runs whose files are on one page, and bytes of a file that fit into one answer. */
const runsPerPage = 50;
const mostBytes = 7_000_000;

/**
 * Has a server serve the files of runs: those of the caller's runs are listed, newest first, and what a result links to is read by its address, for
 * clients that fetch nothing themselves. As over HTTP, who knows a content's hash may have it.
 */
export function serveFiles(server: Server, { runs, artifacts, report }: FileResourcesDeps, principal: string): void {
  server.setRequestHandler("resources/list", ({ params }) =>
    inProtocolWords(() => listFiles(runs, params?.cursor, principal), report),
  );
  server.setRequestHandler("resources/templates/list", () => ({ resourceTemplates: [] }));
  server.setRequestHandler("resources/read", ({ params }) =>
    inProtocolWords(() => readFile(params.uri, artifacts), report),
  );
}

async function listFiles(runs: Runs, cursor: string | undefined, principal: string): Promise<ListResourcesResult> {
  const page = await runs.list({ limit: runsPerPage, ...(cursor !== undefined && { cursor }) }, principal);
  const views = await Promise.all(page.runs.map((run) => runs.view(run)));
  const files = views.flatMap(({ files, input }) => files.map((file) => ({ ...file, input })));
  const resources = [...new Map(files.map((file) => [file.url, file])).values()].map((file) => ({
    uri: file.url,
    name: file.name,
    mimeType: file.mediaType,
    size: file.size,
    description: file.input.replaceAll(/\s+/g, " ").slice(0, 200),
  }));
  return { resources, ...(page.nextCursor !== undefined && { nextCursor: page.nextCursor }) };
}

const place = /\/artifacts\/([0-9a-f]{64})\/([^/?#]+)$/;

async function readFile(uri: string, artifacts: Pick<ArtifactStore, "get">): Promise<ReadResourceResult> {
  const [, sha256 = "", name = ""] = place.exec(uri) ?? [];
  const content = sha256 === "" ? undefined : await artifacts.get(sha256);
  if (content === undefined) throw new ResourceNotFoundError(uri);
  if (content.size > mostBytes)
    throw new AppError(
      "too_large",
      `The file has ${content.size} bytes; ${mostBytes} fit into an answer. Fetch it at ${uri}.`,
    );
  const bytes = await content.bytes();
  const about = { uri, mimeType: Bun.file(name).type };
  const text = textOf(bytes);
  return {
    contents: [text === undefined ? { ...about, blob: Buffer.from(bytes).toString("base64") } : { ...about, text }],
  };
}

/** The bytes as text; undefined for what is none. */
function textOf(bytes: Uint8Array): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** What went wrong as an error of the protocol; a bug without its text. */
async function inProtocolWords<Result>(make: () => Promise<Result>, report: (bug: unknown) => void): Promise<Result> {
  try {
    return await make();
  } catch (error) {
    if (error instanceof ProtocolError) throw error;
    if (!(error instanceof AppError)) report(error);
    const { code, message } = publicError(error);
    const isTheirs = errorCodes[code].status < 500;
    throw new ProtocolError(
      isTheirs ? ProtocolErrorCode.InvalidParams : ProtocolErrorCode.InternalError,
      `${message} (${code})`,
    );
  }
}
