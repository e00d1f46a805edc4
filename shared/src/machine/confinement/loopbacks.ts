import { closeSync, constants, fstatSync, openSync } from "node:fs";
import { chmod, chown, mkdir, rm, writeFile } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { AppError, errnoOf } from "../../core/errors.ts";
import { makeOwnedFolder } from "../process/owned-folder.ts";
import type { Loopbacks } from "../sandbox/loopback.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";

const hosts = "127.0.0.1 localhost\n::1 localhost ip6-localhost\n";
const defaultDialMs = 10_000;
const longestList = 64_000;
const maxPorts = 10;
/** Of Linux; Node has no name for it. */
const onlyName = 0x20_0000;

/**
 * Those of a sandbox's shells; undefined where commands have no network of their own, or no program
 * to enter it with.
 */
export function createLoopbacks({ tier, user }: Sandbox, dialMs = defaultDialMs): Loopbacks | undefined {
  if ((tier !== "bwrap" && tier !== "srt") || Bun.which("socat") === null) return undefined;
  const folders = new Map<string, string>();
  return {
    async open(workspace) {
      const { root } = workspace;
      await mkdir(workspace.metaRoot, { recursive: true });
      const folder = await makeOwnedFolder(workspace.metaRoot, "loopback");
      await writeFile(join(folder, "hosts"), hosts);
      await chmod(folder, 0o700);
      if (user !== undefined) await chown(folder, user.uid, user.gid);
      folders.set(root, folder);
      return {
        folder,
        async end() {
          if (folders.get(root) === folder) folders.delete(root);
          await rm(folder, { recursive: true, force: true });
        },
      };
    },
    async dial({ root }, port) {
      const folder = folders.get(root);
      if (folder === undefined) throw new AppError("unavailable", `${nothing(port)} No shell is open.`);
      const socket = await connectTo(join(folder, "door"), port, dialMs);
      const inUse = await answerOf(socket, port, dialMs);
      if (inUse === undefined) return socket;
      throw new AppError("unavailable", `${nothing(port)} ${listening(inUse)}`);
    },
  };
}

function nothing(port: number): string {
  return `Nothing listens on port ${port} of this conversation's shell. Start the server with bash, with & at the end.`;
}

function listening(ports: readonly number[]): string {
  return ports.length === 0 ? "No port is in use there." : `Ports in use there: ${ports.join(", ")}.`;
}

/**
 * Connects to the socket of that name itself. Commands can put a link to another socket of this
 * machine in its place, so the name is looked up once, without following a link, and what was found
 * is then connected to.
 */
async function connectTo(path: string, port: number, timeoutMs: number): Promise<Socket> {
  const found = openName(path, port);
  try {
    if (!fstatSync(found).isSocket()) throw new AppError("unavailable", nothing(port));
    const socket = connect(`/proc/self/fd/${found}`);
    await settled(socket, port, timeoutMs, (done) => socket.once("connect", done));
    return socket;
  } finally {
    closeSync(found);
  }
}

function openName(path: string, port: number): number {
  try {
    return openSync(path, onlyName | constants.O_NOFOLLOW);
  } catch (error) {
    if (errnoOf(error) !== "ENOENT") throw error;
    throw new AppError("unavailable", nothing(port));
  }
}

/** Asks for the port; undefined once it is connected, the ports in use if nothing listens there. */
async function answerOf(socket: Socket, port: number, timeoutMs: number): Promise<readonly number[] | undefined> {
  let read = Buffer.alloc(0);
  const take = (done: () => void) => (chunk: Buffer) => {
    read = Buffer.concat([read, chunk]);
    if (read[0] === connected || read.length > longestList) done();
  };
  socket.write(`${port}\n`);
  await settled(socket, port, timeoutMs, (done) => {
    socket.on("data", take(done)).once("end", done);
  });
  socket.removeAllListeners("data").removeAllListeners("end").pause();
  if (read[0] === connected) {
    if (read.length > 1) socket.unshift(read.subarray(1));
    return undefined;
  }
  socket.destroy();
  return portsIn(read.toString("latin1"));
}

const connected = "+".charCodeAt(0);

/** The listening ports in the kernel's lists of connections. */
function portsIn(text: string): number[] {
  const found = [...text.matchAll(/^\s*\d+: [\dA-F]+:([\dA-F]{4}) [\dA-F]+:0000 0A /gm)];
  const ports = found.map(([, port = ""]) => Number.parseInt(port, 16));
  return [...new Set(ports)].sort((a, b) => a - b).slice(0, maxPorts);
}

/** Waits for what `begin` announces; the socket is destroyed when that does not come. */
function settled(socket: Socket, port: number, timeoutMs: number, begin: (done: () => void) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      socket.off("error", fail).off("close", fail);
    };
    const failWith = (error: AppError) => {
      stop();
      socket.destroy();
      reject(error);
    };
    const fail = () => failWith(new AppError("unavailable", nothing(port)));
    const late = () => failWith(new AppError("timeout", `Port ${port} of this conversation's shell did not answer.`));
    const timer = setTimeout(late, timeoutMs);
    socket.once("error", fail).once("close", fail);
    begin(() => {
      stop();
      resolve();
    });
  });
}
