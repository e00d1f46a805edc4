import type {
  ListResourcesResult,
  ReadResourceResult,
  Resource,
  ResourceTemplateType,
} from "@modelcontextprotocol/server";
import { AppError } from "../../core/errors.ts";
import type { RunRecord } from "../../core/runs/engine.ts";
import { mediaTypeOf } from "../../machine/workspace/media-type.ts";
import type { FileView, RunView } from "../../runs/run-view.ts";
import type { CallDeps } from "./call-run.ts";

/** Resources that a client can read. */
export interface Resources {
  /** The principal's resources, newest first, one page at a time. */
  list(principal: string, cursor: string | undefined): Promise<ListResourcesResult>;
  templates(): ResourceTemplateType[];
  /** Undefined for a URI that does not exist for the principal. */
  read(uri: string, principal: string): Promise<ReadResourceResult["contents"] | undefined>;
  /** The possible values of a template's variable that start with the typed text. */
  complete(template: string, variable: string, typed: string, principal: string): Promise<string[]>;
  /**
   * Yields whenever the resource has changed, until the signal aborts; undefined if `read` returns
   * nothing for the URI.
   */
  watch(uri: string, principal: string, signal: AbortSignal): Promise<AsyncIterable<unknown> | undefined>;
}

/** Runs on one page. */
const pageSize = 50;
/** Most bytes of a file in one answer. */
const maxBytes = 7_000_000;
const template = "manyhands://runs/{run}";
const json = "application/json";

/** The current runs, and their files at the URLs where they are served. */
export function runResources(deps: CallDeps): Resources {
  const { runs, engine } = deps;
  const own = async (uri: string, principal: string): Promise<RunRecord | undefined> => {
    // Run ids need no escaping, so an escaped one is not a run's.
    const [, id] = /^manyhands:\/\/runs\/([^/%]+)$/.exec(uri) ?? [];
    if (id === undefined) return undefined;
    return runs.own(id, principal).catch((error: unknown) => {
      if (error instanceof AppError && error.code === "not_found") return undefined;
      throw error;
    });
  };
  const recent = (principal: string, cursor?: string) =>
    runs.list({ limit: pageSize, ...(cursor !== undefined && { cursor }) }, principal);
  return {
    async list(principal, cursor) {
      const { runs: page, nextCursor } = await recent(principal, cursor);
      const views = await Promise.all(page.map((run) => runs.view(run)));
      // The same file in two runs is one resource.
      const resources = new Map(views.flatMap(resourcesOf).map((one) => [one.uri, one]));
      return { resources: [...resources.values()], ...(nextCursor !== undefined && { nextCursor }) };
    },
    templates: () => [
      {
        uriTemplate: template,
        name: "run",
        description: "A run as it stands, with its answer and files.",
        mimeType: json,
      },
    ],
    async read(uri, principal) {
      const run = await own(uri, principal);
      if (run === undefined) return readFile(uri, principal, deps);
      return [{ uri, mimeType: json, text: JSON.stringify(await runs.view(run), undefined, 1) }];
    },
    async complete(_, variable, typed, principal) {
      if (variable !== "run") return [];
      const { runs: page } = await recent(principal);
      return page.map(({ id }) => id).filter((id) => id.startsWith(typed));
    },
    async watch(uri, principal, signal) {
      const run = await own(uri, principal);
      if (run !== undefined) return engine.follow(run.id, { after: run.lastEvent, signal });
      return (await readFile(uri, principal, deps)) && never();
    },
  };
}

/** A file never changes. */
async function* never(): AsyncGenerator<never> {}

function resourcesOf({ id, name, input, files, updatedAt }: RunView): Resource[] {
  const description = input.replaceAll(/\s+/g, " ").slice(0, 200);
  const run = {
    uri: `manyhands://runs/${encodeURIComponent(id)}`,
    name: id,
    title: `A run of ${name}`,
    description,
    mimeType: json,
    annotations: { lastModified: updatedAt },
  };
  const ofFile = (file: FileView) => ({
    uri: file.url,
    name: file.name,
    description,
    mimeType: file.mediaType,
    size: file.size,
  });
  return [run, ...files.map(ofFile)];
}

const place = /\/artifacts\/([0-9a-f]{64})\/([^/?#]+)$/;

/** A stored file of the principal, as over HTTP one that a run of theirs refers to. */
async function readFile(
  uri: string,
  principal: string,
  { engine, artifacts }: Pick<CallDeps, "engine" | "artifacts">,
): Promise<ReadResourceResult["contents"] | undefined> {
  const [, sha256 = "", name = ""] = place.exec(uri) ?? [];
  const isOwn = sha256 !== "" && (await engine.hasFile(principal, sha256));
  const file = isOwn ? await artifacts.get(sha256) : undefined;
  if (file === undefined) return undefined;
  if (file.size > maxBytes)
    throw new AppError(
      "too_large",
      `The file has ${file.size} bytes; ${maxBytes} fit into an answer. Fetch it at ${uri}.`,
    );
  const bytes = await file.bytes();
  const about = { uri, mimeType: mediaTypeOf(name) };
  const text = decodedText(bytes);
  return [text === undefined ? { ...about, blob: Buffer.from(bytes).toString("base64") } : { ...about, text }];
}

/** The bytes as text; undefined if they are not text. */
function decodedText(bytes: Uint8Array): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
