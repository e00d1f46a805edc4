import { expect, test } from "bun:test";
import type { SandboxCommand } from "../../machine/sandbox/sandbox.ts";
import { workspaceForTest } from "../../testing/machine/workspace.ts";
import { processByHand } from "../../testing/sandbox/process-by-hand.ts";
import { contextForTest } from "../../testing/tool-context.ts";
import { importName } from "./find-python.ts";
import { type PythonInterpreters, pythonExecute } from "./python-execute.ts";

/** The tool over interpreters that do what a test says, and what they were asked. */
async function scene({ isWarm = true, timeoutSeconds }: { isWarm?: boolean; timeoutSeconds?: number } = {}) {
  const place = await workspaceForTest();
  const asked: unknown[] = [];
  const state = { exitCode: 0, said: "", limit: undefined as string | undefined, outcome: {} as object };
  const begun = () => {
    const byHand = processByHand({ ...(state.limit !== undefined && { limitHit: state.limit }) });
    if (state.said !== "") byHand.says("stdout", state.said);
    byHand.exits(state.exitCode);
    return byHand.process;
  };
  const interpreters = {
    sessions: {
      async run(_: unknown, code: string, { timeoutMs }: { readonly timeoutMs: number }) {
        asked.push(["session", code, timeoutMs]);
        return state.outcome;
      },
      release: async () => void asked.push("release session"),
      close: async () => void asked.push("close sessions"),
    },
    warm: {
      async begin(root: string, code: string, limits: object) {
        asked.push(["warm", root === place.workspace.root, code, limits]);
        return isWarm ? begun() : undefined;
      },
    },
    release: async () => void asked.push("release"),
  } as unknown as PythonInterpreters;
  const sandbox = {
    async spawn({ argv, limits }: SandboxCommand) {
      asked.push(["alone", argv.at(-1), limits]);
      return begun();
    },
  };
  const tool = pythonExecute({
    sandbox: sandbox as never,
    interpreters,
    ...(timeoutSeconds !== undefined && { timeoutSeconds }),
  });
  const context = contextForTest(place.workspace);
  const call = (input: object) => tool.call(input, context);
  return { ...place, asked, state, tool, call, context };
}

const withoutTime = (text: string) => text.replace(/\d+\.\d s/, "T");

test("a program has a minute, or what the settings or the call say, and twice that of processor time", async () => {
  for (const [settings, input, seconds] of [
    [{}, {}, 60],
    [{ timeoutSeconds: 7 }, {}, 7],
    [{ timeoutSeconds: 7 }, { timeout: 1.5 }, 1.5],
  ] as const) {
    await using it = await scene(settings);
    await it.call({ code: "x", ...input });
    const limits = { wallMs: seconds * 1000, cpuSeconds: Math.ceil(seconds) * 2 };
    expect(it.asked).toEqual([["warm", true, "x", limits]]);
  }
  await using cold = await scene({ isWarm: false });
  await cold.call({ code: "x", timeout: 600 });
  expect(cold.asked.at(-1)).toEqual(["alone", "once", { wallMs: 600_000, cpuSeconds: 1_200 }]);
  await cold.call({ code: "x", session: true, timeout: 2 });
  expect(cold.asked.at(-1)).toEqual(["session", "x", 2_000]);
  for (const timeout of [0, 601]) expect((await cold.call({ code: "x", timeout })).isError).toBe(true);
});

test.each([
  [0, "", undefined, false, "(no output: print what you want to see)\n[exit code 0, T]"],
  [0, "4\n", undefined, false, "4\n[exit code 0, T]"],
  [3, "", undefined, true, "[exit code 3, T]"],
  [152, "", "CPU time 2 s", true, "[stopped at its limit: CPU time 2 s, exit code 152, T]"],
  [0, "x", "memory 2 GB", true, "x\n[stopped at its limit: memory 2 GB, exit code 0, T]"],
])("a program that ends with %d, %j and the limit %p", async (exitCode, said, limit, isError, text) => {
  await using it = await scene();
  Object.assign(it.state, { exitCode, said, limit });
  const result = await it.call({ code: "x" });
  expect([result.isError, withoutTime(result.text)]).toEqual([isError, text]);
});

test.each([
  [{ state: "finished", payload: "0" }, false, ["[exit code 0, T]"]],
  [{ state: "finished", payload: "1" }, true, ["[exit code 1, T]"]],
  [
    { state: "finished", payload: "0", restarted: "it was idle" },
    false,
    ["earlier state was lost: it was idle", "[exit code 0"],
  ],
  [{ state: "ended", exitCode: 0 }, false, ["the next call starts a new one", "[exit code 0"]],
  [
    { state: "lost", limit: "wall time 60 s" },
    true,
    ["the next call starts a new one", "[stopped at its limit: wall time 60 s, exit code 137, T]"],
  ],
])("a call of an interpreter that gives %j", async (outcome, isError, parts) => {
  await using it = await scene();
  it.state.outcome = outcome;
  const result = await it.call({ code: "x", session: true });
  expect(result.isError).toBe(isError);
  for (const part of parts) expect(withoutTime(result.text)).toContain(part);
});

test("programs are never repeated, and what is kept for a conversation ends with it", async () => {
  await using it = await scene();
  expect([it.tool.effect({ code: "x" }), it.tool.edits]).toEqual(["once", true]);
  await it.tool.release?.(it.workspace);
  expect(it.asked).toEqual(["release"]);
});

test("a model is told of the libraries that matter most", () => {
  const described = (libraries: readonly string[] | undefined) =>
    pythonExecute({ sandbox: {} as never, interpreters: {} as never, libraries }).description;
  expect(described(undefined)).toBe("Runs Python in the workspace.");
  expect(described([])).toBe("Runs Python in the workspace, without libraries.");
  expect(described(["a", "b", "c", "d", "e", "f", "g", "h"])).toBe(
    "Runs Python in the workspace, with a, b, c, d, e, f, g.",
  );
});

test.each([
  ["scikit-learn>=1.0", "sklearn"],
  ["python-docx", "docx"],
  ["python_pptx>=1", "pptx"],
  ["Pillow", "PIL"],
  ["zope-interface", "zope_interface"],
  ["ruamel.yaml.clib", "ruamel_yaml_clib"],
  ["PyYAML[fast]==6", "yaml"],
  [" odd", ""],
])("the package %j is most likely imported as %j", (requirement, name) => {
  expect(importName(requirement)).toBe(name);
});
