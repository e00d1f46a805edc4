import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Workspace } from "../../core/workspace.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import { createLoopbacks } from "./loopbacks.ts";

const canRun = process.platform === "linux" && Bun.which("socat") !== null;
const sandboxOf = (tier: Sandbox["tier"], user?: Sandbox["user"]) => ({ tier, user }) as Sandbox;

let base: string;
beforeAll(async () => {
  base = await mkdtemp(join(tmpdir(), "lb-"));
});
afterAll(() => rm(base, { recursive: true, force: true }));

async function workspaceAt(name: string): Promise<Workspace> {
  return { root: join(base, name), metaRoot: join(base, name, "meta") } as Workspace;
}

/** What answers at a shell's door: says these pieces to who has asked for a port. */
async function doorAt(path: string, pieces: (port: string) => readonly string[]): Promise<Server> {
  const server = createServer((client: Socket) => {
    client.on("error", () => client.destroy());
    client.once("data", async (asked) => {
      const said = pieces(asked.toString());
      client.pause();
      for (const piece of said) {
        await new Promise((sent) => client.write(piece, sent));
        // The next piece is to come by itself.
        await Bun.sleep(10);
      }
      if (!said.join("").startsWith("+")) client.end();
      else client.on("data", (more) => client.write(`echo ${more}`)).resume();
    });
  });
  await new Promise<void>((done) => server.listen(path, done));
  return server;
}

const line = (port: number, state = "0A") =>
  `   0: 0100007F:${port.toString(16).toUpperCase().padStart(4, "0")} 00000000:0000 ${state} 00000000:00000000\n`;

test("shells have a loopback of their own only on tiers with a network of their own", () => {
  for (const tier of ["landlock", "off", "none"] as const) expect(createLoopbacks(sandboxOf(tier))).toBeUndefined();
});

test.if(canRun)("a shell's folder names its loopback, is closed to others, and is gone with its shell", async () => {
  const nobody = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : undefined;
  const loopbacks = createLoopbacks(sandboxOf("srt", nobody));
  const workspace = await workspaceAt("own");
  const first = await loopbacks?.open(workspace);
  const folder = first?.folder ?? "";
  expect(await readFile(join(folder, "hosts"), "utf8")).toBe("127.0.0.1 localhost\n::1 localhost ip6-localhost\n");
  const { mode, uid } = await stat(folder);
  expect([mode & 0o777, uid]).toEqual([0o700, nobody?.uid ?? process.getuid?.() ?? 0]);
  const second = await loopbacks?.open(workspace);
  const door = await doorAt(join(second?.folder ?? "", "door"), () => ["+"]);
  // The end of a shell that another has replaced leaves that one alone.
  await first?.end();
  const socket = await loopbacks?.dial(workspace, 8000);
  socket?.destroy();
  door.close();
  await second?.end();
  expect(await readdir(workspace.metaRoot)).toEqual([]);
  await expect(loopbacks?.dial(workspace, 8000)).rejects.toMatchObject({
    code: "unavailable",
    message: expect.stringContaining("No shell is open."),
  });
});

test.if(canRun)("a connection is what the door says it is, with every byte after its first", async () => {
  const loopbacks = createLoopbacks(sandboxOf("bwrap"));
  const workspace = await workspaceAt("joined");
  const { folder = "" } = (await loopbacks?.open(workspace)) ?? {};
  const asked: string[] = [];
  const door = await doorAt(join(folder, "door"), (port) => {
    asked.push(port);
    return ["+early", " words "];
  });
  const socket = await loopbacks?.dial(workspace, 8000);
  socket?.write("ping");
  let heard = "";
  for await (const chunk of socket ?? []) {
    heard += chunk;
    if (heard.endsWith("ping")) break;
  }
  expect([asked, heard]).toEqual([["8000\n"], "early words echo ping"]);
  door.close();
});

test.if(canRun)("where nothing listens the ten lowest ports that are listened on are named, each once", async () => {
  const loopbacks = createLoopbacks(sandboxOf("bwrap"));
  const workspace = await workspaceAt("ports");
  const { folder = "" } = (await loopbacks?.open(workspace)) ?? {};
  const lists: Record<string, readonly string[]> = {
    1: ["-", "  sl  local_address rem_address   st\n", line(9000), line(8000) + line(8000), line(7000, "01")],
    2: ["-"],
    3: ["-\n", Array.from({ length: 12 }, (_, at) => line(5_012 - at)).join("")],
  };
  const door = await doorAt(join(folder, "door"), (port) => lists[port.trim()] ?? []);
  const told = (port: number) => loopbacks?.dial(workspace, port).catch((error: Error) => error.message);
  expect(await told(1)).toEndWith("with & at the end. Ports in use there: 8000, 9000.");
  expect(await told(2)).toEndWith("No port is in use there.");
  const open = async () => (await readdir("/proc/self/fd").catch(() => [])).length;
  const before = await open();
  for (let count = 0; count < 10; count++) await told(2);
  expect(await open()).toBeLessThan(before + 8);
  expect(await told(3)).toEndWith(`there: ${Array.from({ length: 10 }, (_, at) => 5_001 + at).join(", ")}.`);
  door.close();
});

test.if(canRun)(
  "a door that is missing, a link, or no socket is not gone through, and a silent one is given up",
  async () => {
    const loopbacks = createLoopbacks(sandboxOf("bwrap"), 50);
    const workspace = await workspaceAt("doors");
    const { folder = "" } = (await loopbacks?.open(workspace)) ?? {};
    const code = () =>
      loopbacks?.dial(workspace, 8000).then(
        () => "reached",
        (error) => error.code,
      );
    const door = join(folder, "door");
    expect(await code()).toBe("unavailable");
    let reached = 0;
    const elsewhere = await doorAt(join(base, "elsewhere"), () => {
      reached++;
      return ["+"];
    });
    await symlink(join(base, "elsewhere"), door);
    expect([await code(), reached]).toEqual(["unavailable", 0]);
    await rm(door);
    await writeFile(door, "");
    expect(await code()).toBe("unavailable");
    await rm(door);
    await mkdir(door);
    expect(await code()).toBe("unavailable");
    await rm(door, { recursive: true });
    const ended: boolean[] = [];
    const silent = createServer((client) =>
      client
        .resume()
        .on("error", () => undefined)
        .once("close", () => ended.push(true)),
    );
    await new Promise<void>((done) => silent.listen(door, done));
    expect(await code()).toBe("timeout");
    while (ended.length === 0) await Bun.sleep(5);
    for (const server of [silent, elsewhere]) server.close();
  },
);
