import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import type { Page } from "playwright";
import { type BrowsersForTest, browsersForTest } from "../../testing/browser/browsers.ts";
import { availableTiers, openTier } from "../../testing/sandbox/tiers.ts";
import { contextForTest } from "../../testing/tool-context.ts";
import { startSite } from "../../testing/web/site.ts";
import { bashTool, createShellSessions } from "../../tools/shell/bash-tool.ts";
import { createLoopbacks } from "../confinement/loopbacks.ts";
import { openWorkspace } from "../workspace/open-workspace.ts";

setDefaultTimeout(60_000);

const canRun =
  (await availableTiers()).includes("bwrap") && Bun.which("socat") !== null && Bun.which("python3") !== null;

/** Serves a page, answers WebSockets, and writes each request into a file. */
const server = `
import base64, hashlib, http.server, sys
class Page(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_GET(self):
        with open("requests.txt", "a") as kept: kept.write(self.command + " " + self.path + "\\\\n")
        key = self.headers.get("Sec-WebSocket-Key")
        if key:
            accept = base64.b64encode(hashlib.sha1((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").encode()).digest()).decode()
            self.wfile.write(("HTTP/1.1 101 X\\\\r\\\\nUpgrade: websocket\\\\r\\\\nConnection: Upgrade\\\\r\\\\nSec-WebSocket-Accept: " + accept + "\\\\r\\\\n\\\\r\\\\n").encode())
            self.wfile.write(bytes([0x81, 5]) + b"hello")
            self.close_connection = True
            return
        body = ("<title>Mine</title><p>port " + sys.argv[1]).encode()
        self.send_response(200)
        self.send_header("content-type", "text/html")
        self.send_header("content-length", str(len(body)))
        self.send_header("access-control-allow-origin", "*")
        self.end_headers()
        self.wfile.write(body)
    do_POST = do_GET
    def log_message(self, *_): pass
http.server.ThreadingHTTPServer(("localhost", int(sys.argv[1])), Page).serve_forever()
`;

/** Tries a request, and says what came of it. */
const tryFetch = (url: string, options = "{}") =>
  `fetch(${JSON.stringify(url)}, ${options}).then(async (r) => r.status + " " + (await r.text()).slice(0, 40), () => "failed")`;
const trySocket = (url: string) => `new Promise((done) => {
  const socket = new WebSocket(${JSON.stringify(url)});
  socket.onmessage = ({ data }) => done(data);
  socket.onerror = () => done("failed");
})`;

