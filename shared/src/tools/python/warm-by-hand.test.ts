import { expect, test } from "bun:test";
import { withinTrace } from "../../core/trace.ts";
import type { Sandbox, SandboxCommand } from "../../machine/sandbox/sandbox.ts";
import { type ProcessByHand, processByHand } from "../../testing/sandbox/process-by-hand.ts";
import { pythonCommand } from "./python-session.ts";
import { openWarmInterpreter } from "./warm-interpreter.ts";

const bounds = { wallMs: 1_000, cpuSeconds: 7 };
const size = (length: number) => String.fromCharCode(length, 0, 0, 0);
const begun = `b${size(0)}`;
const wrote = (kind: "o" | "e", text: string) => `${kind}${size(text.length)}${text}`;
const ended = (kind: "c" | "d", exitCode: number) => `${kind}${size(4)}${size(exitCode)}`;

/** An interpreter that answers each program as a test says. */
async function scene(answer: (byHand: ProcessByHand) => void, rest: { memoryHit?: string; limitHit?: string } = {}) {
  const asked: SandboxCommand[] = [];
  const byHand = processByHand({ ...rest, on: (what, process) => what === "flush" && answer(process) });
  const sandbox = {
    async spawn(command: SandboxCommand) {
      asked.push(command);
      return byHand.process;
    },
  } as unknown as Sandbox;
  const interpreter = await openWarmInterpreter(sandbox, "/w");
  return { asked, byHand, interpreter, begin: () => interpreter.begin("print(1)", bounds) };
}
const done = ({ done }: ProcessByHand) => done.filter((what) => !/^(?:write|flush)/.test(what));

test("a program that left nothing behind lets the interpreter rest; one that left something ends it", async () => {
  for (const [kind, what] of [
    ["c", ["rest"]],
    ["d", ["kill"]],
  ] as const) {
    const { asked, byHand, interpreter, begin } = await scene(({ says }) => {
      says("stdout", begun + wrote("o", "out"));
      says("stdout", wrote("e", "err") + ended(kind, 3));
    });
    expect(asked).toMatchObject([{ first: true, limits: { cpuSeconds: 3_600 }, workspace: "/w" }]);
    const running = await begin();
    expect(await Promise.all([running?.stdout, running?.stderr].map((one) => new Response(one).text()))).toEqual([
      ...["out", "err"],
    ]);
    expect([await running?.exited, await running?.limitHit(), running?.limits]).toMatchObject([3, undefined, bounds]);
    expect(done(byHand)).toEqual([...what]);
    expect(await interpreter.isReady()).toBe(kind === "c");
    if (kind === "d") expect(await begin()).toBeUndefined();
  }
});

test("the bound that ended a program is told: its memory, its processor time, or that of the interpreter", async () => {
  const end = (exitCode: number) => (byHand: ProcessByHand) =>
    byHand.says("stdout", Buffer.from(begun + ended("c", exitCode), "latin1"));
  const memory = await (await scene(end(137), { memoryHit: "memory 2 GB" })).begin();
  expect(await memory?.limitHit()).toBe("memory 2 GB");
  const processor = await (await scene(end(152))).begin();
  expect(await processor?.limitHit()).toBe("CPU time 7 s");
  const lost = await scene(
    (byHand) => {
      byHand.says("stdout", begun);
      queueMicrotask(() => byHand.exits(9));
    },
    { limitHit: "file size 1 GB" },
  );
  const running = await lost.begin();
  expect([await running?.exited, await running?.limitHit()]).toEqual([9, "file size 1 GB"]);
});

test("an interpreter that ends before a program has begun has run nothing of it", async () => {
  const { begin, interpreter } = await scene((byHand) => byHand.exits(1));
  expect(await begin()).toBeUndefined();
  expect(await interpreter.isReady()).toBe(false);
});

test("a kept interpreter has no home that programs write, and every Python writes what it can of any text", async () => {
  const own = { PYTHONDONTWRITEBYTECODE: "1", PYTHONIOENCODING: "utf-8:replace", MPLBACKEND: "Agg" };
  for (const mode of ["once", "session"] as const)
    expect(await pythonCommand(mode, "/w")).toMatchObject({ workspace: "/w", env: own });
  expect((await pythonCommand("once", "/w")).env).toEqual(own);
  const kept = await pythonCommand("kept", "/w");
  expect([kept.env, kept.argv.slice(0, 3), kept.argv.at(-1)]).toEqual([
    { ...own, HOME: "/" },
    ["python3", "-u", "-c"],
    "kept",
  ]);
});

test("a program is part of the trace of its call", async () => {
  const trace = { traceparent: `00-${"1".repeat(32)}-${"2".repeat(16)}-01` };
  const { byHand, begin } = await scene(({ says }) => says("stdout", begun + ended("c", 0)));
  await withinTrace(trace, begin);
  const request = Buffer.from((byHand.done[0] ?? "").slice("write ".length));
  expect([request.readUInt32LE(0), request.includes(trace.traceparent)]).toEqual([7, true]);
});
