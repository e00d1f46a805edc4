/**
 * A Python program that exchanges names with `renameat2`, as fast as it can and without end: each
 * argument pair is a name and what takes its place. Says `flipping` once all of them have been
 * exchanged, or could not be. Pairs that cannot be exchanged are tried on.
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

/**
 * How many starts an attack is given: a few by default, as many as the variable says for the whole
 * of it.
 */
export const starts = Number(process.env.MANYHANDS_ATTACK_STARTS ?? 15);
