import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { AppError } from "../../core/errors.ts";
import type { RelayedResponse } from "./connect.ts";

/**
 * The body of a response, decompressed. Rejects with `too_large` as soon as more than `maxBytes`
 * have come out, so that a small compressed body cannot grow without bound, and with `unavailable`
 * for an encoding that was not requested.
 */
export async function readBody(
  { headers, stream }: RelayedResponse,
  { url, maxBytes, signal }: { readonly url: URL; readonly maxBytes: number; readonly signal: AbortSignal },
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  const tooLarge = () =>
    new AppError("too_large", `The answer of ${url.host} is larger than the ${megabytes(maxBytes)} MB that are read.`);
  const collect = async (source: AsyncIterable<Uint8Array>) => {
    for await (const chunk of source) {
      length += chunk.length;
      if (length > maxBytes) throw tooLarge();
      chunks.push(chunk);
    }
  };
  const encoding = headers["content-encoding"]?.trim().toLowerCase() ?? "identity";
  if (encoding === "identity" || encoding === "") {
    if (Number(headers["content-length"] ?? 0) > maxBytes) {
      stream.destroy();
      throw tooLarge();
    }
    await pipeline(stream, collect, { signal });
  } else await pipeline(stream, decompressor(encoding, stream, url), collect, { signal });
  return Buffer.concat(chunks);
}

function decompressor(encoding: string, stream: Readable, url: URL) {
  if (encoding === "gzip" || encoding === "x-gzip") return createGunzip();
  if (encoding === "br") return createBrotliDecompress();
  if (encoding === "deflate") return createInflate();
  stream.destroy();
  throw new AppError("unavailable", `${url.host} answered in the encoding ${encoding}, which cannot be read.`);
}

function megabytes(bytes: number): string {
  return String(Math.round(bytes / 10_000) / 100);
}
