import { afterAll, beforeAll, expect, test } from "bun:test";
import { chmod, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { freePort } from "manyhands/internal/http/free-port";
import { bareEnvironment } from "manyhands/internal/testing/machine/bare-environment";
import type { ScriptedModel } from "manyhands/testing";
import { type AgentServer, startAgent, startServer } from "../servers/manus-server.ts";
import { startGuideModel } from "./guide-model.ts";
import { blocksOf } from "./markdown.ts";

const docs = resolve(import.meta.dir, "../../docs");
const page = await Bun.file(join(docs, "how-to/evaluate.md")).text();
const evaluation = blocksOf(page).find(({ language }) => language === "ts")?.text ?? "";

let folder: string;
let model: ScriptedModel;
let manus: AgentServer;
let gateway: AgentServer;
/** A folder with what the page's file imports, and a system with a scripted model. */
beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "manyhands-evaluate-")));
  await chmod(folder, 0o711);
  await Promise.all(["node_modules", "home"].map((name) => mkdir(join(folder, name))));
  await symlink(await realpath(join(docs, "node_modules/zod")), join(folder, "node_modules/zod"));
  model = await startGuideModel();
  const env = () => ({
    OPENAI_BASE_URL: model.url,
    MANYHANDS_MODEL: "scripted",
    MANYHANDS_HOME: join(folder, "home"),
    PORT: `${freePort()}`,
  });
  manus = startAgent("manus", env());
  await manus.ready;
  gateway = startServer("gateway/src/server/main.ts", { ...env(), MANUS_URL: manus.url });
  await gateway.ready;
});
afterAll(async () => {
  await Promise.all([gateway, manus].map((server) => server.stop()));
  await model.close();
  await rm(folder, { recursive: true });
});

async function evaluate(text: string) {
  await writeFile(join(folder, "manus.test.ts"), text);
  const child = Bun.spawn([process.execPath, "test", "manus.test.ts", "--rerun-each", "2"], {
    cwd: folder,
    env: { ...bareEnvironment(), GATEWAY: gateway.url },
    stdout: "ignore",
    stderr: "pipe",
  });
  return { said: await child.stderr.text(), exitCode: await child.exited };
}

test("the evaluation passes as printed, and fails where another answer or call is expected", async () => {
  const passed = await evaluate(evaluation);
  expect(passed.said).toContain("2 pass");
  expect(passed.exitCode).toBe(0);
  expect(await evaluate(evaluation.replace("primes: 168", "primes: 169"))).toMatchObject({ exitCode: 1 });
  expect(await evaluate(evaluation.replace("python_execute", "web_search"))).toMatchObject({ exitCode: 1 });
});
