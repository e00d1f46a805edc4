import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "manyhands/internal/http/free-port";
import { type ScriptedModel, startScriptedModel } from "manyhands/internal/testing/models/scripted-model";
import { type Site, startSite } from "../agents/browser-site.ts";
import { type GatewayServer, startGatewayServer, until } from "./gateway-server.ts";
import { startManus } from "./manus-server.ts";

/** A site for members, Manus at its door, and a gateway with another home. */
export type LivePlace = AsyncDisposable & {
  readonly site: Site;
  readonly model: ScriptedModel;
  readonly gateway: GatewayServer;
  /** Starts a run whose agent asks a person to sign in; resolves when it has asked. */
  ask(): Promise<{ readonly id: string; readonly contextId: string }>;
};

const inquire = "Please sign in on the page, then say that you did.";

/** The fields are at 60, 115 and 60, 195. */
const signIn = `<!doctype html><html lang=en><title>Sign in</title><style>
  body{font:16px system-ui;background:#f4f5f7;margin:0} h1{position:fixed;left:40px;top:20px;font-size:22px}
  form{position:fixed;left:20px;top:10px;width:320px;height:290px;background:#fff;border:1px solid #ccd;border-radius:10px}
  label{position:fixed;left:40px;width:280px} input{display:block;width:264px;height:34px;font:inherit;margin-top:4px}
  button{position:fixed;left:40px;top:240px;width:272px;height:40px;font:inherit;background:#246;color:#fff;border:0}</style>
  <form method=post action=/in><h1>Members of the club</h1><label style="top:74px">Name <input name=who></label>
  <label style="top:152px">Password <input name=word type=password></label><button>Sign in</button></form>`;

/** Starts everything. */
export async function startLivePlace(): Promise<LivePlace> {
  const home = await mkdtemp(join(tmpdir(), "live-page-"));
  const site = startSite(({ url, body }) => (url.pathname === "/in" ? `<h1>Welcome ${body.length}</h1>` : signIn));
  const model = await startScriptedModel(({ messages }) => {
    const results = messages.filter(({ role }) => role === "tool").length;
    if (results === 0) return { calls: [{ name: "browser_go_to_url", args: { url: site.origin } }] };
    if (results === 1) return { calls: [{ name: "ask_human", args: { inquire } }] };
    const said = /A person used the browser for \d+ s/.exec(JSON.stringify(messages))?.[0] ?? "nobody";
    return { text: `${/Welcome \d+/.exec(JSON.stringify(messages))?.[0] ?? "Not in"}. ${said}.` };
  });
  const scripted = { OPENAI_BASE_URL: model.url, OPENAI_API_KEY: "none", MANYHANDS_MODEL: "scripted" };
  const own = { MANYHANDS_HOME: home, PORT: `${freePort()}`, SANDBOX: "off", MANYHANDS_EGRESS_ALLOW: site.host };
  const manus = startManus({ ...own, ...scripted });
  await manus.ready;
  const env = { MANYHANDS_HOME: join(home, "gateway"), PORT: `${freePort()}`, MANUS_URL: manus.url, ...scripted };
  const gateway = await startGatewayServer(home, env);
  return {
    ...{ site, model, gateway },
    async ask() {
      const input = `Read what ${site.origin} says to members.`;
      const { body } = await gateway.call("/flows/sequential", { input, agents: ["manus"] });
      await until(async () => (await gateway.call(`/runs/${body.id}`)).body.status === "input-required");
      return body;
    },
    async [Symbol.asyncDispose]() {
      await gateway.stop("SIGKILL");
      await manus.stop();
      await model.close();
      await site.stop();
      await rm(home, { recursive: true, force: true });
    },
  };
}
