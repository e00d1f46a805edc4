import { ptr, read } from "bun:ffi";
import { closeSync } from "node:fs";
import { getSystemErrorName } from "node:util";
import { libc } from "./libc.ts";
import { ruleOutNewPrivileges } from "./this-process.ts";

const createRuleset = 444n;
const addRule = 445n;
const restrict = 446n;
const askVersion = 1n;
const pathBeneath = 1n;

/**
 * Constants of the kernel's `linux/landlock.h`: access to files, by the ABI version that introduced
 * it.
 */
const fileAccessByAbi: readonly (readonly [abi: number, bits: bigint])[] = [
  [1, 0x1fffn],
  [2, 1n << 13n],
  [3, 1n << 14n],
  [5, 1n << 15n],
];
const readFolders = (1n << 0n) | (1n << 2n) | (1n << 3n);
const listFolders = 1n << 3n;
const onFiles = (1n << 0n) | (1n << 1n) | (1n << 2n) | (1n << 14n) | (1n << 15n);
/** Connecting to abstract sockets of outside processes, and sending signals to them. */
const scopes = 0b11n;
const scopesAbi = 6;

/**
 * The access allowed below a path; `list` only shows names. `exact`: others may change names on the
 * path, so the opened file must be at exactly that path.
 */
export type LandlockRule = { readonly path: string; readonly access: "list" | "read" | "write"; readonly exact?: true };

/** An allowed path, already open. */
export type OpenedRule = {
  readonly descriptor: number;
  readonly access: LandlockRule["access"];
  readonly isFolder: boolean;
};

/** The kernel's Landlock version; 0 when it has none. */
export function landlockAbi(): number {
  return Math.max(0, Number(libc().syscall(createRuleset, 0n, 0n, askVersion, 0n)));
}

/**
 * Restricts this thread and everything it starts to the given paths. Cannot be undone; throws when
 * any part fails.
 */
export function restrictFiles(abi: number, rules: readonly OpenedRule[]): void {
  const { syscall, __errno_location } = libc();
  const errnoAt = __errno_location();
  const attribute = rulesetAttribute(abi);
  const ruleset = syscall(createRuleset, BigInt(ptr(attribute)), BigInt(rulesetSize(abi)), 0n, 0n);
  if (ruleset < 0n) throw new Error(`the kernel made no Landlock ruleset${reasonAt(errnoAt)}`);
  for (const { descriptor, access, isFolder } of rules) {
    const rule = pathRule(abi, access, isFolder, descriptor);
    if (syscall(addRule, ruleset, pathBeneath, BigInt(ptr(rule)), 0n) < 0n)
      throw new Error(`a Landlock rule was refused${reasonAt(errnoAt)}`);
  }
  ruleOutNewPrivileges();
  if (syscall(restrict, ruleset, 0n, 0n, 0n) < 0n) throw new Error("Landlock did not take effect");
  closeSync(Number(ruleset));
}

/** The name of the last call's error, so that a shortage is told from what the kernel lacks. */
function reasonAt(errnoAt: Parameters<typeof read.i32>[0] | null): string {
  const errno = errnoAt === null ? 0 : read.i32(errnoAt, 0);
  return errno === 0 ? "" : ` (${getSystemErrorName(-errno)})`;
}

/**
 * `struct landlock_ruleset_attr`: everything this ABI can restrict is restricted. TCP is left to
 * the socket filter.
 */
function rulesetAttribute(abi: number): BigUint64Array<ArrayBuffer> {
  return new BigUint64Array([handledFiles(abi), 0n, abi >= scopesAbi ? scopes : 0n]);
}

/** The size in bytes of the attribute that a kernel of this ABI knows. */
function rulesetSize(abi: number): number {
  if (abi >= scopesAbi) return 24;
  return abi >= 4 ? 16 : 8;
}

/**
 * `struct landlock_path_beneath_attr`, which is packed: the access bits and an open descriptor of
 * the path.
 */
function pathRule(abi: number, access: LandlockRule["access"], isFolder: boolean, descriptor: number): Uint8Array {
  const wanted = { list: listFolders, read: readFolders, write: handledFiles(abi) }[access];
  const view = new DataView(new ArrayBuffer(12));
  view.setBigUint64(0, wanted & handledFiles(abi) & (isFolder ? ~0n : onFiles), true);
  view.setInt32(8, descriptor, true);
  return new Uint8Array(view.buffer);
}

function handledFiles(abi: number): bigint {
  return fileAccessByAbi.reduce((bits, [since, more]) => (abi >= since ? bits | more : bits), 0n);
}
