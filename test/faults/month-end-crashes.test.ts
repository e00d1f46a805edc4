import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { TaskState } from "@a2a-js/sdk";
import { createA2aClient } from "manyhands/internal/a2a/client/client";
import type { OutgoingMessage } from "manyhands/internal/a2a/client/outgoing-message";
import { readEvent } from "manyhands/internal/core/events/read-event";
import type { StoredEvent } from "manyhands/internal/core/runs/engine";
import { createEmbeddedEngine } from "manyhands/internal/durable/sqlite/embedded-engine";
import { freePort } from "manyhands/internal/http/free-port";
import { flowEvents } from "manyhands/internal/testing/flow";
import { sweepSize } from "manyhands/internal/testing/sweep-size";
import { demoTask, isAsTold, readAbilities } from "../../gateway/src/demo/demo-task.ts";
import { type RegistrationSite, startRegistrationSite } from "../../gateway/src/demo/registration-site.ts";
import { packProject, readShippingProject } from "../../gateway/src/demo/shipping-project.ts";
import { startAgent, startServer } from "../servers/manus-server.ts";
import { type CountedModel, startCountedModel } from "./counted-model.ts";

const root = resolve(import.meta.dir, "../..");
const patience = 120_000;
const lanes = 2;

/**
 * Where the gateway and the Browser agent kill themselves: before or after (`+`) this many of their
 * durable writes. The full sweep also kills each of them alone, at more points.
 */
type Crash = { readonly gateway?: string; readonly browser?: string };
const first: Crash = { gateway: "9+", browser: "24" };
const both: readonly Crash[] = [first, { gateway: "16", browser: "9+" }];
const alone: readonly Crash[] = [
  ...["2", "9+", "16", "23+"].map((gateway) => ({ gateway })),
  ...["9+", "24"].map((browser) => ({ browser })),
];
const crashes = sweepSize({ quick: [first], usual: both, full: [...both, ...alone] });

const stays = ["manus", "swe", "data-analysis"] as const;
type Server = { readonly url: string; stop(): Promise<void>; crashed(): boolean };

let home: string;
let model: CountedModel;
let agents: Readonly<Record<string, string>>;
/** Every server that was started, including those of failed attempts. */
const servers: Server[] = [];
const sites: RegistrationSite[] = [];
let nextSite = 0;

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "manyhands-handover-"));
  model = await startCountedModel();
  for (let n = 0; n < crashes.length; n++) sites.push(startRegistrationSite());
  const names = [...stays, "browser"];
  const started = names.map(async (name) => [name, (await agentServer(name, "all")).url]);
  agents = Object.fromEntries(await Promise.all(started));
});

afterAll(async () => {
  await Promise.all(servers.map((server) => server.stop()));
  await Promise.all(sites.map((site) => site.close()));
  await model.close();
  await rm(home, { recursive: true, force: true });
});

/** A server that is restarted once, after it has killed itself. */
async function restarted(start: (env: Record<string, string>) => ReturnType<typeof startAgent>, crashAt = "") {
  let crashed = false;
  let server = start(crashAt === "" ? {} : { CRASH_AT: crashAt });
  const watched = server.exited.then((code) => {
    if (code !== 137) return;
    crashed = true;
    server = start({});
  });
  const kept = { url: server.url, crashed: () => crashed, stop: () => server.stop() };
  servers.push(kept);
  await Promise.race([server.ready.catch(() => undefined), watched]);
  await server.ready;
  return kept;
}

async function agentServer(name: string, folder: string, crashAt?: string): Promise<Server> {
  const env = {
    MANYHANDS_HOME: join(home, folder, name),
    PORT: `${freePort()}`,
    OPENAI_BASE_URL: model.url,
    OPENAI_API_KEY: "none",
    MANYHANDS_MODEL: "rehearsal",
    MANYHANDS_EGRESS_ALLOW: sites.map(({ host }) => host).join(","),
  };
  await mkdir(env.MANYHANDS_HOME, { recursive: true });
  return restarted((more) => startAgent(name, { ...env, ...more }), crashAt);
}

async function gatewayServer(folder: string, own: CountedModel, urls: Readonly<Record<string, string>>, crashAt = "") {
  const addresses = Object.entries(urls).map(([name, url]) => [`${name.toUpperCase().replace("-", "_")}_URL`, url]);
  const env = {
    ...Object.fromEntries(addresses),
    MANYHANDS_HOME: join(home, folder, "gateway"),
    PORT: `${freePort()}`,
    OPENAI_BASE_URL: own.url,
    OPENAI_API_KEY: "none",
    MANYHANDS_MODEL: "rehearsal",
  };
  await mkdir(env.MANYHANDS_HOME, { recursive: true });
  const entry = "gateway/src/server/main.ts";
  return restarted((more) => startServer(entry, { ...env, ...more }), crashAt);
}

