import { dlopen, FFIType } from "bun:ffi";

const { i64, int, u64, ptr, void: nothing } = FFIType;

const table = {
  __errno_location: { args: [], returns: ptr },
  _exit: { args: [int], returns: nothing },
  execvpe: { args: [ptr, ptr, ptr], returns: int },
  fchmodat: { args: [int, ptr, int, int], returns: int },
  fchownat: { args: [int, ptr, int, int, int], returns: int },
  flock: { args: [int, int], returns: int },
  ioctl: { args: [int, u64, ptr], returns: int },
  poll: { args: [ptr, u64, int], returns: int },
  prctl: { args: [i64, i64, i64, i64, i64], returns: int },
  pread: { args: [int, ptr, i64, i64], returns: i64 },
  recvmsg: { args: [int, ptr, int], returns: i64 },
  sendmsg: { args: [int, ptr, int], returns: i64 },
  setsid: { args: [], returns: int },
  signal: { args: [int, i64], returns: i64 },
  socketpair: { args: [int, int, int, ptr], returns: int },
  syscall: { args: [i64, i64, i64, i64, i64], returns: i64 },
  utimensat: { args: [int, ptr, ptr, int], returns: int },
  waitpid: { args: [int, ptr, int], returns: int },
} as const;

const open = () => dlopen("libc.so.6", table).symbols;

let opened: ReturnType<typeof open> | undefined;

/**
 * The functions of the C library that we call because Bun lacks them. Opened on first use, because
 * only Linux has the library by this name.
 */
export function libc(): ReturnType<typeof open> {
  opened ??= open();
  return opened;
}

/** A NUL-terminated string for the C library. */
export function cString(text: string): Uint8Array {
  return new TextEncoder().encode(`${text}\0`);
}
