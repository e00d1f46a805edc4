import { ptr } from "bun:ffi";
import { cString, libc } from "./libc.ts";
import { callNumber, knownProcessor } from "./syscall-numbers.ts";

const setNoNewPrivileges = 38n;
const joinSessionKeyring = 1n;
/** SIGPIPE and SIGXFSZ. */
const ignoredByBun = [13, 25];

/**
 * Keeps this thread and all it starts from privileges it has not, without which the kernel takes
 * neither rules nor filters of it.
 */
export function ruleOutNewPrivileges(): void {
  if (libc().prctl(setNoNewPrivileges, 1n, 0n, 0n, 0n) !== 0) throw new Error("new privileges could not be ruled out");
}

/**
 * Leaves the terminal this process was started from: it can neither be read nor be written to by
 * what comes after.
 */
export function leaveTerminal(): void {
  libc().setsid();
}

/**
 * Gives this thread, and all it starts from now on, an empty session keyring in place of the one it
 * was started with. Where that fails (a kernel without keys, a container that forbids them, no
 * quota) all stays as it is: the filter refuses every call for keys anyway.
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
  // What is ignored stays so in the program: `yes | head` would not end quietly, and a file at its
  // limit would not end its writer.
  for (const number of ignoredByBun) signal(number, 0n);
  const words = argv.map(cString);
  const variables = Object.entries(env).map(([name, value]) => cString(`${name}=${value}`));
  const program = words[0];
  if (program !== undefined) execvpe(ptr(program), ptr(pointers(words)), ptr(pointers(variables)));
  throw new Error(`${argv[0]} could not be started`);
}

function pointers(strings: readonly Uint8Array[]): BigUint64Array {
  return new BigUint64Array([...strings.map((string) => BigInt(ptr(string))), 0n]);
}
