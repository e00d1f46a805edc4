import type {
  ListResourcesResult,
  ReadResourceResult,
  Resource,
  ResourceTemplateType,
} from "@modelcontextprotocol/server";
import type { RunRecord } from "../durable/engine.ts";
import { AppError } from "../errors.ts";
import type { RunView } from "../runs/run-view.ts";
import { mediaTypeOf } from "../workspace/media-type.ts";
import type { CallDeps } from "./call-run.ts";

/** What a client can read. */
export interface Resources {
  /** The principal's, newest first, a page at a time. */
  list(principal: string, cursor: string | undefined): Promise<ListResourcesResult>;
  templates(): ResourceTemplateType[];
  /** Undefined for an address that is nothing to the principal. */
  read(uri: string, principal: string): Promise<ReadResourceResult["contents"] | undefined>;
  /** What a template's variable may be, for what has been typed of it. */
  complete(template: string, variable: string, typed: string, principal: string): Promise<string[]>;
  /** Comes up with something whenever it has changed, until the signal aborts; undefined for what `read` has nothing for. */
  watch(uri: string, principal: string, signal: AbortSignal): Promise<AsyncIterable<unknown> | undefined>;
}

const pageSize = 20;
const largestFile = 8 * 1024 * 1024;
const template = "manyhands://runs/{run}";
const json = "application/json";

/** The runs as they stand, and their files at the addresses where they are served. */
export function runResources(deps: CallDeps & { readonly publicUrl: string }): Resources {
  const { runs, engine } = deps;
  const own = async (uri: string, principal: string): Promise<RunRecord | undefined> => {
    const [, id] = /^manyhands:\/\/runs\/([^/]+)$/.exec(uri) ?? [];
    if (id === undefined) return undefined;
    return runs.own(decodeURIComponent(id), principal).catch((error: unknown) => {
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
      return { resources: views.flatMap(resourcesOf), ...(nextCursor !== undefined && { nextCursor }) };
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
      if (run === undefined) return readFile(uri, deps);
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
      return (await readFile(uri, deps)) && never();
    },
  };
}

/** A file never changes. */
async function* never(): AsyncGenerator<never> {}

function resourcesOf({ id, name, input, files, updatedAt }: RunView): Resource[] {
  const [title = ""] = input.split("\n");
  const run = {
    uri: `manyhands://runs/${encodeURIComponent(id)}`,
    name: id,
    title: `${name}: ${title.slice(0, 80)}`,
    description: "The run as it stands.",
    mimeType: json,
    annotations: { lastModified: updatedAt },
  };
  return [
    run,
    ...files.map((file) => ({
      uri: file.url,
      name: file.name,
      description: `A file of the run ${id}.`,
      mimeType: file.mediaType,
      size: file.size,
    })),
  ];
}

/** A stored file. Who knows its hash may read it, as over HTTP. */
async function readFile(
  uri: string,
  { artifacts, publicUrl }: CallDeps & { readonly publicUrl: string },
): Promise<ReadResourceResult["contents"] | undefined> {
  const base = `${publicUrl.replace(/\/+$/, "")}/artifacts/`;
  const [, sha256, name] = /^([0-9a-f]{64})\/([^/?#]+)$/.exec(uri.startsWith(base) ? uri.slice(base.length) : "") ?? [];
  const file = sha256 === undefined ? undefined : await artifacts.get(sha256);
  if (file === undefined || name === undefined) return undefined;
  if (file.size > largestFile)
    throw new AppError("too_large", `It has ${file.size} bytes: fetch it from its address instead.`);
  const mimeType = mediaTypeOf(decodeURIComponent(name));
  const bytes = new Uint8Array(await file.arrayBuffer());
  const text = asText(bytes);
  return [
    text === undefined ? { uri, mimeType, blob: Buffer.from(bytes).toString("base64") } : { uri, mimeType, text },
  ];
}

/** The text that bytes are, unless they are none. */
function asText(bytes: Uint8Array): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
