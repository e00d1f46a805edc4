import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "manyhands/internal/http/free-port";
import { isPortFree, requireFreePort } from "./port.ts";
import { type ServerSpec, startServer } from "./server-process.ts";
import { type SupervisorEvent, supervise } from "./supervise.ts";

const folder = mkdtempSync(join(tmpdir(), "manyhands-supervisor-"));
afterAll(() => rm(folder, { recursive: true }));

const policy = { readyTimeoutMs: 10_000, firstPauseMs: 5, maxPauseMs: 20, settledMs: 60_000, attempts: 3 };

const goodServer = `
const server = Bun.serve({ port: 0, hostname: "127.0.0.1", idleTimeout: 0, fetch: (request) => {
  if (request.url.endsWith("/crash")) process.exit(7);
  return new Response("ok");
} });
console.log("ready " + server.url);
process.on("SIGTERM", () => { console.log("drained"); process.exit(0); });
`;

let count = 0;
async function spec(source: string): Promise<ServerSpec> {
  const name = `server-${++count}`;
  const entry = join(folder, `${name}.ts`);
  await writeFile(entry, source);
  return { name, entry, args: [], cwd: folder, env: process.env, logPath: join(folder, "logs", `${name}.log`) };
}

/** Collects events and lets a test wait for one of them. */
function recorder() {
  const events: SupervisorEvent[] = [];
  const nth = async (type: SupervisorEvent["type"], n: number) => {
    for (const deadline = Date.now() + 60_000; Date.now() < deadline; await Bun.sleep(10)) {
      const found = events.filter((event) => event.type === type)[n - 1];
      if (found !== undefined) return found;
    }
    throw new Error(`no ${type}: ${JSON.stringify(events)}`);
  };
  return { events, nth, report: (event: SupervisorEvent) => void events.push(event) };
}

test("a server that crashes is restarted, and drained on request", async () => {
  const stop = new AbortController();
  const { nth, report } = recorder();
  const server = await spec(goodServer);
  const done = supervise(server, { signal: stop.signal, graceMs: 5000, policy, report });
  const first = await nth("server-up", 1);
  if (first.type === "server-up") await fetch(`${first.url}/crash`).catch(() => {});
  const reason = expect.stringMatching(/^server-1 ended with exit code 7:\nready http/);
  expect(await nth("server-down", 1)).toMatchObject({ restartInMs: 5, reason });
  expect(await nth("server-up", 2)).toMatchObject({ restarts: 1 });
  stop.abort();
  await done;
  expect(await Bun.file(server.logPath).text()).toEndWith("drained\n");
});

test("a server that is stopped while it starts drains too, and none of it is told as trouble", async () => {
  const stop = new AbortController();
  const { events, report } = recorder();
  const server = await spec(
    `process.on("SIGTERM", () => setTimeout(() => { console.log("drained"); process.exit(0); }, 50));
     console.log("starting"); setInterval(() => {}, 1000);`,
  );
  const patient = { ...policy, readyTimeoutMs: 3_600_000 };
  const done = supervise(server, { signal: stop.signal, graceMs: 20_000, policy: patient, report });
  const log = () => Bun.file(server.logPath).text();
  for (const end = Date.now() + 60_000; Date.now() < end; await Bun.sleep(10))
    if ((await log().catch(() => "")).includes("starting")) break;
  stop.abort();
  await done;
  expect(await log()).toEndWith("drained\n");
  expect(events).toEqual([]);
});

test("a server that is not ready in time is ended at once and started again", async () => {
  const { events, report } = recorder();
  const server = await spec(
    `process.on("SIGTERM", () => {}); console.log("never ready"); setInterval(() => {}, 1000);`,
  );
  const impatient = { ...policy, readyTimeoutMs: 1_000, attempts: 2 };
  const started = performance.now();
  await supervise(server, { signal: new AbortController().signal, graceMs: 60_000, policy: impatient, report });
  expect(performance.now() - started).toBeLessThan(50_000);
  const reason = expect.stringMatching(/was not ready in 1 s/);
  expect(events).toMatchObject([
    { type: "server-down", restartInMs: 5, reason },
    { type: "server-given-up", reason },
  ]);
});

