import { afterAll, beforeEach, expect, mock, test } from "bun:test";
import { join } from "node:path";

/** What the console's pages send; it is typed for browsers, and so is not imported by its path. */
const load = (path: string) => import(join(import.meta.dir, path));

// Nothing is drawn here, by the runtime of development or, where a test before set NODE_ENV, the
// other.
const drawn = { jsx: () => undefined, jsxs: () => undefined, jsxDEV: () => undefined, Fragment: undefined };
for (const runtime of ["jsx-runtime", "jsx-dev-runtime"]) mock.module(`react/${runtime}`, () => drawn);

type Asked = { readonly path: string; readonly key: string | null; readonly body: unknown };

/** What was asked of the gateway, and what it answers, the last answer again and again. */
const asked: Asked[] = [];
let answers: (() => Response | Promise<Response>)[] = [];
const names = ["fetch", "sessionStorage", "localStorage", "document", "location", "addEventListener"];
const real = names.map((name) => [name, Reflect.get(globalThis, name)] as const);

const storage = { getItem: () => null, setItem: () => undefined, removeItem: () => undefined };
const place = { hash: "" };
const stubs: Readonly<Record<string, unknown>> = {
  ...{ sessionStorage: storage, localStorage: storage, location: place, addEventListener: () => undefined },
  document: { body: { dataset: {} }, documentElement: {} },
  fetch: async (path: string, { headers, body }: RequestInit = {}) => {
    const key = new Headers(headers).get("Idempotency-Key");
    const sent = body === undefined ? undefined : JSON.parse(String(body));
    if (!path.startsWith("./runs?")) asked.push({ path, key, body: sent });
    else if (path.includes("cursor") || path.includes("since")) asked.push({ path, key, body: sent });
    const answer = answers.length > 1 ? answers.shift() : answers[0];
    return answer?.() ?? Response.json({ runs: [] });
  },
};
for (const [name, stub] of Object.entries(stubs)) Reflect.set(globalThis, name, stub);
Object.defineProperty(navigator, "languages", { value: ["en"], configurable: true });
afterAll(() => {
  for (const [name, value] of real) Reflect.set(globalThis, name, value);
});
beforeEach(() => {
  asked.length = 0;
  answers = [];
});

const flow = {
  ...{ name: "debate", title: "Debate", description: "" },
  options: { properties: { rounds: { type: "integer" }, judge: { type: "string" } } },
};

test("a task is sent with all that was set for it, again under its key while nobody answers, and under another after a refusal", async () => {
  const { newTask, startTask, choose } = await load("pages/start/new-task.ts");
  const { flows } = await load("state/store.ts");
  flows.value = [flow];
  choose("debate");
  const fill = () => {
    newTask.draft.text.value = "Is it so?";
    newTask.draft.files.value = [new File(["a"], "a.txt")];
    newTask.team.value = "swe, , manus";
    newTask.options.value = { rounds: "2", judge: "" };
    newTask.limit.value = " 0.5 ";
  };
  fill();
  answers = [() => Promise.reject(new TypeError("The gateway is away."))];
  await expect(startTask()).rejects.toThrow("cannot be reached");
  answers = [() => Response.json({ code: "quota_exceeded" }, { status: 429 })];
  await expect(startTask()).rejects.toMatchObject({ status: 429 });
  answers = [() => Response.json({ contextId: "c/1", runs: [] })];
  await startTask();
  expect(asked.map(({ path }) => path)).toEqual(Array(3).fill("./flows/debate"));
  expect(asked[2]?.body).toMatchObject({
    ...{ input: { text: "Is it so?", files: [{ name: "a.txt", bytes: "YQ==" }] }, agents: ["swe", "manus"] },
    ...{ options: { rounds: 2 }, budget: { usd: 0.5 } },
  });
  const [first, second, third] = asked.map(({ key }) => key);
  expect([first, first === second, second === third]).toEqual([expect.stringMatching(/^[\da-f]{32}$/), true, false]);
  expect([place.hash, newTask.draft.text.value, newTask.draft.files.value]).toEqual(["#/c/c%2F1", "", []]);
  // The next task is another one, and what was left empty is not sent.
  newTask.draft.text.value = "Again.";
  newTask.limit.value = "";
  await startTask();
  expect(asked[3]?.key).not.toBe(third as string);
  expect(asked[3]?.body).toEqual({ input: { text: "Again." } });
  choose("swe");
  newTask.team.value = "manus";
  newTask.draft.text.value = "Mend it.";
  await startTask();
  expect(asked[4]).toMatchObject({ path: "./flows/swe", body: { input: { text: "Mend it." } } });
  expect(asked[4]?.body).not.toHaveProperty("agents");
});

