import { afterAll, beforeAll, beforeEach, expect, spyOn, test } from "bun:test";
import { type CliForTest, cliForTest } from "../testing/cli.ts";

const agent = { name: "maps", url: "http://maps.example", source: "registered", health: "up", breaker: "closed" };
const delivery = { id: "d1", taskId: "t1", url: "http://hook.example", state: "failed", updatedAt: "2026-01-01" };

/** What the gateway answers, and what it was asked: each request as its method, path and body. */
let answer: (path: string) => Response;
const asked: string[] = [];
let cli: CliForTest;
let stop: () => Promise<void>;

beforeAll(async () => {
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const { pathname, search } = new URL(request.url);
      if (pathname === "/healthz") return Response.json({ agent: "gateway" });
      asked.push(`${request.method} ${pathname}${search} ${await request.text()}`.trim());
      return answer(pathname);
    },
  });
  cli = await cliForTest({ env: { GATEWAY_PORT: String(server.port) } });
  stop = () => server.stop(true);
});
afterAll(async () => {
  await cli[Symbol.asyncDispose]();
  await stop();
});
beforeEach(() => {
  asked.length = 0;
  answer = () => Response.json({ agents: [agent], deliveries: [delivery], ...agent, ...delivery });
});

test("agents are registered with all that is told of them, and named in paths as they are", async () => {
  expect(await cli.run("agents", "add", agent.url, "--name", "maps", "--token", "t")).toBe(0);
  expect(await cli.run("agents", "add", agent.url)).toBe(0);
  answer = () => new Response(null, { status: 204 });
  expect(await cli.run("agents", "remove", "a/b?")).toBe(0);
  expect(asked).toEqual([
    `POST /agents ${JSON.stringify({ url: agent.url, name: "maps", token: "t" })}`,
    `POST /agents ${JSON.stringify({ url: agent.url })}`,
    "DELETE /agents/a%2Fb%3F",
  ]);
});

test("an agent is told with what is wrong with it, and nothing of what is in order", async () => {
  const shown = async (over: object) => {
    answer = () => Response.json({ agents: [{ ...agent, ...over }] });
    const before = cli.out().length;
    expect(await cli.run("agents", "list")).toBe(0);
    return cli.out().slice(before);
  };
  expect(await shown({})).toBe("maps  ·  up  ·  http://maps.example  ·  registered\n");
  const told = { title: "Maps", model: { name: "m" }, sandbox: "bwrap", breaker: "open" };
  const more = { reason: "It is\u001b[2J away.", changes: [{ what: ["version was 1, is 2"] }] };
  expect(await shown({ ...told, ...more })).toBe(
    [
      "maps  ·  up  ·  paused after failures (open)  ·  http://maps.example  ·  Maps  ·  model m  ·  sandbox bwrap  ·  registered",
      "    It is\\u001b[2J away.",
      "    card: version was 1, is 2\n",
    ].join("\n"),
  );
});

test("what the gateway refuses is named as on the command line, not by its place in a request", async () => {
  answer = () => Response.json({ code: "invalid_input", detail: "body.url: It must be a URL." }, { status: 400 });
  const before = cli.said().length;
  expect(await cli.run("agents", "add", "maps")).toBe(2);
  expect(cli.said().slice(before)).toBe("url: It must be a URL.\n");
});

test("of deliveries those that were given up are asked for, unless all are wanted", async () => {
  for (const args of [["list"], ["list", "--all"], ["show", "d/1"], ["retry", "d/1"]])
    expect([args, await cli.run("deliveries", ...args)]).toEqual([args, 0]);
  expect(asked).toEqual([
    "GET /deliveries?state=failed",
    "GET /deliveries?state=all",
    "GET /deliveries/d%2F1",
    "POST /deliveries/d%2F1/retry",
  ]);
});

