import { expect, test } from "bun:test";
import type { ToolAnnotations } from "@modelcontextprotocol/client";
import type { RiskContext } from "../../core/tool.ts";
import type { Connection } from "./connection/connection.ts";
import { mountTool } from "./mount-tool.ts";
import { createSuspendedCalls } from "./suspended-calls.ts";

function mounted(annotations: ToolAnnotations | undefined, approve: string) {
  const connection = { server: { name: "files", approve } } as unknown as Connection;
  const definition = { name: "change", inputSchema: { type: "object" as const }, ...(annotations && { annotations }) };
  return mountTool(definition, connection, createSuspendedCalls());
}

/** Whether a person is asked, for each way to approve: never, destructive, writes, always. */
const asked: readonly (readonly [string, ToolAnnotations | undefined, readonly boolean[]])[] = [
  ["says nothing", undefined, [false, false, true, true]],
  ["only reads", { readOnlyHint: true }, [false, false, false, true]],
  ["only reads, out in the world", { readOnlyHint: true, openWorldHint: true }, [false, false, false, true]],
  ["changes without destroying", { readOnlyHint: false, destructiveHint: false }, [false, false, true, true]],
  ["destroys", { destructiveHint: true }, [false, true, true, true]],
  ["changes something out in the world", { openWorldHint: true }, [false, true, true, true]],
  ["only reads, and claims to destroy", { readOnlyHint: true, destructiveHint: true }, [false, false, false, true]],
];

test.each(asked)(
  "a person is asked about a tool that %s as its server's entry says",
  async (_, annotations, expected) => {
    const ways = ["never", "destructive", "writes", "always"];
    const risks = ways.map((approve) => mounted(annotations, approve).risk?.({}, {} as RiskContext));
    expect((await Promise.all(risks)).map((risk) => risk !== undefined)).toEqual([...expected]);
  },
);

test("a call is repeated after a crash only if its tool says that this does no harm", () => {
  const effects = [undefined, {}, { idempotentHint: false }, { idempotentHint: true }, { readOnlyHint: true }];
  const found = effects.map((annotations) => mounted(annotations, "never").effect({}));
  expect(found).toEqual(["once", "once", "once", "idempotent", "pure"]);
});
