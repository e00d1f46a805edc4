import { expect, test } from "bun:test";
import * as z from "zod";
import { readEnvironment, tablesNamedIn, variableFor } from "./environment.ts";
import { allowedValues, keyTree, nodeAt } from "./key-tree.ts";

const place = z.object({ url: z.string().optional(), public_url: z.string().optional(), port: z.number().optional() });
const tree = keyTree(
  z.object({
    llm: z.object({ api_key: z.string().min(1).optional(), tools: z.array(z.string()).optional() }),
    gateway: z.object({ port: z.int().min(1).max(65_535).optional(), open: z.boolean().optional() }),
    agents: z.object({ swe: place, gateway: place }).catchall(place),
  }),
);
const read = (env: Record<string, string>) => {
  const { entries, unknown } = readEnvironment(env, tree);
  return { set: entries.map(({ path, value }) => [path.join("."), value]), unknown };
};

test("a variable sets its key in the key's own type, an empty one sets none, and one of ours without a key is unknown", () => {
  expect(
    read({
      MANYHANDS_LLM_TOOLS: " a, b ,,",
      MANYHANDS_GATEWAY_OPEN: "0",
      SWE_PORT: "7",
      OPENAI_API_KEY: "",
      MANYHANDS_CONFIG: "x.toml",
      MANYHANDS_NOTHING: "1",
      MANYHANDS_AGENTS_FAR_URL_TOO: "1",
      NOT_MANYHANDS_LLM_TOOLS: "1",
      SOMETHING: "else",
    }),
  ).toEqual({
    set: [
      ["llm.tools", ["a", "b"]],
      ["gateway.open", false],
      ["agents.swe.port", 7],
    ],
    unknown: ["MANYHANDS_NOTHING", "MANYHANDS_AGENTS_FAR_URL_TOO"],
  });
  for (const [text, value] of Object.entries({ TRUE: true, "1": true, False: false, maybe: "maybe" }))
    expect(read({ MANYHANDS_GATEWAY_OPEN: text }).set).toEqual([["gateway.open", value]]);
  expect(read({ GATEWAY_PORT: "many" }).set).toEqual([["gateway.port", "many"]]);
});

test("a short name overrides the systematic one, whichever comes first", () => {
  const [short, long] = [{ OPENAI_API_KEY: "short" }, { MANYHANDS_LLM_API_KEY: "long" }];
  for (const env of [
    { ...short, ...long },
    { ...long, ...short },
  ])
    expect(read(env).set.at(-1)).toEqual(["llm.api_key", "short"]);
});

test("of two keys with one systematic name the variable sets the last", () => {
  const twins = keyTree(z.object({ a: z.object({ b_c: z.string() }), a_b: z.object({ c: z.string() }) }));
  const { entries } = readEnvironment({ MANYHANDS_A_B_C: "x" }, twins);
  expect(entries.map(({ path }) => path.join("."))).toEqual(["a_b.c"]);
});

test("a short name that is listed is that key's, also where an agent's name would make it", () => {
  expect(read({ GATEWAY_PORT: "5" }).set).toEqual([["gateway.port", 5]]);
  expect(variableFor(["gateway", "port"])).toBe("GATEWAY_PORT");
  expect(variableFor(["agents", "gateway", "port"])).toBe("MANYHANDS_AGENTS_GATEWAY_PORT");
  expect([variableFor(["agents", "my-own", "url"]), variableFor(["llm", "tools"])]).toEqual([
    "MY_OWN_URL",
    "MANYHANDS_LLM_TOOLS",
  ]);
});

test("a table that only variables name has the longest key that the variable ends with", () => {
  const env = { MANYHANDS_AGENTS_FAR_PUBLIC_URL: "u", MANYHANDS_AGENTS_FAR_URL: "v", MANYHANDS_AGENTS_SWE_URL: "w" };
  expect(read(env).set).toEqual([
    ["agents.far.public_url", "u"],
    ["agents.far.url", "v"],
    ["agents.swe.url", "w"],
  ]);
  expect(tablesNamedIn(env, tree)).toEqual([
    ["agents", "far"],
    ["agents", "far"],
  ]);
  expect(tablesNamedIn({ MANYHANDS_AGENTS_FAR_URL: "" }, tree)).toEqual([]);
});

test.each([
  [["llm", "api_key"], "a text that is not empty"],
  [["llm", "tools"], "a list of texts"],
  [["llm"], "a table"],
  [["gateway", "port"], "a whole number from 1 up to 65535"],
  [["gateway", "open"], "true or false"],
  [["agents", "swe", "url"], "a text"],
  [["agents", "swe", "port"], "a number"],
])("what may stand at %j is %s", (path, words) => {
  const node = nodeAt(tree, path);
  expect(node && allowedValues(node)).toBe(words);
});

test("a variable that is called like what every object has sets nothing", () => {
  expect(read({ constructor: "x", toString: "y", hasOwnProperty: "z" })).toEqual({ set: [], unknown: [] });
});
