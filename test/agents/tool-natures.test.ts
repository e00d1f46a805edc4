import { expect, test } from "bun:test";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openedForTest } from "manyhands/internal/testing/agent/opened-agent";
import { dataAnalysis } from "../../agents/data-analysis/src/agent.ts";
import { manus } from "../../agents/manus/src/agent.ts";
import { swe } from "../../agents/swe/src/agent.ts";
import { loadConfig } from "../../shared/src/config/config.ts";
import type { Tool } from "../../shared/src/core/tools/tool.ts";
import { openMachine } from "../../shared/src/server/machine/open-machine.ts";
import { openToolbox } from "../../shared/src/server/toolbox.ts";

/** A call of each tool, and what may become of it: its effect, then what else it declares. */
const natures: Readonly<Record<string, readonly [input: object, nature: string]>> = {
  planning: [{ command: "list" }, "pure"],
  bash: [{ command: "ls" }, "once, takes in anything, edits"],
  python_execute: [{ code: "1" }, "once, takes in anything, edits"],
  str_replace_editor: [{ command: "create", path: "a", file_text: "a" }, "idempotent, edits"],
  see_image: [{ path: "a" }, "pure"],
  read_document: [{ path: "a" }, "pure, takes in file"],
  write_document: [{ path: "a.docx", content: "a" }, "idempotent, edits"],
  web_search: [{ query: "a" }, "pure, takes in web, reaches asks finds writes, may be a risk"],
  web_fetch: [{ url: "https://a.example" }, "pure, takes in web, reaches finds opens, may be a risk"],
  ask_human: [{ inquire: "a" }, "pure"],
  terminate: [{ status: "success" }, "pure"],
  unpack: [{ path: "a" }, "once, takes in anything, edits"],
  clone_repository: [
    { url: "https://a.example/b/c" },
    "once, takes in anything, edits, reaches free led opens reads, may be a risk",
  ],
  repo_map: [{}, "pure, takes in anything"],
  search: [{ pattern: "a" }, "pure, takes in anything"],
  glob: [{ pattern: "a" }, "pure, takes in anything"],
  apply_patch: [{ patch: "a" }, "idempotent, takes in anything, edits"],
  run_tests: [{}, "once, takes in anything, edits"],
  language_server: [{ command: "diagnostics", path: "a.ts" }, "pure, takes in anything"],
  read_issue: [
    { url: "https://git.example/b/c/issues/1" },
    "pure, takes in anything, reaches led opens reads, may be a risk",
  ],
  push_branch: [{ folder: "a", branch: "b", commit: "c".repeat(40) }, "idempotent, takes in anything, may be a risk"],
  checkpoints: [{ command: "restore", id: 1 }, "idempotent, takes in anything"],
  describe_data: [{ path: "a" }, "pure, takes in anything"],
  sql_query: [{ sql: "DELETE FROM a" }, "once, takes in anything"],
  statistics: [{ test: "outliers", from: "a", y: ["b"] }, "pure, takes in anything"],
  visualization_preparation: [{ code_type: "visualization", code: "1" }, "once, takes in anything"],
  data_visualization: [{}, "once, takes in anything"],
  write_report: [{ title: "a", markdown: "a" }, "idempotent, takes in anything"],
};

/** What of a tool's declaration decides about repetition, questions to a person, and leaks. */
function natureOf({ effect, brings, edits, reach, risk }: Tool, input: object): string {
  const taken = brings === undefined ? ["anything"] : brings;
  const reached = Object.keys(reach ?? {}).toSorted();
  return [
    effect(input),
    ...(taken.length === 0 ? [] : [`takes in ${taken.join(" ")}`]),
    ...(edits === undefined ? [] : ["edits"]),
    ...(reached.length === 0 ? [] : [`reaches ${reached.join(" ")}`]),
    ...(risk === undefined ? [] : ["may be a risk"]),
  ].join(", ");
}

test("each tool declares what its calls do, so that none is repeated, unasked or led that must not be", async () => {
  const home = await mkdtemp(join(tmpdir(), "manyhands-natures-"));
  await chmod(home, 0o711);
  await writeFile(join(home, "manyhands.toml"), '[git."git.example"]\n');
  const config = await loadConfig({ cwd: home, env: {} });
  const toolbox = await openToolbox(config, await openMachine(join(home, "workspaces"), config.sandbox));
  const opened = await Promise.all([manus, swe, dataAnalysis].map((agent) => openedForTest(agent, toolbox)));
  const all = opened.flatMap(({ tools }) => tools);
  const tools = [...new Map(all.map((tool) => [tool.name, tool])).values()];
  // The browser's are declared in one place, and have a test there.
  const declared = tools.filter(({ name }) => !name.startsWith("browser_"));
  expect(declared.length).toBeGreaterThan(15);
  for (const tool of declared) {
    const [input = {}, nature] = natures[tool.name] ?? [];
    expect(`${tool.name}: ${natureOf(tool, input)}`).toBe(`${tool.name}: ${nature}`);
  }
  await toolbox.close();
  await toolbox.sandbox.close();
  await rm(home, { recursive: true });
});
