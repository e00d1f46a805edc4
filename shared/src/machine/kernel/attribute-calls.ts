import { callNumber, type Processor, type SystemCall } from "./syscall-numbers.ts";

/**
 * The file a call names: a path below a folder or, without a path, the descriptor in the folder's
 * place.
 */
export type CallFile = {
  /** One of the caller's descriptors, or `workingFolder`. */
  readonly folder: number;
  /** The address of the path in the caller's memory. */
  readonly path?: bigint;
  readonly follow: boolean;
  readonly mayBeEmpty: boolean;
};

/** The change a call requests. `times` are in the caller's memory; address 0 means now. */
export type AttributeChange =
  | { readonly of: "mode"; readonly mode: number }
  | { readonly of: "owner"; readonly uid: number; readonly gid: number }
  | { readonly of: "times"; readonly at: bigint; readonly form: TimesForm };

/** Two values in seconds, in seconds and microseconds, or in seconds and nanoseconds. */
export type TimesForm = "seconds" | "microseconds" | "nanoseconds";

/** A call that changes a file's mode, owner or times, as the kernel hands it over. */
export type AttributeCall = {
  readonly file: CallFile;
  readonly change: AttributeChange;
  readonly flagsKnown: boolean;
};

/** In place of a folder: the caller's working folder. */
export const workingFolder = -100;

const noFollow = 0x100;
const emptyPath = 0x1000;

type Words = readonly [bigint, bigint, bigint, bigint, bigint, bigint];

const signed = (word: bigint) => Number(BigInt.asIntN(32, word));
const held = (descriptor: bigint): CallFile => ({ folder: signed(descriptor), follow: true, mayBeEmpty: false });
const plain = (path: bigint, follow = true): CallFile => ({ folder: workingFolder, path, follow, mayBeEmpty: false });
const below = (folder: bigint, path: bigint, flags = 0n): CallFile => ({
  folder: signed(folder),
  path,
  follow: (signed(flags) & noFollow) === 0,
  mayBeEmpty: (signed(flags) & emptyPath) !== 0,
});
/** For calls that set times, a folder without a path is a descriptor. */
const belowOrHeld = (folder: bigint, path: bigint, flags = 0n) =>
  path === 0n ? held(folder) : below(folder, path, flags);
const mode = (word: bigint): AttributeChange => ({ of: "mode", mode: signed(word) & 0o7777 });
const owner = (uid: bigint, gid: bigint): AttributeChange => ({ of: "owner", uid: signed(uid), gid: signed(gid) });
const times = (at: bigint, form: TimesForm): AttributeChange => ({ of: "times", at, form });
const made = (file: CallFile, change: AttributeChange, flags = 0n): AttributeCall => ({
  file,
  change,
  flagsKnown: (signed(flags) & ~(noFollow | emptyPath)) === 0,
});

const readers = {
  chmod: ([path, bits]) => made(plain(path), mode(bits)),
  fchmod: ([descriptor, bits]) => made(held(descriptor), mode(bits)),
  fchmodat: ([folder, path, bits]) => made(below(folder, path), mode(bits)),
  fchmodat2: ([folder, path, bits, flags]) => made(below(folder, path, flags), mode(bits), flags),
  chown: ([path, uid, gid]) => made(plain(path), owner(uid, gid)),
  lchown: ([path, uid, gid]) => made(plain(path, false), owner(uid, gid)),
  fchown: ([descriptor, uid, gid]) => made(held(descriptor), owner(uid, gid)),
  fchownat: ([folder, path, uid, gid, flags]) => made(below(folder, path, flags), owner(uid, gid), flags),
  utime: ([path, at]) => made(plain(path), times(at, "seconds")),
  utimes: ([path, at]) => made(plain(path), times(at, "microseconds")),
  futimesat: ([folder, path, at]) => made(belowOrHeld(folder, path), times(at, "microseconds")),
  utimensat: ([folder, path, at, flags]) => made(belowOrHeld(folder, path, flags), times(at, "nanoseconds"), flags),
} as const satisfies Partial<Record<SystemCall, (words: Words) => AttributeCall>>;

/**
 * The calls that change a file's mode, owner or times; those that change extended attributes are
 * always refused.
 */
export const attributeCalls = Object.keys(readers) as readonly (keyof typeof readers)[];

/**
 * Reads such calls from their numbers on a processor and their six arguments; undefined for any
 * other call.
 */
export function attributeCallReader(processor: Processor): (number: number, words: Words) => AttributeCall | undefined {
  const byNumber = new Map(attributeCalls.map((call) => [callNumber(call, processor), readers[call]]));
  return (number, words) => byNumber.get(number)?.(words);
}
