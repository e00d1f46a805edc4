import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { type AddressInfo, connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  createEmbeddedEngine,
  createPostgresEngine,
  createRestateEngine,
  type Engine,
  migratePostgres,
} from "manyhands/durable";
import { messageSignal } from "manyhands/internal/core/message";
import { freePort } from "manyhands/internal/http/free-port";
import { agentServerForTest } from "manyhands/internal/testing/a2a/agent-server";
import { compiled } from "manyhands/internal/testing/bundled";
import {
  noPostgres,
  type PostgresProcess,
  postgresPrograms,
  startPostgres,
} from "manyhands/internal/testing/durable/postgres-process";
import { noRestate, restateProgram } from "manyhands/internal/testing/durable/restate-node";
import { type RestateProcess, startRestate } from "manyhands/internal/testing/durable/restate-process";
import { skipped } from "manyhands/internal/testing/durable/skipped";
import { inputForTest } from "manyhands/internal/testing/flow";
import { startScriptedModel } from "manyhands/internal/testing/models/scripted-model";
import type * as z from "zod";
import type { releaseSettings } from "./release.fixture.ts";

const program = await compiled(new URL("./release.fixture.ts", import.meta.url).pathname);
afterAll(() => program[Symbol.asyncDispose]());

const withinMs = 60_000;

async function poll<T>(what: string, look: () => Promise<T | undefined | false>): Promise<T> {
  for (const deadline = performance.now() + withinMs; ; await Bun.sleep(10)) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    if (performance.now() > deadline) throw new Error(`waited in vain for ${what}`);
  }
}

