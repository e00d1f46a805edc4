import { ptr } from "bun:ffi";
import { cString, libc } from "./libc.ts";
import { callNumber, knownProcessor } from "./syscall-numbers.ts";

const setNoNewPrivileges = 38n;
const joinSessionKeyring = 1n;
/** SIGPIPE and SIGXFSZ. */
const ignoredByBun = [13, 25];

/**
 * Prevents this thread and everything it starts from gaining privileges. The kernel accepts rules
 * and filters only after this.
 */
export function ruleOutNewPrivileges(): void {
  if (libc().prctl(setNoNewPrivileges, 1n, 0n, 0n, 0n) !== 0) throw new Error("new privileges could not be ruled out");
}

/**
 * Detaches from the terminal this process was started from: later code can neither read nor write
 * it.
 */
export function leaveTerminal(): void {
  libc().setsid();
}

/**
 * Gives this thread, and everything it starts from now on, an empty session keyring in place of the
 * inherited one. Where that fails (a kernel without keys, a container that forbids them, no quota)
 * nothing changes: the filter refuses every call for keys anyway.
 */
export function joinNewSessionKeyring(): void {
  const processor = knownProcessor(process.arch);
  const keyctl = processor && callNumber("keyctl", processor);
  if (process.platform === "linux" && keyctl !== undefined)
    libc().syscall(BigInt(keyctl), joinSessionKeyring, 0n, 0n, 0n);
}

/** Replaces this process by a program; returns only when that fails, by throwing. */
export function runProgram(argv: readonly string[], env: Readonly<Record<string, string | undefined>>): never {
  const { execvpe, signal } = libc();
  // Ignored signals stay ignored in the new program: `yes | head` would not end quietly, and a file
  // at its size limit would not end its writer.
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
