import { expect, test } from "bun:test";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { AppError } from "../core/errors.ts";
import type { IncomingMessage, IncomingPart } from "../core/message.ts";
import type { Engine, RunRecord, StartRequest } from "../core/runs/engine.ts";
import type { RunDefinition } from "../core/runs/run.ts";
import { sha256Of } from "../core/text/sha256.ts";
import { createEmbeddedEngine } from "../durable/sqlite/embedded-engine.ts";
import { createArtifactStore } from "../machine/workspace/artifacts/artifact-store.ts";
import { scratch } from "../testing/durable/scratch.ts";
import { continueRun, runOfMessage, type Sender, startRun } from "./accept-message.ts";
import { createProjectionCache } from "./projection-cache.ts";

const words = (text: string): IncomingPart => ({ type: "text", text });
const file = (text: string): IncomingPart => ({ type: "bytes", bytes: Buffer.from(text), name: "a.txt" });
const message = (messageId: string, ...parts: readonly IncomingPart[]): IncomingMessage => ({ messageId, parts });
const ann: Sender = { principal: "ann" };

/** A store whose runs wait until they are told to end. */
function place() {
  const store = scratch();
  const engine = createEmbeddedEngine({ path: store.path });
  engine.work([{ kind: "swe", execute: async (run) => run.signal("end") }]);
  const folder = join(store.folder, "artifacts");
  const intake = {
    engine,
    kind: "swe",
    artifacts: createArtifactStore(folder),
    projections: createProjectionCache(engine),
  };
  return {
    intake,
    engine,
    start: (first: IncomingMessage, sender = ann, contextId = "c", more: { admit?: never; kind?: string } = {}) =>
      startRun({ ...intake, ...more }, { message: first, hops: 0 }, { contextId, ...sender }),
    say: ({ id }: RunRecord, next: IncomingMessage, sender = ann, contextId = "") =>
      continueRun(intake, { id, contextId }, next, sender),
    /** The ids of its messages, as its journal has them. */
    async heard({ id }: RunRecord) {
      const events = await engine.events(id);
      return events.flatMap(({ event }) => (event.type === "message-received" ? [event.messageId] : []));
    },
    /** What is stored of these texts. */
    texts: (texts: readonly string[]) =>
      Promise.all(texts.map(async (text) => (await intake.artifacts.get(sha256Of(text)))?.text())),
    files: async () => (await readdir(folder, { recursive: true }).catch(() => [])).length,
    async ended({ id }: RunRecord) {
      await engine.deliver(id, "end", null);
      for (const late = Date.now() + 30_000; Date.now() < late; await Bun.sleep(2)) {
        const run = await engine.get(id);
        if (run?.status === "completed") return run;
      }
      throw new Error("It did not end.");
    },
    async [Symbol.asyncDispose]() {
      await engine.close({ graceMs: 0 });
      store[Symbol.dispose]();
    },
  };
}
const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => "accepted",
    (error: unknown) => (error instanceof AppError ? error.code : Promise.reject(error)),
  );

test("a first message is one run for ever; another message under its id, or elsewhere, is refused", async () => {
  await using at = place();
  const first = message("m", words("go"));
  const { id, contextId, input } = await at.start(first);
  expect([contextId, input]).toEqual(["c", { hops: 0, message: { messageId: "m", parts: [words("go")] } } as never]);
  expect((await at.start(first)).id).toBe(id);
  for (const [other, context] of [
    [message("m", words("stop")), "c"],
    [{ ...first, metadata: { a: 1 } }, "c"],
    [first, "elsewhere"],
  ] as const)
    expect(await codeOf(at.start(other, ann, context))).toBe("conflict");
  expect((await at.start(first, { principal: "bob" })).id).not.toBe(id);
  expect((await at.start(first, ann, "c", { kind: "manus" })).id).not.toBe(id);
  expect((await at.start(message("m2", words("go")))).id).not.toBe(id);
  expect((await at.start(message("m3"), ann, "")).contextId).not.toBe(
    (await at.start(message("m4"), ann, "")).contextId,
  );
});

test("with a window, an id used again elsewhere or later is another message", async () => {
  await using at = place();
  const minute = { ...ann, dedupeMs: 60_000 };
  const { id } = await at.start(message("m", words("go")), minute);
  expect((await at.start(message("m", words("go")), minute)).id).toBe(id);
  expect(await codeOf(at.start(message("m", words("stop")), minute))).toBe("conflict");
  expect((await at.start(message("m", words("go")), minute, "elsewhere")).id).not.toBe(id);
  const none = { ...ann, dedupeMs: 0 };
  const ids = await Promise.all([1, 2].map(async () => (await at.start(message("n", words("go")), none)).id));
  expect(new Set(ids).size).toBe(2);
});

