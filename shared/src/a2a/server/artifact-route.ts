import { Hono } from "hono";
import { type Identify, requireScope } from "../../core/caller.ts";
import { AppError } from "../../core/errors.ts";
import type { Engine } from "../../core/runs/engine.ts";
import type { ArtifactStore } from "../../core/workspace.ts";
import { AppFailure } from "../wire-error.ts";

/**
 * Types a browser may display; everything else, above all HTML, SVG and scripts, is only
 * downloaded.
 */
const shown = /^(text\/(plain|csv|markdown)|application\/json|image\/(png|jpeg|gif|webp)|audio\/|video\/)/;

/** Keeps browsers from executing a file, as a page, a script or anything else of its origin. */
const inert = {
  "Content-Security-Policy": "default-src 'none'; sandbox",
  "Cross-Origin-Resource-Policy": "same-site",
  "X-Content-Type-Options": "nosniff",
};

/** Where files are, and who has them. */
export type ArtifactDeps = {
  readonly artifacts: Pick<ArtifactStore, "get">;
  readonly engine: Pick<Engine, "hasFile">;
};

/**
 * `GET /artifacts/{sha256}/{name}`: a stored file of the caller, one that a run of theirs refers
 * to; any other looks like one that was never stored. The type follows from the requested name and
 * is never one that a browser executes.
 */
export function artifactApp({ artifacts, engine }: ArtifactDeps, identify: Identify): Hono {
  const app = new Hono();
  app.get("/artifacts/:sha256{[0-9a-f]{64}}/:name", async (c) => {
    const caller = await identify(c.req.raw);
    requireScope(caller, "read");
    const { sha256, name } = c.req.param();
    const etag = `"${sha256}"`;
    const headers = new Headers({ ...inert, ETag: etag, "Cache-Control": "private, max-age=31536000, immutable" });
    const content = (await engine.hasFile(caller.principal, sha256)) ? await artifacts.get(sha256) : undefined;
    if (content === undefined) throw new AppFailure(new AppError("not_found", "There is no such file."));
    if (c.req.header("If-None-Match") === etag) return new Response(null, { status: 304, headers });
    // The runtime does not accept a path with a NUL.
    const { type } = Bun.file(name.replaceAll("\0", "_"));
    const isShown = shown.test(type);
    headers.set("Content-Type", isShown ? type : "application/octet-stream");
    headers.set("Content-Disposition", `${isShown ? "inline" : "attachment"}; ${fileName(name.toWellFormed())}`);
    headers.set("Content-Length", String(content.size));
    return new Response(content, { headers });
  });
  return app;
}

/** RFC 6266: an ASCII name for old clients, the exact name for the rest. */
function fileName(name: string): string {
  const plain = name.replace(/[^\x20-\x7e]|["\\%]/g, "_");
  const exact = encodeURIComponent(name).replace(/['()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
  return `filename="${plain}"; filename*=UTF-8''${exact}`;
}
