import { expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { freePort } from "manyhands/internal/http/free-port";
import { startGatewayServer, until } from "../servers/gateway-server.ts";

const haproxy = Bun.which("haproxy");
const configured = resolve(import.meta.dir, "../../deploy/haproxy.cfg");

/** The balancer's configuration with one backend, of these servers, behind this port. */
async function balancing(port: number, servers: readonly string[]): Promise<string> {
  const text = await Bun.file(configured).text();
  const section = (head: string) => new RegExp(`^${head}\\n(?:[ #].*\\n)*`, "m").exec(text)?.[0] ?? "";
  const replicas = servers.map((url, n) => `  server replica-${n} 127.0.0.1:${new URL(url).port} check`).join("\n");
  return (
    ["defaults", "frontend gateway", "backend gateway"]
      .map(section)
      .join("\n")
      .replace(" init-addr none resolvers docker", "")
      // A replica is down for what it answers, not for the time that this machine gives it.
      .replace(/timeout (check|connect) \ds/g, "timeout $1 60s")
      .replace("bind :4100", `bind 127.0.0.1:${port}`)
      .replace(/ {2}server-template .*/, replicas)
  );
}

test.skipIf(haproxy === null)(
  "the balancer finds its replicas healthy, and a session of MCP stays with the one that has it",
  async () => {
    const home = await mkdtemp(join(tmpdir(), "manyhands-balanced-"));
    const gateways = await Promise.all(["one", "other"].map((name) => startGatewayServer(join(home, name))));
    const port = freePort();
    const file = join(home, "haproxy.cfg");
    await Bun.write(
      file,
      await balancing(
        port,
        gateways.map(({ url }) => url),
      ),
    );
    const balancer = Bun.spawn(["haproxy", "-f", file], { stdout: "ignore", stderr: "pipe" });
    const ask = (method: string, params: object, session?: string) =>
      fetch(`http://127.0.0.1:${port}/mcp`, {
        method: "POST",
        headers: {
          ...{ "Content-Type": "application/json", Accept: "application/json, text/event-stream" },
          ...(session !== undefined && { "Mcp-Session-Id": session, "MCP-Protocol-Version": "2025-06-18" }),
        },
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
      });
    const about = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "one", version: "1" } };
    try {
      await until(() =>
        fetch(`http://127.0.0.1:${port}/healthz`).then(
          (answer) => answer.ok,
          () => false,
        ),
      );
      const begun = await Promise.all([1, 2, 3, 4].map(() => ask("initialize", about)));
      const sessions = begun.map(({ headers }) => headers.get("Mcp-Session-Id") ?? "none");
      expect(sessions).not.toContain("none");
      // One after the other in the same session, which goes to the replicas in turn otherwise.
      for (const session of sessions.flatMap((one) => [one, one])) {
        const answer = await ask("tools/list", {}, session);
        expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining("run_status")]);
      }
      balancer.kill();
      expect(await balancer.stderr.text()).not.toContain("is DOWN");
    } finally {
      balancer.kill();
      await Promise.all([balancer.exited, ...gateways.map((gateway) => gateway.stop())]);
      await rm(home, { recursive: true });
    }
  },
  180_000,
);