test("a server that has been up once is never given up, however often it fails; that a signal ended it is said", async () => {
  const stop = new AbortController();
  const { events, nth, report } = recorder();
  const flag = join(folder, "was-up");
  const server = await spec(`
    const { existsSync, writeFileSync } = require("node:fs");
    if (existsSync(${JSON.stringify(flag)})) process.exit(1);
    writeFileSync(${JSON.stringify(flag)}, "");
    ${goodServer.replace("process.exit(7)", 'process.kill(process.pid, "SIGKILL")')}`);
  const done = supervise(server, { signal: stop.signal, graceMs: 100, policy: { ...policy, attempts: 1 }, report });
  const first = await nth("server-up", 1);
  if (first.type === "server-up") await fetch(`${first.url}/crash`).catch(() => {});
  expect(await nth("server-down", 1)).toMatchObject({ reason: `${server.name} was ended by signal 9.` });
  await nth("server-down", 4);
  await rm(flag);
  await nth("server-up", 2);
  stop.abort();
  await done;
  const pauses = events.flatMap((event) => (event.type === "server-down" ? [event.restartInMs] : []));
  expect(pauses.slice(0, 4)).toEqual([5, 10, 20, 20]);
});

test("a server that never starts is given up with its last output", async () => {
  const { events, report } = recorder();
  const server = await spec('console.error("no such thing"); process.exit(1);');
  await supervise(server, { signal: new AbortController().signal, graceMs: 100, policy, report });
  expect(events.map(({ type }) => type)).toEqual(["server-down", "server-down", "server-given-up"]);
  expect(events[0]).toMatchObject({ restartInMs: 5 });
  expect(events[1]).toMatchObject({ restartInMs: 10 });
  expect(events[2]).toMatchObject({ code: "unavailable", reason: expect.stringContaining("no such thing") });
});

test("a log that cannot be opened is the first start's own failure, and at a restart one that is tried again", async () => {
  const server = await spec("process.exit(1);");
  const blocked = join(folder, "blocked");
  await writeFile(blocked, "");
  const bounds = { signal: new AbortController().signal, graceMs: 100, policy };
  const first = recorder();
  await expect(
    supervise({ ...server, logPath: join(blocked, "a.log") }, { ...bounds, report: first.report }),
  ).rejects.toMatchObject({ code: expect.stringMatching(/^E/) });
  const later = recorder();
  const logPath = join(folder, "once", "a.log");
  const report = (event: SupervisorEvent) => {
    later.report(event);
    // From now on the folder's name is a file's.
    rmSync(join(folder, "once"), { recursive: true, force: true });
    writeFileSync(join(folder, "once"), "");
  };
  await supervise({ ...server, logPath }, { ...bounds, report });
  expect(later.events.map(({ type }) => type)).toEqual(["server-down", "server-down", "server-given-up"]);
  expect(later.events[1]).toMatchObject({ reason: expect.stringContaining("could not be started") });
});

test("a module that only exports its agent fails with what an entry point must do", async () => {
  const { events, report } = recorder();
  const server = await spec("export const agent = {};");
  await supervise(server, { signal: new AbortController().signal, graceMs: 100, policy, report });
  expect(JSON.stringify(events.at(-1))).toContain("An entry point must serve its agent, with serveAgent");
});

test("the pause before a restart doubles up to its limit, and resets after a server that ran", async () => {
  const ends = "process.exit(1);";
  const short = recorder();
  const bounds = { signal: new AbortController().signal, graceMs: 100, policy: { ...policy, attempts: 5 } };
  await supervise(await spec(ends), { ...bounds, report: short.report });
  const pauses = ({ events }: ReturnType<typeof recorder>) =>
    events.flatMap((event) => (event.type === "server-down" ? [event.restartInMs] : []));
  expect(pauses(short)).toEqual([5, 10, 20, 20]);

  const stop = new AbortController();
  const long = recorder();
  const settled = { ...bounds, signal: stop.signal, policy: { ...policy, settledMs: 0 } };
  const done = supervise(await spec(ends), { ...settled, report: long.report });
  await long.nth("server-down", 4);
  stop.abort();
  await done;
  expect(pauses(long).slice(0, 4)).toEqual([5, 5, 5, 5]);
});

test("a stop ends the pause before a restart", async () => {
  const stop = new AbortController();
  const { events, nth, report } = recorder();
  const slow = { ...policy, firstPauseMs: 3_600_000, maxPauseMs: 3_600_000 };
  const done = supervise(await spec("process.exit(1);"), { signal: stop.signal, graceMs: 100, policy: slow, report });
  await nth("server-down", 1);
  stop.abort();
  await done;
  expect(events).toHaveLength(1);
});

test("a server is ready when its health says so: not while it is unhealthy, and not while it says nothing", async () => {
  const answering = (health: string) =>
    spec(
      goodServer
        .replace('return new Response("ok");', `return ${health};`)
        .replace("process.exit(0)", "process.exit(3)"),
    );
  for (const health of ['new Response("no", { status: 503 })', "new Promise(() => {})"]) {
    const server = startServer(await answering(health));
    await expect(server.ready({ timeoutMs: 1_500 })).rejects.toThrow("was not ready in 1.5 s");
    await server.stop(10_000);
  }
});