test("a start that is refused stores no file, whatever it is refused for; one that is accepted stores it", async () => {
  await using at = place();
  await at.start(message("m", words("go")));
  expect(await codeOf(at.start(message("m", file("a"))))).toBe("conflict");
  expect(await codeOf(at.start(message("n", file("a")), { ...ann, quota: { runsAtOnce: 0 } }))).toBe("quota_exceeded");
  const admit = () => {
    throw new AppError("invalid_input", "No.");
  };
  expect(await codeOf(at.start(message("o", file("a")), ann, "c", { admit: admit as never }))).toBe("invalid_input");
  expect(await at.files()).toBe(0);
  const typed = { ...file("ab"), mediaType: "text/markdown" } as IncomingPart;
  const { input } = await at.start(message("p", file("a"), words("b"), typed), { ...ann, quota: { runsAtOnce: 9 } });
  const kept = [
    { type: "file", name: "a.txt", mediaType: "text/plain", size: 1 },
    words("b"),
    { type: "file", name: "a.txt", mediaType: "text/markdown", size: 2 },
  ];
  expect(input).toMatchObject({ message: { parts: kept } });
  expect(await at.texts(["a", "ab"])).toEqual(["a", "ab"]);
});

test("a run that is over at once is known whole to whoever reads it then, without reading its events", async () => {
  await using at = place();
  at.engine.work([{ kind: "brief", execute: async () => "over" }]);
  const ends = async (id: string) => {
    const run = await at.start(message(id, words("go")), ann, "c", { kind: "brief" });
    for await (const _ of at.engine.follow(run.id, { signal: AbortSignal.timeout(10_000) }));
    return run;
  };
  // The first one registers the worker.
  await ends("first");
  const run = await ends("m");
  expect(at.intake.projections.ended(run.id)).toMatchObject({ id: run.id, status: "completed", output: "over" });
  expect(at.intake.projections.known(run.id)).toMatchObject({ seq: 2, end: { status: "completed" } });
  expect(at.intake.projections.known(run.id).history.map(({ messageId }) => messageId)).toEqual(["m"]);
  expect("flow" in (run.input as object)).toBe(false);
});

test("the settings of a flow that were checked are kept with its run", async () => {
  await using at = place();
  const admit = () => ({ agents: ["swe"] });
  const { input } = await at.start(message("m"), ann, "c", { admit: admit as never });
  expect(input).toMatchObject({ flow: { agents: ["swe"] } });
});

test("a further message is heard once, however often it is sent, and another one under its id is refused", async () => {
  await using at = place();
  const run = await at.start(message("m", words("go")));
  const more = message("n", words("more"));
  await at.say(run, more);
  await at.say(run, more);
  await at.say(run, message("m", words("go")));
  expect(await codeOf(at.say(run, message("n", words("other"))))).toBe("conflict");
  expect(await codeOf(at.say(run, { ...more, metadata: { a: 1 } }))).toBe("conflict");
  const both = [message("o", words("one")), message("o", words("two"))];
  const outcomes = await Promise.all(both.map((one) => codeOf(at.say(run, one))));
  expect(outcomes.toSorted()).toEqual(["accepted", "conflict"]);
  expect(await at.heard(run)).toEqual(["m", "n", "o"]);
});

test("where no message is known again, each is heard, whatever its id", async () => {
  await using at = place();
  const run = await at.start(message("m", words("go")));
  const none = { ...ann, dedupeMs: 0 };
  await at.say(run, message("m", words("go")), none);
  await at.say(run, message("m", words("other")), none);
  expect(await at.heard(run)).toEqual(["m", "m", "m"]);
  expect(await codeOf(at.say(await at.ended(run), message("m", words("go")), none))).toBe("run_ended");
});

test("a further message goes to the sender's own run of this kind and conversation, at any time before its end", async () => {
  await using at = place();
  const run = await at.start(message("m", words("go")));
  const next = message("n", file("a"));
  expect(await codeOf(at.say(run, next, { principal: "bob" }))).toBe("not_found");
  expect(await codeOf(continueRun({ ...at.intake, kind: "manus" }, { id: run.id, contextId: "" }, next, ann))).toBe(
    "not_found",
  );
  await expect(at.say(run, next, ann, "elsewhere")).rejects.toMatchObject({
    code: "invalid_input",
    field: "contextId",
  });
  expect(await codeOf(at.say(run, next, { ...ann, quota: { tokensPerDay: 0 } }))).toBe("quota_exceeded");
  expect(await at.files()).toBe(0);
  // It starts no run, so the limit of those does not count; and what is known is accepted in any
  // case.
  await at.say(run, next, { ...ann, quota: { runsAtOnce: 0 } }, "c");
  expect(await at.heard(run)).toEqual(["m", "n"]);
  expect(await at.texts(["a"])).toEqual(["a"]);
  const over = await at.ended(run);
  await at.say(over, next, { ...ann, quota: { tokensPerDay: 0 } });
  const stored = await at.files();
  await expect(at.say(over, message("o", file("too late")))).rejects.toMatchObject({
    code: "run_ended",
    message: "The run has ended; start another in its conversation, by its contextId",
  });
  expect(await at.files()).toBe(stored);
});

