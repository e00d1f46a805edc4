import { ptr } from "bun:ffi";
import { libc } from "./libc.ts";

const unix = 1;
const seqpacket = 5;
const closeOnExec = 0o2000000;
const closeReceivedOnExec = 0x40000000;
const socketLevel = 1;
const rights = 1;
const headBytes = 16;
/** The most the kernel sends at once. */
const most = 253;

/** Two ends between which descriptors can be sent; neither is inherited by accident. */
export function descriptorChannel(): readonly [one: number, other: number] {
  const ends = new Int32Array(2);
  if (libc().socketpair(unix, seqpacket | closeOnExec, 0, ptr(ends)) !== 0)
    throw new Error("no pair of sockets was made");
  const [one = -1, other = -1] = ends;
  return [one, other];
}

/** Sends descriptors in one message, which keeps them open until it is received. */
export function sendDescriptors(channel: number, descriptors: readonly number[]): void {
  const control = new Uint8Array(headBytes + 8 * Math.ceil(descriptors.length / 2));
  const view = new DataView(control.buffer);
  view.setBigUint64(0, BigInt(headBytes + 4 * descriptors.length), true);
  view.setInt32(8, socketLevel, true);
  view.setInt32(12, rights, true);
  for (const [index, descriptor] of descriptors.entries()) view.setInt32(headBytes + 4 * index, descriptor, true);
  const parts = messageOf(control);
  if (libc().sendmsg(channel, ptr(parts.message), 0) < 0n) throw new Error("descriptors could not be sent");
}

/**
 * Waits for a message and returns its descriptors; none when the other end was closed without one.
 */
export function receiveDescriptors(channel: number): number[] {
  const control = new Uint8Array(headBytes + 4 * (most + 1));
  const parts = messageOf(control);
  if (libc().recvmsg(channel, ptr(parts.message), closeReceivedOnExec) <= 0n) return [];
  const view = new DataView(control.buffer);
  const count = (Number(view.getBigUint64(0, true)) - headBytes) / 4;
  return Array.from({ length: Math.max(0, count) }, (_, index) => view.getInt32(headBytes + 4 * index, true));
}

/**
 * A `struct msghdr` of one byte and the control data, returned with the buffers it points to, so
 * that they stay alive.
 */
function messageOf(control: Uint8Array) {
  const byte = new Uint8Array(1);
  const vector = new BigUint64Array([BigInt(ptr(byte)), 1n]);
  const message = new BigUint64Array([
    0n,
    0n,
    BigInt(ptr(vector)),
    1n,
    BigInt(ptr(control)),
    BigInt(control.length),
    0n,
  ]);
  return { message, vector, byte };
}
