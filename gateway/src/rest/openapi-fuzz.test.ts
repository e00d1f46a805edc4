import { expect, test } from "bun:test";
import fc from "fast-check";
import * as z from "zod";
import { startGateway, type TestGateway } from "../testing/gateway.ts";
import { anyJson, fitting, nastyText, type Schema } from "../testing/request-of-schema.ts";

type Parameter = { readonly name: string; readonly in: "path" | "query" | "header"; readonly schema: Schema };
type Content = Readonly<Record<string, { readonly schema: Schema }>>;
type Operation = {
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>;
};
type Document = {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
};
type Sent = {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
};

const requests = 300;
const millisecondsOfAll = 60_000;

/** A name of the path that exists, so that not every request ends at the door. */
function knownOr(schema: Schema, known: readonly string[], document: Document): fc.Arbitrary<string> {
  const valid = fitting(schema, document.components.schemas).map(String);
  return fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(...known) },
    { weight: 1, arbitrary: valid },
    { weight: 2, arbitrary: nastyText },
  );
}

/** A name in a path; one that a URL takes for a way up would be another path. */
function segment(name: string | undefined, known: readonly string[]): string {
  const text = name === undefined || /^\.{0,2}$/.test(name) ? (known[0] ?? "x") : name;
  return encodeURIComponent(text.toWellFormed());
}

/** Header values that can be sent at all. */
const sendable = (text: string) => text.replaceAll(/[^\x20-\x7e]/g, "?").trim();

function requestOf(
  path: string,
  method: string,
  operation: Operation,
  known: readonly string[],
  document: Document,
): fc.Arbitrary<Sent> {
  const { parameters = [], requestBody } = operation;
  const given = fc.tuple(
    ...parameters.map((one) =>
      fc.option(knownOr(one.schema, one.in === "path" ? known : [""], document), { nil: undefined }),
    ),
  );
  const schema = requestBody?.content["application/json"]?.schema;
  const valid = schema === undefined ? fc.constant(undefined) : fitting(schema, document.components.schemas);
  const json = fc
    .oneof({ weight: 3, arbitrary: valid }, { weight: 2, arbitrary: anyJson })
    .map((value) => JSON.stringify(value));
  const raw = fc.oneof(
    nastyText,
    fc.constantFrom(
      "{",
      "[1,]",
      '{"input":',
      `${"[".repeat(5_000)}`,
      '{"__proto__":{"a":1},"input":"x"}',
      "a".repeat(100_000),
    ),
  );
  const body = fc.oneof({ weight: 5, arbitrary: json }, { weight: 1, arbitrary: raw });
  const type = fc.oneof(
    { weight: 8, arbitrary: fc.constant("application/json") },
    fc.constantFrom("text/plain", "", "application/xml", "application/jsonp"),
  );
  const extra = fc.oneof(
    { weight: 12, arbitrary: fc.constant({}) },
    fc.constantFrom<Record<string, string>>(
      { Origin: "http://evil.example" },
      { Origin: "null" },
      { Host: "evil.example" },
      { "X-Forwarded-For": "1.2.3.4" },
    ),
  );
  return fc.record({ given, body, type, extra }).map(({ given, body, type, extra }) => {
    const headers: Record<string, string> = { ...extra };
    const query = new URLSearchParams();
    let at = path;
    for (const [index, { name, in: place }] of parameters.entries()) {
      const value = given[index];
      if (place === "path") at = at.replace(`{${name}}`, segment(value, known));
      else if (value !== undefined && place === "query") query.set(name, value.toWellFormed());
      // A long wait that was asked for is no fault.
      else if (value !== undefined && name !== "prefer") headers[name] = sendable(value);
    }
    if (schema !== undefined && type !== "") headers["Content-Type"] = type;
    return { method: method.toUpperCase(), path: `${at}?${query}`, headers, ...(schema !== undefined && { body }) };
  });
}

