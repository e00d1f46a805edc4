import { expect, test } from "bun:test";
import { Readable } from "node:stream";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { readBody } from "./body.ts";

const url = new URL("http://far.example/page");
/** The body of an answer with these headers, and whether its stream was let go. */
async function read(
  headers: Record<string, string>,
  chunks: readonly Uint8Array[] | Readable,
  { maxBytes = 20_000, signal = new AbortController().signal } = {},
) {
  const stream = chunks instanceof Readable ? chunks : Readable.from(chunks);
  const body = await readBody({ status: 200, headers, stream }, { url, maxBytes, signal }).then(
    (bytes) => Buffer.from(bytes).toString(),
    (error) => error,
  );
  return { body, released: stream.destroyed };
}
const squeezed = Buffer.from("squeezed");

test.each<[string | undefined, Uint8Array]>([
  [undefined, squeezed],
  ["", squeezed],
  ["identity", squeezed],
  [" Identity ", squeezed],
  ["gzip", gzipSync(squeezed)],
  [" X-GZIP", gzipSync(squeezed)],
  ["br", brotliCompressSync(squeezed)],
  ["deflate", deflateSync(squeezed)],
])("a body in the encoding %p is read, up to exactly the bytes allowed", async (encoding, sent) => {
  const headers = { ...(encoding !== undefined && { "content-encoding": encoding }) };
  const pieces = [sent.subarray(0, 4), sent.subarray(4)];
  expect(await read(headers, pieces, { maxBytes: 8 })).toMatchObject({ body: "squeezed" });
  expect(await read(headers, pieces, { maxBytes: 7 })).toMatchObject({ body: { code: "too_large" }, released: true });
});

/** A body of which nothing comes. */
const silent = () => new Readable({ read: () => undefined });

test("a body that announces more than is read is let go before any of it comes, and the limit is told in MB", async () => {
  const refused = await read({ "content-length": "1250001" }, silent(), { maxBytes: 1_250_000 });
  expect(refused.body.message).toBe("The answer of far.example is larger than the 1.25 MB that are read.");
  expect(refused).toMatchObject({ body: { code: "too_large" }, released: true });
  expect(await read({ "content-length": "8" }, [squeezed], { maxBytes: 8 })).toMatchObject({ body: "squeezed" });
});

test("what a compressed body announces is not what is read of it", async () => {
  const headers = { "content-encoding": "gzip", "content-length": "28" };
  expect(await read(headers, [gzipSync(squeezed)], { maxBytes: 8 })).toMatchObject({ body: "squeezed" });
});

test("a body in an encoding that cannot be read is let go", async () => {
  const { body, released } = await read({ "content-encoding": "zstd" }, silent());
  expect(body).toMatchObject({ code: "unavailable", message: expect.stringContaining("the encoding zstd") });
  expect(released).toBe(true);
});

test.each([{}, { "content-encoding": "gzip" }])("an abort ends a body that stays silent, with %j", async (headers) => {
  const control = new AbortController();
  const reading = read(headers, silent(), { signal: control.signal });
  control.abort();
  expect(await reading).toMatchObject({ body: { name: "AbortError" }, released: true });
});
