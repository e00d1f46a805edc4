import { expect, spyOn, test } from "bun:test";
import { lstat, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { loadConfig } from "manyhands/internal/config/config";
import * as locks from "manyhands/internal/machine/workspace/own-files/file-lock";
import { cliForTest } from "../testing/cli.ts";

const written = (cwd: string) => readFile(join(cwd, "manyhands.toml"), "utf8");

test("init asks for endpoint, the key's variable and the model, and what it writes is the model in use", async () => {
  await using cli = await cliForTest({ answers: ["anthropic", "", "claude-x"], interactive: true });
  expect(await cli.run("init")).toBe(0);
  expect(cli.said()).toContain("Set ANTHROPIC_API_KEY to your key before you start.");
  const { model } = await loadConfig({ cwd: cli.cwd, env: { ANTHROPIC_API_KEY: "secret", OPENAI_API_KEY: "other" } });
  expect(model).toMatchObject({ name: "claude-x", baseUrl: "https://api.anthropic.com/v1", apiKey: "secret" });
});

test("init takes everything from its options, and the suggestions with --yes", async () => {
  await using cli = await cliForTest({});
  const local = ["--endpoint", "http://127.0.0.1:9/v1", "--key-env", "-", "--model", "m"];
  using locking = spyOn(locks, "underLock");
  expect(await cli.run("init", ...local)).toBe(0);
  // The console may change the file at the same time.
  expect(locking.mock.calls.map(([path]) => path)).toEqual([join(cli.cwd, "manyhands.toml")]);
  expect(await written(cli.cwd)).toBe('[llm]\nmodel = "m"\nbase_url = "http://127.0.0.1:9/v1"\n');
  expect(await cli.run("init", "--yes", "--force")).toBe(0);
  expect(await written(cli.cwd)).toBe('[llm]\nmodel = "gpt-5-mini"\napi_key_env = "OPENAI_API_KEY"\n');
});

test("what init writes for a cloud or for Gemini speaks its own protocol", async () => {
  await using cli = await cliForTest({});
  expect(await cli.run("init", "--endpoint", "bedrock", "--key-env", "-", "--model", "m")).toBe(0);
  const bedrock = await loadConfig({ cwd: cli.cwd, env: {} });
  expect(bedrock.model).toMatchObject({ name: "m", apiType: "aws", region: "us-east-1", apiKey: undefined });
  expect(await cli.run("init", "--endpoint", "gemini", "--yes", "--force")).toBe(0);
  const gemini = await loadConfig({ cwd: cli.cwd, env: { GEMINI_API_KEY: "k" } });
  expect(gemini.model).toMatchObject({ name: "gemini-2.5-flash", apiType: "google", apiKey: "k" });
});

test("init keeps the rest of the file, and replaces a model only on request", async () => {
  await using cli = await cliForTest({ answers: ["no", "yes", "ollama", "", ""], interactive: true });
  const own = '# Ours\n[agents.concierge]\nentry = "concierge.ts"\n';
  await writeFile(
    join(cli.cwd, "manyhands.toml"),
    `${own}\n[llm]\nmodel = "old"\n[llm.price]\ninput_per_million = 1\n`,
  );
  for (const args of [["--yes"], []]) {
    expect(await cli.run("init", ...args)).toBe(2);
    expect(cli.said()).toContain("already has an [llm] and was not changed. --force replaces it.");
    expect(await written(cli.cwd)).toContain('model = "old"');
  }
  expect(await cli.run("init")).toBe(0);
  expect(await written(cli.cwd)).toBe(`${own}\n[llm]\nmodel = "qwen3"\nbase_url = "http://localhost:11434/v1"\n`);
});

test("init writes nothing when nobody answers or the endpoint is invalid", async () => {
  await using cli = await cliForTest({ answers: [] });
  for (const args of [[], ["--endpoint", "nonsense", "--yes"], ["--yes", "--endpoint", "http://127.0.0.1:9/v1"]]) {
    expect(await cli.run("init", ...args)).toBe(2);
    expect(await Bun.file(join(cli.cwd, "manyhands.toml")).exists()).toBe(false);
  }
  expect(cli.said()).toContain("Nothing written: no answer.");
  expect(cli.said()).toContain('"nonsense" is not an endpoint. Allowed: openai, anthropic,');
});

test("init that nobody can ask whether to replace the model says how to", async () => {
  await using cli = await cliForTest({ answers: [] });
  await writeFile(join(cli.cwd, "manyhands.toml"), '[llm]\nmodel = "old"\n');
  expect(await cli.run("init", "--endpoint", "ollama", "--key-env", "-", "--model", "new")).toBe(2);
  expect(cli.said()).toContain("already has an [llm] and was not changed. --force replaces it.");
});

test("a variable named for the key but not set is reported, with its place", async () => {
  await using cli = await cliForTest({});
  await writeFile(join(cli.cwd, "manyhands.toml"), '[llm.big]\nmodel = "m"\napi_key_env = "BIG_KEY"\n');
  expect(await cli.run("config")).toBe(2);
  expect(cli.said()).toContain("manyhands.toml, line 3: [llm.big] api_key_env names BIG_KEY, which is not set.");
});

test("init changes only what the file says of the model, however the file is written, and no file that is no TOML", async () => {
  await using cli = await cliForTest({});
  const own = '[agents.writer]\nurl = "http://127.0.0.1:1"\ninstructions = """\n[llm]\nmodel = "no table"\n"""\n';
  await writeFile(join(cli.cwd, "manyhands.toml"), `${own}\n[llm.fast] # quick\nmodel = "f"\n`);
  expect(await cli.run("init", "--yes", "--endpoint", "ollama")).toBe(0);
  expect(await written(cli.cwd)).toBe(
    `${own}\n[llm.fast] # quick\nmodel = "f"\n\n[llm]\nmodel = "qwen3"\nbase_url = "http://localhost:11434/v1"\n`,
  );
  await writeFile(join(cli.cwd, "manyhands.toml"), "[llm\n");
  expect(await cli.run("init", "--yes")).toBe(2);
  expect(cli.said()).toContain("not valid TOML");
  expect(await written(cli.cwd)).toBe("[llm\n");
});

test("a provider is known however its name is written, a key that none needs is not asked for, and a link stays one", async () => {
  await using cli = await cliForTest({ answers: ["Ollama", "", ""], interactive: true });
  await writeFile(join(cli.cwd, "real.toml"), "");
  await symlink(join(cli.cwd, "real.toml"), join(cli.cwd, "manyhands.toml"));
  expect(await cli.run("init")).toBe(0);
  expect(await readFile(join(cli.cwd, "real.toml"), "utf8")).toContain('model = "qwen3"');
  expect((await lstat(join(cli.cwd, "manyhands.toml"))).isSymbolicLink()).toBe(true);
  expect(cli.said()).not.toContain("to your key before you start");
});
