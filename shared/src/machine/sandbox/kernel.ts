import { dlopen, FFIType, ptr } from "bun:ffi";
import { closeSync } from "node:fs";
import { type LandlockRule, pathRule, rulesetAttribute, rulesetSize } from "./landlock-rules.ts";
import { callNumber, knownProcessor } from "./syscall-numbers.ts";

const createRuleset = 444n;
const addRule = 445n;
const restrict = 446n;
const askVersion = 1n;
const pathBeneath = 1n;

const setNoNewPrivileges = 38n;
const setSeccomp = 22n;
const filterMode = 2n;
const installFilter = 1n;
/** A listener, whose calls are interrupted, once it has received them, by nothing but their end. */
const newListener = (1n << 3n) | (1n << 5n);
const joinSessionKeyring = 1n;
/** SIGPIPE and SIGXFSZ. */
const ignoredByBun = [13, 25];

/** A path to allow, already open. */
export type OpenedRule = {
  readonly descriptor: number;
  readonly access: LandlockRule["access"];
  readonly isFolder: boolean;
};

/** The kernel's Landlock version; 0 when it has none. */
export function landlockAbi(): number {
  return Math.max(0, Number(libc().syscall(createRuleset, 0n, 0n, askVersion, 0n)));
}

/** Locks this thread and all it starts into the given paths. Cannot be undone; throws when any part fails. */
export function restrictFiles(abi: number, rules: readonly OpenedRule[]): void {
  const { syscall } = libc();
  const attribute = rulesetAttribute(abi);
  const ruleset = syscall(createRuleset, BigInt(ptr(attribute)), BigInt(rulesetSize(abi)), 0n, 0n);
  if (ruleset < 0n) throw new Error("the kernel made no Landlock ruleset");
  for (const { descriptor, access, isFolder } of rules) {
    const rule = pathRule(abi, access, isFolder, descriptor);
    if (syscall(addRule, ruleset, pathBeneath, BigInt(ptr(rule)), 0n) < 0n)
      throw new Error("a Landlock rule was refused");
  }
  ruleOutNewPrivileges();
  if (syscall(restrict, ruleset, 0n, 0n, 0n) < 0n) throw new Error("Landlock did not take effect");
  closeSync(Number(ruleset));
}

/** Puts this thread and all it starts under a seccomp program. Cannot be undone; throws when it fails. */
export function restrictCalls(filter: Uint8Array): void {
  const program = new BigUint64Array([BigInt(filter.length / 8), BigInt(ptr(filter))]);
  ruleOutNewPrivileges();
  if (libc().prctl(setSeccomp, filterMode, BigInt(ptr(program)), 0n, 0n) !== 0)
    throw new Error("the kernel took no filter of system calls");
}

/**
 * Puts this thread and all it starts under a seccomp program that asks, and answers the descriptor on which its questions arrive. Undefined, with
 * nothing done, where the kernel hands out none: it is too old, or we are under a program that asks already.
 */
export function restrictCallsAsking(filter: Uint8Array): number | undefined {
  const processor = knownProcessor(process.arch);
  const seccomp = processor && callNumber("seccomp", processor);
  if (seccomp === undefined) return undefined;
  const program = new BigUint64Array([BigInt(filter.length / 8), BigInt(ptr(filter))]);
  ruleOutNewPrivileges();
  const listener = libc().syscall(BigInt(seccomp), installFilter, newListener, BigInt(ptr(program)), 0n);
  return listener < 0n ? undefined : Number(listener);
}

function ruleOutNewPrivileges(): void {
  if (libc().prctl(setNoNewPrivileges, 1n, 0n, 0n, 0n) !== 0) throw new Error("new privileges could not be ruled out");
}

/** Leaves the terminal this process was started from: it can neither be read nor be written to by what comes after. */
export function leaveTerminal(): void {
  libc().setsid();
}

/**
 * Gives this thread, and all it starts from now on, an empty session keyring in place of the one it was started with. Where that fails (a kernel
 * without keys, a container that forbids them, no quota) all stays as it is: the filter refuses every call for keys anyway.
 */
export function joinNewSessionKeyring(): void {
  const processor = knownProcessor(process.arch);
  const keyctl = processor && callNumber("keyctl", processor);
  if (process.platform === "linux" && keyctl !== undefined)
    libc().syscall(BigInt(keyctl), joinSessionKeyring, 0n, 0n, 0n);
}

/** Replaces this process by a program; comes back, by throwing, only when that fails. */
export function runProgram(argv: readonly string[], env: Readonly<Record<string, string | undefined>>): never {
  const { execvpe, signal } = libc();
  // What is ignored stays so in the program: `yes | head` would not end quietly, and a file at its limit would not end its writer.
  for (const number of ignoredByBun) signal(number, 0n);
  const words = argv.map(cString);
  const variables = Object.entries(env).map(([name, value]) => cString(`${name}=${value}`));
  const program = words[0];
  if (program !== undefined) execvpe(ptr(program), ptr(pointers(words)), ptr(pointers(variables)));
  throw new Error(`${argv[0]} could not be started`);
}

function libc() {
  return dlopen("libc.so.6", {
    syscall: { args: [FFIType.i64, FFIType.i64, FFIType.i64, FFIType.i64, FFIType.i64], returns: FFIType.i64 },
    prctl: { args: [FFIType.i64, FFIType.i64, FFIType.i64, FFIType.i64, FFIType.i64], returns: FFIType.int },
    execvpe: { args: [FFIType.ptr, FFIType.ptr, FFIType.ptr], returns: FFIType.int },
    signal: { args: [FFIType.int, FFIType.i64], returns: FFIType.i64 },
    setsid: { args: [], returns: FFIType.int },
  }).symbols;
}

function cString(text: string): Uint8Array {
  return new TextEncoder().encode(`${text}\0`);
}

function pointers(strings: readonly Uint8Array[]): BigUint64Array {
  return new BigUint64Array([...strings.map((string) => BigInt(ptr(string))), 0n]);
}