test("what starts by itself is added, shown, paused, run and removed as it is named, and those told as they are", async () => {
  const schedule = {
    name: "s",
    cron: "@daily",
    timeZone: "UTC",
    start: "swe",
    task: "Look",
    paused: false,
    firings: [],
  };
  const trigger = { ...schedule, type: "github", url: "http://hooks" };
  answer = () =>
    Response.json({
      ...trigger,
      id: "r1",
      schedules: [schedule],
      triggers: [trigger],
      targets: [{ name: "ops", type: "mail" }],
    });
  const given = ["--cron", "@daily", "--start", "swe"];
  const all = [
    "--time-zone",
    "UTC",
    "--agents",
    "a, b,",
    "--missed",
    "skip",
    "--overlap",
    "allow",
    "--notify",
    "ops,me",
  ];
  const made = { name: "s", task: "Look", cron: "@daily", start: "swe" };
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const sets = { timeZone: "UTC", missed: "skip", overlap: "allow", agents: ["a", "b"], notify: ["ops", "me"] };
  const requests: readonly (readonly [readonly string[], string])[] = [
    [["schedules", "list"], "GET /schedules"],
    [
      ["schedules", "add", "s", "Look", ...given],
      `POST /schedules ${JSON.stringify({ ...made, timeZone: zone, missed: "once", overlap: "skip" })}`,
    ],
    [
      ["schedules", "add", "s", "Look", ...given, ...all, "--budget-usd", "0"],
      `POST /schedules ${JSON.stringify({ ...made, ...sets, budget: { usd: 0 } })}`,
    ],
    [["schedules", "show", "a/b"], "GET /schedules/a%2Fb"],
    [["schedules", "pause", "a/b"], "POST /schedules/a%2Fb/pause"],
    [["schedules", "resume", "a/b"], "POST /schedules/a%2Fb/resume"],
    [["schedules", "run-now", "a/b"], "POST /schedules/a%2Fb/run"],
    [["schedules", "remove", "a/b"], "DELETE /schedules/a%2Fb"],
    [["triggers", "list"], "GET /triggers"],
    [["triggers", "show", "a/b"], "GET /triggers/a%2Fb"],
    [["triggers", "pause", "a/b"], "POST /triggers/a%2Fb/pause"],
    [["triggers", "resume", "a/b"], "POST /triggers/a%2Fb/resume"],
    [["notify", "list"], "GET /notify"],
    [["notify", "test", "a/b"], "POST /notify/a%2Fb/test"],
    [["notify", "run", "r/1", "ops", "me"], 'POST /runs/r%2F1/notify {"targets":["ops","me"]}'],
  ];
  for (const [args] of requests) expect([args, await cli.run(...args)]).toEqual([args, 0]);
  expect(asked).toEqual(requests.map(([, request]) => request));
});

test("of a schedule it is said when it is due, what became of its last times, and whether it is paused", async () => {
  const schedule = { name: "s", cron: "@daily", timeZone: "UTC", start: "swe", task: "Look\u001b[2J", paused: false };
  const firings = [
    { due: "D1", outcome: "started", runId: "r1", missed: 0 },
    { due: "D2", outcome: "skipped", reason: "It works still." },
  ];
  const shown = async (over: object) => {
    answer = () => Response.json({ ...schedule, firings, ...over });
    const before = cli.out().length;
    expect(await cli.run("schedules", "show", "s")).toBe(0);
    return cli.out().slice(before).split("\n");
  };
  expect(await shown({ next: "N" })).toEqual([
    "s  ·  @daily UTC  ·  swe  ·  next N  ·  last started D1",
    "    Look\\u001b[2J",
    "    D1  ·  started  ·  0 missed  ·  run r1",
    "    D2  ·  skipped  ·  It works still.",
    "",
  ]);
  expect((await shown({ paused: true, next: "N", firings: [] }))[0]).toBe("s  ·  @daily UTC  ·  swe  ·  paused");
  expect((await shown({ firings: [] }))[0]).toBe("s  ·  @daily UTC  ·  swe  ·  next never");
});

test.each([
  [() => Response.json({ code: "conflict", detail: "Taken." }, { status: 409 }), "Taken."],
  // Of a later release's codes the sentence is told all the same.
  [() => Response.json({ code: "of_tomorrow", detail: "Not today." }, { status: 418 }), "Not today."],
  [() => Response.json({ code: "conflict", detail: "Odd." }), "answered with status 200 and an unreadable body."],
  [() => new Response("<html>", { status: 502 }), "answered with status 502 and an unreadable body."],
] as const)("a refusal of the gateway is told in its words, anything else as it is: %#", async (refusal, told) => {
  answer = refusal;
  const before = cli.said().length;
  expect(await cli.run("agents", "list")).toBe(1);
  expect(cli.said().slice(before)).toContain(told);
});

