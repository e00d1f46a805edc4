import { expect, test } from "bun:test";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startAgentForTest } from "./start-agent.ts";

const homes = async () => (await readdir(tmpdir())).filter((name) => name.startsWith("manyhands-agent-"));

test("a module that ends before it listens rejects with its last output, and leaves nothing behind", async () => {
  const folder = await mkdtemp(join(tmpdir(), "start-agent-"));
  const entry = join(folder, "broken.ts");
  await writeFile(
    entry,
    'console.error("no", process.env.WORD + ", home", process.env.MANYHANDS_HOME);\nprocess.exit(2);\n',
  );
  const starting = startAgentForTest(entry, { script: [], env: { WORD: "sugar" } });
  const said = await starting.then(
    () => "it started",
    (error: Error) => error.message,
  );
  expect(said).toStartWith(`${entry} ended before it was ready: no sugar, home `);
  const home = said.trim().split("/").at(-1) ?? "";
  expect(await homes()).not.toContain(home);
  await rm(folder, { recursive: true });
});

test("a module that only exports its agent is told what it lacks", async () => {
  const folder = await mkdtemp(join(tmpdir(), "start-agent-"));
  const entry = join(folder, "silent.ts");
  await writeFile(entry, "export const agent = {};\n");
  await expect(startAgentForTest(entry, { script: [] })).rejects.toThrow("it has to call serveAgent");
  await rm(folder, { recursive: true });
});

test("the process sees nothing of the test's environment except PATH", async () => {
  process.env.MANYHANDS_TEST_SECRET = "1";
  const folder = await mkdtemp(join(tmpdir(), "start-agent-"));
  const entry = join(folder, "fake.ts");
  const lines = [
    'const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => Response.json(Object.keys(process.env)) });',
    'console.log("ready", server.url.origin + "/");',
  ];
  await writeFile(entry, lines.join("\n"));
  {
    await using fake = await startAgentForTest(entry, { script: [] });
    const names = await (await fetch(fake.url)).text();
    expect(names).toContain('"OPENAI_BASE_URL"');
    expect(names).not.toContain("MANYHANDS_TEST_SECRET");
  }
  delete process.env.MANYHANDS_TEST_SECRET;
  await rm(folder, { recursive: true });
});
