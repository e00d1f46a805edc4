import type { Tool } from "@modelcontextprotocol/server";
import * as z from "zod";
import { defined } from "../../core/json.ts";
import type { JsonSchema } from "../../core/model.ts";
import type { Runnable } from "../../runs/runnable.ts";

const file = z.strictObject({
  name: z.string().min(1).max(255),
  text: z.string().exactOptional().describe("The content of a text file."),
  bytes: z.base64().exactOptional().describe("The content of any file, in base64."),
});

/** The arguments of every flow and agent as a tool. */
export const runArguments = z.strictObject({
  task: z.string().min(1).describe("What is to be done, in plain words, with all that has to be known."),
  agents: z
    .array(z.string().min(1))
    .min(1)
    .max(50)
    .exactOptional()
    .describe("Names of agents to use; all when left out."),
  options: z.record(z.string(), z.json()).exactOptional(),
  output_schema: z
    .record(z.string(), z.json())
    .exactOptional()
    .describe("A JSON Schema that the answer has to fit; the result then has it as `data`."),
  files: z.array(file).max(50).exactOptional().describe("Files that go along."),
  wait_seconds: z
    .number()
    .min(0)
    .max(3600)
    .default(600)
    .describe("How long to wait for the end. The run goes on after that; run_status shows it."),
});

/** The checked arguments of a call of a flow or agent. */
export type RunArguments = z.output<typeof runArguments>;

/** A flow or agent as an MCP tool. */
export function runnableTool({ name, title, description, type, options }: Runnable): Tool {
  const schema = z.toJSONSchema(runArguments, { io: "input" }) as { properties: Record<string, JsonSchema> };
  const { agents, options: _, ...rest } = schema.properties;
  const ofFlow = type === "flow" ? defined({ agents, options }) : {};
  return {
    name,
    title,
    description: `${description} Takes as long as the task takes; the result is the answer and links to the files made.`,
    inputSchema: {
      type: "object",
      properties: { ...rest, ...ofFlow },
      required: ["task"],
      additionalProperties: false,
    },
    annotations: { title, readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
  } as Tool;
}
