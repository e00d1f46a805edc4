/** A server that speaks the part of the S3 API that a bucket needs, with one bucket in memory. */
export type S3Server = AsyncDisposable & {
  readonly endpoint: string;
  readonly objects: Map<string, Uint8Array>;
  /** The requests so far, such as `PUT a/b`. */
  readonly requests: string[];
  /** Answers the next requests of this method with this status. */
  failNext(method: string, status: number, times?: number): void;
  /** No request fails any more. */
  failNone(): void;
  /** What it answers objects with instead of their content. */
  damage?: Uint8Array;
};

export const s3Credentials = { accessKeyId: "tester", secretAccessKey: "secret", bucket: "files", region: "test-1" };

/**
 * Starts one on a free port. Requests that are not signed with `s3Credentials`' key id are refused.
 */
export function startS3(): S3Server {
  const objects = new Map<string, Uint8Array>();
  const requests: string[] = [];
  const failing: { method: string; status: number }[] = [];
  const uploads = new Map<string, Map<number, Uint8Array>>();
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const { pathname, searchParams } = new URL(request.url);
      const [, bucket = "", ...rest] = pathname.split("/");
      const key = decodeURIComponent(rest.join("/"));
      requests.push(`${request.method} ${key}`);
      const at = failing.findIndex(({ method }) => method === request.method);
      if (at >= 0) return refused(failing.splice(at, 1)[0]?.status ?? 500, "SlowDown");
      const signed = request.headers.get("Authorization") ?? "";
      if (!signed.startsWith(`AWS4-HMAC-SHA256 Credential=${s3Credentials.accessKeyId}/`))
        return refused(403, "AccessDenied");
      if (bucket !== s3Credentials.bucket) return refused(404, "NoSuchBucket");
      if (request.method === "GET" && key === "") return listed(objects, searchParams);
      if (request.method === "POST") return await multipart(request, key, searchParams);
      if (request.method === "PUT") {
        const body = await request.bytes();
        const parts = uploads.get(searchParams.get("uploadId") ?? "");
        if (parts === undefined) objects.set(key, body);
        else parts.set(Number(searchParams.get("partNumber")), body);
        return new Response(null, { headers: { ETag: `"${Bun.hash(body).toString(16)}"` } });
      }
      const found = objects.get(key);
      if (request.method === "DELETE") {
        objects.delete(key);
        return new Response(null, { status: 204 });
      }
      if (found === undefined) return refused(404, "NoSuchKey");
      const body = self.damage ?? found;
      return new Response(request.method === "HEAD" ? null : body.slice().buffer, {
        headers: { "Content-Length": String(body.byteLength), ETag: '"x"', "Last-Modified": new Date().toUTCString() },
      });
    },
  });

  async function multipart(request: Request, key: string, query: URLSearchParams): Promise<Response> {
    const id = query.get("uploadId");
    if (id === null) {
      const uploadId = crypto.randomUUID();
      uploads.set(uploadId, new Map());
      return xml(`<InitiateMultipartUploadResult><UploadId>${uploadId}</UploadId></InitiateMultipartUploadResult>`);
    }
    await request.arrayBuffer();
    const parts = [...(uploads.get(id) ?? [])].toSorted(([a], [b]) => a - b).map(([, part]) => part);
    objects.set(key, Buffer.concat(parts));
    uploads.delete(id);
    return xml(`<CompleteMultipartUploadResult><ETag>"x"</ETag></CompleteMultipartUploadResult>`);
  }

  const self: S3Server = {
    endpoint: `http://127.0.0.1:${server.port}`,
    objects,
    requests,
    failNext(method, status, times = 1) {
      for (let n = 0; n < times; n++) failing.push({ method, status });
    },
    failNone() {
      failing.length = 0;
    },
    [Symbol.asyncDispose]: () => server.stop(true),
  };
  return self;
}

function listed(objects: ReadonlyMap<string, Uint8Array>, query: URLSearchParams): Response {
  const prefix = query.get("prefix") ?? "";
  const after = query.get("continuation-token") ?? "";
  const most = Math.min(2, Number(query.get("max-keys") ?? 1000));
  const keys = [...objects.keys()].filter((key) => key.startsWith(prefix) && key > after).toSorted();
  const page = keys.slice(0, most);
  const contents = page.map(
    (key) => `<Contents><Key>${key}</Key><Size>${objects.get(key)?.byteLength}</Size></Contents>`,
  );
  const more = keys.length > most;
  const token = more ? `<NextContinuationToken>${page.at(-1)}</NextContinuationToken>` : "";
  return xml(
    `<ListBucketResult><KeyCount>${page.length}</KeyCount><IsTruncated>${more}</IsTruncated>${token}${contents.join("")}</ListBucketResult>`,
  );
}

function xml(text: string, status = 200): Response {
  const head = '<?xml version="1.0" encoding="UTF-8"?>\n';
  return new Response(head + text, { status, headers: { "Content-Type": "application/xml" } });
}

function refused(status: number, code: string): Response {
  return xml(`<Error><Code>${code}</Code><Message>${code}</Message></Error>`, status);
}
