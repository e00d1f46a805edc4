import { dlopen, FFIType, ptr } from "bun:ffi";

/** One end of a TCP connection. */
export type ConnectionEnd = { readonly address: string; readonly port: number };

/**
 * The id of the user whose process holds the connection's end `held`, as the kernel's socket table
 * has it now; undefined when no process of this machine holds it (any more).
 */
export type SocketOwner = (held: ConnectionEnd, other: ConnectionEnd) => number | undefined;

const netlink = 16;
const datagramCloseOnExec = 0o2000003;
const socketDiagnosis = 4;
const doNotWait = 0x40;

const byFamily = 20;
const request = 1;
const ipv4 = 2;
const ipv6 = 10;
const tcp = 6;
const allStates = 0xffffffff;
const listening = 10;
const noCookie = 0xffffffff;

/**
 * How the owners of sockets are asked for: one exact question to the kernel (`sock_diag(7)`), some
 * microseconds however many sockets there are. Undefined where the kernel does not say (other
 * systems, kernels without it, sandboxes), which is tried on a connection to itself.
 */
export async function openSocketOwner(): Promise<SocketOwner | undefined> {
  if (process.platform !== "linux") return undefined;
  const ask = openKernel();
  if (ask === undefined) return undefined;
  const owner: SocketOwner = (held, other) => ownerIn(ask(question(held, other)));
  return (await tellsOwn(owner)) ? owner : undefined;
}

/**
 * Sends a question and returns the kernel's answer; empty where it gives none. Undefined where the
 * system's library is another.
 */
function openKernel(): ((message: Buffer) => Buffer) | undefined {
  const { socket, send, recv, close } = libc() ?? {};
  if (socket === undefined || send === undefined || recv === undefined || close === undefined) return undefined;
  const answer = Buffer.alloc(4_096);
  return (message) => {
    const descriptor = socket(netlink, datagramCloseOnExec, socketDiagnosis);
    if (descriptor < 0) return answer.subarray(0, 0);
    try {
      send(descriptor, ptr(message), BigInt(message.length), 0);
      const length = Number(recv(descriptor, ptr(answer), BigInt(answer.length), doNotWait));
      return answer.subarray(0, Math.max(0, length));
    } finally {
      close(descriptor);
    }
  };
}

function libc() {
  const { i32, i64, u64, ptr: pointer } = FFIType;
  try {
    return dlopen("libc.so.6", {
      socket: { args: [i32, i32, i32], returns: i32 },
      send: { args: [i32, pointer, u64, i32], returns: i64 },
      recv: { args: [i32, pointer, u64, i32], returns: i64 },
      close: { args: [i32], returns: i32 },
    }).symbols;
  } catch {
    return undefined;
  }
}

/** `struct nlmsghdr` and `struct inet_diag_req_v2`: the one socket of these two ends. */
function question(held: ConnectionEnd, other: ConnectionEnd): Buffer {
  const from = addressBytes(held.address);
  const message = Buffer.alloc(72);
  message.writeUInt32LE(message.length, 0);
  message.writeUInt16LE(byFamily, 4);
  message.writeUInt16LE(request, 6);
  message.set([from.length === 4 ? ipv4 : ipv6, tcp], 16);
  message.writeUInt32LE(allStates, 20);
  message.writeUInt16BE(held.port, 24);
  message.writeUInt16BE(other.port, 26);
  message.set(from, 28);
  message.set(addressBytes(other.address), 44);
  message.writeUInt32LE(noCookie, 64);
  message.writeUInt32LE(noCookie, 68);
  return message;
}

/**
 * `uid` of `struct inet_diag_msg`. A socket that its process has closed has no inode, and root for
 * its owner: it is nobody's.
 */
function ownerIn(answer: Buffer): number | undefined {
  if (answer.length < 88 || answer.readUInt16LE(4) !== byFamily || answer[17] === listening) return undefined;
  return answer.readUInt32LE(84) === 0 ? undefined : answer.readUInt32LE(80);
}

/** 4 bytes of an IPv4 address, also of one written as IPv6; 16 of another. */
function addressBytes(address: string): number[] {
  const mapped = /^(?:::ffff:)?(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return mapped.split(".").map(Number);
  const [head = "", tail] = address.replace(/%.*$/, "").split("::");
  const [first, last] = [groups(head), groups(tail ?? "")];
  const zeros = tail === undefined ? [] : Array.from({ length: 8 - first.length - last.length }, () => 0);
  return [...first, ...zeros, ...last].flatMap((group) => [group >> 8, group & 0xff]);
}

function groups(text: string): number[] {
  return text === "" ? [] : text.split(":").map((group) => Number.parseInt(group, 16));
}

/** Whether the kernel knows a connection of ours for ours. */
async function tellsOwn(owner: SocketOwner): Promise<boolean> {
  const listener = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  try {
    const other = { address: "127.0.0.1", port: listener.port };
    const socket = await Bun.connect({ hostname: other.address, port: other.port, socket: { data() {} } });
    const told = owner({ address: "127.0.0.1", port: socket.localPort }, other);
    socket.end();
    return told === process.geteuid?.();
  } finally {
    listener.stop(true);
  }
}
