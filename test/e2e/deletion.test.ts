import { afterEach, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, rm, utimes } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "manyhands/internal/http/free-port";
import { noPostgres, postgresPrograms, startPostgres } from "manyhands/internal/testing/durable/postgres-process";
import { skipped } from "manyhands/internal/testing/durable/skipped";
import { s3Credentials, startS3 } from "manyhands/internal/testing/machine/s3-server";
import { startScriptedModel } from "manyhands/internal/testing/models/scripted-model";
import { wordsInDatabase } from "../../shared/src/testing/durable/words-in-database.ts";
import { type GatewayServer, startGatewayServer, until } from "../servers/gateway-server.ts";
import { type AgentServer, startManus } from "../servers/manus-server.ts";

const word = "Xylophagous";
const kept = "Quincunx";

const cleanUp: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const each of cleanUp.splice(0).toReversed()) await each();
});

type System = {
  readonly folder: string;
  readonly gateway: GatewayServer;
  readonly manus: AgentServer;
  up(): Promise<void>;
};

/** A gateway and Manus with homes in one folder: the same one, or one each. */
async function start(
  homes: { readonly gateway: string; readonly manus: string },
  settings: Readonly<Record<string, string>> = {},
): Promise<System> {
  const folder = await mkdtemp(join(tmpdir(), "deletion-"));
  const model = await startScriptedModel(({ messages }) => {
    const all = JSON.stringify(messages);
    const said = all.includes(word) ? word : kept;
    const file = { command: "create", path: "report.txt", file_text: `All about ${said}.\n` };
    if (!all.includes('"tool"'))
      return { text: `I write of ${said}.`, calls: [{ name: "str_replace_editor", args: file }] };
    if (!all.includes("view the file"))
      return {
        text: "I view the file.",
        calls: [{ name: "str_replace_editor", args: { command: "view", path: "report.txt" } }],
      };
    return { text: `It says ${said}.` };
  });
  cleanUp.push(
    () => rm(folder, { recursive: true, force: true }),
    () => model.close(),
  );
  const env = {
    OPENAI_BASE_URL: model.url,
    OPENAI_API_KEY: "none",
    MANYHANDS_MODEL: "scripted",
    SANDBOX: "off",
    ...settings,
  };
  const home = (name: "gateway" | "manus") => join(folder, homes[name], "state");
  await mkdir(home("manus"), { recursive: true });
  const port = `${freePort()}`;
  const launch = async () => {
    const manus = startManus({ ...env, MANYHANDS_HOME: home("manus"), PORT: port });
    cleanUp.push(() => manus.stop("SIGKILL"));
    await manus.ready;
    return manus;
  };
  let manus = await launch();
  const gateway = await startGatewayServer(join(folder, homes.gateway), { ...env, MANUS_URL: manus.url });
  cleanUp.push(() => gateway.stop("SIGKILL"));
  return {
    folder,
    gateway,
    get manus() {
      return manus;
    },
    async up() {
      manus = await launch();
    },
  };
}

/** Runs a flow with Manus to its end; resolves with the run's id. */
async function run({ gateway }: System, said: string, contextId: string): Promise<string> {
  const body = { input: `Write about ${said}.`, agents: ["manus"], contextId };
  const { runId } = (await gateway.call("/flows/sequential", body)).body;
  await until(async () => (await gateway.call(`/runs/${runId}`)).body.status === "completed");
  return runId;
}

async function remove({ gateway }: System, path: string): Promise<{ status: number; body: Record<string, unknown> }> {
  const response = await fetch(`${gateway.url}${path}`, { method: "DELETE" });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

/** The files below a folder whose bytes contain the text. */
function filesWith(folder: string, text: string): string[] {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => {
      try {
        return readFileSync(path).includes(text);
      } catch {
        // It was deleted since it was listed.
        return existsSync(path);
      }
    });
}

test("a run that is deleted is nowhere in the home any more: not in rows, logs, artifacts or workspaces", async () => {
  const system = await start({ gateway: ".", manus: "." });
  const other = await run(system, kept, "other");
  const id = await run(system, word, "secret");
  const before = filesWith(system.folder, word);
  for (const part of ["runs.db", "artifacts", "workspaces"])
    expect(before.some((path) => path.includes(part))).toBe(true);
  const { status, body } = await remove(system, `/runs/${id}`);
  expect([status, body]).toMatchObject([200, { elsewhere: [] }]);
  expect(body.deleted).toHaveLength(2);
  expect(filesWith(system.folder, word)).toEqual([]);
  expect((await system.gateway.call(`/runs/${id}`)).status).toBe(404);
  expect((await remove(system, `/runs/${id}`)).status).toBe(404);
  expect((await system.gateway.call(`/runs/${other}`)).body.status).toBe("completed");
  expect(filesWith(system.folder, kept).some((path) => path.includes("artifacts"))).toBe(true);
  expect((await remove(system, "/conversations/other")).status).toBe(200);
  expect(filesWith(system.folder, kept)).toEqual([]);
  expect((await remove(system, "/conversations/other")).status).toBe(404);
}, 120_000);

