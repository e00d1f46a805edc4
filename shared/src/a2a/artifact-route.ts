import { Hono } from "hono";
import { AppError } from "../errors.ts";
import type { ArtifactStore } from "../workspace/workspace.ts";
import { AppFailure } from "./wire-error.ts";

/** Types a browser may show in place; anything else, above all HTML and SVG, is only ever saved. */
const shown = /^(text\/(plain|csv|markdown)|application\/(json|pdf)|image\/(png|jpeg|gif|webp)|audio\/|video\/)/;

/**
 * `GET /artifacts/{sha256}/{name}`: a stored file. Who knows a content's hash may have it; the type follows from the name asked
 * for, so nothing served here may run as a page of ours.
 */
export function artifactApp(artifacts: ArtifactStore, identify: (request: Request) => Promise<string> | string): Hono {
  const app = new Hono();
  app.get("/artifacts/:sha256{[0-9a-f]{64}}/:name", async (c) => {
    await identify(c.req.raw);
    const { sha256, name } = c.req.param();
    const etag = `"${sha256}"`;
    const headers = new Headers({ ETag: etag, "Cache-Control": "private, max-age=31536000, immutable" });
    const content = await artifacts.get(sha256);
    if (content === undefined) throw new AppFailure(new AppError("not_found", "There is no such file"));
    if (c.req.header("If-None-Match") === etag) return new Response(null, { status: 304, headers });
    const type = Bun.file(name).type;
    headers.set("Content-Type", type);
    headers.set("Content-Disposition", `${shown.test(type) ? "inline" : "attachment"}; ${fileName(name)}`);
    headers.set("Content-Length", String(content.size));
    return new Response(content, { headers });
  });
  return app;
}

/** RFC 6266: a plain name for old readers, the exact one for the rest. */
function fileName(name: string): string {
  const plain = name.replace(/[^\x20-\x7e]|["\\%]/g, "_");
  const exact = encodeURIComponent(name).replace(/['()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
  return `filename="${plain}"; filename*=UTF-8''${exact}`;
}
