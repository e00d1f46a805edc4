import { Database } from "bun:sqlite";
import { afterAll, expect, spyOn, test } from "bun:test";
import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "manyhands/internal/config/config";
import { AppError } from "manyhands/internal/core/errors";
import { freePort } from "manyhands/internal/http/free-port";
import * as confinement from "manyhands/internal/machine/confinement/create-sandbox";
import { modelConfigSchema } from "manyhands/internal/models/config";
import * as opening from "manyhands/internal/server/machine/open-browser";
import { s3Credentials, startS3 } from "manyhands/internal/testing/machine/s3-server";
import { checkBrowser, checkBucket, checkEngine, checkModel, checkSandbox } from "./checks.ts";

test("the doctor distinguishes a good endpoint from a refused key, a missing model and a dead address", async () => {
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch(request) {
      if (new URL(request.url).pathname !== "/v1/models") return new Response("", { status: 404 });
      if (request.headers.get("Authorization") === "Bearer barred") return new Response("", { status: 403 });
      if (request.headers.get("Authorization") !== "Bearer right") return new Response("", { status: 401 });
      return Response.json({ data: [{ id: "good" }] });
    },
  });
  const check = (name: string, apiKey: string, baseUrl = `${server.url.origin}/v1/`) =>
    checkModel(modelConfigSchema.parse({ name, apiKey, baseUrl }));
  const good = await check("good", "right");
  const other = await check("other", "right");
  const refused = await check("good", "wrong-key");
  const barred = await check("good", "barred");
  const listless = await check("good", "right", `${server.url.origin}/other/`);
  await server.stop(true);
  const dead = await check("good", "right");
  const none = await checkModel(undefined);
  expect([good, other, refused, dead, none].map(({ state }) => state)).toEqual(["ok", "warn", "fail", "fail", "warn"]);
  expect(other.text).toEndWith("does not list other. Check llm.model (MANYHANDS_MODEL).");
  expect(refused.text).toEndWith("refuses the key (HTTP 401). Check llm.api_key (OPENAI_API_KEY).");
  expect(refused.text).not.toContain("wrong-key");
  expect(barred).toMatchObject({ state: "fail", text: expect.stringContaining("refuses the key (HTTP 403)") });
  expect(listless).toMatchObject({ state: "warn", text: expect.stringContaining("lists no models (HTTP 404)") });
  expect(dead.text).toEndWith("cannot be reached. Check llm.base_url (OPENAI_BASE_URL) and the network.");
  expect(none.text).toContain("rehearsal");
});

test.each([
  [{ max_model_len: 4096 }, {}, "warn", "keeps a window of 4096 tokens, and 32768 are assumed"],
  [{ meta: { n_ctx: 8192 } }, {}, "warn", "context_window = 8192"],
  [{ context_length: 131_072 }, {}, "ok", "a window of 32768 tokens"],
  [{ context_length: 131_072, loaded_context_length: 4096 }, { contextWindow: 4096 }, "ok", "profile smallest"],
  [
    { max_model_len: "many" },
    { contextWindow: 12_000 },
    "ok",
    "work without browser, desktop, delegate (profile small)",
  ],
])("with %j listed and %j known, the window is %s: %s", async (about, capabilities, state, text) => {
  const list = () => Response.json({ data: [{ id: "small", ...about }] });
  const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: list });
  const check = await checkModel(modelConfigSchema.parse({ name: "small", baseUrl: server.url.origin, capabilities }));
  await server.stop(true);
  expect({ ...check }).toMatchObject({ state, text: expect.stringContaining(text) });
});

test("of a cloud the doctor says who calls, since it lists no models", async () => {
  const check = (settings: object) => checkModel(modelConfigSchema.parse({ name: "m", ...settings }));
  const azure = await check({ apiType: "azure", apiKey: "k", baseUrl: "https://mine.openai.azure.com" });
  expect(azure).toEqual({
    name: "model",
    state: "ok",
    text: "m at mine.openai.azure.com, with a key (the model itself is not asked)",
  });
});

