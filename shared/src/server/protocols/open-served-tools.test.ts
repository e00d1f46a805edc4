import { afterAll, expect, test } from "bun:test";
import * as z from "zod";
import type { AgentDefinition } from "../../core/agent.ts";
import { defineTool } from "../../core/tools/define-tool.ts";
import type { ArtifactStore } from "../../core/workspace.ts";
import { createEmbeddedEngine } from "../../durable/sqlite/embedded-engine.ts";
import { createQuotas } from "../../runs/quotas.ts";
import { openServedTools } from "./open-served-tools.ts";

const engine = createEmbeddedEngine({ path: ":memory:" });
afterAll(() => engine.close({ graceMs: 0 }));

const input = z.looseObject({});
const look = defineTool({ name: "look", description: "Looks.", input, effect: "pure", run: async () => "seen" });
const definition = {
  name: "swe",
  title: "Software engineer",
  description: "Writes code.",
  version: "1.2.3",
  skills: [],
  tools: [look],
} as unknown as AgentDefinition;

const opened = () =>
  openServedTools({
    definition,
    engine,
    artifacts: {} as ArtifactStore,
    publicUrl: "http://swe.example",
    quotas: createQuotas({ everybody: { runsAtOnce: 1 } }),
    report: () => undefined,
  } as unknown as Parameters<typeof openServedTools>[0]);

test("an agent's MCP server has its tools, and itself as the one that takes tasks, which run as its own", async () => {
  const { runs, runnables, tools, version } = opened();
  const [itself, ...others] = runnables.all();
  if (itself === undefined) throw new Error("no agent");
  const about = { title: "Software engineer", description: "Writes code.", version: "1.2.3", skills: [] };
  expect(itself).toMatchObject({ type: "agent", name: "swe", kind: "swe", ...about });
  expect([others, version]).toEqual([[], "1.2.3"]);
  expect([runnables.ofKind("swe"), runnables.ofKind("swe/push")]).toEqual([itself, undefined]);
  expect(tools?.list().map(({ name }) => name)).toEqual(["look"]);
  const message = { messageId: "m", parts: [{ type: "text", text: "Hi" }] } as const;
  const run = await runs.start(itself, { message }, "ann");
  expect(await engine.get(run.id)).toMatchObject({ kind: "swe", principal: "ann", status: "queued" });
  expect((await runs.view(run)).id).toBe(run.id);
  const second = runs.start(itself, { message: { ...message, messageId: "m2" } }, "ann");
  await expect(second).rejects.toMatchObject({ code: "quota_exceeded" });
  await expect(runs.own(run.id, "bob")).rejects.toMatchObject({ code: "not_found" });
});