describe.if(canRun)("a conversation's pages and the servers it has started", () => {
  let tier: Awaited<ReturnType<typeof openTier>>;
  let lab: BrowsersForTest;
  let shells: ReturnType<typeof createShellSessions>;
  let machine: ReturnType<typeof startSite>;
  let evil: ReturnType<typeof startSite>;
  let hostSocket: Server;
  let touched = 0;

  beforeAll(async () => {
    tier = await openTier("bwrap");
    const loopbacks = createLoopbacks(tier.sandbox);
    if (loopbacks === undefined) throw new Error("no loopbacks");
    shells = createShellSessions(tier.sandbox, { loopbacks });
    machine = startSite({
      "/": () => new Response("of the machine", { headers: { "access-control-allow-origin": "*" } }),
    });
    evil = startSite({ "/": () => new Response("<p>evil", { headers: { "content-type": "text/html" } }) });
    const port = new URL(evil.url).port;
    lab = await browsersForTest([`evil.example:${port}`], {
      loopback: loopbacks.dial,
      resolve: async () => ["127.0.0.1"],
    });
    hostSocket = createServer((client) => {
      touched++;
      client.end("+HTTP/1.1 200 OK\r\n\r\nsecret");
    }).listen(join(tier.neighbour, "host.sock"));
    await begin("own", "8000", "8001");
  });
  afterAll(async () => {
    hostSocket?.close();
    await shells?.close();
    await Promise.all([lab?.[Symbol.asyncDispose](), machine?.[Symbol.asyncDispose](), evil?.[Symbol.asyncDispose]()]);
    await tier?.close();
  });

  const workspaceOf = (contextId: string) =>
    openWorkspace({ home: lab.home, principal: "alice", contextId, user: tier.sandbox.user });

  async function bash(conversation: string, command: string): Promise<string> {
    const context = contextForTest(await workspaceOf(conversation));
    return (await bashTool({ sessions: shells }).call({ command, timeout: 20 }, context)).text;
  }

  /** Starts servers in the background, as a model does, and waits until they listen. */
  async function begin(conversation: string, ...ports: readonly string[]): Promise<void> {
    const { root } = await workspaceOf(conversation);
    await Bun.write(join(root, "serve.py"), server.replaceAll("\\\\", "\\"));
    for (const port of ports) await bash(conversation, `python3 serve.py ${port} > server.log 2>&1 &`);
    for (const port of ports)
      expect(
        await bash(conversation, `until (: </dev/tcp/127.0.0.1/${port}) 2>/dev/null; do sleep 0.05; done`),
      ).toContain("exit code 0");
  }

  /** What a page at this address gets for an expression. */
  const seen = (conversation: string, address: string, expression = "document.body.innerText") =>
    at(conversation, address, (page) => page.evaluate(expression));

  async function at(conversation: string, address: string, act: (page: Page) => Promise<unknown>): Promise<unknown> {
    const browsing = await lab.browsers.open(await workspaceOf(conversation), AbortSignal.timeout(30_000));
    const options = { signal: AbortSignal.timeout(30_000), timeoutMs: 20_000 };
    return await browsing.act(async (page) => {
      await page.goto(address);
      return await act(page);
    }, options);
  }

  const requests = async () => {
    const { root } = await workspaceOf("own");
    return await Bun.file(join(root, "requests.txt")).text();
  };
  const evilAddress = () => `http://evil.example:${new URL(evil.url).port}/`;

  test("a page sees the server that its conversation's shell runs in the background, by name and by number", async () => {
    expect(await seen("own", "http://localhost:8000/")).toBe("port 8000");
    expect(await seen("own", "http://127.0.0.1:8001/")).toBe("port 8001");
    expect(await bash("own", "jobs -r | wc -l")).toStartWith("2\n");
  });

  test("its page may ask the conversation's other servers and hold a WebSocket", async () => {
    const page = "http://localhost:8000/";
    expect(await seen("own", page, tryFetch("http://127.0.0.1:8001/api", '{ method: "POST", body: "x" }'))).toBe(
      "200 <title>Mine</title><p>port 8001",
    );
    expect(await seen("own", page, trySocket("ws://localhost:8000/live"))).toBe("hello");
  });

  test("where nothing listens the answer names the ports that are in use", async () => {
    expect(await seen("own", "http://localhost:9999/")).toContain("Ports in use there: 8000, 8001.");
    expect(await seen("other", "http://localhost:8000/")).toContain("No shell is open.");
  });

  test("a page or a job that tries a port of the machine reaches nothing", async () => {
    const { port } = new URL(machine.url);
    for (const host of ["localhost", "127.0.0.1", "[::1]"]) {
      const url = `http://${host}:${port}/`;
      expect(await seen("own", "http://localhost:8000/", tryFetch(url))).toMatch(/^(?:failed|502 )/);
      expect(await seen("own", url)).toContain("Nothing listens on port");
    }
    expect(await bash("own", `curl -s -m 3 http://127.0.0.1:${port}/; echo " status $?"`)).not.toContain(
      "of the machine",
    );
    expect(machine.hits).toEqual([]);
  });

  test("another conversation reaches only what it started itself", async () => {
    await begin("other", "8002");
    expect(await seen("other", "http://localhost:8002/")).toBe("port 8002");
    expect(await seen("other", "http://localhost:8000/")).toContain("Ports in use there: 8002.");
    expect(await seen("own", "http://localhost:8002/")).toContain("Nothing listens on port 8002");
  });

  test("a page of another site does not reach the conversation's servers", async () => {
    const before = await requests();
    for (const host of ["localhost", "127.0.0.1"]) {
      const options = '{ method: "POST", mode: "no-cors", body: "x" }';
      await seen("own", evilAddress(), tryFetch(`http://${host}:8000/attack`, options));
      expect(await seen("own", evilAddress(), trySocket(`ws://${host}:8000/attack`))).toBe("failed");
    }
    await at("own", evilAddress(), async (page) => {
      const attack = "http://localhost:8000/attack";
      const going = page.waitForRequest(attack);
      // Later than its answer, which would otherwise be lost with the page that is left.
      await page.evaluate(`setTimeout(() => location.assign("${attack}")); 0`);
      await going;
    });
    expect(evil.hits).toContain("/");
    // Where the page itself wanted to go may still be under way.
    const after = () => seen("own", "http://localhost:8000/after");
    expect(await after().catch(after)).toBe("port 8000");
    expect((await requests()).slice(before.length)).not.toContain("attack");
  });

  test("a job that puts another socket of the machine in place of its own gets nothing from there", async () => {
    const target = join(tier.neighbour, "host.sock");
    await begin("swapped", "8003");
    expect(await seen("swapped", "http://localhost:8003/")).toBe("port 8003");
    for (const swap of [
      `ln -s ${target} /loopback/door`,
      "mkdir /loopback/door",
      "touch /loopback/door",
      `rm -rf /loopback/door; ln -s /proc/self/root${target} /loopback/door`,
    ]) {
      expect(await bash("swapped", `rm -rf /loopback/door; ${swap}`)).toContain("exit code 0");
      expect(await seen("swapped", "http://localhost:8003/").catch(String)).not.toContain("secret");
    }
    expect(touched).toBe(0);
  });
});
