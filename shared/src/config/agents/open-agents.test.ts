import { afterAll, expect, test } from "bun:test";
import { mkdtempSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bearerCredentials } from "../../a2a/client/credentials.ts";
import { defineAgent } from "../../agent/define-agent.ts";
import { type Config, loadConfig } from "../config.ts";
import { agentNamed, checkNamedFiles, firstAgent } from "../named-agent.ts";
import { instructed } from "./instructions.ts";
import { entryPath } from "./named-files.ts";

const folder = mkdtempSync(join(tmpdir(), "manyhands-open-agents-"));
afterAll(() => rm(folder, { recursive: true }));

type Source = { readonly env?: Record<string, string>; readonly agent?: string };

/** The configuration of a file, and the folder the file is in. */
async function configOf(toml: string, { env = {}, agent }: Source = {}): Promise<Config & { cwd: string }> {
  const cwd = await mkdtemp(join(folder, "cwd-"));
  await writeFile(join(cwd, "manyhands.toml"), toml);
  return { ...(await loadConfig({ cwd, env, agent })), cwd };
}

test("an agent of the settings is added to ours, with the next free port and variables of its name", async () => {
  const toml = `
gateway.port = 4106
[agents.tour-guide]
entry = "guide.ts"
[agents.early]
entry = "early.ts"
port = 4105
[agents.late]
entry = "late.ts"
`;
  const env = { EARLY_URL: "http://127.0.0.1:9", MANYHANDS_AGENTS_TOUR_GUIDE_LIMITS_STEPS: "3" };
  const { agents } = await configOf(toml, { env });
  expect(Object.keys(agents)).toEqual(["manus", "browser", "swe", "data-analysis", "tour-guide", "early", "late"]);
  expect(Object.values(agents).map(({ port }) => port)).toEqual([4101, 4102, 4103, 4104, 4107, 4105, 4108]);
  expect(agents["tour-guide"]).toMatchObject({ url: "http://127.0.0.1:4107", limits: { steps: 3 } });
  expect(agents.early?.url).toBe("http://127.0.0.1:9");
  const moved = (await configOf(toml, { env: { TOUR_GUIDE_PORT: "5000" } })).agents;
  expect([moved["tour-guide"]?.port, moved.late?.port]).toEqual([5000, 4107]);
});

test("variables alone can define an agent; those with the programs' own names keep their meaning", async () => {
  const env = { MANYHANDS_AGENTS_GUIDE_PUBLIC_URL: "http://localhost:1", MANYHANDS_AGENTS_GUIDE_ENTRY: "guide.ts" };
  const { agents } = await configOf("", { env: { ...env, GUIDE_PORT: "5001" } });
  expect(agents.guide).toMatchObject({ port: 5001, publicUrl: "http://localhost:1" });
  const toml = '[agents.public]\nurl = "http://localhost:2"\n';
  const { agents: others, server } = await configOf(toml, { env: { PUBLIC_URL: "http://localhost:3" } });
  expect([others.public?.url, server.publicUrl]).toEqual(["http://localhost:2", "http://localhost:3"]);
});

test("an entry is a file relative to the settings file, wherever that is read from, or an installed package", async () => {
  const config = await configOf('[agents.guide]\nentry = "agents/guide.ts"\n[agents.packed]\nentry = "guide-agent"\n');
  const { cwd } = config;
  await mkdir(join(cwd, "agents"));
  await mkdir(join(cwd, "node_modules/guide-agent"), { recursive: true });
  await writeFile(join(cwd, "agents/guide.ts"), "");
  await writeFile(join(cwd, "node_modules/guide-agent/package.json"), '{ "name": "guide-agent", "main": "serve.js" }');
  await writeFile(join(cwd, "node_modules/guide-agent/serve.js"), "");
  const from = await loadConfig({ cwd: "/", file: join(cwd, "manyhands.toml"), env: {} });
  for (const { agents } of [config, from]) {
    const paths = [agents.guide, agents.packed].map((agent) => agent?.entry && entryPath(agent.entry));
    expect(paths).toEqual([join(cwd, "agents/guide.ts"), join(cwd, "node_modules/guide-agent/serve.js")]);
  }
});

