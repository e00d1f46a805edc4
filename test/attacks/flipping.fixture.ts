import { sweepSize } from "../../shared/src/testing/sweep-size.ts";

/**
 * A Python program that exchanges names with `renameat2`, as fast as it can and forever: each
 * argument pair is a name and its replacement. Prints `flipping` once each pair has been exchanged
 * or has failed. Failed pairs are retried.
 */
export const flipping = `
import ctypes, sys
libc = ctypes.CDLL(None, use_errno=True)
pairs = [(one.encode(), other.encode()) for one, other in zip(sys.argv[1::2], sys.argv[2::2])]
def exchange():
    for one, other in pairs: libc.renameat2(-100, one, -100, other, 2)
exchange()
print("flipping", flush=True)
while True: exchange()
`;

/** The number of starts per attack. */
export const starts = sweepSize({ quick: 6, usual: 15, full: 500 });