test("files in an object store are served from there, and go with their runs", async () => {
  const s3 = startS3();
  cleanUp.push(async () => s3[Symbol.asyncDispose]());
  const system = await start({ gateway: ".", manus: "." }, inBucket(s3.endpoint));
  const id = await run(system, word, "secret");
  const holding = () => [...s3.objects.values()].filter((content) => Buffer.from(content).includes(word));
  expect(holding()).not.toEqual([]);
  // Another machine has the home's runs, but none of its copies.
  await rm(join(system.folder, "state", "artifacts"), { recursive: true });
  const [file] = (await system.gateway.call(`/runs/${id}`)).body.files;
  expect(await (await fetch(file.url)).text()).toContain(word);
  expect((await remove(system, `/runs/${id}`)).status).toBe(200);
  expect([holding(), filesWith(system.folder, word)]).toEqual([[], []]);
}, 120_000);

/** The settings with which files are kept in this store. */
const inBucket = (endpoint: string) => ({
  MANYHANDS_ARTIFACTS_BUCKET: s3Credentials.bucket,
  AWS_ENDPOINT_URL_S3: endpoint,
  AWS_REGION: s3Credentials.region,
  AWS_ACCESS_KEY_ID: s3Credentials.accessKeyId,
  AWS_SECRET_ACCESS_KEY: s3Credentials.secretAccessKey,
});

if (postgresPrograms === undefined) skipped(noPostgres);
else
  test("machines that share a database and a bucket keep nothing of a deleted run: not in tables or indexes, not as an object, not in their homes", async () => {
    await using database = await startPostgres();
    const s3 = startS3();
    cleanUp.push(async () => s3[Symbol.asyncDispose]());
    const url = await database.createDatabase();
    const engine = { MANYHANDS_ENGINE_KIND: "postgres", MANYHANDS_ENGINE_URL: url };
    const system = await start(
      { gateway: "gateway", manus: "manus" },
      { ...engine, ...inBucket(s3.endpoint), MANYHANDS_RETENTION_EVERY: "2s" },
    );
    await run(system, kept, "other");
    const ofOther = new Set(s3.objects.keys());
    const id = await run(system, word, "secret");
    await using sql = new Bun.SQL({ url, max: 1 });
    // Its file, and its workspace in a form in which no words are found.
    await until(async () => s3.objects.size >= 2 * ofOther.size);
    expect(ofOther.size).toBeGreaterThanOrEqual(2);
    expect(await wordsInDatabase(sql, word)).toBeGreaterThan(0);
    expect(filesWith(system.folder, word)).not.toEqual([]);
    const { status, body } = await remove(system, `/runs/${id}`);
    expect([status, body.elsewhere]).toEqual([200, []]);
    expect(await wordsInDatabase(sql, word)).toBe(0);
    expect(new Set(s3.objects.keys())).toEqual(ofOther);
    expect(filesWith(join(system.folder, "gateway"), word)).toEqual([]);
    // The machine where the agent worked looks what is gone with its next sweep.
    const workspace = (path: string) => path.includes("/workspaces/");
    await until(async () => !filesWith(system.folder, word).some(workspace));
    // A copy may be of a file that is on its way to the bucket, for some minutes.
    const minutesAgo = Date.now() / 1000 - 600;
    for (const path of filesWith(system.folder, word)) await utimes(path, minutesAgo, minutesAgo);
    await until(async () => filesWith(system.folder, word).length === 0);
    expect(await wordsInDatabase(sql, kept)).toBeGreaterThan(0);
    expect(filesWith(system.folder, kept)).not.toEqual([]);
  }, 120_000);

test("what a deleted run gave to an agent with another home is deleted there, also when it was away", async () => {
  const system = await start({ gateway: "gateway", manus: "manus" });
  const id = await run(system, word, "secret");
  expect(filesWith(join(system.folder, "manus"), word)).not.toEqual([]);
  const { body } = await remove(system, `/runs/${id}`);
  expect(body.elsewhere).toMatchObject([{ agent: { name: "manus" }, outcome: "deleted" }]);
  expect(filesWith(system.folder, word)).toEqual([]);

  const again = await run(system, word, "secret");
  await system.manus.stop();
  const away = await remove(system, `/runs/${again}`);
  expect(away.body.elsewhere).toMatchObject([{ agent: { name: "manus" }, outcome: "pending" }]);
  expect(filesWith(join(system.folder, "gateway"), word)).toEqual([]);
  expect(filesWith(join(system.folder, "manus"), word)).not.toEqual([]);
  await system.up();
  await until(async () => filesWith(system.folder, word).length === 0);
}, 120_000);

test("a run that has not ended is not deleted, and the answer says what to do", async () => {
  const system = await start({ gateway: ".", manus: "." });
  await system.manus.stop();
  const body = { input: "Wait.", agents: ["manus"], contextId: "open" };
  const { runId } = (await system.gateway.call("/flows/sequential", body)).body;
  for (const path of [`/runs/${runId}`, "/conversations/open"]) {
    const refused = await remove(system, path);
    expect(refused).toMatchObject({ status: 409, body: { code: "conflict" } });
    expect(refused.body.detail).toContain("Cancel it first.");
  }
  expect((await system.gateway.call(`/runs/${runId}/cancel`, {})).status).toBe(200);
  expect((await remove(system, "/conversations/open")).status).toBe(200);
}, 120_000);