test("a file that a variable names is relative to the folder of the command", async () => {
  const env = { MANYHANDS_AGENTS_GUIDE_ENTRY: "guide.ts" };
  const { agents } = await loadConfig({ cwd: "/", file: join((await configOf("")).cwd, "manyhands.toml"), env });
  expect(agents.guide?.entry).toMatchObject({ folder: "/", name: "guide.ts" });
});

test("an agent is found by its name alone, and the first one where none is named", async () => {
  const config = await configOf('[agents.guide]\nurl = "http://x.example"\n');
  expect([agentNamed(config, "guide"), firstAgent(config)]).toEqual([config.agents.guide as never, "manus"]);
  const known = "There are: manus, browser, swe, data-analysis, guide.";
  for (const name of ["constructor", "Manus"])
    expect(() => agentNamed(config, name)).toThrow(`There is no agent "${name}". ${known}`);
  expect(() => agentNamed({ agents: {} }, "swe")).toThrow('There is no agent "swe". There are: none.');
  expect(() => firstAgent({ agents: {} })).toThrow("There is no agent: the settings switch all of them off.");
});

test("a disabled agent is not part of the system: nobody asks it, and only it can start itself", async () => {
  const toml = '[agents.swe]\nenabled = false\n[agents.guide]\nentry = "guide.ts"\n';
  const { agents } = await configOf(toml);
  expect(Object.keys(agents)).toEqual(["manus", "browser", "data-analysis", "guide"]);
  expect(agents.manus?.delegates).toEqual(["browser", "data-analysis", "guide"]);
  expect(agents.guide?.delegates).toEqual([]);
  expect((await configOf(toml, { agent: "swe" })).agents.swe?.port).toBe(4103);
  expect(configOf(`${toml}[agents.manus]\ndelegates = ["swe"]\n`)).rejects.toThrow(
    '[agents.manus] delegates names "swe", but the agents it can ask are: browser, data-analysis, guide.',
  );
});

test("an agent started by itself need not be in the settings", async () => {
  const { agents } = await configOf("", { agent: "guide", env: { GUIDE_PORT: "5002" } });
  expect(agents.guide).toMatchObject({ port: 5002, entry: undefined, mcp: [] });
  expect((await configOf("", { agent: "guide" })).agents.guide?.port).toBe(4105);
});

test("the system's token goes to the agents it starts; one elsewhere gets only its own", async () => {
  const toml = `
server.token = "long-enough"
[agents.guide]
entry = "guide.ts"
[agents.far]
url = "https://far.example"
[agents.further]
url = "https://further.example"
token = "theirs"
`;
  const { agents } = await configOf(toml);
  const tokens = ["manus", "guide", "far", "further"].map((name) => agents[name]?.credentials);
  const [ours, theirs] = [bearerCredentials("long-enough"), bearerCredentials("theirs")];
  expect(tokens).toEqual([ours, ours, undefined, theirs]);
});

test.each<[string, boolean, string]>([
  ["one that we start", true, 'entry = "x.ts"'],
  ["one that we start elsewhere", false, 'entry = "x.ts"\nurl = "https://far.example"'],
  ["one at an address of this machine", false, 'url = "http://127.0.0.1:9"'],
  ["one with a token of its own", false, 'entry = "x.ts"\ntoken = "theirs"'],
  ["one with credentials of its own", false, 'entry = "x.ts"\nauth = { kind = "bearer", secret = "s" }'],
])("without a token %s is of this system: %p", async (_, isOwn, table) => {
  const { agents } = await configOf(`[agents.one]\n${table}\n`);
  expect(agents.one?.isOwn).toBe(isOwn);
});

