import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createA2aClient } from "manyhands/internal/a2a/client/client";
import { freePort } from "manyhands/internal/http/free-port";
import { startChromium } from "manyhands/internal/testing/browser/lean-chromium";
import { type ScriptedModel, startScriptedModel } from "manyhands/internal/testing/models/scripted-model";
import { type GatewayServer, startGatewayServer, until } from "../servers/gateway-server.ts";
import { type AgentServer, startManus } from "../servers/manus-server.ts";

/** Debian installs it in a folder that is only on root's PATH. */
const nginx = Bun.which("nginx", { PATH: `${process.env.PATH}:/usr/sbin` });
const name = "agents.example";
const token = "long-enough";
const port = `${freePort()}`;
const origin = `http://${name}:${port}`;
/** The gateway under one path of the proxy, Manus under another. */
const outside = `${origin}/team`;
const manusOutside = `${origin}/of/manus`;

let home: string;
let model: ScriptedModel;
let manus: AgentServer;
let gateway: GatewayServer;
let proxy: Bun.Subprocess;

/**
 * Requests as from outside, where the name server knows the proxy's name: nothing but the proxy is
 * reachable.
 */
const asked: string[] = [];
const fromOutside = (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
  const url = new URL(input instanceof Request ? input.url : input);
  asked.push(url.host);
  const headers = new Headers(input instanceof Request ? input.headers : init?.headers);
  headers.set("Host", url.host);
  headers.set("Authorization", `Bearer ${token}`);
  return fetch(`http://127.0.0.1:${port}${url.pathname}${url.search}`, { ...init, headers });
};

const bodyText = async (path: string, init?: RequestInit) => (await fromOutside(`${outside}${path}`, init)).text();
const post = async (path: string, body: unknown) =>
  JSON.parse(
    await bodyText(path, {
      method: "POST",
      body: JSON.stringify(body),
      headers: { "Content-Type": "application/json", Prefer: "wait=30" },
    }),
  );

