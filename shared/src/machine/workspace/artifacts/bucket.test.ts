import { afterAll, beforeEach, expect, spyOn, test } from "bun:test";
import { s3Credentials } from "../../../testing/machine/s3-server.ts";
import { openBucket } from "./bucket.ts";

const asked: string[] = [];
let left = Promise.withResolvers<string>();
/**
 * A service whose objects are as large as their names say; the body of one that is `slow` never
 * ends, and one that is `dripping` comes byte by byte.
 */
const service = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  idleTimeout: 0,
  async fetch(request) {
    const { pathname } = new URL(request.url);
    asked.push(`${request.method} ${pathname}`);
    const xml = { "Content-Type": "application/xml" };
    if (request.method === "PUT") return new Response(null, { headers: { ETag: '"x"' } });
    if (pathname.endsWith("/gone"))
      return new Response("<Error><Code>NoSuchKey</Code></Error>", { status: 404, headers: xml });
    if (request.method === "DELETE") return new Response(null, { status: 204 });
    const size = /\d+/.exec(pathname.split("/").at(-1) ?? "")?.[0];
    if (size === undefined)
      return new Response("<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>", { headers: xml });
    const headers = { "Content-Length": size, ETag: '"x"', "Last-Modified": new Date().toUTCString() };
    if (request.method === "HEAD") return new Response(null, { headers });
    if (!/slow|dripping/.test(pathname)) return new Response("x".repeat(Number(size)), { headers });
    const isDripping = pathname.includes("dripping");
    const body = new ReadableStream({
      start: (controller) => controller.enqueue(new Uint8Array(5)),
      pull: (controller) => (isDripping ? Bun.sleep(10).then(() => controller.enqueue(new Uint8Array(1))) : undefined),
      cancel: () => left.resolve("left"),
    });
    return new Response(body, { headers });
  },
});
afterAll(() => service.stop(true));
beforeEach(() => {
  asked.length = 0;
  left = Promise.withResolvers();
});

const bucket = openBucket({ ...s3Credentials, endpoint: service.url.href });
/** One that waits a fifth of a second for a small object. */
const hasty = openBucket({ ...s3Credentials, endpoint: service.url.href }, { requestMs: 200, bytesPerMs: 1_000_000 });

test("a bucket that is part of its service's name is not part of the path", async () => {
  const hosted = openBucket({ ...s3Credentials, endpoint: service.url.href, virtualHosted: true });
  await hosted.remove("a/b");
  await bucket.remove("a/b");
  expect(asked).toEqual(["DELETE /a/b", "DELETE /files/a/b"]);
});

test("the more is sent, the longer it may take", async () => {
  using waits = spyOn(AbortSignal, "timeout");
  for (const bytes of [0, 1_000_000]) await bucket.upload("key", new Blob([new Uint8Array(bytes)]));
  expect(waits.mock.calls).toEqual([[30_000], [34_000]]);
});

test.each(["slow", "dripping"])("a body that is %s is given up in the time for its size, and let go", async (kind) => {
  const body = await hasty.download(`${kind}-1000`);
  await expect(new Response(body).bytes()).rejects.toMatchObject({
    code: "storage_unavailable",
    message: "The object store does not answer.",
  });
  expect(await left.promise).toBe("left");
});

test("the time that a reader takes between two pieces is no time that the service takes", async () => {
  const reader = (await hasty.download("3000000"))?.getReader();
  let bytes = 0;
  for (;;) {
    const { done, value } = (await reader?.read()) ?? { done: true };
    if (done) break;
    if (bytes === 0) await Bun.sleep(300);
    bytes += value?.length ?? 0;
  }
  expect(bytes).toBe(3_000_000);
});

test("a body that its reader leaves is let go", async () => {
  const reader = (await bucket.download("slow-1000000"))?.getReader();
  await reader?.read();
  await reader?.cancel();
  expect(await left.promise).toBe("left");
});

test("an empty object is one, an object that is gone is none, and neither is an error", async () => {
  const empty = await bucket.download("0");
  expect(empty === undefined ? undefined : await new Response(empty).text()).toBe("");
  expect(await new Response(await bucket.download("3")).text()).toBe("xxx");
  expect(await bucket.download("gone")).toBeUndefined();
  expect(await bucket.remove("gone")).toBeUndefined();
  expect(await Array.fromAsync(bucket.list("none/"))).toEqual([]);
});
