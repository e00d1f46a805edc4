import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { defineAgent } from "manyhands";
import { createEmbeddedEngine, createPostgresEngine, createRestateEngine, type RunDefinition } from "manyhands/durable";
import { defineFlow, type Flow, type FlowBody, outcomeText } from "manyhands/flows";
import { cancelChildrenRun } from "manyhands/internal/a2a/ask/cancel-children";
import { createPeers } from "manyhands/internal/a2a/ask/peers";
import { agentRun } from "manyhands/internal/agent/agent-run";
import { flowRun } from "manyhands/internal/flow/flow-run";
import { createArtifactStore } from "manyhands/internal/machine/workspace/artifacts/artifact-store";
import { openWorkspace } from "manyhands/internal/machine/workspace/open-workspace";
import { entryForTest, fixedAgents, modelForTest } from "manyhands/internal/testing/flow";
import { askHuman } from "manyhands/internal/tools/human/ask-human";
import * as z from "zod";

/** Settings of a process of one release, as JSON in its first argument. */
export const releaseSettings = z.strictObject({
  home: z.string(),
  /** The address of a database; the file in the home if left out. */
  postgres: z.string().optional(),
  /**
   * Restate beside the database, and where this process listens for it, behind one address of all.
   */
  restate: z
    .strictObject({
      admin: z.string(),
      ingress: z.tuple([z.string()]),
      prefix: z.string(),
      port: z.int(),
      publicUrl: z.string(),
    })
    .optional(),
  /** The versions of the bodies that the release has, the newest first. */
  versions: z.tuple([z.int()], z.int()),
  /** What the release calls itself in `effects`, a line for each step that it carries out. */
  name: z.string(),
  writer: z.string(),
  model: z.string(),
});

const {
  home,
  postgres,
  restate,
  versions,
  name,
  writer,
  model: modelUrl,
} = releaseSettings.parse(JSON.parse(process.argv[2] ?? "{}"));
const engine = openEngine();
const artifacts = createArtifactStore(join(home, "artifacts"));
const peers = createPeers({ engine, artifacts, bounds: { patienceMs: 30_000 } });
const model = modelForTest(modelUrl);

function openEngine() {
  if (postgres === undefined) return createEmbeddedEngine({ path: join(home, "runs.db"), pollMs: 10 });
  const shared = { url: postgres, connections: 4, pollMs: 200 };
  return restate === undefined ? createPostgresEngine(shared) : createRestateEngine({ ...shared, restate });
}

/** A flow whose versions ask for other steps: it works, asks an agent, then a person. */
function bodyOf(body: number): FlowBody {
  const step = (flow: Flow, what: string) =>
    flow.run.step(`${what} of ${body}`, async () => {
      appendFileSync(join(home, "effects"), `${flow.run.id} ${body} ${name} ${what}\n`);
      await Bun.sleep(20);
      return null;
    });
  return {
    body,
    async perform(flow) {
      for (let n = 0; n < 10; n++) await step(flow, `line ${n}`);
      const outcome = await flow.ask("writer", { text: "Write" });
      const said = await flow.askPerson("Fine?");
      await step(flow, "end");
      return { answer: `${body}: ${outcome.state === "completed" ? outcome.answer : outcomeText(outcome)}, ${said}` };
    },
  };
}

const [newest, ...former] = versions.map(bodyOf);
if (newest === undefined) throw new Error("A release has a version.");
const letter = defineFlow({
  name: "letter",
  description: "Writes a letter.",
  example: { text: "Write" },
  ...newest,
  former,
});

const today = agentRun(
  defineAgent({ name: "clerk", description: "Asks.", instructions: "Ask, then answer.", tools: [askHuman()] }),
  { model, engine, artifacts, openWorkspace: (principal, contextId) => openWorkspace({ home, principal, contextId }) },
);
/** The agent, whose body of today is version 1; a later one does something else. */
function clerk(): RunDefinition {
  const [body, ...rest] = versions.map((version) => ({
    body: version,
    execute:
      version === 1
        ? today.execute
        : (((run) =>
            run.step(`clerk ${version}`, async () => ({ answer: `${version}` }))) satisfies RunDefinition["execute"]),
  }));
  return { kind: "clerk", ...(body ?? today), former: rest };
}

const agents = fixedAgents([entryForTest("writer", writer)]);
engine.work([flowRun(letter, { peers, agents, model }), cancelChildrenRun("letter", peers), clerk()]);
process.stdout.write("working\n");
process.once("SIGTERM", () => engine.close({ graceMs: 2_000 }).then(() => process.exit(0)));