/** Requests for what no operation is: other paths and methods. */
const stray: fc.Arbitrary<Sent> = fc.record({
  method: fc.constantFrom("GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "HEAD"),
  path: fc.oneof(
    fc.constantFrom(
      "/flows",
      "/runs",
      "/runs/x/y/z",
      "//",
      "/agents/",
      "/v1/nothing",
      "/a2a/",
      "/a2a/%ff",
      "/a2a/echo/x",
      "/artifacts/x",
      "/console/..%2fmain.ts",
      "/console/none.js",
    ),
    nastyText.map((text) => `/${encodeURIComponent(text.toWellFormed())}`),
  ),
  headers: fc.constantFrom({}, { Accept: "text/html" }, { "A2A-Version": "9" }, { Range: "bytes=9-1" }),
});

async function send(
  gateway: TestGateway,
  { method, path, headers, body }: Sent,
): Promise<{ status: number; type: string; text: string }> {
  const stop = new AbortController();
  const init = {
    method,
    headers,
    redirect: "manual",
    signal: AbortSignal.any([stop.signal, AbortSignal.timeout(60_000)]),
  } as const;
  const response = await fetch(`${gateway.url}${path}`, body === undefined ? init : { ...init, body });
  const type = response.headers.get("Content-Type") ?? "";
  // A stream of a run that goes on has no end.
  if (type.startsWith("text/event-stream")) {
    stop.abort();
    return { status: response.status, type, text: "" };
  }
  return { status: response.status, type, text: await response.text() };
}

/** The schema of an answer, to be held against it. */
function answerSchema(document: Document, content: Content | undefined): z.ZodType | undefined {
  const schema = content?.["application/json"]?.schema ?? content?.["application/problem+json"]?.schema;
  if (schema === undefined) return undefined;
  const text = JSON.stringify({ ...schema, $defs: document.components.schemas }).replaceAll(
    "#/components/schemas/",
    "#/$defs/",
  );
  return z.fromJSONSchema(JSON.parse(text));
}

function fail(): never {
  throw new Error("there is no such operation");
}

test("whatever is sent, every operation answers as described, and nothing breaks", async () => {
  await using gateway = await startGateway();
  const document = (await (await fetch(`${gateway.url}/openapi.json`)).json()) as Document;
  const known = ["echo"];
  for (const input of ["hello", "ask me", "sleep", "fail"]) {
    const init = { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ input }) };
    known.push(((await (await fetch(`${gateway.url}/flows/echo`, init)).json()) as { runId: string }).runId);
  }
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => {
      const schemas = Object.entries(operation.responses).map(
        ([status, { content }]) => [status, answerSchema(document, content)] as const,
      );
      return {
        path,
        method,
        operation,
        schemas: new Map(schemas),
        known: path.startsWith("/runs") ? known.slice(1) : known,
      };
    }),
  );
  expect(operations.length).toBeGreaterThan(9);
  const seen = new Map<string, number>();
  // By its number, so that a counterexample can be read.
  const toOperation = fc.constantFrom(...operations.keys()).chain((number) => {
    const { path, method, operation, known } = operations[number] ?? fail();
    return fc.tuple(fc.constant(number), requestOf(path, method, operation, known, document));
  });
  const property = fc.asyncProperty(toOperation, async ([number, sent]) => {
    const { path, schemas } = operations[number] ?? fail();
    const { status, type, text } = await send(gateway, sent);
    seen.set(`${sent.method} ${path} ${status}`, (seen.get(`${sent.method} ${path} ${status}`) ?? 0) + 1);
    expect([...schemas.keys()]).toContain(String(status));
    expect([500, 502]).not.toContain(status);
    const schema = schemas.get(String(status));
    if (schema !== undefined && !type.startsWith("text/event-stream")) schema.parse(JSON.parse(text));
  });
  await fc.assert(property, {
    numRuns: requests,
    interruptAfterTimeLimit: millisecondsOfAll,
    markInterruptAsFailure: true,
  });
  // A fuzz that never gets past the door shows nothing.
  const accepted = [...seen].filter(([key]) => / 2\d\d$/.test(key));
  expect(accepted.length).toBeGreaterThan(4);
  expect(Object.prototype).not.toHaveProperty("a");
});

test("an unknown operation is refused by every adapter", async () => {
  await using gateway = await startGateway();
  const property = fc.asyncProperty(stray, async (sent) => {
    const { status } = await send(gateway, sent);
    expect(status).toBeLessThan(500);
  });
  await fc.assert(property, { numRuns: 100, interruptAfterTimeLimit: millisecondsOfAll, markInterruptAsFailure: true });
});