const home = mkdtempSync(join(tmpdir(), "manyhands-browser-check-"));
afterAll(() => rm(home, { recursive: true }));
const configured = (env: Record<string, string>) => loadConfig({ cwd: home, env: { MANYHANDS_HOME: home, ...env } });

test("the doctor tries all that a bucket has to allow, leaves nothing there, and says what it may not", async () => {
  await using s3 = startS3();
  const check = async (more: object = {}) => {
    const bucket = { ...s3Credentials, endpoint: s3.endpoint, prefix: "team", workspaceBytes: 1, ...more };
    return (await checkBucket({ bucket }))[0];
  };
  const where = `files at ${new URL(s3.endpoint).host}`;
  expect(await check()).toEqual({
    ...{ name: "bucket", state: "ok", text: `${where}, team: can write, list, read and delete` },
  });
  expect([await check({ bucket: "none" }), await check({ accessKeyId: "stranger" })]).toMatchObject([
    { state: "fail", text: expect.stringContaining("cannot write there. The object store failed (NoSuchBucket).") },
    { state: "fail", text: expect.stringContaining("cannot write there. The object store failed (AccessDenied).") },
  ]);
  for (const [method, what] of [
    ["GET", "list"],
    ["HEAD", "read"],
    ["DELETE", "delete"],
  ] as const) {
    s3.failNext(method, 403);
    expect(await check()).toMatchObject({ state: "fail", text: expect.stringContaining(`cannot ${what} there.`) });
    s3.failNone();
    if (method === "DELETE") s3.objects.clear();
    expect([...s3.objects.keys()]).toEqual([]);
  }
  expect(await check({ endpoint: `http://127.0.0.1:${freePort()}` })).toMatchObject({ state: "fail" });
  expect(await checkBucket({ bucket: undefined })).toEqual([]);
}, 60_000);

test("the doctor says where runs are, and that a database does not answer, without its password", async () => {
  expect(await checkEngine(await configured({}))).toEqual({
    name: "engine",
    state: "ok",
    text: `embedded, in ${home}`,
  });
  const store = join(home, "runs.db");
  const db = new Database(store);
  db.run("PRAGMA user_version = 99");
  db.close();
  const newer = await checkEngine(await configured({}));
  await Bun.write(store, "no database".repeat(1000));
  const damaged = await checkEngine(await configured({}));
  await rm(store);
  expect([newer, damaged]).toMatchObject([
    { state: "fail", text: expect.stringContaining("was written by a newer version") },
    { state: "fail", text: expect.stringContaining("it is not a database, or damaged (SQLITE_NOTADB)") },
  ]);
  const place = `127.0.0.1:${freePort()}/runs`;
  const url = `postgres://ann:secret@${place}`;
  const dead = await checkEngine(await configured({ MANYHANDS_ENGINE_KIND: "postgres", MANYHANDS_ENGINE_URL: url }));
  expect(dead.state).toBe("fail");
  expect(dead.text).toStartWith(`The run store is unavailable: PostgreSQL at ${place}: `);
  expect(dead.text).not.toContain("secret");
});

test("the doctor says what confines commands, and warns if nothing does", async () => {
  const [off] = await checkSandbox(await configured({ SANDBOX: "off" }));
  expect(off).toMatchObject({ name: "sandbox", state: "warn", text: expect.stringMatching(/^off: ./) });
  const [found, libraries] = await checkSandbox(await configured({ MANYHANDS_PYTHON_PACKAGES: "there-is-none" }));
  const isNone = /^none, so shell and Python are off: ./.test(found?.text ?? "");
  expect(found?.state).toBe(isNone ? "warn" : "ok");
  // What set-up would install, where there is a Python.
  if (libraries !== undefined)
    expect(libraries).toMatchObject({ state: "warn", text: expect.stringMatching(/setup installs there_is_none$/) });
});

test("the browser is fine if it opened a page of this process and its script ran", async () => {
  const check = await checkBrowser(await configured({}));
  expect(check).toMatchObject({ name: "browser", state: "ok", text: expect.stringContaining("chromium") });
});

