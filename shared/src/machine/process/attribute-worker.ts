import { closeSync, openSync } from "node:fs";
import {
  type AttributeChange,
  attributeCallReader,
  type CallFile,
  type TimesForm,
  workingFolder,
} from "../kernel/attribute-calls.ts";
import { CallError, createFileCalls } from "../kernel/file-calls.ts";
import { cString } from "../kernel/libc.ts";
import { isWithin } from "../kernel/mount-table.ts";
import { type AskedCall, createCallListener } from "../kernel/seccomp.ts";
import { receiveDescriptors } from "../kernel/send-descriptors.ts";
import { knownProcessor } from "../kernel/syscall-numbers.ts";
import type { SandboxUser } from "./step-down.ts";

/**
 * The supervisor's thread that answers calls which change a file's mode, owner or times: it takes a
 * handle on the named file, checks where that file is, and makes the change on the handle, with the
 * rights of the command's user, below the folders the command may write and nowhere else.
 */

/**
 * The supervisor's message: the end of the channel on which the launcher sends its listener and the
 * writable folders, and the user whose rights apply.
 */
export type AttributeWork = { readonly channel: number; readonly user: SandboxUser | undefined };

const notPermitted = 1;
const noSuchFile = 2;
const noSuchDescriptor = 9;
const badAddress = 14;
const invalid = 22;
const nameTooLong = 36;
const longestPath = 4096;

declare const self: Worker;

const processor = knownProcessor(process.arch);
if (processor === undefined) throw new Error(`no numbers of system calls for ${process.arch}`);
const files = createFileCalls(processor);
const readCall = attributeCallReader(processor);

self.onmessage = ({ data: { channel, user } }: MessageEvent<AttributeWork>) => {
  if (user !== undefined) files.actAs(user.uid, user.gid);
  const [descriptor, ...writable] = receiveDescriptors(channel);
  // The workspace is the last of them, and the most frequent target.
  if (descriptor !== undefined) serve(descriptor, writable.toReversed());
  process.exit();
};

/**
 * However this ends, later calls fail as nonexistent: no caller waits for an answer that never
 * comes.
 */
function serve(descriptor: number, writable: readonly number[]): void {
  const mayChange = (name: string) => writable.some((place) => isWithin(name, files.nameOf(place)));
  try {
    const listener = createCallListener(descriptor);
    for (let call = listener.next(); call !== undefined; call = listener.next()) {
      const asked = call;
      listener.answer(
        asked,
        outcome(() => perform(asked, () => listener.stands(asked), mayChange)),
      );
    }
  } finally {
    closeSync(descriptor);
  }
}

function outcome(act: () => void): number {
  try {
    act();
    return 0;
  } catch (error) {
    return error instanceof CallError ? error.errno : notPermitted;
  }
}

function perform(call: AskedCall, stands: () => boolean, mayChange: (name: string) => boolean): void {
  const read = readCall(call.number, call.words);
  if (read === undefined) throw new CallError(notPermitted);
  if (!read.flagsKnown) throw new CallError(invalid);
  const open: number[] = [];
  const keep = (opened: number) => {
    open.push(opened);
    return opened;
  };
  try {
    const memory = keep(openSync(`/proc/${call.thread}/mem`, "r"));
    const path = read.file.path === undefined ? undefined : textAt(memory, read.file.path);
    const change = changeOf(read.change, memory);
    const from = startOf(call.thread, read.file, path);
    const folder = keep(heldInProc(from.folder));
    // What was read and opened belongs to the caller only if its call is still pending.
    if (!stands()) throw new CallError(notPermitted);
    const held =
      from.path === undefined
        ? folder
        : keep(files.hold(folder, from.path, { follow: read.file.follow, magic: false }));
    if (!mayChange(files.nameOf(held))) throw new CallError(notPermitted);
    change(held);
  } finally {
    for (const opened of open) closeSync(opened);
  }
}

/** Opens what a name in /proc leads to. An invalid descriptor has no such name. */
function heldInProc(name: string): number {
  try {
    return files.hold(workingFolder, cString(name), { follow: true, magic: true });
  } catch (error) {
    throw error instanceof CallError && error.errno === noSuchFile ? new CallError(noSuchDescriptor) : error;
  }
}

/**
 * The folder that the caller's path starts from, in /proc as we see it, and the rest of the path.
 */
function startOf(thread: number, file: CallFile, path: Uint8Array | undefined) {
  const heldBy = (number: string | number) => `/proc/${thread}/fd/${number}`;
  const start = file.folder === workingFolder ? `/proc/${thread}/cwd` : heldBy(file.folder);
  if (path === undefined) return { folder: start };
  const text = new TextDecoder().decode(path.subarray(0, -1));
  if (text === "" && !file.mayBeEmpty) throw new CallError(noSuchFile);
  if (text === "") return { folder: start };
  // Programs name their descriptors this way where a call takes none. For us these names would mean
  // our own.
  const [, number] = /^\/(?:proc\/(?:thread-)?self|dev)\/fd\/(\d+)$/.exec(text) ?? [];
  if (number !== undefined && file.follow) return { folder: heldBy(number) };
  return { folder: text.startsWith("/") ? "/" : start, path };
}

/** The change as a function of a held file. */
function changeOf(change: AttributeChange, memory: number): (held: number) => void {
  if (change.of === "mode") return (held) => files.setMode(held, change.mode);
  if (change.of === "owner") return (held) => files.setOwner(held, change.uid, change.gid);
  const times = change.at === 0n ? undefined : timesAt(memory, change.at, change.form);
  return (held) => files.setTimes(held, times);
}

function timesAt(memory: number, address: bigint, form: TimesForm): BigInt64Array {
  const found = new BigInt64Array(form === "seconds" ? 2 : 4);
  if (files.readAt(memory, new Uint8Array(found.buffer), address) < found.byteLength) throw new CallError(badAddress);
  const [one = 0n, two = 0n, three = 0n, four = 0n] = found;
  if (form === "nanoseconds") return found;
  if (form === "seconds") return new BigInt64Array([one, 0n, two, 0n]);
  if ([two, four].some((part) => part < 0n || part >= 1_000_000n)) throw new CallError(invalid);
  return new BigInt64Array([one, two * 1000n, three, four * 1000n]);
}

/** The text at an address, including its terminating 0. */
function textAt(memory: number, address: bigint): Uint8Array {
  const found = new Uint8Array(longestPath);
  let length: number;
  try {
    length = files.readAt(memory, found, address);
  } catch {
    throw new CallError(badAddress);
  }
  const end = found.subarray(0, length).indexOf(0);
  if (end < 0) throw new CallError(length < longestPath ? badAddress : nameTooLong);
  return found.subarray(0, end + 1);
}
