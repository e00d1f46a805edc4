import { afterEach, expect, mock, spyOn, test } from "bun:test";
import type { Tool } from "../../core/tools/tool.ts";
import * as checkpointing from "./checkpoints/checkpoints-tool.ts";
import * as saving from "./checkpoints/with-checkpoints.ts";
import * as cloning from "./clone-repository.ts";
import { type CodeToolsDeps, codeTools } from "./code-tools.ts";
import * as checking from "./diagnostics/with-diagnostics.ts";
import * as pushing from "./forge/push-branch.ts";
import * as reading from "./forge/read-issue.ts";
import * as patching from "./patch/apply-patch.ts";

afterEach(() => mock.restore());

const egress = { fetch: "egress" } as unknown as NonNullable<CodeToolsDeps["egress"]>;
const hosts = { any: true, list: "hosts" } as unknown as NonNullable<CodeToolsDeps["hosts"]>;
const sandbox = { tier: "bwrap" } as CodeToolsDeps["sandbox"];
const edits = (async () => undefined) as unknown as CodeToolsDeps["edits"];
const namesOf = (deps: Partial<CodeToolsDeps>) =>
  codeTools({ sandbox, edits, runsCode: false, egress: undefined, ...deps }).tools.map(({ name }) => name);

const always = ["apply_patch", "checkpoints"];
const running = ["repo_map", "search", "glob", "run_tests", "language_server"];

test.each<[string, Partial<CodeToolsDeps>, readonly string[]]>([
  ["nothing", {}, []],
  ["commands", { runsCode: true }, running],
  ["the web", { egress }, ["clone_repository"]],
  ["the web and a server without a token", { egress, hosts: { ...hosts, any: false } }, ["clone_repository"]],
  ["a server with a token alone", { hosts, runsCode: true }, running],
  ["the web and a server with a token", { egress, hosts }, ["clone_repository", "read_issue"]],
  ["all of it", { egress, hosts, runsCode: true }, [...running, "clone_repository", "read_issue", "push_branch"]],
])("with %s an agent has no tool that could not work", (_, deps, more) => {
  expect(namesOf(deps).toSorted()).toEqual([...always, ...more].toSorted());
});

test("what fetches and pushes has the egress and the servers of the settings, and edits of one file share their turns", () => {
  const given = {
    clone: spyOn(cloning, "cloneRepositoryTool"),
    issue: spyOn(reading, "readIssueTool"),
    push: spyOn(pushing, "pushBranchTool"),
    patch: spyOn(patching, "applyPatchTool"),
  };
  namesOf({ egress, hosts, runsCode: true });
  expect(given.clone.mock.calls).toEqual([[{ egress, sandbox, hosts }]]);
  expect(given.issue.mock.calls).toEqual([[{ egress, hosts }]]);
  expect(given.push.mock.calls).toEqual([[{ egress, sandbox, hosts }]]);
  expect(given.patch.mock.calls[0]?.[0].queue).toBe(edits);
});

test("a tool that may change files saves them before in the store that restores them, and one that names them has them checked", () => {
  const store = spyOn(checkpointing, "checkpointsTool");
  const saved = spyOn(saving, "withCheckpoints").mockImplementation((tool) => ({ ...tool, description: "saved" }));
  const checked = spyOn(checking, "withDiagnostics").mockImplementation((tool) => ({ ...tool, name: "checked" }));
  const { over } = codeTools({ sandbox, edits, runsCode: false, egress: undefined });
  const tool = { name: "own", description: "" } as Tool;
  expect(over(tool)).toBe(tool);
  expect(over({ ...tool, edits: true })).toMatchObject({ name: "own", description: "saved" });
  expect(checked).not.toHaveBeenCalled();
  const edited = () => ["a.ts"];
  expect(over({ ...tool, edits: edited })).toMatchObject({ name: "checked", description: "saved" });
  expect(checked.mock.calls[0]?.[1]).toEqual({ sandbox, edited });
  for (const [, checkpoints] of saved.mock.calls) expect(checkpoints).toBe(store.mock.calls[0]?.[0] as never);
});
