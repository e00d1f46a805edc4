import { afterAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { freePort } from "manyhands/internal/http/free-port";
import { bareEnvironment } from "manyhands/internal/testing/machine/bare-environment";
import { startScriptedModel } from "manyhands/testing";
import { blocksOf } from "./markdown.ts";
import { run } from "./run-example.ts";
import { shows } from "./shows.ts";

const blocks = blocksOf(await Bun.file(resolve(import.meta.dir, "../../docs/how-to/embed.md")).text());
const textOf = (language: string, index = 0) =>
  blocks.filter((block) => block.language === language)[index]?.text ?? "";
const folder = await mkdtemp(join(tmpdir(), "manyhands-embed-"));
afterAll(() => rm(folder, { recursive: true }));

/** The server of the page, on a port of its own, once it answers. */
async function serve(port: number) {
  const text = textOf("ts")
    .replace('"runs.db"', JSON.stringify(join(folder, "runs.db")))
    .replace("3000", String(port));
  const server = Bun.spawn([process.execPath, "-"], {
    cwd: resolve(import.meta.dir, ".."),
    stdin: new Blob([text]),
    stdout: "ignore",
    stderr: "inherit",
  });
  const deadline = performance.now() + 30_000;
  while (!(await fetch(`http://127.0.0.1:${port}`).catch(() => undefined))) {
    if (performance.now() > deadline || server.exitCode !== null) throw new Error("The page's server does not answer.");
    await Bun.sleep(20);
  }
  return server;
}

test("the run of the page's server ends as the page shows, though the server is killed in the middle", async () => {
  const probe = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response() });
  const port = probe.port ?? 0;
  await probe.stop(true);
  const first = await serve(port);
  const id = await (await fetch(`http://127.0.0.1:${port}/welcome`, { method: "POST", body: "Ada" })).text();
  const state = async () => (await fetch(`http://127.0.0.1:${port}/runs/${id}`)).text();
  const until = async (status: string) => {
    const deadline = performance.now() + 30_000;
    for (;;) {
      const now = await state();
      if (now.includes(`"${status}"`)) return now;
      if (performance.now() > deadline) throw new Error(`The run is not ${status}: ${now}`);
      await Bun.sleep(20);
    }
  };
  await until("waiting");
  first.kill("SIGKILL");
  await first.exited;
  const second = await serve(port);
  const shown = await until("completed");
  second.kill();
  await second.exited;
  if (!shows(textOf("json"), shown)) throw new Error(`embed.md shows another answer than ${shown}`);
});

test("the page's agent listens in the program, and answers it", async () => {
  const model = await startScriptedModel([{ text: "Dear Ada" }]);
  const program = Bun.spawn([process.execPath, "-"], {
    cwd: resolve(import.meta.dir, ".."),
    env: {
      ...bareEnvironment(),
      OPENAI_BASE_URL: model.url,
      MANYHANDS_MODEL: "m",
      MANYHANDS_HOME: join(folder, "home"),
    },
    stdin: new Blob([textOf("ts", 2).replace("4111", String(freePort()))]),
    stdout: "pipe",
    stderr: "ignore",
  });
  expect(await program.stdout.text()).toMatch(/^ready .*\n\[\s+\{\s+type: "text",\s+text: "Dear Ada",\s+\}\s+\]\n$/);
  expect(await program.exited).toBe(0);
  await model.close();
});

test("the page's call of a model answers", async () => {
  const model = await startScriptedModel([{ text: "There are 168." }]);
  const text = textOf("ts", 1).replace("http://localhost:11434/v1", model.url);
  expect(await run([process.execPath, "-"], text, {})).toBe("There are 168.");
  await model.close();
});