type Outcome = {
  readonly state: TaskState | undefined;
  /** Whether the gateway, or the Browser agent, was to be killed and was not. */
  readonly survived: readonly boolean[];
  readonly events: readonly StoredEvent[];
  readonly asked: number;
  readonly report: string;
  readonly registrations: RegistrationSite["registrations"];
  readonly browses: boolean;
};

/** Sends the demo's task to a separate gateway; returns the outcome. */
async function handover(folder: string, crash: Crash): Promise<Outcome> {
  const site = sites[nextSite++];
  if (site === undefined) throw new Error("there are too few sites");
  const own = await startCountedModel();
  const browser = crash.browser === undefined ? undefined : await agentServer("browser", folder, crash.browser);
  const urls = { ...agents, ...(browser && { browser: browser.url }) };
  const gateway = await gatewayServer(folder, own, urls, crash.gateway);
  try {
    const abilities = await readAbilities(gateway.url, undefined);
    const task = await follow(`${gateway.url}/a2a/planning`, demoTask(abilities, site.url));
    const file = task?.artifacts.find(({ name }) => name === "report.md")?.parts[0]?.content;
    const report = file?.$case === "url" ? await (await fetch(file.value)).text() : "";
    await gateway.stop();
    const engine = createEmbeddedEngine({ path: join(home, folder, "gateway/runs.db") });
    const events = task === undefined ? [] : await engine.events(task.id);
    await engine.close();
    return {
      state: task?.status?.state,
      survived: [
        crash.gateway !== undefined && !gateway.crashed(),
        browser?.crashed() === false && abilities.operatesPages,
      ],
      events,
      asked: own.asked(),
      report,
      registrations: site.registrations,
      browses: abilities.operatesPages,
    };
  } finally {
    await Promise.all([gateway.stop(), browser?.stop(), own.close()]);
  }
}

async function follow(url: string, text: string) {
  const signal = AbortSignal.timeout(patience);
  const csv = await Bun.file(join(root, "gateway/demo/orders.csv")).bytes();
  const packed = await packProject(await readShippingProject(root));
  const raw = (filename: string, mediaType: string, bytes: Uint8Array) => ({
    content: { $case: "raw" as const, value: Buffer.from(bytes) },
    filename,
    mediaType,
    metadata: undefined,
  });
  const message: OutgoingMessage = {
    messageId: crypto.randomUUID(),
    text,
    parts: [raw("orders.csv", "text/csv", csv), raw("shipping.tar.gz", "application/gzip", packed)],
  };
  const client = await createA2aClient(url, { retry: { retries: 40, firstPauseMs: 50 }, signal });
  let last: Awaited<ReturnType<typeof client.cancel>> | undefined;
  for await (const update of client.stream(message, { signal })) if (update.kind === "end") last = update.task;
  return last;
}

function check(label: string, outcome: Outcome): void {
  const { state, events, asked, report, registrations, browses } = outcome;
  const ofType = (type: string) => events.filter(({ event }) => event.type === type).map(({ event }) => event);
  const steps = browses ? 4 : 3;
  expect([label, state]).toEqual([label, TaskState.TASK_STATE_COMPLETED]);
  expect([label, report.includes("| **All** | 76,704.20 | 215 | 356.76 |")]).toEqual([label, true]);
  expect([label, registrations.length, registrations.every(isAsTold)]).toEqual([label, browses ? 1 : 0, true]);
  expect([label, events.map(({ seq }) => seq)]).toEqual([label, events.map((_, index) => index + 1)]);
  const counts = ["run-ended", "agent-asked", "agent-answered", "step-ended"].map((type) => ofType(type).length);
  expect([label, counts]).toEqual([label, [1, steps, steps, steps]]);
  const outcomes = flowEvents(
    events.map(({ event }) => readEvent(event)),
    "step-ended",
  ).map(({ outcome }) => outcome);
  expect([label, outcomes]).toEqual([label, Array(steps).fill("completed")]);
  const unrecorded = asked - ofType("model-replied").length;
  expect(unrecorded, `${label}: replies that were paid for and not recorded`).toBeLessThanOrEqual(1);
}

test("kill -9 of the gateway and of the Browser agent in the middle of the demo: it finishes, and nothing is done twice", async () => {
  const left = crashes.entries();
  const lane = async () => {
    for (const [index, crash] of left) {
      const outcome = await handover(`run-${index}`, crash);
      const label = JSON.stringify(crash);
      expect([label, ...outcome.survived]).toEqual([label, false, false]);
      check(label, outcome);
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
}, 400_000);