test.skipIf(process.platform !== "linux")(
  "a server whose full disk takes no log is ready once it answers at its address",
  async () => {
    const port = freePort("127.0.0.1");
    const server = { ...(await spec(goodServer.replace("port: 0", `port: ${port}`))), logPath: "/dev/full" };
    const url = `http://127.0.0.1:${port}`;
    const silent = startServer({ ...server, url: `http://127.0.0.1:${freePort("127.0.0.1")}` });
    await expect(silent.ready({ timeoutMs: 500 })).rejects.toThrow("was not ready in 0.5 s");
    await silent.stop(10_000);
    const ending = startServer({ ...(await spec("process.exit(1);")), logPath: "/dev/full" });
    await expect(ending.ready({ timeoutMs: 10_000 })).rejects.toThrow("as on a full disk: /dev/full");
    const running = startServer({ ...server, url });
    expect(await running.ready({ timeoutMs: 1_500 })).toBe(url);
    await running.stop(10_000);
  },
);

test("a server that is ready is found to be, however late it is looked at", async () => {
  const server = startServer(await spec(goodServer));
  while (!(await server.logTail()).includes("ready ")) await Bun.sleep(10);
  expect(await server.ready({ timeoutMs: 0 })).toStartWith("http://127.0.0.1:");
  await server.stop(10_000);
});

test.skipIf(process.platform !== "linux")(
  "a server has a session of its own, and its log is its own alone",
  async () => {
    const server = await spec(goodServer);
    const running = startServer(server);
    await running.ready({ timeoutMs: 60_000 });
    const [, , group, session] = (await Bun.file(`/proc/${running.pid}/stat`).text()).split(") ")[1]?.split(" ") ?? [];
    expect([group, session]).toEqual([`${running.pid}`, `${running.pid}`]);
    const open = readdirSync("/proc/self/fd").map((name) => {
      try {
        return readlinkSync(`/proc/self/fd/${name}`);
      } catch {
        return "";
      }
    });
    expect(open).not.toContain(server.logPath);
    await running.stop(10_000);
  },
);

test("a server that refuses its configuration is not restarted", async () => {
  const { events, report } = recorder();
  const server = await spec('console.error("manyhands.toml, line 1: bad"); process.exit(2);');
  await supervise(server, { signal: new AbortController().signal, graceMs: 100, policy, report });
  expect(events).toMatchObject([{ type: "server-given-up", code: "config_invalid" }]);
});

test("a server that does not drain is killed after the grace period", async () => {
  const server = startServer(await spec(`${goodServer.replace("process.exit(0)", "0")}`));
  await server.ready({ timeoutMs: 10_000 });
  await server.stop(50);
  expect(await server.exited).toBe(137);
});

test("supervision does not keep a server alive that has closed everything", async () => {
  const server = startServer(await spec(goodServer.replace("process.exit(0)", "void server.stop(true)")));
  await server.ready({ timeoutMs: 10_000 });
  await server.stop(10_000);
  expect(await server.exited).toBe(0);
});

test("a server ends when the process that started it is killed", async () => {
  const server = await spec(goodServer);
  const owner = join(folder, "owner.ts");
  await writeFile(
    owner,
    `import { startServer } from ${JSON.stringify(join(import.meta.dir, "server-process.ts"))};
     const server = startServer(${JSON.stringify({ ...server, env: {} })});
     await server.ready({ timeoutMs: 10000 });
     console.log(server.pid);
     await server.exited;`,
  );
  const process_ = Bun.spawn([process.execPath, owner], { stdout: "pipe", stderr: "ignore" });
  const { value } = await process_.stdout.getReader().read();
  const pid = Number(new TextDecoder().decode(value));
  expect(pid).toBeGreaterThan(1);
  process_.kill("SIGKILL");
  await process_.exited;
  for (const deadline = Date.now() + 60_000; isAlive(pid); await Bun.sleep(20))
    if (Date.now() > deadline) throw new Error("still alive");
  expect(await Bun.file(server.logPath).text()).toEndWith("drained\n");
});

test("a port in use is reported with the variable that changes it", () => {
  const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response() });
  const port = server.port ?? 0;
  expect(isPortFree("127.0.0.1", port)).toBe(false);
  expect(() => requireFreePort("manus", "127.0.0.1", port, "MANUS_PORT")).toThrow(
    new RegExp(`Port ${port} for manus is in use.*set MANUS_PORT`),
  );
  void server.stop(true);
  expect(isPortFree("127.0.0.1", 0)).toBe(true);
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