test.each<[string, boolean, string]>([
  ["one that we start", true, 'entry = "x.ts"'],
  ["one that we start elsewhere", true, 'entry = "x.ts"\nurl = "https://far.example"'],
  ["one elsewhere", false, 'url = "https://far.example"'],
  ["one elsewhere that has our token", false, 'url = "https://far.example"\ntoken = "long-enough"'],
  ["one with another token", false, 'entry = "x.ts"\ntoken = "theirs"'],
])("with a token %s is of this system: %p", async (_, isOwn, table) => {
  const { agents } = await configOf(`server.token = "long-enough"\n[agents.one]\n${table}\n`);
  expect(agents.one?.isOwn).toBe(isOwn);
});

test("each limit of an agent's table counts in its own unit, over those for all, over OpenManus's", async () => {
  const { agents } = await configOf(`
llm.max_input_tokens = 7
[limits]
steps = 2
wall_seconds = 3
[agents.one]
entry = "x.ts"
[agents.one.limits]
steps = 4
tokens = 5
usd = 0.5
answer_seconds = 6
calls_per_turn = 8
parallel_calls = 9
result_characters = 1000
`);
  expect(agents.one?.limits).toStrictEqual({
    tokens: 5,
    steps: 4,
    wallMs: 3_000,
    usd: 0.5,
    answerMs: 6_000,
    callsPerTurn: 8,
    parallelCalls: 9,
    resultCharacters: 1_000,
  });
  expect(agents.swe?.limits).toStrictEqual({ tokens: 7, steps: 2, wallMs: 3_000 });
});

test.each([
  ['[agents.Guide]\nurl = "http://x"\n', "line 2: [agents.Guide] cannot be called that: a name is lower-case words"],
  ['[agents.gateway]\nurl = "http://x"\n', "[agents.gateway] cannot be called that: that is the gateway's name."],
  ['[flows."my flow"]\nentry = "x.ts"\n', "[flows.my flow] cannot be called that"],
  ["[flows.trip]\n", "[flows.trip] needs either `entry`, a module, or `flow`, the flow it is composed of"],
  ['[flows.trip]\nentry = "trip.ts"\nflow = "loop"\n', "[flows.trip] needs either `entry`, a module, or `flow`"],
  ['[agents.guide]\nentry = "guide.ts"\nports = 1\n', "line 3: [agents.guide] has no key ports. Did you mean port?"],
  ["[agents.guide]\nenabled = true\n", "line 2: [agents.guide] has neither entry nor url. An agent of yours has"],
  ['[agents.swe]\ninstructions = "a"\ninstructions_file = "b"\n', "[agents.swe] has both instructions and"],
  [
    '[agents.swe]\nextra_instructions = "a"\nextra_instructions_file = "b"\n',
    "[agents.swe] has both extra_instructions and",
  ],
])("contradictory settings are refused: %j", async (toml, message) => {
  expect(configOf(toml)).rejects.toThrow(message);
});