/** One address before several processes of this machine: each connection goes to one of them. */
async function balancer() {
  const ports = new Set<number>();
  const server = createServer((client) => {
    const all = [...ports];
    const behind = connect(all[Math.floor(Math.random() * all.length)] ?? 1, "127.0.0.1");
    for (const [one, other] of [[client, behind] as const, [behind, client] as const]) {
      one.on("error", () => other.destroy());
      one.on("close", () => other.destroy());
      one.pipe(other);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, ports, close: () => server.close() };
}

/** Where releases keep their runs: the file of a home if nothing is named. */
type Store = { readonly postgres?: string; readonly restate?: RestateProcess };

/** The settings of Restate for one process of a system, as its engine takes them. */
type RestateSettings = NonNullable<z.input<typeof releaseSettings>["restate"]>;

function openEngine(home: string, postgres: string | undefined, restate: RestateSettings | undefined): Engine {
  if (postgres === undefined) return createEmbeddedEngine({ path: join(home, "runs.db") });
  const shared = { url: postgres, connections: 2, pollMs: 200 };
  return restate === undefined ? createPostgresEngine(shared) : createRestateEngine({ ...shared, restate });
}

/** A store, an agent beside it, and the processes of releases that work on it. */
async function system({ postgres, restate }: Store) {
  const home = await mkdtemp(join(tmpdir(), "manyhands-upgrade-"));
  const model = await startScriptedModel(({ messages }) =>
    messages.some(({ role }) => role === "tool")
      ? { text: "the clerk is done" }
      : { calls: [{ name: "ask_human", args: { inquire: "Which?" } }] },
  );
  // Long enough that the process that asked can be killed meanwhile.
  const writer = await agentServerForTest({
    script: () => ({ text: "Dear Ann", delayMs: 1_000 }),
    agent: { name: "writer", title: "writer" },
  });
  if (postgres !== undefined) await migratePostgres({ url: postgres });
  const front = restate && (await balancer());
  const prefix = `upgrade-${crypto.randomUUID().slice(0, 8)}`;
  const restateAt = (port: number): RestateSettings | undefined =>
    restate && front && { admin: restate.admin, ingress: [restate.ingress], prefix, port, publicUrl: front.url };
  const engine = openEngine(home, postgres, restateAt(freePort()));
  const live = new Set<Bun.Subprocess>();
  const effects = async () => {
    const text = await readFile(join(home, "effects"), "utf8").catch(() => "");
    return text.split("\n").filter((line) => line !== "");
  };
  const self = {
    engine,
    writer,
    /** The steps of a run that were carried out: the body's version, the release, and which. */
    async stepsOf(id: string) {
      const lines = (await effects()).filter((line) => line.startsWith(id));
      return lines.map((line) => {
        const [, body = "", release = "", ...what] = line.split(" ");
        return { body: Number(body), release, what: what.join(" ") };
      });
    },
    async release(name: string, ...versions: [number, ...number[]]) {
      const port = freePort();
      const shared = { ...(postgres && { postgres }), ...(restate && { restate: restateAt(port) }) };
      const settings = { home, name, versions, writer: writer.url, model: model.url, ...shared };
      front?.ports.add(port);
      const child = Bun.spawn([program.path, JSON.stringify(settings satisfies z.input<typeof releaseSettings>)], {
        stdout: "pipe",
        stderr: "inherit",
      });
      live.add(child);
      await child.stdout.getReader().read();
      const ended = async (signal: "SIGKILL" | "SIGTERM") => {
        child.kill(signal);
        await child.exited;
        front?.ports.delete(port);
        live.delete(child);
      };
      return { kill: () => ended("SIGKILL"), stop: () => ended("SIGTERM") };
    },
    async start(kind: string) {
      const input = inputForTest({ text: "Write" });
      return (await engine.start({ kind, input, principal: "alice", contextId: crypto.randomUUID() })).run.id;
    },
    say: (id: string) =>
      engine.deliver(
        id,
        messageSignal,
        { messageId: `fine ${id}`, parts: [{ type: "text", text: "yes" }] },
        { id: "fine" },
      ),
    types: async (id: string) => (await engine.events(id)).map(({ event }) => event.type),
    event: (id: string, type: string) => poll(type, async () => (await self.types(id)).includes(type)),
    until: (id: string, ...statuses: string[]) =>
      poll(`${id} ${statuses.join(" or ")}`, async () => {
        const run = await engine.get(id);
        return run !== undefined && statuses.includes(run.status) && run;
      }),
    async [Symbol.asyncDispose]() {
      for (const child of live) {
        child.kill("SIGKILL");
        await child.exited;
      }
      await engine.close({ graceMs: 0 });
      await writer[Symbol.asyncDispose]();
      await model.close();
      front?.close();
      await restate?.forget(prefix);
      await rm(home, { recursive: true, force: true });
    },
  };
  return self;
}

type System = Awaited<ReturnType<typeof system>>;

/** Where a run is when its process is killed and another release takes over. */
type Place = { readonly kind: string; readonly answer: string; reach(at: System, id: string): Promise<unknown> };
const letter = { kind: "letter", answer: "1: Dear Ann, yes" };
const places: Readonly<Record<string, Place>> = {
  "between its steps": {
    ...letter,
    reach: (at, id) => poll("steps", async () => (await at.stepsOf(id)).length > 3),
  },
  "while an agent works for it": { ...letter, reach: (at, id) => at.event(id, "agent-asked") },
  "while it waits for a person": {
    ...letter,
    reach: (at, id) => at.event(id, "question-asked"),
  },
  "as an agent's task that waits for a person": {
    ...{ kind: "clerk", answer: "the clerk is done" },
    reach: (at, id) => at.event(id, "question-asked"),
  },
};

function upgrades(storeFor: () => Promise<Store>): void {
  for (const [place, { kind, answer, reach }] of Object.entries(places)) {
    test(`a run that is killed ${place} goes on with its body in the next release, pauses in the one after, and ends after going back`, async () => {
      await using at = await system(await storeFor());
      const first = await at.release("first", 1);
      const id = await at.start(kind);
      await reach(at, id);
      await first.kill();

      const third = await at.release("third", 3, 2);
      const isAsked = (await at.types(id)).includes("question-asked");
      if (isAsked) await at.say(id);
      const { error } = await at.until(id, "paused");
      expect(error?.code).toBe("version_missing");
      expect(error?.message).toContain(`began with version 1 of the body of ${kind}`);
      expect(error?.message).toContain("has version 3 and 2. Start the release that has version 1");
      await third.kill();

      const second = await at.release("second", 2, 1);
      if (!isAsked) {
        await at.event(id, "question-asked");
        await at.say(id);
      }
      const { status, output } = await at.until(id, "completed", "failed");
      expect([status, (output as { answer?: string } | null)?.answer]).toEqual(["completed", answer]);
      const steps = await at.stepsOf(id);
      expect(steps.filter(({ body, release }) => body !== 1 || release === "third")).toEqual([]);
      expect(await at.types(id)).toEqual(expect.arrayContaining(["run-paused", "run-resumed"]));
      if (kind === "letter") {
        expect(steps.at(-1)).toMatchObject({ release: "second", what: "end" });
        // Only the step during which the process was killed may have been carried out twice.
        expect(steps.length).toBeLessThanOrEqual(12);
        expect((await at.writer.tasks()).length).toBe(1);
      }
      await second.stop();
    }, 180_000);
  }

  test("in a rolling update, with a kill -9 of the new release in the middle, each run is executed only by who has its body", async () => {
    await using at = await system(await storeFor());
    const first = await at.release("first", 1);
    const begun = async (count: number) => {
      const ids = await Promise.all(Array.from({ length: count }, () => at.start("letter")));
      for (const id of ids) await at.event(id, "question-asked");
      return ids;
    };
    const ofFirst = await begun(4);
    await first.stop();
    const old = await at.release("old", 2, 1);
    const ofOld = await begun(4);
    const young = await at.release("young", 3, 2);
    const mixed = await begun(8);
    const all = [...ofFirst, ...ofOld, ...mixed];
    for (const id of all.slice(0, all.length / 2)) await at.say(id);
    await young.kill();
    const again = await at.release("young", 3, 2);
    for (const id of all.slice(all.length / 2)) await at.say(id);
    for (const id of all) {
      const { output } = await at.until(id, "completed", "failed");
      const steps = await at.stepsOf(id);
      const [body = 0] = new Set(steps.map((step) => step.body));
      expect((output as { answer?: string } | null)?.answer).toBe(`${body}: Dear Ann, yes`);
      expect(new Set(steps.map((step) => step.body))).toEqual(new Set([body]));
      const able = { 1: ["first", "old"], 2: ["old", "young"], 3: ["young"] }[body];
      for (const { release } of steps) expect(able).toContain(release);
    }
    for (const id of ofFirst) expect((await at.stepsOf(id))[0]).toMatchObject({ body: 1, release: "first" });
    for (const id of ofOld) expect((await at.stepsOf(id))[0]).toMatchObject({ body: 2, release: "old" });
    expect((await at.writer.tasks()).length).toBe(all.length);
    await old.stop();
    await again.stop();
  }, 180_000);
}

describe("an upgrade of a home", () => upgrades(async () => ({})));

if (postgresPrograms === undefined) skipped(noPostgres);
else
  describe("an upgrade of a cluster on PostgreSQL", () => {
    let server: PostgresProcess;
    beforeAll(async () => {
      server = await startPostgres();
    }, 60_000);
    afterAll(() => server[Symbol.asyncDispose](), 60_000);
    upgrades(async () => ({ postgres: await server.createDatabase() }));

    if (restateProgram === undefined) skipped(noRestate);
    else
      describe("with Restate", () => {
        let restate: RestateProcess;
        beforeAll(async () => {
          restate = await startRestate();
        }, 60_000);
        afterAll(() => restate[Symbol.asyncDispose](), 60_000);
        upgrades(async () => ({ postgres: await server.createDatabase(), restate }));
      });
  });
