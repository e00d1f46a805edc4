import { afterAll, beforeAll, expect, test } from "bun:test";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createSecrets } from "manyhands/internal/machine/secrets/secrets";
import { openedForTest } from "manyhands/internal/testing/agent/opened-agent";
import * as z from "zod";
import { manus } from "../../agents/manus/src/agent.ts";
import { createPeers } from "../../shared/src/a2a/ask/peers.ts";
import { delegateTool } from "../../shared/src/a2a/delegate/delegate.ts";
import { loadConfig } from "../../shared/src/config/config.ts";
import type { Tool } from "../../shared/src/core/tools/tool.ts";
import { createEmbeddedEngine } from "../../shared/src/durable/sqlite/embedded-engine.ts";
import { createBrowsers } from "../../shared/src/machine/browser/create-browsers.ts";
import { browserDefaults } from "../../shared/src/machine/browser-process/settings.ts";
import { createArtifactStore } from "../../shared/src/machine/workspace/artifacts/artifact-store.ts";
import { openWorkspace } from "../../shared/src/machine/workspace/open-workspace.ts";
import { openMachine } from "../../shared/src/server/machine/open-machine.ts";
import { openToolbox, type Toolbox } from "../../shared/src/server/toolbox.ts";
import { browserTools } from "../../shared/src/tools/browser/browser-tools.ts";
import { extractContent } from "../../shared/src/tools/browser/extract/extract-content.ts";
import { computerUse } from "../../shared/src/tools/desktop/computer-use.ts";
import { createDisplays } from "../../shared/src/tools/desktop/display-session.ts";
import { createChatCompletion } from "../../shared/src/tools/human/create-chat-completion.ts";
import { createSnapshotStates } from "../../shared/src/tools/observation/elements/snapshot-state.ts";
import { createPythonInterpreters, pythonExecute } from "../../shared/src/tools/python/python-execute.ts";
import { bashTool, createShellSessions } from "../../shared/src/tools/shell/bash-tool.ts";
import { blocksOf, codesIn, readGuide } from "./markdown.ts";
import { shows } from "./shows.ts";

const guide = await readGuide("tools.md");
const shellTools = ["bash", "python_execute"];

let home: string;
let toolbox: Toolbox;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "manyhands-docs-"));
  await chmod(home, 0o711);
  const config = await loadConfig({ cwd: home, env: {} });
  toolbox = await openToolbox(config, await openMachine(join(home, "workspaces"), config.sandbox));
});
afterAll(async () => {
  await toolbox.close();
  await toolbox.sandbox.close();
  await rm(home, { recursive: true });
});

/** A browser that is never started: only the names and inputs of its tools are used. */
function browsing() {
  const policy = { allow: [], deny: [], only: [] };
  const browsers = createBrowsers({ ...browserDefaults, folder: join(home, "browser"), policy });
  return { browsers, looks: createSnapshotStates(), search: async () => [] };
}

/** Every possible tool, whatever this machine has. */
async function allTools(): Promise<readonly Tool[]> {
  const { sandbox } = toolbox;
  const shell = [
    bashTool({ sessions: createShellSessions(sandbox) }),
    pythonExecute({ sandbox, interpreters: createPythonInterpreters(sandbox) }),
  ];
  const size = { width: 1280, height: 800 };
  const desktop = [computerUse({ displays: createDisplays(sandbox, size), size })];
  const extract = extractContent({ browsers: browsing().browsers, pieceCharacters: 1_000 });
  const own = (await openedForTest(manus, { ...toolbox, shell, desktop })).tools;
  return [
    ...own,
    ...browserTools({ ...browsing(), secrets: createSecrets([]) }),
    extract,
    delegateForDocs(),
    createChatCompletion(),
  ];
}

/** The delegate tool as an agent that may ask another has it. */
function delegateForDocs(): Tool {
  const peers = createPeers({
    engine: createEmbeddedEngine({ path: join(home, "runs.db") }),
    artifacts: createArtifactStore(join(home, "artifacts")),
  });
  const addresses = [{ name: "swe", url: "http://127.0.0.1:1" }];
  return delegateTool({ addresses, describe: () => "", close: () => undefined }, peers);
}

test("every tool has its section, and every parameter is in it", async () => {
  for (const { name, inputSchema } of await allTools()) {
    const section = new RegExp(`^## ${name}$([\\s\\S]*?)(?=^## )`, "m").exec(guide)?.[1];
    const { properties } = z.object({ properties: z.record(z.string(), z.unknown()) }).parse(inputSchema);
    expect({ name, codes: codesIn(section) }).toEqual({
      name,
      codes: expect.arrayContaining(Object.keys(properties)),
    });
  }
});

test("every example gives the result the guide shows", async () => {
  const workspace = await openWorkspace({ home, principal: "docs", contextId: "c", user: toolbox.sandbox.user });
  const tools = (await openedForTest(manus, toolbox)).tools;
  const blocks = blocksOf(guide);
  const examples = blocks.flatMap((block, index) =>
    block.language === "json" ? [[block, blocks[index + 1]] as const] : [],
  );
  expect(examples.length).toBeGreaterThan(6);
  for (const [example, shown] of examples) {
    const { tool: name, ...input } = z.looseObject({ tool: z.string() }).parse(JSON.parse(example.text));
    const tool = tools.find((one) => one.name === name);
    // Without a sandbox there are no tools that execute code.
    if (tool === undefined && shellTools.includes(name)) continue;
    const { signal } = new AbortController();
    const key = `docs/${example.line}`;
    const ask = () => Promise.reject(new Error("No model is asked in the guide."));
    const result = await tool?.call(input, {
      signal,
      workspace,
      key,
      resultCharacters: 12_000,
      progress: () => undefined,
      ask,
      fetch: () => Promise.reject(new Error("The guide reads nothing of the web.")),
    });
    if (!shows(shown?.text ?? "", result?.text ?? ""))
      throw new Error(`tools.md, line ${example.line} answers:\n${result?.text}`);
  }
});