test("instructions that are too long are refused with a short message", async () => {
  const refused = configOf(`[agents.swe]\nextra_instructions = "${"x".repeat(100_001)}"\n`);
  expect(refused).rejects.toThrow(/cannot be "x{199}…\. Allowed: a text of at most 100,000 characters\. MANYHANDS_/);
});

test("instructions of the settings replace an agent's own, and extra ones follow them", async () => {
  const agent = defineAgent({
    name: "guide",
    title: "Guide",
    description: "Guides.",
    version: "1.0.0",
    instructions: "Be a guide.",
    skills: [],
    tools: [],
  });
  const told = async (toml: string) => {
    const { agents, cwd } = await configOf(`[agents.swe]\n${toml}`);
    await writeFile(join(cwd, "more.md"), "From a file.\n");
    return (await instructed(agent, agents.swe?.instructions ?? {})).instructions;
  };
  expect(await told("")).toBe("Be a guide.");
  expect(await told('instructions = "Be brief."\n')).toBe("Be brief.");
  expect(await told('extra_instructions_file = "more.md"\n')).toBe("Be a guide.\n\nFrom a file.");
  expect(await told('instructions_file = "more.md"\nextra_instructions = "Be brief."\n')).toBe(
    "From a file.\n\nBe brief.",
  );
});

test.each([
  ["none.md", undefined, "there is no file"],
  [".", undefined, "it is a folder"],
  ["empty.md", " \n", "it is empty"],
  ["long.md", "x".repeat(100_001), "it is too long. Allowed: a text file of at most 100,000 characters"],
  ["huge.md", "x".repeat(400_001), "it is too long"],
])("an unreadable instructions file is reported with its key: %s", async (name, text, why) => {
  const config = await configOf(`[agents.swe]\ninstructions_file = "${name}"\n`);
  if (text !== undefined) await writeFile(join(config.cwd, name), text);
  expect(checkNamedFiles(config)).rejects.toThrow(
    `manyhands.toml, line 2: agents.swe.instructions_file cannot be "${name}": ${why}`,
  );
});

test("an addition to the instructions that cannot be read is found beside a replacement that can", async () => {
  const config = await configOf('[agents.swe]\ninstructions = "a"\nextra_instructions_file = "none.md"\n');
  await expect(checkNamedFiles(config)).rejects.toThrow("agents.swe.extra_instructions_file cannot be");
});

test("the rehearsal model does all parts of the work itself", async () => {
  const { agents, models } = await configOf('[llm.summary]\nmodel = "s"\nbase_url = "http://127.0.0.1:1"\n');
  expect([agents.manus?.model, agents.manus?.roles, models.summary?.name]).toEqual([undefined, {}, "s"]);
});

test("a small window leaves out tools and skills that are not named, unless the table says otherwise", async () => {
  const { agents } = await configOf(`
[llm]
model = "m"
base_url = "http://127.0.0.1:1"
capabilities = { context_window = 8000 }
[llm.summary]
model = "s"
[agents.swe]
profile = "full"
[agents.browser]
skills = ["release-notes"]
`);
  const found = ["manus", "swe", "browser"].map((name) => [agents[name]?.profile, agents[name]?.skills]);
  expect(found).toEqual([
    ["small", []],
    ["full", "all"],
    ["small", ["release-notes"]],
  ]);
  expect(agents.manus?.roles).toMatchObject({ summary: { name: "s" } });
});

test("a name has at most 60 characters, and an agent is asked under one name once", async () => {
  const named = (name: string) => configOf(`[agents.${name}]\nurl = "http://x.example"\n`);
  expect((await named("a".repeat(60))).agents).toHaveProperty("a".repeat(60));
  await expect(named("a".repeat(61))).rejects.toThrow("at most 60 characters");
  const { agents } = await configOf('[agents.manus]\ndelegates = ["swe", "*", "swe"]\n');
  expect(agents.manus?.delegates).toEqual(["swe", "browser", "data-analysis"]);
});

test("instructions count in characters, not in bytes, and an entry may be an absolute path or a folder with an index", async () => {
  const { agents, cwd } = await configOf(`
[agents.swe]
instructions_file = "euro.md"
[agents.there]
entry = "${folder}/there.ts"
[agents.gone]
entry = "${folder}/gone.ts"
[agents.folder]
entry = "${folder}/in"
`);
  await writeFile(join(cwd, "euro.md"), "€".repeat(100_000));
  await writeFile(join(folder, "there.ts"), "");
  await mkdir(join(folder, "in"));
  await writeFile(join(folder, "in/index.ts"), "");
  const agent = { instructions: "" };
  expect((await instructed(agent, agents.swe?.instructions ?? {})).instructions).toHaveLength(100_000);
  const path = (name: string) => entryPath(agents[name]?.entry ?? ({} as never));
  expect([path("there"), path("folder")]).toEqual([join(folder, "there.ts"), join(folder, "in/index.ts")]);
  expect(() => path("gone")).toThrow("neither a file");
});

test("flows think with the model for plans, where there is one and none is named", async () => {
  const llm = '[llm]\nmodel = "m"\nbase_url = "http://127.0.0.1:1"\n';
  const planner = '[llm.planner]\nmodel = "p"\n';
  const modelOf = async (toml: string) => (await configOf(toml)).flows.model?.name;
  expect(await modelOf(llm)).toBe("m");
  expect(await modelOf(`${llm}${planner}`)).toBe("p");
  expect(await modelOf(`${llm}${planner}[flows]\nmodel = "own"\n`)).toBe("own");
});