test("a list of runs asks for what its address says, from as many days ago, page by page", async () => {
  const { filtersOf, listRuns } = await load("pages/runs/runs-query.ts");
  const said = { q: "two words", status: "failed", name: "debate", agent: "swe", minUsd: "0.5", days: "2" };
  const filters = filtersOf(new URLSearchParams({ ...said, other: "x" }));
  expect(filters).toEqual(said);
  const queryOf = () => Object.fromEntries(new URLSearchParams(asked.at(-1)?.path.split("?")[1]));
  const { days: _, ...passed } = said;
  await listRuns(filters, 3 * 86_400_000);
  expect(queryOf()).toEqual({ ...passed, limit: "50", count: "1000", since: "1970-01-02T00:00:00.000Z" });
  await listRuns({}, 0, { cursor: "next", limit: 7 });
  expect(queryOf()).toEqual({ limit: "7", count: "1000", cursor: "next" });
});

const member = (agent: string, rest = {}) => ({
  ...{ id: 0, agent, instruction: "", name: "", when: "", position: "" },
  ...rest,
});
const draft = { name: "x", title: " T ", description: "", members: [], criteria: "", options: {} };

test.each([
  ["planning", { members: [member("a"), member("b")] }, { agents: ["a", "b"] }],
  ["planning", {}, {}],
  [
    "sequential",
    { members: [member("a", { instruction: " Do. " }), member("b")] },
    { options: { steps: [{ agent: "a", instruction: "Do." }, { agent: "b" }] } },
  ],
  ["parallel", { members: [member("a")] }, { options: { branches: [{ agent: "a" }] } }],
  [
    "conditional",
    { members: [member("a", { when: "It rains" }), member("b", { name: " n ", instruction: "Go" })] },
    {
      options: {
        branches: [
          { name: "a", agent: "a", when: "It rains" },
          { name: "n", agent: "b", instruction: "Go" },
        ],
      },
    },
  ],
  [
    "debate",
    { members: [member("a", { position: " For " })] },
    { options: { positions: [{ agent: "a", position: "For" }] } },
  ],
  [
    "loop",
    { members: [member("a", { instruction: "Try" })], criteria: " It works. " },
    { options: { agent: "a", instruction: "Try", until: { by: "model", criteria: "It works." } } },
  ],
  ["loop", { members: [member("a")], options: { rounds: "3" } }, { options: { agent: "a", rounds: 3 } }],
])(
  "a flow of the pattern %s is sent whole and is the same when it is opened again: %#",
  async (pattern, over, sent) => {
    const { compose, draftOf, isBeyondForm } = await load("pages/build/composition.ts");
    const flows = [{ ...flow, name: pattern, options: { properties: { rounds: { type: "integer" } } } }];
    const composed = compose({ ...draft, pattern, ...over }, flows);
    expect(composed).toEqual({ flow: pattern, title: "T", ...sent });
    expect(compose(draftOf("x", composed, flows), flows)).toEqual(composed);
    expect(isBeyondForm(composed, flows)).toBe(false);
    expect(isBeyondForm({ ...composed, options: { ...composed.options, unseen: 1 } }, flows)).toBe(true);
  },
);

test("what is done to a page is sent in order, together while a request is under way, each with its place; then it is handed back", async () => {
  const { openLiveStore } = await load("pages/run/live/live-store.ts");
  const gate = Promise.withResolvers<void>();
  const watched = new Response(new ReadableStream());
  answers = [
    () => watched,
    async () => {
      await gate.promise;
      return Response.json({ done: true });
    },
    () => Response.json({ done: true, status: "running" }),
  ];
  const store = openLiveStore({ runId: "r/1", task: "t", screen: "browser" });
  store.send({ type: "text", text: "a" });
  const wheel = { type: "wheel", x: 1, y: 1, dx: 0, dy: 4_000 } as const;
  const pointer = (x: number, act: "move" | "down") => ({ type: "pointer", act, x, y: 0, button: "left" });
  for (const input of [{ type: "text", text: "b" }, { type: "text", text: "c" }, wheel, wheel]) store.send(input);
  for (const input of [pointer(1, "move"), pointer(2, "move"), pointer(2, "down")]) store.send(input);
  const back = store.handBack();
  gate.resolve();
  await back;
  store.close();
  const orders = asked.filter(({ body }) => body !== undefined);
  expect(new Set(orders.map(({ path }) => path))).toEqual(new Set(["./runs/r%2F1/live?task=t&screen=browser"]));
  const sent = orders.map(
    ({ body }) => body as { do: string; inputs?: unknown; burst?: { id: string; number: number } },
  );
  expect(sent.map((one) => [one.do, one.inputs, one.burst?.number])).toEqual([
    ["input", [{ type: "text", text: "a" }], 0],
    ["input", [{ type: "text", text: "bc" }, { ...wheel, dy: 5_000 }, pointer(2, "move"), pointer(2, "down")], 1],
    ["hand-back", undefined, undefined],
  ]);
  expect(sent[1]?.burst?.id).toBe(sent[0]?.burst?.id as string);
});
