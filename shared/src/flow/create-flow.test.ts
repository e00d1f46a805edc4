import { expect, spyOn, test } from "bun:test";
import * as canceling from "../a2a/ask/cancel-remote-tasks.ts";
import type { Flow } from "../core/flow.ts";
import type { Part } from "../core/message.ts";
import type { RunEvent } from "../core/runs/run.ts";
import type { StoredFile } from "../core/workspace.ts";
import { entryForTest } from "../testing/flow.ts";
import { createFlow, type FlowVerbDeps } from "./create-flow.ts";
import { cut, roomForEach } from "./cut.ts";
import { newState } from "./flow-state.ts";

const stored = (name: string, sha256 = name): StoredFile => ({ name, sha256, mediaType: "text/plain", size: 1 });
const file = (name: string, sha256 = name): Part => ({ type: "file", ...stored(name, sha256) });
const text = (value: string): Part => ({ type: "text", text: value });

/**
 * The verbs over a run in memory, with what it recorded. `stored` are the contents of its files.
 */
function flowInMemory(begun: object = {}, contents: Readonly<Record<string, string>> = {}) {
  const events: RunEvent[] = [];
  const steps: string[] = [];
  const run = {
    id: "run",
    abortSignal: new AbortController().signal,
    emit: (event: RunEvent) => void events.push(event),
    step: (name: string, act: () => unknown, { effect = "once" } = {}) => {
      steps.push(`${name}: ${effect}`);
      return act();
    },
    all: (branches: readonly ((own: unknown) => Promise<unknown>)[]) => Promise.all(branches.map((each) => each(run))),
  };
  const entries = [entryForTest("swe", "http://swe"), entryForTest("manus", "http://manus")];
  const state = newState(
    { goal: "Go.", files: [], earlier: { text: "", files: [], takenIn: [] }, entries, known: [], ...begun } as never,
    { hops: 0 },
  );
  const get = async (sha256: string) => (contents[sha256] === undefined ? undefined : new Blob([contents[sha256]]));
  const deps = { peers: { artifacts: { get } } } as unknown as FlowVerbDeps;
  return { flow: createFlow(run as never, state, deps), state, events, steps };
}

test("of files of one name a flow has the newest: those sent later, then those sent first, then earlier ones", () => {
  const { flow, state } = flowInMemory({
    files: [text("x"), file("a", "old"), file("b"), file("a", "new"), text("x")],
    earlier: { text: "", files: [stored("a", "earlier"), stored("c"), stored("d", "earlier")], takenIn: [] },
  });
  state.added.push(file("d", "added"), file("b", "added"));
  expect(flow.files).toEqual([
    text("x"),
    file("a", "new"),
    text("x"),
    file("d", "added"),
    file("b", "added"),
    file("c"),
  ]);
});

test("what an agent made is handed on once, and never takes the name of what the flow itself answers", () => {
  const { flow, events } = flowInMemory();
  const artifact = (name: string, ...parts: Part[]) => ({ name, parts, description: `About ${name}` });
  flow.handOn(
    [
      stored("a.csv"),
      stored("copy.csv", "a.csv"),
      stored("b.csv"),
      stored("b.csv", "another"),
      stored("plan.md"),
      stored("transcript.md"),
    ],
    [artifact("report", text("x"), file("a.csv"), file("b.csv")), artifact("answer", text("mine"))],
  );
  flow.handOn([stored("partial-answer"), stored("c.csv")]);
  expect(events.map(({ name, parts, description }) => [name, (parts as Part[]).length, description])).toEqual([
    ["report", 3, "About report"],
    ["./answer", 1, "About answer"],
    ["copy.csv", 1, undefined],
    ["b.csv", 1, undefined],
    ["./plan.md", 1, undefined],
    ["./transcript.md", 1, undefined],
    ["./partial-answer", 1, undefined],
    ["c.csv", 1, undefined],
  ]);
  expect(events.every(({ type, artifactId, name }) => type === "artifact-added" && artifactId === `run/${name}`)).toBe(
    true,
  );
});

test("an answer says what it took in; other artifacts do not", () => {
  const { flow, state, events } = flowInMemory();
  state.takenIn.add("web").add("swe");
  for (const name of ["answer", "partial-answer", "answer.md", "my-answer"]) flow.artifact(name, []);
  expect(events.map(({ takenIn }) => takenIn)).toEqual([["web", "swe"], ["web", "swe"], undefined, undefined] as never);
});

test("a flow knows whether its agents were chosen, checks names and not addresses, and keeps what it is told", () => {
  const { flow, state } = flowInMemory();
  expect([flow.isChosen, flowInMemory({ agents: ["swe"] }).flow.isChosen]).toEqual([false, true]);
  expect(() => flow.check("nobody")).toThrow('There is no agent "nobody"; there are: swe, manus.');
  flow.check("swe");
  flow.check("https://nobody.example");
  flow.expect(3, { own: true });
  expect([state.expected, state.ownCalls]).toEqual([3, true]);
  flow.expect(2);
  expect([state.expected, state.ownCalls]).toEqual([2, false]);
  flow.reached("half of it");
  expect(state.reached).toBe("half of it");
});

