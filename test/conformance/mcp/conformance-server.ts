import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { agentApp } from "@manyhands/shared/a2a/agent-app";
import { createFoldCache } from "@manyhands/shared/a2a/fold-cache";
import { createEmbeddedEngine } from "@manyhands/shared/durable/embedded/embedded-engine";
import { AppError } from "@manyhands/shared/errors";
import { openRuns } from "@manyhands/shared/runs/runs";
import { serve } from "@manyhands/shared/serve";
import { createArtifactStore } from "@manyhands/shared/workspace/artifact-store";
import type { DirectOutcome, DirectTools } from "../../../shared/src/mcp-server/direct-tools.ts";
import { mcpFace } from "../../../shared/src/mcp-server/mcp-face.ts";
import { mcpApp } from "../../../shared/src/server/mcp-app.ts";
import { definition } from "../../a2a/agent-server.ts";

/** Our MCP server behind an agent's guard, on a free port, with the tools that the suite calls by name. */
export type ConformanceServer = AsyncDisposable & { readonly url: string };

type Content = Extract<DirectOutcome, { result: unknown }>["result"]["content"];
type Calling = Parameters<DirectTools["call"]>[2];

const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
const silence = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=";
const text = (words: string) => ({ type: "text", text: words }) as const;
const image = { type: "image", data: pixel, mimeType: "image/png" } as const;
const resource = (uri: string, mimeType: string, words: string) =>
  ({ type: "resource", resource: { uri, mimeType, text: words } }) as const;

/** What the tools answer that need no person. */
const answers: Readonly<Record<string, (call: Calling) => Content | Promise<Content>>> = {
  test_simple_text: () => [text("This is a simple text response for testing.")],
  test_image_content: () => [image],
  test_audio_content: () => [{ type: "audio", data: silence, mimeType: "audio/wav" }],
  test_embedded_resource: () => [
    resource("test://embedded-resource", "text/plain", "This is an embedded resource content."),
  ],
  test_multiple_content_types: () => [
    text("Multiple content types test:"),
    image,
    resource("test://mixed-content-resource", "application/json", '{"test":"data","value":123}'),
  ],
  test_error_handling: () => {
    throw new AppError("task_failed", "This tool intentionally returns an error for testing");
  },
  async test_tool_with_progress({ progress }) {
    for (const part of [0, 50, 100]) {
      progress(`Completed step ${part} of 100`);
      await Bun.sleep(20);
    }
    return [text("done")];
  },
  json_schema_2020_12_tool: () => [text("called")],
  async test_streaming_elicitation({ progress }) {
    progress("half of it");
    return [text("Streaming complete")];
  },
  test_logging_tool: () => [text("Logging evaluated")],
};

/** Tools whose calls a person decides about. */
const decided = new Set([
  "test_input_required_result_elicitation",
  "test_input_required_result_request_state",
  "test_input_required_result_tampered_state",
  "test_input_required_result_capabilities",
]);

/** The schema that has to come through as it is. */
const wide = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  type: "object" as const,
  $defs: {
    address: {
      $anchor: "addressDef",
      type: "object",
      properties: { street: { type: "string" }, city: { type: "string" } },
    },
  },
  properties: {
    name: { type: "string" },
    address: { $ref: "#/$defs/address" },
    contactMethod: { type: "string", enum: ["phone", "email"] },
    phone: { type: "string" },
    email: { type: "string" },
  },
  allOf: [{ anyOf: [{ required: ["phone"] }, { required: ["email"] }] }],
  if: { properties: { contactMethod: { const: "phone" } }, required: ["contactMethod"] },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: { required: ["phone"] },
  else: { required: ["email"] },
  additionalProperties: false,
};

const names = [...Object.keys(answers), ...decided];

const tools: DirectTools = {
  list: () =>
    names.map((name) => ({
      name,
      description: `Answers what the suite expects of ${name}.`,
      inputSchema: name === "json_schema_2020_12_tool" ? wide : { type: "object", properties: {} },
    })),
  has: (name) => names.includes(name),
  async call(name, _, call, allowed) {
    if (decided.has(name) && allowed !== name) return { decide: `Allow ${name}?`, code: name };
    return { result: { content: (await answers[name]?.(call)) ?? [text(`allowed: ${name}`)] } };
  },
};

/** Starts it. */
export async function startConformanceServer(): Promise<ConformanceServer> {
  const home = await mkdtemp(join(tmpdir(), "manyhands-conformance-"));
  const engine = createEmbeddedEngine({ path: join(home, "runs.db") });
  const artifacts = createArtifactStore(join(home, "artifacts"));
  const runnables = { all: () => [], ofKind: () => undefined };
  const served = serve(
    { fetch: (request) => app.fetch(request) },
    { port: 0, graceMs: 200, close: () => engine.close({ graceMs: 100 }) },
  );
  const publicUrl = served.url.origin;
  const report = (bug: unknown) => console.error(bug);
  const runs = openRuns({ engine, artifacts, folds: createFoldCache(engine), runnables, publicUrl });
  const nothing = () => Promise.reject(new Error("There are no servers here."));
  const app = agentApp({
    definition,
    facts: { publicUrl, model: { name: "none", provider: "rehearsal" }, sandbox: "none" },
    engine,
    artifacts,
    identify: () => "local",
    report,
    mcp: mcpApp({
      agent: definition.name,
      servers: "all",
      host: { add: nothing, remove: nothing },
      home,
      identify: () => "local",
      face: mcpFace({
        runs,
        runnables,
        engine,
        artifacts,
        version: definition.version,
        report,
        tools,
        identify: () => "local",
      }),
      report,
      log: { info: () => undefined },
    }),
  });
  return {
    url: `${publicUrl}/mcp`,
    async [Symbol.asyncDispose]() {
      await served.stop();
      await rm(home, { recursive: true, force: true });
    },
  };
}
