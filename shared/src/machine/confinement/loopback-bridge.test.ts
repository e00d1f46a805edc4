import { afterAll, beforeAll, expect, test } from "bun:test";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { connect, createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loopbackBridge } from "./loopback-bridge.ts";

const canRun = process.platform === "linux" && Bun.which("socat") !== null && Bun.which("setsid") !== null;

let folder: string;
let door: string;
let bridge: Bun.Subprocess;

/** The script as in a sandbox, with the folder at its own path. */
beforeAll(async () => {
  if (!canRun) return;
  folder = await mkdtemp(join(tmpdir(), "lbb-"));
  door = join(folder, "door");
  const { inner, mounts, moved } = loopbackBridge(folder);
  expect(mounts).toEqual(["--bind", folder, "/loopback", "--symlink", "/loopback/hosts", "/etc/hosts"]);
  expect(moved).toEqual([{ at: "/loopback", source: folder }]);
  const argv = [...inner, "sleep", "600"].map((word) => word.replaceAll("/loopback", folder));
  bridge = Bun.spawn(argv, { detached: true, stdin: "ignore", stdout: "ignore", stderr: "ignore" });
  while (!existsSync(door) && bridge.exitCode === null) await Bun.sleep(5);
});

afterAll(async () => {
  if (!canRun) return;
  process.kill(-bridge.pid, "SIGKILL");
  await bridge.exited;
  await rm(folder, { recursive: true });
});

/** What the door says to what is asked, to its end or to that of an answer. */
async function said(asked: string): Promise<string> {
  const socket = connect(door);
  socket.write(asked);
  if (asked === "") socket.end();
  let heard = "";
  for await (const chunk of socket) {
    heard += chunk;
    if (heard.endsWith("some words")) break;
  }
  return heard;
}

async function listening(server: Server, host: string): Promise<number> {
  await once(server.listen(0, host), "listening");
  return (server.address() as { port: number }).port;
}

test.if(canRun).each(["127.0.0.1", "::1"])("the door leads to a server on %s, with all that is sent", async (host) => {
  const server = createServer((client) => {
    client.once("data", (chunk) => client.end(`heard ${chunk}`));
  });
  const port = await listening(server, host);
  expect(await said(`${port}\nsome words`)).toBe("+heard some words");
  server.close();
});

test.if(canRun)("where nothing listens the door names what does, and without a port it says nothing", async () => {
  const other = createServer();
  const used = await listening(other, "127.0.0.1");
  const gone = createServer();
  const port = await listening(gone, "127.0.0.1");
  await new Promise((done) => gone.close(done));
  const told = await said(`${port}\n`);
  expect(told).toStartWith("-");
  expect(told).toContain(`:${used.toString(16).toUpperCase().padStart(4, "0")} `);
  expect(await said("")).toBe("");
  other.close();
});