test("nothing that agents, receivers and senders say of themselves reaches the terminal as it is", async () => {
  const said = (text: string) => `${text}\u001b[2J`;
  const maps = {
    ...agent,
    url: said("http://maps"),
    title: said("Maps"),
    reason: said("Away."),
    sandbox: said("none"),
  };
  const agents = [{ ...maps, model: { name: said("m") }, changes: [{ what: [said("version was 1")] }] }];
  const firings = [{ due: "D1", outcome: "refused", reason: said("No."), event: said("push"), runId: said("r") }];
  const own = { name: said("n"), cron: "@daily", timeZone: "UTC", start: said("swe"), task: said("Look."), firings };
  const both = { ...own, type: "github", url: said("http://hooks"), paused: true };
  const failed = { ...delivery, url: said("http://hook"), taskId: said("t"), reason: said("Gone.") };
  const lists = { agents, deliveries: [failed], schedules: [both], triggers: [both] };
  const commands = [
    ...[["agents"], ["deliveries"], ["schedules"], ["triggers"], ["notify"]],
    ...[
      ["schedules", "show", "n"],
      ["triggers", "show", "n"],
      ["deliveries", "show", "d"],
    ],
  ];
  for (const [group = "", ...rest] of commands) {
    const one = group === "deliveries" ? failed : both;
    answer = () => Response.json({ ...lists, targets: [{ name: said("ops"), type: "slack" }], ...one });
    const before = cli.out().length;
    expect([group, await cli.run(group, ...(rest.length === 0 ? ["list"] : rest))]).toEqual([group, 0]);
    const shown = cli.out().slice(before);
    expect([group, shown.includes("\\u001b[2J"), shown.includes("\u001b")]).toEqual([group, true, false]);
  }
});

const kept = { name: "n", cron: "@daily", timeZone: "UTC", start: "swe", task: "Look.", paused: false, firings: [] };

test("a schedule is added with all that is said of it, and by default in this machine's time, made up once and never twice at a time", async () => {
  answer = () => Response.json(kept);
  const add = ["schedules", "add", "n", "Look.", "--cron", "@daily", "--start", "swe"];
  expect(await cli.run(...add)).toBe(0);
  const more = ["--time-zone", "Asia/Tokyo", "--agents", "a, b,", "--missed", "skip", "--overlap", "allow"];
  expect(await cli.run(...add, ...more, "--notify", "ops", "--budget-usd", "0")).toBe(0);
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  const said = { name: "n", task: "Look.", cron: "@daily", start: "swe" };
  expect(asked).toEqual([
    `POST /schedules ${JSON.stringify({ ...said, timeZone, missed: "once", overlap: "skip" })}`,
    `POST /schedules ${JSON.stringify({
      ...{ ...said, timeZone: "Asia/Tokyo", missed: "skip", overlap: "allow" },
      ...{ agents: ["a", "b"], notify: ["ops"], budget: { usd: 0 } },
    })}`,
  ]);
  for (const wrong of [
    ["--budget-usd", "-1"],
    ["--missed", "twice"],
    ["--overlap", "once"],
  ])
    expect([wrong, await cli.run(...add, ...wrong)]).toEqual([wrong, 2]);
  expect(asked).toHaveLength(2);
});

test("what is acted on is named in the path as it is, and what is told goes along", async () => {
  answer = () => Response.json({ ...kept, type: "github", url: "u", id: "r1" });
  for (const args of [
    ["schedules", "show", "a/b"],
    ["schedules", "pause", "n"],
    ["schedules", "resume", "n"],
    ["schedules", "run-now", "n"],
    ["schedules", "remove", "n"],
    ["triggers", "pause", "n"],
    ["triggers", "resume", "n"],
    ["notify", "test", "n"],
    ["notify", "run", "r/1", "ops", "me"],
  ])
    expect([args, await cli.run(...args)]).toEqual([args, 0]);
  expect(asked).toEqual([
    ...["GET /schedules/a%2Fb", "POST /schedules/n/pause", "POST /schedules/n/resume", "POST /schedules/n/run"],
    ...["DELETE /schedules/n", "POST /triggers/n/pause", "POST /triggers/n/resume", "POST /notify/n/test"],
    'POST /runs/r%2F1/notify {"targets":["ops","me"]}',
  ]);
});

test("the gateway is waited for half a minute", async () => {
  using limits = spyOn(AbortSignal, "timeout");
  expect(await cli.run("agents")).toBe(0);
  expect(limits.mock.calls.flat()).toContain(30_000);
});
