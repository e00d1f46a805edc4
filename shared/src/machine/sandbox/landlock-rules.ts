/** Constants of the kernel's `linux/landlock.h`: access to files, by the ABI version that introduced it. */
const fileAccessByAbi: readonly (readonly [abi: number, bits: bigint])[] = [
  [1, 0x1fffn],
  [2, 1n << 13n],
  [3, 1n << 14n],
  [5, 1n << 15n],
];
const readFolders = (1n << 0n) | (1n << 2n) | (1n << 3n);
const listFolders = 1n << 3n;
const onFiles = (1n << 0n) | (1n << 1n) | (1n << 2n) | (1n << 14n) | (1n << 15n);
/** Connecting to abstract sockets of, and sending signals to, processes outside. */
const scopes = 0b11n;
const scopesAbi = 6;

/** What may be done with what lies below a path; `list` is to see names alone. `exact`: others may change its names, so what is opened has to be at that very path. */
export type LandlockRule = { readonly path: string; readonly access: "list" | "read" | "write"; readonly exact?: true };

/** `struct landlock_ruleset_attr`: everything this ABI can hold back is held back. TCP is left to the socket filter. */
export function rulesetAttribute(abi: number): BigUint64Array<ArrayBuffer> {
  return new BigUint64Array([handledFiles(abi), 0n, abi >= scopesAbi ? scopes : 0n]);
}

/** The bytes of the attribute that a kernel of this ABI knows. */
export function rulesetSize(abi: number): number {
  if (abi >= scopesAbi) return 24;
  return abi >= 4 ? 16 : 8;
}

/** `struct landlock_path_beneath_attr`, which is packed: the access bits and an open descriptor of the path. */
export function pathRule(
  abi: number,
  access: LandlockRule["access"],
  isFolder: boolean,
  descriptor: number,
): Uint8Array {
  const wanted = { list: listFolders, read: readFolders, write: handledFiles(abi) }[access];
  const view = new DataView(new ArrayBuffer(12));
  view.setBigUint64(0, wanted & handledFiles(abi) & (isFolder ? ~0n : onFiles), true);
  view.setInt32(8, descriptor, true);
  return new Uint8Array(view.buffer);
}

function handledFiles(abi: number): bigint {
  return fileAccessByAbi.reduce((bits, [since, more]) => (abi >= since ? bits | more : bits), 0n);
}
