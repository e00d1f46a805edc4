import { afterAll, beforeAll, expect, spyOn, test } from "bun:test";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Tool } from "../../../core/tools/tool.ts";
import type { Sandbox, SandboxCommand } from "../../../machine/sandbox/sandbox.ts";
import { workspaceForTest } from "../../../testing/machine/workspace.ts";
import { processByHand } from "../../../testing/sandbox/process-by-hand.ts";
import { contextForTest } from "../../../testing/tool-context.ts";
import { findProblems } from "./find-problems.ts";
import { withDiagnostics } from "./with-diagnostics.ts";

let place: Awaited<ReturnType<typeof workspaceForTest>>;
beforeAll(async () => {
  place = await workspaceForTest();
});
afterAll(() => place[Symbol.asyncDispose]());

const asked: { readonly command: SandboxCommand; readonly text: string }[] = [];
/** Its checkers find the lines that begin with `!`; `limitHit` is what ended them. */
function sandboxThat({ limitHit, never = false }: { limitHit?: string; never?: boolean } = {}): Sandbox {
  const spawn = async (command: SandboxCommand) => {
    let text = "";
    const { process } = processByHand({
      ...(limitHit !== undefined && { limitHit }),
      on(what, byHand) {
        if (what.startsWith("write ")) text = what.slice("write ".length);
        if (what !== "end" || never) return;
        asked.push({ command, text });
        byHand.says("stdout", text.replaceAll(/^[^!].*$\n?/gm, ""));
        byHand.exits(0);
      },
    });
    return process;
  };
  return { tier: "bwrap", spawn } as unknown as Sandbox;
}

/** An edit that writes these texts over those that were there, and what its result says. */
async function edited(
  files: Readonly<Record<string, readonly [before: string | Uint8Array, after: string | Uint8Array]>>,
  { effect = "once", paths = Object.keys(files) }: { effect?: "once" | "pure"; paths?: readonly string[] } = {},
) {
  asked.length = 0;
  const { root } = place.workspace;
  for (const [path, [before]] of Object.entries(files)) await writeFile(join(root, path), before);
  const tool = {
    effect: () => effect,
    async call() {
      for (const [path, [, after]] of Object.entries(files)) await writeFile(join(root, path), after);
      return { text: "Edited.", isError: false };
    },
  } as unknown as Tool;
  const checked = withDiagnostics(tool, { sandbox: sandboxThat(), edited: () => paths });
  return (await checked.call({}, contextForTest(place.workspace))).text;
}

test("a call that changes nothing, and a file that is as it was, are not checked", async () => {
  expect(await edited({ "a.sh": ["ok", "!broken"] }, { effect: "pure" })).toBe("Edited.");
  expect(await edited({ "b.sh": ["!broken", "!broken"] })).toBe("Edited.");
  expect(asked).toEqual([]);
});

test("of many files the first five are checked, each once", async () => {
  const names = ["a", "b", "c", "d", "e", "f"].map((name) => `${name}.sh`);
  const files = Object.fromEntries(names.map((name) => [name, ["ok", `!in ${name}`] as const]));
  const text = await edited(files, { paths: ["a.sh", ...names] });
  expect(text.match(/(?<=Diagnostics: )\w\.sh/g)?.join()).toBe(names.slice(0, 5).join());
});

test("a file that is too large, or not text, is not checked, and the edit stands", async () => {
  const most = `!${"x".repeat(512 * 1024 - 1)}`;
  expect(await edited({ "a.sh": ["ok", most] })).toContain("Diagnostics: a.sh has problems");
  expect(await edited({ "a.sh": ["ok", `${most}x`] })).toBe("Edited.");
  expect(await edited({ "a.sh": ["ok", Buffer.from("!caf\xe9", "latin1")] })).toBe("Edited.");
  expect(await edited({ "a.sh": [Buffer.from([0xff]), "!broken"] })).toContain("a.sh has problems since this edit:");
});

test("only what an edit broke is told, shortened, and how much more there is", async () => {
  expect(await edited({ "a.sh": ["!1 old", "!2 old\n!3 new"] })).toBe(
    "Edited.\nDiagnostics: a.sh has problems since this edit, beside those of before:\n- !3 new",
  );
  expect(await edited({ "a.sh": ["!1 old", "!2 old\n"] })).toBe(
    "Edited.\nDiagnostics: a.sh was broken before this edit already: !2 old",
  );
  const lines = Array.from({ length: 10 }, (_, n) => `!${"abcdefghij"[n]}`);
  const text = await edited({ "a.sh": ["", ["!1 old", ...lines].join("\n")] });
  expect(text.split("\n").slice(2)).toEqual([
    "- !1 old",
    ...lines.slice(0, 7).map((line) => `- ${line}`),
    "- and 3 more",
  ]);
  expect(await edited({ "a.sh": ["", `!${"x".repeat(200)}`] })).toEndWith(`- !${"x".repeat(199)}…`);
});

const check = (path: string, sandbox = sandboxThat(), signal = new AbortController().signal) =>
  findProblems({ path, text: "!broken\n  !too\n\n", workspace: place.workspace, sandbox, signal });

test("a checker sees the file's name and text alone, for ten seconds, whatever case its ending has", async () => {
  asked.length = 0;
  expect(await check("sub/folder/A.SH")).toEqual(["!broken"]);
  expect(asked).toMatchObject([
    {
      command: { limits: { wallMs: 10_000, outputBytes: 65_536 }, workspace: place.workspace.root },
      text: "!broken\n  !too\n\n",
    },
  ]);
  expect(asked[0]?.command.argv.at(-1)).toBe("A.SH");
  for (const path of ["a.txt", "sh", "a.unknown"]) expect(await check(path)).toEqual([]);
});

test("a checker that hits its bounds or cannot be started has found nothing; one that is cancelled says so", async () => {
  expect(await check("a.sh", sandboxThat({ limitHit: "wall time 10 s" }))).toEqual([]);
  const broken = { tier: "bwrap", spawn: () => Promise.reject(new Error("no sandbox")) } as unknown as Sandbox;
  expect(await check("a.sh", broken)).toEqual([]);
  const caller = new AbortController();
  const reason = new Error("stopped");
  const checking = check("a.sh", sandboxThat({ never: true }), caller.signal);
  caller.abort(reason);
  expect(await checking.catch((error: unknown) => error)).toBe(reason);
});

test("our own checker gets nothing of this process and no more than its time; if it fails, it has found nothing", async () => {
  const signal = new AbortController().signal;
  for (const [exitCode, problems] of [
    [0, ["a.json:1:1: odd"]],
    [1, []],
  ] as const) {
    const child = { stdout: new Blob(["a.json:1:1: odd\n"]).stream(), exited: Promise.resolve(exitCode) };
    using spawned = spyOn(Bun, "spawn").mockReturnValue(child as never);
    expect(await check("a.json", sandboxThat(), signal)).toEqual([...problems]);
    const given = spawned.mock.calls[0]?.[1] as { readonly signal?: AbortSignal } | undefined;
    expect(given).toMatchObject({
      ...{ cwd: "/", env: { LANG: "C.UTF-8" }, stderr: "ignore" },
      ...{ timeout: 10_000, killSignal: "SIGKILL", maxBuffer: 65_536 },
    });
    expect(given?.signal).toBe(signal);
  }
});
