import { expect, spyOn, test } from "bun:test";
import { resolve } from "node:path";
import * as z from "zod";
import * as watching from "./memory-watch.ts";
import { type OwnScriptRun, runOwnScript } from "./run-own-script.ts";

const script = resolve(import.meta.dir, "../../testing/machine/own-script-process.ts");
const told = z.strictObject({
  args: z.array(z.string()),
  input: z.string(),
  env: z.record(z.string(), z.string()),
  folder: z.string(),
});
type Run = OwnScriptRun<z.output<typeof told>>;
const run = (what: string, more: Partial<Run> = {}) =>
  runOwnScript({
    script,
    args: [what, "a b"],
    stdin: new Blob(["given"]),
    subject: "The chart",
    deadlineMs: 60_000,
    memoryBytes: 2 ** 30,
    signal: new AbortController().signal,
    result: told,
    ...more,
  });

test("a script has its arguments, its input and nothing of the server's, and its reply is the result", async () => {
  process.env.MANYHANDS_TEST_KEY = "canary";
  const { env, ...rest } = await run("tell");
  delete process.env.MANYHANDS_TEST_KEY;
  expect(rest).toEqual({ args: ["a b"], input: "given", folder: "/" });
  expect(env).toMatchObject({ LANG: "C.UTF-8", TZ: "UTC" });
  expect(JSON.stringify(env)).not.toContain("canary");
});

const failing = (what: string, more: Partial<Run> = {}) =>
  run(what, more).then(
    () => "done",
    (error) => `${error.code} ${error.message}`,
  );

test("a script's expected failure is the caller's, and nothing else it replies is taken for a result", async () => {
  expect(await Promise.all(["refuse", "throw"].map((what) => failing(what)))).toEqual([
    "rejected It is so.",
    "unavailable The chart: its process ended with exit code 1.",
  ]);
  await expect(run("mislead")).rejects.toBeInstanceOf(z.ZodError);
});

test("a script that fails, takes too long or too much is told of in its subject's words", async () => {
  expect(await Promise.all([failing("fail"), failing("wait", { deadlineMs: 400 })])).toEqual([
    "unavailable The chart: its process ended with exit code 7.",
    "timeout The chart was stopped after 0.4 s.",
  ]);
  expect(await failing("fill", { memoryBytes: 300 * 2 ** 20 })).toBe(
    "too_large The chart was stopped: it needed more than 300 MB of memory.",
  );
});

test("a script that is given up is ended, with the signal's reason; one given up before is not begun", async () => {
  const reason = new Error("enough");
  await expect(run("wait", { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  const leaving = new AbortController();
  const waiting = run("wait", { signal: leaving.signal });
  leaving.abort(reason);
  await expect(waiting).rejects.toBe(reason);
});

test("a script is killed, whatever it does about being asked to end, and watched until its end", async () => {
  let isWatched = true;
  using watch = spyOn(watching, "watchMemory").mockImplementation(() => () => {
    isWatched = false;
  });
  using spawn = spyOn(Bun, "spawn");
  await run("tell");
  expect(spawn.mock.calls[0]?.[1]).toMatchObject({ killSignal: "SIGKILL" });
  expect([watch.mock.calls[0]?.[1], isWatched]).toEqual([2 ** 30, false]);
});

/** Scripts that go on until they are ended, and how many were started. */
function waitingScripts(count: number) {
  const spawn = spyOn(Bun, "spawn");
  const ends = Array.from({ length: count }, () => new AbortController());
  const outcomes = ends.map(({ signal }) => run("wait", { signal }).catch((error) => error));
  return {
    begun: () => spawn.mock.calls.length,
    ends,
    outcomes,
    async [Symbol.asyncDispose]() {
      for (const one of ends) one.abort();
      await Promise.all(outcomes);
      spawn.mockRestore();
    },
  };
}

test("four scripts run at once: others wait for their turn, and one given up while it waits is never begun", async () => {
  await using scripts = waitingScripts(7);
  await Bun.sleep(0);
  expect(scripts.begun()).toBe(4);
  const reason = new Error("enough");
  scripts.ends[4]?.abort(reason);
  expect(await scripts.outcomes[4]).toBe(reason);
  scripts.ends[0]?.abort();
  await scripts.outcomes[0];
  expect(scripts.begun()).toBe(5);
  // A script that failed has left its turn too.
  for (const at of [1, 2]) scripts.ends[at]?.abort();
  await Promise.all([1, 2].map((at) => scripts.outcomes[at]));
  expect(scripts.begun()).toBe(6);
  expect((await run("tell")).folder).toBe("/");
});

test("a script waits five minutes for others, and is then told as not begun", async () => {
  await using scripts = waitingScripts(4);
  const late = new AbortController();
  const timeout = AbortSignal.timeout;
  using _ = spyOn(AbortSignal, "timeout").mockImplementation((ms) =>
    ms === 5 * 60_000 ? late.signal : timeout.call(AbortSignal, ms),
  );
  const waiting = failing("tell");
  late.abort();
  expect(await waiting).toBe(
    "unavailable The chart was not begun: this server worked on 4 others for 5 minutes. Try again later.",
  );
  expect(scripts.begun()).toBe(4);
});