test("a branch that is given up while it waits for its turn never begins", async () => {
  const { state } = flowInMemory();
  const began: string[] = [];
  const gone = new AbortController();
  const run = {
    abortSignal: new AbortController().signal,
    all: (branches: readonly ((own: unknown) => Promise<unknown>)[]) =>
      Promise.allSettled(branches.map((each, at) => each(at === 1 ? { ...run, abortSignal: gone.signal } : run))),
  };
  const flow = createFlow(run as never, state, {} as FlowVerbDeps);
  const branch = (name: string) => async () => {
    began.push(name);
    gone.abort(new Error("given up"));
  };
  await flow.all([branch("one"), branch("two"), branch("three")], { concurrency: 1 });
  expect(began).toEqual(["one", "three"]);
});

test("the tasks of branches that a failed one leaves are canceled, by the flow itself unless that is at its end", async () => {
  const cancelOpen = spyOn(canceling, "cancelOpen").mockResolvedValue(undefined as never);
  using _ = cancelOpen;
  const peers = {} as FlowVerbDeps["peers"];
  for (const isOver of [false, true]) {
    const own = new AbortController();
    const run = {
      abortSignal: own.signal,
      all: async () => {
        if (isOver) own.abort(new Error("canceled"));
        throw new Error("a branch failed");
      },
    };
    const flow = createFlow(run as never, flowInMemory().state, { peers } as FlowVerbDeps);
    await expect(flow.all([async () => 1])).rejects.toThrow("a branch failed");
    expect(cancelOpen).toHaveBeenCalledTimes(1);
    if (!isOver) expect(cancelOpen).toHaveBeenCalledWith(run as never, peers);
  }
});

test("the card at an address that nobody knows yet is read in a step that may be repeated", async () => {
  const { state, steps } = flowInMemory();
  const run = {
    step: (name: string, act: (step: object) => unknown, { effect = "once" } = {}) => {
      steps.push(`${name}: ${effect}`);
      return act({ signal: new AbortController().signal });
    },
  };
  const read = (address: string) => Promise.reject(new Error(`no card at ${address}`));
  const flow = createFlow(run as never, state, { agents: { read } } as unknown as FlowVerbDeps);
  await expect(flow.ask("https://new.example", { text: "Go" })).rejects.toThrow("no card at https://new.example");
  expect(steps).toEqual(["read card: pure"]);
});

test("as many branches run at once as may, in order, and each counts until it has ended, the last as the body", async () => {
  const { flow, state } = flowInMemory();
  let [now, most] = [0, 0];
  const seen: number[] = [];
  const branch = (n: number) => async (own: Flow) => {
    most = Math.max(most, ++now);
    await Bun.sleep(1);
    seen.push(state.branches);
    now--;
    return `${n} ${own.goal}`;
  };
  const branches = [1, 2, 3, 4].map(branch);
  expect(await flow.all(branches, { concurrency: 1 })).toEqual(["1 Go.", "2 Go.", "3 Go.", "4 Go."]);
  expect([most, seen, state.branches]).toEqual([1, [4, 3, 2, 1], 1]);
  await flow.all(branches);
  expect([most, state.branches]).toEqual([4, 1]);
  await flow.all(branches.slice(0, 2), { concurrency: 0 });
  expect(await flow.all([])).toEqual([]);
  expect(state.branches).toBe(1);
});

test("the beginnings and ends of eight files are read, of text files only, and the rest is named", async () => {
  const names = ["a", "gone", "binary", "long", "exact", "f", "g", "h", "i"];
  const contents = { ...Object.fromEntries(names.map((name) => [name, name])), binary: "a\0b" };
  const { gone: _, ...there } = {
    ...contents,
    long: `${"x".repeat(3_000)}😀${"-".repeat(900)}${"y".repeat(1_000)}`,
    exact: "y".repeat(4_000),
  } as Record<string, string>;
  const { flow, steps } = flowInMemory({}, there);
  const read = await flow.excerpts(names.map((name) => stored(name)));
  expect(read.map(({ name, size, text }) => [name, size, text])).toEqual([
    ["a", 1, "a"],
    ["gone", 1, undefined],
    ["binary", 1, undefined],
    ["long", 1, `${"x".repeat(3_000)}\n[904 bytes left out]\n${"y".repeat(1_000)}`],
    ["exact", 1, "y".repeat(4_000)],
    ["f", 1, "f"],
    ["g", 1, "g"],
    ["h", 1, "h"],
    ["i", 1, undefined],
  ]);
  expect(await flow.excerpts([])).toEqual([]);
  expect(steps).toEqual(["excerpts: pure"]);
});

test("half a character where a file is cut is left out", async () => {
  const { flow } = flowInMemory({}, { a: `${"x".repeat(2_999)}é${"-".repeat(900)}é${"y".repeat(999)}` });
  const [read] = await flow.excerpts([stored("a")]);
  expect(read?.text).toBe(`${"x".repeat(2_999)}\n[902 bytes left out]\n${"y".repeat(999)}`);
});

test("a text is cut where it is longer than it may be, and answers share the room there is", () => {
  expect([cut("abc", 3), cut("abcd", 3)]).toEqual(["abc", "abc\n[cut off]"]);
  expect([1, 3, 4, 7, 29, 31, 1_000].map(roomForEach)).toEqual([16_000, 16_000, 15_000, 8_571, 2_068, 2_000, 2_000]);
});