test("a disabled browser, or one missing at its configured path, is reported", async () => {
  expect(await checkBrowser(await configured({ MANYHANDS_BROWSER_ENABLED: "false" }))).toMatchObject({ state: "warn" });
  const check = await checkBrowser(await configured({ MANYHANDS_BROWSER_CDP_URL: "http://127.0.0.1:9" }));
  expect(check).toMatchObject({ state: "fail", text: "The browser at 127.0.0.1:9 cannot be reached." });
});

/**
 * What a browser of these settings is asked for when it shows this page, and what the doctor says
 * of it.
 */
async function checkedWith(env: Record<string, string>, html: string | Error) {
  const rendered: [string, { timeoutMs?: number }][] = [];
  const sites: string[] = [];
  let closed = 0;
  const browsers = {
    async render(url: string, options: { timeoutMs?: number }) {
      sites.push(url);
      rendered.push([url.replace(/:\d+\/$/, ":port/"), options]);
      if (typeof html !== "string") throw html;
      return { html };
    },
    describe: () => ({ kind: "chromium", version: "1", sandbox: "on", egress: "e" }),
    close: async () => void closed++,
  };
  using open = spyOn(opening, "openBrowser").mockResolvedValue({ browsers } as never);
  const config = await configured(env);
  const proxied = { ...config, browser: { ...config.browser, proxy: { server: "http://proxy.example:3128" } } };
  const check = await checkBrowser(proxied as typeof config);
  // The page is there for as long as it is looked at.
  for (const site of sites.filter((one) => one.startsWith("http"))) await expect(fetch(site)).rejects.toThrow();
  const given = open.mock.calls[0]?.[0];
  expect([rendered[0]?.[1].timeoutMs, closed]).toEqual([20_000, 1]);
  return { check, url: rendered[0]?.[0], egress: given?.egress, proxy: given?.browser.proxy };
}

test("a browser here opens a page of this process past the operator's proxy, one elsewhere an empty page", async () => {
  const near = await checkedWith({}, "<title>after</title>");
  expect(near.proxy).toEqual({});
  expect(near).toMatchObject({
    ...{ check: { state: "ok", text: "chromium 1, sandbox: on, policy: e" }, url: "http://127.0.0.1:port/" },
    egress: { allow: [expect.stringMatching(/^127\.0\.0\.1:\d+$/)], deny: [], only: [], proxy: undefined },
  });
  const scriptless = await checkedWith({}, "<title>before</title>");
  expect(scriptless.check).toMatchObject({ state: "fail", text: "It opens pages but runs no scripts." });
  for (const variable of ["MANYHANDS_BROWSER_CDP_URL", "MANYHANDS_BROWSER_WSS_URL"]) {
    const address = `${variable.includes("WSS") ? "ws" : "http"}://127.0.0.1:9/`;
    const far = await checkedWith({ [variable]: address }, "");
    expect([variable, far.url, far.check.state]).toEqual([variable, "about:blank", "ok"]);
  }
  const closed = await checkedWith({}, new AppError("unavailable", "It closed."));
  expect(closed.check).toMatchObject({ state: "fail", text: "It closed." });
});

test("the sandbox is tried where agents' commands run, as it is asked for, and closed again", async () => {
  let closed = 0;
  const sandbox = { tier: "none", description: "nothing here", close: async () => void closed++ };
  using creating = spyOn(confinement, "createSandbox").mockResolvedValue(sandbox as never);
  const config = await configured({ SANDBOX: "landlock" });
  expect(await checkSandbox(config)).toMatchObject([{ state: "warn", text: expect.stringContaining("nothing here") }]);
  const folder = join(home, "workspaces");
  expect(creating.mock.calls).toEqual([[{ mode: "landlock", folder, python: config.python.environment }]] as never);
  expect(closed).toBe(1);
  creating.mockRejectedValue(new AppError("unavailable", "It could not be tried out."));
  expect(await checkSandbox(config)).toEqual([{ name: "sandbox", state: "fail", text: "It could not be tried out." }]);
});