test("an answer reaches its question though the run tells something at that moment, and none that is gone", async () => {
  await using at = place();
  const execute: RunDefinition["execute"] = async (run) => {
    for (;;) {
      run.emit({ type: "notice-given", kind: "stuck", text: `${await run.signal("tell")}` });
    }
  };
  at.engine.work([{ kind: "asking", execute }]);
  const asked = { type: "question-asked", question: "Which?", kind: "question" };
  const { run } = await at.engine.start({
    kind: "asking",
    input: null,
    principal: "ann",
    contextId: "c",
    events: [asked],
  });
  let tells = 2;
  const telling: Engine = {
    ...at.engine,
    async deliver(id, ...rest) {
      const before = (await at.engine.get(id))?.lastEvent ?? 0;
      if (tells-- > 0) await at.engine.deliver(id, "tell", "This and that.", { id: `tell ${tells}` });
      while (tells >= 0 && (await at.engine.get(id))?.lastEvent === before) await Bun.sleep(1);
      return at.engine.deliver(id, ...rest);
    },
  };
  const answer = (messageId: string, questionEvent: number) =>
    continueRun(
      { ...at.intake, engine: telling, kind: "asking" },
      { id: run.id, contextId: "", questionEvent },
      message(messageId, words("this")),
      ann,
    );
  expect(await codeOf(answer("a", 2))).toBe("conflict");
  expect(await codeOf(answer("b", 1))).toBe("accepted");
  expect([tells, await at.heard(run)]).toEqual([-1, ["b"]]);
  expect(await codeOf(answer("c", 1))).toBe("conflict");
});

test("a message that answers nothing is refused while a question is open, and else arrives however much the run tells", async () => {
  await using at = place();
  at.engine.work([{ kind: "asking", execute: async (run) => run.signal("never") }]);
  const asked = { type: "question-asked", question: "Which?", kind: "question" };
  const { run } = await at.engine.start({
    ...{ kind: "asking", input: null, principal: "ann", contextId: "c" },
    events: [asked],
  });
  let looks = 0;
  const busy: Engine = {
    ...at.engine,
    async deliver(id, name, payload, options) {
      if (options?.ifLast === undefined) return at.engine.deliver(id, name, payload, options);
      looks++;
      return "outdated";
    },
  };
  const said = (messageId: string, questionEvent?: "none", engine = at.engine) =>
    continueRun(
      { ...at.intake, engine, kind: "asking" },
      { id: run.id, contextId: "", questionEvent },
      message(messageId, words("this")),
      ann,
    );
  expect(await codeOf(said("a", "none"))).toBe("conflict");
  expect(await codeOf(said("b"))).toBe("accepted");
  expect(await codeOf(said("c", "none"))).toBe("accepted");
  expect(await codeOf(said("d", "none", busy))).toBe("accepted");
  expect([looks, await at.heard(run)]).toEqual([20, ["b", "c", "d"]]);
});

test("a message that is canceled before it arrives starts nothing when it does, and one that arrived is found", async () => {
  await using at = place();
  const canceled = await runOfMessage(at.intake, "late", "ann");
  expect(canceled.status).toBe("canceled");
  expect((await at.start(message("late", words("go")))).id).toBe(canceled.id);
  expect((await at.start(message("late", words("go")), { principal: "bob" })).status).not.toBe("canceled");
  const run = await at.start(message("m", words("go")));
  const found = await runOfMessage(at.intake, "m", "ann");
  expect([found.id, found.status === "canceled"]).toEqual([run.id, false]);
});

test("a message that starts a flow is the same message to every version, whatever else it says about itself", async () => {
  const started: StartRequest[] = [];
  const start = async (request: StartRequest) => {
    started.push(request);
    return { run: {} as RunRecord, created: true };
  };
  const intake = { engine: { start } as unknown as Engine, kind: "debate", artifacts: {} as never };
  const settings = { agents: ["swe"] };
  const hashOf = async (metadata?: IncomingMessage["metadata"]) => {
    const first = { ...message("m", words("go")), ...(metadata && { metadata }) };
    await startRun(intake, { message: first, hops: 0 }, { contextId: "c", ...ann });
    return started.at(-1)?.dedupe?.hash;
  };
  const asStored = (parts: readonly object[], more: object = {}) =>
    sha256Of(JSON.stringify(["c", { messageId: "m", parts, ...more }]));
  const settingsPart = { type: "data", data: settings };
  expect(await hashOf()).toBe(asStored([words("go")]));
  expect(await hashOf({ a: 1 })).toBe(asStored([words("go")], { metadata: { a: 1 } }));
  expect(await hashOf({ "manyhands/flow": settings })).toBe(asStored([words("go"), settingsPart]));
  expect(await hashOf({ "manyhands/flow": settings, a: 1 })).toBe(
    asStored([words("go"), settingsPart], { metadata: { a: 1 } }),
  );
});