describe.skipIf(nginx === null)("behind nginx (skipped if it is not installed), under another name", () => {
  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), "reverse-proxy-"));
    model = await startScriptedModel(({ messages }) =>
      messages.at(-1)?.role === "tool"
        ? { text: "It is written." }
        : { calls: [{ name: "str_replace_editor", args: { command: "create", path: "card.txt", file_text: "Ada" } }] },
    );
    const [manusPort, gatewayPort] = [`${freePort()}`, `${freePort()}`];
    const settings = join(home, "manyhands.toml");
    await writeFile(
      settings,
      `[server]
token = "${token}"
[gateway]
port = ${gatewayPort}
public_url = "${outside}/"
[agents.manus]
port = ${manusPort}
public_url = "${manusOutside}"
delegates = []
`,
    );
    const env = {
      MANYHANDS_CONFIG: settings,
      OPENAI_BASE_URL: model.url,
      OPENAI_API_KEY: "none",
      MANYHANDS_MODEL: "scripted",
      SANDBOX: "off",
    };
    const state = join(home, "manus");
    await mkdir(state);
    manus = startManus({ ...env, MANYHANDS_HOME: state, PORT: manusPort });
    await manus.ready;
    gateway = await startGatewayServer(home, { ...env, PORT: gatewayPort });
    proxy = await startNginx({ gateway: gatewayPort, manus: manusPort });
    await until(async () => (await bodyText("/readyz").catch(() => "")).includes("true"));
  });

  afterAll(async () => {
    proxy?.kill("SIGTERM");
    await Promise.all([proxy?.exited, manus?.stop("SIGKILL"), gateway?.stop("SIGKILL")]);
    await model?.close();
    if (home !== undefined) await rm(home, { recursive: true, force: true });
  });

  test("cards and links have the public address, and a stock client works with it alone", async () => {
    asked.length = 0;
    for (const [address, inner] of [
      [`${outside}/a2a/manus`, `${outside}/a2a/manus`],
      [`${manusOutside}/`, manusOutside],
    ] as const) {
      const client = await createA2aClient(address, { fetch: fromOutside });
      const urls = client.card.supportedInterfaces.map(({ url }) => url);
      expect(new Set(urls)).toEqual(new Set([inner]));
      const { artifacts } = await client.send({ text: "Write a card" });
      const link = artifacts.flatMap(({ parts }) =>
        parts.flatMap(({ content }) => (content?.$case === "url" ? content.value : [])),
      )[0];
      expect(link).toStartWith(`${inner}/artifacts/`);
      expect(await (await fromOutside(link ?? "")).text()).toBe("Ada");
    }
    expect(new Set(asked)).toEqual(new Set([`${name}:${port}`]));
  });

  test("every adapter of the gateway uses that address: runs, the API's description, and its page", async () => {
    const run = await post("/flows/manus", { input: "Write a card" });
    expect(run).toMatchObject({ status: "completed", files: [{ name: "card.txt" }] });
    expect(run.files[0].url).toStartWith(`${outside}/artifacts/`);
    expect(JSON.parse(await bodyText("/openapi.json")).servers).toEqual([{ url: outside }]);
    expect(await bodyText("/docs")).toContain(`${outside}/mcp`);
  });

  test("the system's own servers reach each other without the proxy, and so does a flow another flow", async () => {
    // The name does not resolve here: requests that used it would fail.
    const steps = [{ agent: "sequential", settings: { agents: ["manus"] } }];
    const run = await post("/flows/sequential", { input: "Write a card", agents: ["sequential"], options: { steps } });
    expect(run).toMatchObject({ status: "completed", answer: "It is written.", files: [{ name: "card.txt" }] });
  });

  test("the console works through it, and shows the files of a run", async () => {
    const run = await post("/flows/manus", { input: "Write a card" });
    const browser = await startChromium([`--host-resolver-rules=MAP ${name} 127.0.0.1`]);
    try {
      const page = await browser.newPage();
      page.setDefaultTimeout(60_000);
      await page.goto(`${outside}/#/c/${run.contextId}`);
      await page.locator("dialog input").fill(token);
      await page.keyboard.press("Enter");
      const arriving = page.waitForEvent("download");
      await page.getByRole("link", { name: "card.txt" }).first().click();
      expect(await Bun.file(await (await arriving).path()).text()).toBe("Ada");
      await page.getByRole("link", { name: "API" }).click();
      await page.getByRole("link", { name: "docs" }).click();
      await page.getByRole("link", { name: "console" }).click();
      await page.getByRole("button", { name: "Start" }).waitFor();
    } finally {
      await browser.close();
    }
  });

  test("other host names than the configured one, and pages of another site, are refused as before", async () => {
    const status = async (headers: Record<string, string>) =>
      (
        await fetch(`http://127.0.0.1:${port}/team/flows`, {
          headers: { Authorization: `Bearer ${token}`, ...headers },
        })
      ).status;
    expect(await status({ Host: `${name}:${port}` })).toBe(200);
    expect(await status({ Host: `${name}:${port}`, Origin: origin })).toBe(200);
    expect(await status({ Host: "elsewhere.example" })).toBe(403);
    expect(await status({ Host: `${name}:${port}`, Origin: "http://elsewhere.example" })).toBe(403);
  });
});

/**
 * nginx as this user, with its files below the home: the gateway and Manus each under a path that
 * it strips.
 */
async function startNginx({ gateway, manus }: { gateway: string; manus: string }): Promise<Bun.Subprocess> {
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (kind) => `${kind}_temp_path ${join(home, kind)};`,
  );
  const conf = join(home, "nginx.conf");
  await writeFile(
    conf,
    `daemon off; pid ${join(home, "nginx.pid")}; error_log stderr;
events {}
http {
  access_log off; ${temporary.join(" ")}
  proxy_http_version 1.1; proxy_buffering off; proxy_read_timeout 1h; client_max_body_size 10m;
  proxy_set_header Host $http_host;
  server {
    listen 127.0.0.1:${port};
    location /team/ { proxy_pass http://127.0.0.1:${gateway}/; }
    location /of/manus/ { proxy_pass http://127.0.0.1:${manus}/; }
    location = /of/manus { proxy_pass http://127.0.0.1:${manus}/; }
  }
}
`,
  );
  return Bun.spawn([nginx ?? "", "-c", conf], { stdin: "ignore", stdout: "ignore", stderr: "ignore" });
}
