import { expect, test } from "bun:test";
import { parse } from "smol-toml";
import { withKeys, withoutTable, withTable } from "./toml-text.ts";

const file = `# Ours since 2026.
home = ".manyhands" # here

[server]
token = "abcdefgh"

# The model.
[llm]
model = "a" # mine
base_url = "http://x/v1"

[llm.fast]
model = "b"

[agents.swe]
tools = [
  "shell", # for tests
  "files",
]

# Trips.
[flows.trip]
entry = "trip.ts"
`;

test("keys of a table are set, added and removed, and nothing else in the text changes", () => {
  const text = withKeys(file, "llm", { model: "z", api_key: 'k"\n', base_url: undefined });
  expect(text).toBe(file.replace('"a" # mine\nbase_url = "http://x/v1"\n', '"z" # mine\napi_key = "k\\"\\n"\n'));
});

test("a table that is missing is added: at the end, or before the tables below it", () => {
  expect(withKeys("", "llm", { model: "z" })).toBe('[llm]\nmodel = "z"\n');
  expect(withKeys("# only this\n", "llm", { model: "z" })).toBe('# only this\n\n[llm]\nmodel = "z"\n');
  expect(withKeys('home = "x"\n\n[llm.fast] # quick\nmodel = "b"\n', "llm", { model: "z" })).toBe(
    'home = "x"\n\n[llm]\nmodel = "z"\n\n[llm.fast] # quick\nmodel = "b"\n',
  );
});

test.each([
  'llm = { model = "a", base_url = "u" } # inline\n',
  'llm.model = "a"\n# between\nllm.base_url = "u"\n',
  "[llm]\r\nmodel = 'a'\r\n# windows\r\n",
  '["llm"]\nmodel = "a" # quoted\n',
])("keys are set however the table is written: %j", (text) => {
  const changed = withKeys(text, "llm", { model: "z", api_key: "k" });
  expect(parse(changed)).toEqual({ llm: { ...(parse(text).llm as object), model: "z", api_key: "k" } });
  expect(changed).toContain(/#[^\r\n]*/.exec(text)?.[0] ?? "");
});

test("a named table is added, replaced and removed with the tables below it; comments of others stay", () => {
  const steps = { flow: "sequential", options: { steps: [{ agent: "a", instruction: "two\nlines" }, { agent: "b" }] } };
  const added = withTable(file, ["flows", "report"], steps);
  expect(added.startsWith(file.trimEnd())).toBe(true);
  expect(parse(added).flows).toEqual({ trip: { entry: "trip.ts" }, report: steps });
  const replaced = withTable(`${added}\n# The last.\n[mcp]\nfile = "m.json"\n`, ["flows", "report"], { flow: "loop" });
  expect(parse(replaced)).toMatchObject({ flows: { trip: {}, report: { flow: "loop" } }, mcp: { file: "m.json" } });
  expect(replaced).toContain('# The last.\n[mcp]\nfile = "m.json"');
  expect(replaced).not.toContain("steps");
  expect(withoutTable(added, ["flows", "report"]).trimEnd()).toBe(file.trimEnd());
  expect(parse(withoutTable('[flows]\nmodel = "m"\nreport = { flow = "loop" }\n', ["flows", "report"]))).toEqual({
    flows: { model: "m" },
  });
});

test("a text that would say something else than was meant is not written", () => {
  const odd = 'text = """\n[flows.report]\nnot a table\n"""\n[flows.report]\nflow = "loop"\n';
  const parsed = parse(withoutTable(odd, ["flows", "report"]));
  expect(parsed.text).toBe("[flows.report]\nnot a table\n");
});

test("a text that cannot be changed without changing more is refused, as it is", () => {
  // A header within a text looks like a table to whoever only looks at lines.
  const odd = 'text = """\n[llm.fast]\nnot a table\n"""\n[llm.fast]\nmodel = "b"\n';
  const changed = withKeys(odd, "llm", { model: "z" });
  expect(parse(changed)).toEqual({ ...parse(odd), llm: { model: "z", fast: { model: "b" } } });
  expect(changed).toContain('"""\n[llm.fast]\nnot a table\n"""');
});

test("a table that is not there leaves the text as it is, and a date is a value, not a table", () => {
  for (const text of [file, "[flows]\n", ""]) expect(withoutTable(text, ["flows", "report"])).toBe(text);
  const dated = "[llm]\nsince = 2026-01-01\n";
  expect(parse(withKeys(dated, "llm", { model: "z" })).llm).toMatchObject({ model: "z", since: expect.any(Date) });
});
